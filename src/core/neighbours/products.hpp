// Euclidean neighbours by matrix products: a float32 product says which rows cannot be near, the rest are measured in
// float64. The answer is that of measuring every row.
//
// Rows are centred, scaled to norms of at most one, and mapped by x -> (P x, |x - P'P x|) with m orthonormal directions
// P along which the data spread most (or not mapped, m = d). The map brings no two points further apart (Cauchy and
// Schwarz, on what P leaves over), so that the distance of the images is a lower bound; it costs m multiplications, not
// d. With X, Q the float32 images, a tile of products G = X Q' gives v = |X|^2 / 2 - G, which is (|X - Q|^2 - |Q|^2) /
// 2 but for rounding. Rounding is bounded whatever the order of the sum (Higham: gamma_m |X| |Q|), so
//
//     s D(x, q) <= t   implies   v <= ((t + delta)^2 - |Q|^2) / 2 + eta
//
// with delta for the images' own rounding and eta for the product's. Rows that pass wait in a list; the nearest by v
// are measured first, which lowers t, the distance of the k-th best so far, and strikes most of the others off.
//
// Cost per query: n m multiplications in float32 and some hundreds of exact distances. It fails where no direction
// stands out: then P leaves much over, more rows pass, and m = d is the better choice (the caller samples and decides).
// A query whose norm would overflow float32 is measured against every row.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/machine/blas.hpp"
#include "core/machine/parallel.hpp"
#include "core/neighbours/nearest.hpp"
#include "core/neighbours/panels.hpp"

namespace tutelage::neighbours {

/// How a row becomes its image: (x - mean) * scale, and its coordinates along the rows of `basis` (m x d; empty: all d
/// as they are).
struct Image {
  std::vector<double> mean;
  std::vector<double> basis;
  double scale = 1;
  Index directions = 0;  // m; 0 without a basis
  Index length() const { return directions > 0 ? directions + 1 : static_cast<Index>(mean.size()); }

  /// Images of a block of rows, in float32, and the norms of what was mapped.
  template <class Row>
  void of(Index count, Row&& row, float* images, double* norms) const {
    const auto d = static_cast<Index>(mean.size());
    std::vector<double> centred(static_cast<std::size_t>(count * d)),
        along(static_cast<std::size_t>(count * directions));
    for (Index i = 0; i < count; ++i) {
      double square = 0;
      for (Index j = 0; j < d; ++j) {
        const double v = (static_cast<double>(row(i)[j]) - mean[static_cast<std::size_t>(j)]) * scale;
        centred[static_cast<std::size_t>(i * d + j)] = v;
        square += v * v;
      }
      norms[i] = std::sqrt(square);
    }
    if (directions == 0) {
      std::transform(centred.begin(), centred.end(), images, [](double v) { return static_cast<float>(v); });
      return;
    }
    fortran(blas.dgemm, 'T', 'N', directions, count, d, 1.0, basis.data(), d, centred.data(), d, 0.0, along.data(),
            directions);
    for (Index i = 0; i < count; ++i) {
      double square = 0;
      for (Index c = 0; c < directions; ++c) {
        const double v = along[static_cast<std::size_t>(i * directions + c)];
        square += v * v;
        images[i * (directions + 1) + c] = static_cast<float>(v);
      }
      images[i * (directions + 1) + directions] =
          static_cast<float>(std::sqrt(std::max(0.0, norms[i] * norms[i] - square)));
    }
  }
};

template <class T>
class ProductSearch final : public Search {
 public:
  ProductSearch(Euclidean metric, const Table<T>& x, Image image)
      : metric_(metric),
        x_(x),
        image_(std::move(image)),
        length_(image_.length()),
        images_(static_cast<std::size_t>(x.rows * length_)),
        halves_(static_cast<std::size_t>(x.rows)) {
    const SerialBlas serial;
    constexpr Index piece = 256;
    const Index pieces = (x.rows + piece - 1) / piece;
    std::vector<double> largest(static_cast<std::size_t>(pieces), 0.0);
    parallel_for(pieces, [&](Index task) {
      const Index first = task * piece, count = std::min(piece, x.rows - first);
      std::vector<double> norms(static_cast<std::size_t>(count));
      float* to = images_.data() + first * length_;
      image_.of(count, [&](Index i) { return x.row(first + i); }, to, norms.data());
      for (Index i = 0; i < count; ++i) {
        const double norm = norm_of(to + i * length_);
        halves_[static_cast<std::size_t>(first + i)] = static_cast<float>(norm * norm / 2);
        auto& most = largest[static_cast<std::size_t>(task)];
        most = std::max({most, norm, norms[static_cast<std::size_t>(i)]});
      }
    });
    for (const double norm : largest) largest_ = std::max(largest_, norm);
  }

  Index rows() const override { return x_.rows; }
  Index columns() const override { return x_.columns; }

  void nearest(const Queries& queries, Index k, double* distances, Index* rows) const override {
    each_block(queries, [&](Index first, Index count, const float* images, const double* norms) {
      std::vector<Waiting> lists;
      std::vector<Best> best(static_cast<std::size_t>(count), Best(k));
      for (Index i = 0; i < count; ++i) {
        lists.emplace_back(queries, first + i, limits(images + i * length_, norms[i]));
      }
      tiles(
          count, images, [&](Index i) { return lists[size_t(i)].threshold(best[size_t(i)].worst(), image_.scale); },
          [&](Index i, float v, Index row) {
            Waiting& list = lists[size_t(i)];
            list.entries.push_back({v, row});
            if (list.entries.size() < capacity) return false;
            measure(list, best[size_t(i)], k, false);
            return true;
          });
      for (Index i = 0; i < count; ++i) {
        if (lists[size_t(i)].limits.usable) {
          measure(lists[size_t(i)], best[size_t(i)], k, true);
        } else {
          measure_all(queries, first + i, [&](double rank, Index row) { best[size_t(i)].offer(rank, row); });
        }
        best[size_t(i)].write(metric_, distances + (first + i) * k, rows + (first + i) * k);
      }
    });
  }

  Within within(const Queries& queries, const double* radii, bool by_distance) const override {
    Gathered gathered(queries.count);
    each_block(queries, [&](Index first, Index count, const float* images, const double* norms) {
      std::vector<Waiting> lists;
      for (Index i = 0; i < count; ++i) {
        lists.emplace_back(queries, first + i, limits(images + i * length_, norms[i]));
      }
      const auto take = [&](Index i, double rank, Index row) {
        if (metric_.distance(rank) <= radii[first + i]) gathered.of(first + i).push_back({rank, row});
      };
      tiles(
          count, images,
          [&](Index i) { return lists[size_t(i)].threshold(metric_.reach(radii[first + i]), image_.scale); },
          [&](Index i, float, Index row) {
            if (row != lists[size_t(i)].excluded) take(i, rank(lists[size_t(i)], row), row);
            return false;
          });
      for (Index i = 0; i < count; ++i) {
        if (lists[size_t(i)].limits.usable) continue;
        measure_all(queries, first + i, [&](double found, Index row) { take(i, found, row); });
      }
    });
    return gathered.finish(metric_, by_distance);
  }

 private:
  static constexpr Index tile = 512, group = 64;
  static constexpr std::size_t capacity = 1024;
  /// Queries of a task: enough to pay for the tile of rows that BLAS packs for them, few enough to share out.
  static Index block_of(Index queries) { return std::clamp<Index>(queries / 16 / 32 * 32, 32, 256); }
  static std::size_t size_t(Index i) { return static_cast<std::size_t>(i); }

  /// What rounding can do to the numbers of one query.
  struct Limits {
    double square = 0;  // |Q|^2
    double delta = 0;   // how much further apart images can be than the points, scaled
    double eta = 0;     // how far v can be from its true value
    bool usable = true;
  };
  struct Candidate {
    float v;
    Index row;
  };
  /// A query, and the rows that may be near it but have not been measured.
  struct Waiting {
    Waiting(const Queries& queries, Index i, Limits known) : excluded(queries.excluded(i)), limits(known), number(i) {
      all = &queries;
    }
    /// No row with a larger v can have at most this rank (a squared distance).
    float threshold(double rank, double scale) const {
      if (!limits.usable) return -std::numeric_limits<float>::infinity();
      const double reach = std::sqrt(rank) * scale + limits.delta;
      const double most = ((reach * reach - limits.square) / 2 + limits.eta) + 1e-9 * (reach * reach + limits.square);
      return most < 1e30 ? std::nextafter(static_cast<float>(most), std::numeric_limits<float>::infinity())
                         : std::numeric_limits<float>::infinity();
    }
    const double* point(Index d) const { return all->data + number * d; }

    std::vector<Candidate> entries;
    const Queries* all;
    Index excluded;
    Limits limits;
    Index number;
  };

  double norm_of(const float* v) const {
    double square = 0;
    for (Index j = 0; j < length_; ++j) square += static_cast<double>(v[j]) * static_cast<double>(v[j]);
    return std::sqrt(square);
  }

  Limits limits(const float* image, double norm) const {
    Limits out;
    const double own = norm_of(image);
    out.square = own * own;
    const double unit = 0x1p-24, n = static_cast<double>(length_ + 4), gamma = 1.01 * n * unit / (1 - n * unit);
    // Coordinates are rounded to float32; what the basis leaves over is a difference of squares, good to half the
    // digits of a double; and float32 cannot tell numbers below 1e-38 from zero.
    const double left = image_.directions > 0 ? 2 * std::sqrt(static_cast<double>(x_.columns + 64) * 0x1p-52) : 0.0;
    out.delta = (left + 2 * unit + 1e-9) * (norm + largest_) + 1e-30;
    out.eta = gamma * own * largest_ + 3 * unit * (largest_ * largest_ + own * largest_) + n * 1e-37;
    out.usable = norm < 1e9 && out.eta == out.eta;
    return out;
  }

  double rank(const Waiting& list, Index row) const {
    return squared_distance(x_.row(row), list.point(x_.columns), x_.columns);
  }

  /// Measures the waiting rows, nearest by v first, until no more than half of the list can matter (none, at the end).
  void measure(Waiting& list, Best& best, Index k, bool all) const {
    auto& entries = list.entries;
    const auto nearer = [](const Candidate& a, const Candidate& b) { return a.v < b.v; };
    while (true) {
      float threshold = list.threshold(best.worst(), image_.scale);
      std::erase_if(entries, [=](const Candidate& one) { return one.v > threshold; });
      if (entries.empty() || (!all && entries.size() <= capacity / 2)) return;
      const auto part = static_cast<std::ptrdiff_t>(std::min(entries.size(), static_cast<std::size_t>(k + 8)));
      std::nth_element(entries.begin(), entries.begin() + (part - 1), entries.end(), nearer);
      std::sort(entries.begin(), entries.begin() + part, nearer);
      for (auto one = entries.begin(); one != entries.begin() + part && one->v <= threshold; ++one) {
        if (one + 2 < entries.begin() + part) fetch((one + 2)->row);
        if (one->row == list.excluded) continue;
        const double before = best.worst();
        best.offer(rank(list, one->row), one->row);
        if (best.worst() < before) threshold = list.threshold(best.worst(), image_.scale);
      }
      std::move(entries.end() - std::min(part, std::ssize(entries) - part), entries.end(), entries.begin());
      entries.resize(entries.size() - static_cast<std::size_t>(part));
    }
  }

  /// Asks memory for the beginning of a row; what follows, the processor foresees by itself.
  void fetch(Index row) const {
    const auto* at = reinterpret_cast<const char*>(x_.row(row));
    const Index bytes = std::min<Index>(512, x_.columns * static_cast<Index>(sizeof(T)));
    for (Index b = 0; b < bytes; b += 64) __builtin_prefetch(at + b);
  }

  template <class Take>
  void measure_all(const Queries& queries, Index i, Take&& take) const {
    const double* point = queries.data + i * x_.columns;
    for (Index row = 0; row < x_.rows; ++row) {
      if (row != queries.excluded(i)) take(squared_distance(x_.row(row), point, x_.columns), row);
    }
  }

  /// Calls body(first query, how many, their images, their norms) for blocks of queries, side by side.
  template <class Body>
  void each_block(const Queries& queries, Body&& body) const {
    const SerialBlas serial;
    const Index block = block_of(queries.count);
    parallel_for((queries.count + block - 1) / block, [&](Index task) {
      const Index first = task * block, count = std::min(block, queries.count - first);
      std::vector<float> images(size_t(count * length_));
      std::vector<double> norms(size_t(count));
      image_.of(count, [&](Index i) { return queries.data + (first + i) * x_.columns; }, images.data(), norms.data());
      for (Index i = 0; i < count; ++i) {
        if (norms[size_t(i)] < 1e9) continue;  // float32 would overflow, and one such row would spoil no other
        std::fill_n(images.data() + i * length_, length_, 0.0F);
      }
      body(first, count, images.data(), norms.data());
    });
  }

  static bool any_near(const float* halves, const float* products, float most) {
    int any = 0;
#pragma omp simd reduction(| : any)
    for (Index l = 0; l < group; ++l) any |= halves[l] - products[l] <= most;
    return any != 0;
  }

  /// Calls take(query, v, row) for every v that is at most limit(query); take says whether the limit may have changed.
  template <class Limit, class Take>
  void tiles(Index count, const float* images, Limit&& limit, Take&& take) const {
    std::vector<float> products(size_t(tile * count));
    for (Index first = 0; first < x_.rows; first += tile) {
      const Index rows = std::min(tile, x_.rows - first);
      fortran(blas.sgemm, 'T', 'N', rows, count, length_, 1.0F, images_.data() + first * length_, length_, images,
              length_, 0.0F, products.data(), rows);
      const float* halves = halves_.data() + first;
      for (Index i = 0; i < count; ++i) {
        const float* column = products.data() + i * rows;
        float most = limit(i);
        for (Index r = 0; r < rows; r += group) {
          const Index n = std::min(group, rows - r);
          if (n == group && !any_near(halves + r, column + r, most)) continue;
          for (Index l = r; l < r + n; ++l) {
            const float v = halves[l] - column[l];
            if (v <= most && take(i, v, first + l)) most = limit(i);
          }
        }
      }
    }
  }

  Euclidean metric_;
  Table<T> x_;
  Image image_;
  Index length_;
  std::vector<float> images_;
  std::vector<float> halves_;
  double largest_ = 0;
};

}  // namespace tutelage::neighbours
