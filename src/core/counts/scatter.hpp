// Scatter of the rows around the means of their classes, sum_i s_i (x_i - mean_c(i))(x_i - mean_c(i))', of all classes
// together or of each.
//
// The mean is subtracted while rows are packed for the product, so that nothing is lost where classes lie far apart.
#pragma once
#include <vector>

#include "core/counts/classes.hpp"
#include "core/machine/parallel.hpp"
#include "core/matrices/products.hpp"

namespace tutelage {

namespace counts {

template <int Width, class T>
void pack(const DenseRows<T>& x, Index first, Index rows, Index column, Index columns, double* out) {
  sandwiches::pack_rows<Width>(x.data() + first * x.stride() + column, x.stride(), rows, columns, nullptr, nullptr,
                               out);
}
template <int Width, class T>
void pack(const DenseColumns<T>& x, Index first, Index rows, Index column, Index columns, double* out) {
  sandwiches::pack_columns<Width>(x.data() + column * x.stride() + first, x.stride(), rows, columns, nullptr, nullptr,
                                  out);
}

/// A dense matrix whose rows have the means of their classes taken off, for sandwiches alone.
template <class X>
class CentredByClass final : public Rows {
 public:
  /// means is k x padded(columns).
  CentredByClass(const X& x, const Classes& classes, const double* means)
      : x_(x), classes_(classes), means_(means), wide_(padded(x.columns())) {}

  Index rows() const override { return x_.rows(); }
  Index columns() const override { return x_.columns(); }
  Index stored() const override { return static_cast<const Rows&>(x_).stored(); }
  bool sparse() const override { return false; }
  Index block_rows() const override { return x_.block_rows(); }

  void add_sandwich(Block block, const double* c, const double* shift, double* h) const override {
    if (columns() > sandwiches::direct_columns) {
      add_sandwich_tile(block, {0, columns()}, {0, columns()}, c, shift, h, columns());
      return;
    }
    struct Packed;
    constexpr Index width = sandwiches::direct_columns;
    double* packed = scratch<Packed>(width * sandwiches::depth);
    for (Index i = 0; i < block.count; i += sandwiches::depth) {
      const Index rows = std::min(sandwiches::depth, block.count - i);
      pack_centred<width>(block.first + i, rows, 0, columns(), nullptr, packed);
      sandwiches::add_direct(rows, columns(), packed, width, c + i, h, columns());
    }
  }

  void add_sandwich_tile(Block block, Block down, Block across, const double* c, const double*, double* h,
                         Index stride) const override {
    const auto pack = [&](auto width, Index first, Index rows, Index column, Index columns, bool weighted,
                          double* out) {
      pack_centred<decltype(width)::value>(first, rows, column, columns, weighted ? c + (first - block.first) : nullptr,
                                           out);
    };
    sandwiches::add(block, down, across, pack, h, stride);
  }

  void times(Block, const double*, Index, double*) const override { refuse(); }
  void add_transpose_times(Block, const double*, Index, double*) const override { refuse(); }
  void add_squares(Block, const double*, double*) const override { refuse(); }

 private:
  [[noreturn]] static void refuse() { throw std::logic_error("a matrix centred by class is for sandwiches alone"); }

  template <int Width>
  void pack_centred(Index first, Index rows, Index column, Index columns, const double* c, double* out) const {
    pack<Width>(x_, first, rows, column, columns, out);
    for (Index j = 0; j < columns; j += Width) {
      double* panel = out + j * rows;
      const Index width = std::min<Index>(Width, padded(columns - j));
      for (Index i = 0; i < rows; ++i) {
        const double* mean = means_ + classes_.codes[first + i] * wide_ + column + j;
        double* row = panel + i * Width;
        const double weight = c == nullptr ? 1.0 : c[i];
#pragma omp simd
        for (Index q = 0; q < width; ++q) row[q] = weight * (row[q] - mean[q]);
      }
    }
  }

  const X& x_;
  const Classes& classes_;
  const double* means_;
  Index wide_;
};

}  // namespace counts

/// Lower triangle, d x d, around means (k x d). X is dense.
inline std::vector<double> shared_scatter(const Rows& x, const Classes& classes, const double* means) {
  classes.check(x.rows());
  const Index d = x.columns(), k = classes.count, wide = counts::padded(d);
  std::vector<double> made(static_cast<std::size_t>(d * d), 0.0);
  // A row more: a tile may load a pack of means beyond its last column.
  std::vector<double> room(static_cast<std::size_t>((k + 1) * wide), 0.0);
  for (Index c = 0; c < k; ++c) std::copy_n(means + c * d, d, room.data() + c * wide);
  const std::vector<double> ones(classes.weights == nullptr ? static_cast<std::size_t>(classes.rows) : 0, 1.0);
  const double* weights = classes.weights == nullptr ? ones.data() : classes.weights;
  const bool known = counts::with_dense(x, [&](const auto& dense) {
    const counts::CentredByClass centred(dense, classes, room.data());
    sandwich(centred, weights, nullptr, made.data());
  });
  if (!known) throw std::invalid_argument("X must be dense.");
  return made;
}

/// The same for each class: k x d x d. The rows of one class at a time are brought together in a copy.
inline std::vector<double> own_scatter(const Rows& x, const Classes& classes, const double* means) {
  classes.check(x.rows());
  const Index d = x.columns(), k = classes.count;
  std::vector<double> made(static_cast<std::size_t>(k * d * d), 0.0);
  const RowsByClass rows(classes);
  const bool known = counts::with_dense(x, [&](const auto& dense) {
    using T = std::remove_cvref_t<decltype(*dense.data())>;
    constexpr bool by_rows = std::is_same_v<std::remove_cvref_t<decltype(dense)>, DenseRows<T>>;
    std::vector<T> gathered;
    std::vector<double> weights;
    for (Index c = 0; c < k; ++c) {
      const Index first = rows.begin(c), count = rows.end(c) - first;
      if (count == 0 || d == 0) continue;
      gathered.resize(static_cast<std::size_t>(count * d));
      weights.resize(static_cast<std::size_t>(count));
      const Index step = std::max<Index>(1, 64 * 1024 / d);
      parallel_for((count + step - 1) / step, [&](Index task) {
        const Index end = std::min(count, (task + 1) * step);
        for (Index i = task * step; i < end; ++i)
          weights[static_cast<std::size_t>(i)] = classes.weight(rows[first + i]);
        if constexpr (by_rows) {
          for (Index i = task * step; i < end; ++i) {
            std::copy_n(dense.data() + rows[first + i] * dense.stride(), d, gathered.data() + i * d);
          }
        } else {
          for (Index j = 0; j < d; ++j) {
            for (Index i = task * step; i < end; ++i) {
              gathered[static_cast<std::size_t>(i * d + j)] = dense.data()[j * dense.stride() + rows[first + i]];
            }
          }
        }
      });
      sandwich(DenseRows<T>(gathered.data(), count, d, d), weights.data(), means + c * d, made.data() + c * d * d);
    }
  });
  if (!known) throw std::invalid_argument("X must be dense.");
  return made;
}

}  // namespace tutelage
