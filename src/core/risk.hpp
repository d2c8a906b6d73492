// The risk of a linear model: its value, its gradient and its curvature. The only loops over samples of the batch
// solvers.
//
//     risk(W, b) = (1 / S) sum_i s_i loss(y_i, z_i) + penalty(W),     z_i = W (x_i - m) + b
//
// A pass reads X once: while a block of rows is in cache it makes the scores, the losses, the gradient and, when asked,
// the Hessian. Blocks are grouped into parts that depend only on the shape of the problem; each part sums in order and
// the parts are added in order, so the bits do not depend on the number of threads.
//
// Inside, columns are centred by a shift m near their means (dense X with an intercept): the intercept then hardly
// interacts with the coefficients and columns with a mean of 1e8 keep their digits. `export_point` undoes it.
#pragma once
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "core/concepts.hpp"
#include "core/curvature.hpp"
#include "core/machine/parallel.hpp"
#include "core/machine/scratch.hpp"
#include "core/machine/simd.hpp"
#include "core/machine/vectors.hpp"
#include "core/matrices/products.hpp"
#include "core/sample.hpp"

namespace tutelage {

class Risk {
 public:
  Risk(Sample sample, const AnyLoss& loss, const AnyPenalty& penalty, bool intercept)
      : sample_(sample),
        loss_(loss),
        penalty_(penalty),
        intercept_(intercept),
        n_(sample.x->rows()),
        d_(sample.x->columns()),
        k_(loss.scores()) {
    total_ = 0;
    if (sample.weights == nullptr) total_ = double(n_);
    for (Index i = 0; sample.weights != nullptr && i < n_; ++i) total_ += sample.weights[i];
    own_total_ = total_;
    if (intercept && !sample.x->sparse() && n_ > 0) find_shift();
    // Many scores on many columns: the sums of the parts would be larger than X, a copy by columns is not.
    if (k_ >= 3 && sample.x->sparse() && 16 * k_ * d_ > sample.x->stored()) columns_ = sample.x->by_columns();
  }

  /// The same with a shift given, so that points mean the same as in another risk.
  Risk(Sample sample, const AnyLoss& loss, const AnyPenalty& penalty, bool intercept, Vector shift)
      : Risk(sample, loss, penalty, intercept) {
    shift_ = std::move(shift);
  }

  /// Of a sample: divide by the weight of all rows, so that the penalty weighs what it weighs against as many of all.
  void divide_as(const Risk& whole) { total_ = whole.total_; }
  /// Of a sample: divide by its part of what the other divides by, so that both are alike.
  void scale_as(const Risk& other) { total_ = own_total_ * (other.total_ / other.own_total_); }

  Index rows() const { return n_; }
  Index columns() const { return d_; }
  Index scores() const { return k_; }
  bool intercept() const { return intercept_; }
  /// Coefficients (scores x columns), then one intercept for each score.
  Index size() const { return k_ * (d_ + (intercept_ ? 1 : 0)); }
  double total_weight() const { return total_; }
  const Sample& sample() const { return sample_; }
  const AnyLoss& loss() const { return loss_; }
  const AnyPenalty& penalty() const { return penalty_; }
  const Vector& shift() const { return shift_; }
  /// Readings of X so far; a pass over some of the blocks counts as that share.
  double passes() const { return passes_; }
  void count_passes(double passes) const { passes_ += passes; }

  /// Whether a point has a coefficient that is not zero: a start that somebody chose.
  bool has_coefficients(const Vector& point) const {
    return std::any_of(point.begin(), point.begin() + k_ * d_, [](double w) { return w != 0; });
  }

  /// Internal coordinates have b' = b + m . w: the inverse of export_point.
  void import_point(Vector& point) const { move_intercept(point, 1); }
  void export_point(Vector& point) const { move_intercept(point, -1); }

  // ---- passes over the rows ---------------------------------------------------------------------------------------

  /// What a pass brings back. `value` includes the penalty where it is finite.
  struct Local {
    double value = infinity;
    double loss = infinity;  // the part of the value that is not the penalty
    Vector gradient;
    Vector curvature;  // of the loss only, in the form of CurvatureSum::assemble
  };

  /// Value of the risk, its gradient if `gradient`, and the curvature of its loss in the form asked for. With a
  /// penalty that is not quadratic the gradient is that of the loss alone. `kept_scores` (rows x scores) receives the
  /// scores, unless it is null.
  void evaluate(const Vector& point, Local& local, bool gradient = true, Curvature form = Curvature::none,
                double* kept_scores = nullptr) const {
    const Index size = this->size();
    const CurvatureSum curvature(*sample_.x, loss_, shift_, intercept_, form);
    const bool apart = form != Curvature::none && curvature.apart();
    const bool by_columns = gradient && columns_ != nullptr;
    const Index width = (gradient && !by_columns ? size : 0) + (apart ? 0 : curvature.length());
    const Parts parts = divide(width);
    double* const sums = room(parts.count * width);
    Vector losses(std::size_t(parts.count), 0.0);
    const Vector origin = shifted_intercepts(point);
    Vector kept(apart ? std::size_t(n_ * curvature.pairs()) : 0);

    Vector scores, slopes, diagonals;  // of all rows, for a loss that wants them at once
    const bool whole = loss_.whole();
    const bool at_origin = std::all_of(point.begin(), point.begin() + k_ * d_, [](double x) { return x == 0; });
    const double* w = at_origin ? nullptr : turned(point);
    if (whole) {
      scores.assign(std::size_t(n_ * k_), 0.0);
      all_scores(point, scores.data());
      if (kept_scores != nullptr) std::copy(scores.begin(), scores.end(), kept_scores);
      slopes.resize(std::size_t(n_ * k_));
      diagonals.resize(form == Curvature::none ? 0 : std::size_t(n_ * k_));
      losses[0] = loss_.evaluate(sample_.y, sample_.weights, scores.data(), n_, slopes.data(),
                                 form == Curvature::none ? nullptr : diagonals.data());
    }
    if (by_columns) slopes.resize(std::size_t(n_ * k_));
    parallel_for(parts.count, [&](Index part) {
      const Workspace work(whole ? 0 : block_rows() * k_, form != Curvature::none);
      double* sum = sums + part * width;
      std::fill_n(sum, width, 0.0);
      double* curved = sum + (gradient && !by_columns ? size : 0);
      for (Index b = parts.begin(part); b < parts.begin(part + 1); ++b) {
        const Block block = block_at(b);
        const double* y = sample_.y + block.first * loss_.targets();
        const double* s = sample_.weights == nullptr ? nullptr : sample_.weights + block.first;
        double* own = kept_scores == nullptr ? work.z : kept_scores + block.first * k_;
        const double* z = own;
        double* slope = by_columns ? slopes.data() + block.first * k_ : work.slope;
        double* diagonal = work.curvature;
        if (whole) {
          z = scores.data() + block.first * k_;
          slope = slopes.data() + block.first * k_;
          diagonal = form == Curvature::none ? nullptr : diagonals.data() + block.first * k_;
        } else {
          block_scores(block, w, origin.data(), own);
          losses[std::size_t(part)] += loss_.evaluate(y, s, z, block.count, slope, diagonal);
        }
        if (gradient && !by_columns) add_gradient(block, slope, sum);
        if (apart) {
          curvature.keep(block, y, s, z, diagonal, kept.data());
        } else if (form != Curvature::none) {
          curvature.add(block, y, s, z, diagonal, curved);
        }
      }
    });
    passes_ += 1;
    fold(sums, parts.count, width);
    finish_value(point, in_order(losses), local);
    if (by_columns) {
      Vector raw(static_cast<std::size_t>(size));
      gradient_by_columns(slopes.data(), raw.data());
      finish_gradient(point, raw.data(), local);
    } else if (gradient) {
      finish_gradient(point, sums, local);
    }
    if (form == Curvature::none) return;
    if (apart) {
      passes_ += 1;
      Vector squares(std::size_t(curvature.length()), 0.0);
      curvature.add_kept(kept.data(), squares.data());
      curvature.assemble(squares.data(), 1 / total_, local.curvature);
    } else {
      curvature.assemble(sums + (gradient && !by_columns ? size : 0), 1 / total_, local.curvature);
    }
  }

  /// What the loss says at scores that are known, and the gradient of the mean loss: one reading of X.
  AtScores evaluate_at(const double* scores, Vector& gradient) const {
    if (loss_.whole() || columns_ != nullptr) {
      Vector slopes;
      AtScores said = slopes_at(scores, slopes);
      transpose_times(slopes.data(), gradient);
      return said;
    }
    const Index width = size();
    const Parts parts = divide(width);
    double* const sums = room(parts.count * width);
    std::vector<AtScores> said(std::size_t(parts.count), AtScores{0, 0, Vector(std::size_t(k_), 0.0)});
    parallel_for(parts.count, [&](Index part) {
      const Workspace work(block_rows() * k_, false);
      std::fill_n(sums + part * width, width, 0.0);
      for (Index b = parts.begin(part); b < parts.begin(part + 1); ++b) {
        const Block block = block_at(b);
        ask(block, scores, work.slope, said[std::size_t(part)]);
        add_gradient(block, work.slope, sums + part * width);
      }
    });
    passes_ += 1;
    fold(sums, parts.count, width);
    gradient.resize(std::size_t(width));
    centre_gradient(sums, gradient);
    return together(said);
  }

  /// The same without a gradient, for the slopes themselves: rows x scores.
  AtScores slopes_at(const double* scores, Vector& slopes) const {
    slopes.resize(std::size_t(n_ * k_));
    const Index blocks = loss_.whole() ? 1 : (n_ + block_rows() - 1) / block_rows();
    std::vector<AtScores> said(std::size_t(std::max<Index>(blocks, 1)), AtScores{0, 0, Vector(std::size_t(k_), 0.0)});
    parallel_for(blocks, [&](Index b) {
      const Block block = loss_.whole() ? Block{0, n_} : block_at(b);
      ask(block, scores, slopes.data() + block.first * k_, said[std::size_t(b)]);
    });
    return together(said);
  }

  double value(const Vector& point) const {
    Local local;
    evaluate(point, local, false);
    return local.value;
  }

  /// Scores of every row (rows x scores).
  void all_scores(const Vector& point, double* z) const {
    const Vector origin = shifted_intercepts(point);
    const double* w = turned(point);
    const Parts parts = divide(0);
    parallel_for(parts.count, [&](Index part) {
      for (Index b = parts.begin(part); b < parts.begin(part + 1); ++b) {
        const Block block = block_at(b);
        block_scores(block, w, origin.data(), z + block.first * k_);
      }
    });
    passes_ += 1;
  }

  /// out = (1 / S) sum_i [(x_i - m), 1] (slope_i)', not weighted again: the gradient that these slopes make.
  void transpose_times(const double* slopes, Vector& out) const {
    const Index width = size();
    out.resize(std::size_t(width));
    passes_ += 1;
    if (columns_ != nullptr) {
      Vector raw(static_cast<std::size_t>(width));
      gradient_by_columns(slopes, raw.data());
      return centre_gradient(raw.data(), out);
    }
    const Parts parts = divide(width);
    double* const sums = room(parts.count * width);
    parallel_for(parts.count, [&](Index part) {
      std::fill_n(sums + part * width, width, 0.0);
      for (Index b = parts.begin(part); b < parts.begin(part + 1); ++b) {
        const Block block = block_at(b);
        add_gradient(block, slopes + block.first * k_, sums + part * width);
      }
    });
    fold(sums, parts.count, width);
    centre_gradient(sums, out);
  }

  /// out = Hessian of the mean loss times v, at the scores z (rows x scores) of a point.
  void hessian_times(const double* z, const Vector& v, Vector& out) const {
    const Index width = columns_ != nullptr ? 0 : size();
    const Parts parts = divide(width);
    double* const sums = room(parts.count * width);
    Vector slopes(columns_ != nullptr ? std::size_t(n_ * k_) : 0);
    const Vector origin = shifted_intercepts(v);
    const double* w = turned(v);
    parallel_for(parts.count, [&](Index part) {
      const Workspace work(block_rows() * k_, false);
      std::fill_n(sums + part * width, width, 0.0);
      for (Index b = parts.begin(part); b < parts.begin(part + 1); ++b) {
        const Block block = block_at(b);
        block_scores(block, w, origin.data(), work.z);
        double* slope = columns_ != nullptr ? slopes.data() + block.first * k_ : work.slope;
        loss_.curvature_times(sample_.y + block.first * loss_.targets(), weights_from(block.first),
                              z + block.first * k_, work.z, block.count, slope);
        if (columns_ == nullptr) add_gradient(block, slope, sums + part * width);
      }
    });
    passes_ += 1;
    out.resize(std::size_t(size()));
    if (columns_ != nullptr) {
      Vector raw(std::size_t(size()), 0.0);
      gradient_by_columns(slopes.data(), raw.data());
      return centre_gradient(raw.data(), out);
    }
    fold(sums, parts.count, width);
    centre_gradient(sums, out);
  }

 private:
  /// Memory of a thread for the scores, slopes and curvatures of a block: kept, since fresh pages cost as much as what
  /// is written to them. Its contents are whatever they were.
  struct Workspace {
    struct Scores;
    struct Slopes;
    struct Curvatures;
    Workspace(Index length, bool curved)
        : z(scratch<Scores>(length)),
          slope(scratch<Slopes>(length)),
          curvature(curved ? scratch<Curvatures>(length) : nullptr) {}
    double *z, *slope, *curvature;
  };
  struct Parts {
    Index count = 1;
    Index blocks = 0;
    Index begin(Index part) const { return part * blocks / count; }
  };

  /// Rows that stay in cache between two uses of them, and so do their scores: the more of these, the fewer rows.
  Index block_rows() const {
    const Index fitting = std::max<Index>(1, sample_.x->block_rows());
    return sample_.x->sparse() ? fitting : std::min(fitting, std::max<Index>(64, 16384 / k_ / 8 * 8));
  }
  Block block_at(Index b) const {
    const Index first = b * block_rows();
    return {first, std::min(block_rows(), n_ - first)};
  }

  /// Asks the loss for the slopes of a block at known scores, and adds what else it says.
  void ask(Block block, const double* scores, double* slope, AtScores& said) const {
    const double* z = scores + block.first * k_;
    said.loss += loss_.evaluate(sample_.y + block.first * loss_.targets(), weights_from(block.first), z, block.count,
                                slope, nullptr);
    double product = 0;
#pragma omp simd reduction(+ : product)
    for (Index i = 0; i < block.count * k_; ++i) product += slope[i] * z[i];
    said.product += product;
    simd::add_column_sizes(slope, block.count, k_, said.sizes.data());
  }

  /// Parts depend on the shape alone: enough of them for many threads, few enough that the sums of the parts stay
  /// small beside X itself.
  Parts divide(Index width) const {
    Parts parts;
    parts.blocks = (n_ + block_rows() - 1) / block_rows();
    const double work = double(sample_.x->stored()) * double(k_);
    const double by_work = work / 30000;
    // Sums of a sparse matrix can be as long as the matrix: what is added up must stay small beside what was read.
    const double budget =
        sample_.x->sparse() ? 0.25 * double(sample_.x->stored()) + 4e4 : 0.25 * double(sample_.x->stored()) + 4e6;
    const double by_memory = std::max(budget / double(width + 1), sample_.x->sparse() ? 4.0 : 0.0);
    // Sixteen parts keep as many threads busy; more are worth their memory only while their sums are small.
    const double most = std::clamp(5e5 / double(width + 1), 16.0, 64.0);
    parts.count = std::clamp<Index>(Index(std::min({by_work, by_memory, most})), 1, std::max<Index>(1, parts.blocks));
    return parts;
  }

  void find_shift() {
    // Any shift near the means serves, so a sample of the rows is enough; a row of weight zero must not pull it away.
    const Index stride = std::max<Index>(1, n_ / 2048);
    shift_.assign(std::size_t(d_), 0.0);
    double count = 0;
    for (Index i = 0; i < n_; i += stride) {
      const double weight = sample_.weights == nullptr ? 1.0 : sample_.weights[i];
      if (weight == 0) continue;
      sample_.x->add_transpose_times({i, 1}, &weight, 1, shift_.data());
      count += weight;
    }
    if (count == 0) return;
    for (double& m : shift_) m /= count;
  }

  void move_intercept(Vector& point, double sign) const {
    if (!intercept_ || shift_.empty()) return;
    for (Index c = 0; c < k_; ++c) {
      double moved = 0;
      for (Index j = 0; j < d_; ++j) moved += shift_[std::size_t(j)] * point[std::size_t(c * d_ + j)];
      point[std::size_t(k_ * d_ + c)] += sign * moved;
    }
  }

  /// b - m . w for each score, zeros without an intercept.
  Vector shifted_intercepts(const Vector& point) const {
    Vector origin(std::size_t(k_), 0.0);
    if (!intercept_) return origin;
    Vector moved(point);
    move_intercept(moved, -1);
    std::copy_n(moved.begin() + k_ * d_, k_, origin.begin());
    return origin;
  }

  /// The coefficients as block_scores wants them.
  const double* turned(const Vector& point) const {
    if (columns_ == nullptr) return point.data();
    turned_.resize(std::size_t(d_ * columns_->padded(k_)));
    columns_->turn(point.data(), k_, turned_.data());
    return turned_.data();
  }

  /// w is null at the origin: every score is then the intercept's.
  void block_scores(Block block, const double* w, const double* origin, double* z) const {
    if (w == nullptr) {
      std::fill_n(z, block.count * k_, 0.0);
    } else if (columns_ != nullptr) {
      columns_->times(block, w, k_, z);
    } else {
      sample_.x->times(block, w, k_, z);
    }
    if (!intercept_) return;
    if (k_ == 1) {
      const double b = *origin;
      for (Index i = 0; i < block.count; ++i) z[i] += b;
      return;
    }
    for (Index i = 0; i < block.count; ++i) {
      for (Index c = 0; c < k_; ++c) z[i * k_ + c] += origin[c];
    }
  }

  void add_gradient(Block block, const double* slope, double* sum) const {
    sample_.x->add_transpose_times(block, slope, k_, sum);
    if (!intercept_) return;
    simd::add_column_sums(slope, block.count, k_, sum + k_ * d_);
  }

  /// From sums over raw rows to the gradient in centred coordinates, divided by S.
  void centre_gradient(const double* raw, Vector& out) const {
    for (Index j = 0; j < size(); ++j) out[std::size_t(j)] = raw[j] / total_;
    if (!intercept_ || shift_.empty()) return;
    for (Index c = 0; c < k_; ++c) {
      const double all = out[std::size_t(k_ * d_ + c)];
      for (Index j = 0; j < d_; ++j) out[std::size_t(c * d_ + j)] -= shift_[std::size_t(j)] * all;
    }
  }

  void finish_value(const Vector& point, double loss, Local& local) const {
    local.loss = loss / total_;
    local.value = local.loss + penalty_.value(point.data(), k_, d_);
  }

  void finish_gradient(const Vector& point, const double* raw, Local& local) const {
    local.gradient.resize(std::size_t(size()));
    centre_gradient(raw, local.gradient);
    if (penalty_.facts().quadratic) penalty_.add_gradient(point.data(), k_, d_, local.gradient.data());
  }

  const double* weights_from(Index row) const { return sample_.weights == nullptr ? nullptr : sample_.weights + row; }

  static double in_order(const Vector& terms) {
    double sum = 0;
    for (const double term : terms) sum += term;
    return sum;
  }

  /// Adds the sums of the parts, in order, to those of the first.
  static void fold(double* sums, Index count, Index width) {
    constexpr Index piece = 8192;
    if (count <= 1) return;
    parallel_for((width + piece - 1) / piece, [&](Index p) {
      const Index end = std::min(width, (p + 1) * piece);
      for (Index part = 1; part < count; ++part) {
        const double* from = sums + part * width;
        for (Index j = p * piece; j < end; ++j) sums[j] += from[j];
      }
    });
  }

  /// Memory for the sums of the parts, kept between passes: fresh pages cost as much as the sums. Its contents are
  /// whatever they were.
  double* room(Index length) const {
    if (length > room_length_) {
      room_.reset();
      room_ = std::make_unique_for_overwrite<double[]>(std::size_t(length));
      room_length_ = length;
    }
    return room_.get();
  }

  /// The sums that add_gradient makes, over all rows.
  void gradient_by_columns(const double* slopes, double* raw) const {
    columns_->transpose_times(slopes, k_, raw);
    if (!intercept_) return;
    std::fill_n(raw + k_ * d_, k_, 0.0);
    simd::add_column_sums(slopes, n_, k_, raw + k_ * d_);
  }

  Sample sample_;
  const AnyLoss& loss_;
  const AnyPenalty& penalty_;
  bool intercept_;
  Index n_, d_, k_;
  double own_total_ = 0, total_ = 0;  // the sum of the weights, and what sums are divided by
  Vector shift_;
  std::unique_ptr<ColumnSums> columns_;
  mutable Vector turned_;
  mutable double passes_ = 0;
  mutable std::unique_ptr<double[]> room_;
  mutable Index room_length_ = 0;
};

}  // namespace tutelage
