// A sample of the rows without a copy of X: every stride-th block of them, read as a matrix of its own.
#pragma once
#include <algorithm>
#include <vector>

#include "core/concepts.hpp"

namespace tutelage {

class ThinnedRows final : public Rows {
 public:
  ThinnedRows(const Rows& x, Index stride) : x_(x), stride_(std::max<Index>(1, stride)), size_(x.block_rows()) {
    const Index blocks = (x.rows() + size_ - 1) / size_;
    kept_ = (blocks + stride_ - 1) / stride_;
    rows_ = kept_ == 0 ? 0 : (kept_ - 1) * size_ + block(kept_ - 1).count;
  }
  Index rows() const override { return rows_; }
  Index columns() const override { return x_.columns(); }
  Index stored() const override {
    return Index(double(x_.stored()) * double(rows_) / double(std::max<Index>(1, x_.rows())));
  }
  bool sparse() const override { return x_.sparse(); }
  Index block_rows() const override { return size_; }

  /// The b-th kept block, in rows of the whole matrix.
  Block block(Index b) const {
    const Index first = b * stride_ * size_;
    return {first, std::min(size_, x_.rows() - first)};
  }
  Index blocks() const { return kept_; }

  void times(Block asked, const double* w, Index k, double* z) const override {
    each(asked, [&](Block run, Index at) { x_.times(run, w, k, z + at * k); });
  }
  void add_transpose_times(Block asked, const double* s, Index k, double* g) const override {
    each(asked, [&](Block run, Index at) { x_.add_transpose_times(run, s + at * k, k, g); });
  }
  void add_sandwich(Block asked, const double* c, const double* shift, double* h) const override {
    each(asked, [&](Block run, Index at) { x_.add_sandwich(run, c + at, shift, h); });
  }
  void add_sandwich_tile(Block asked, Block down, Block across, const double* c, const double* shift, double* h,
                         Index stride) const override {
    each(asked, [&](Block run, Index at) { x_.add_sandwich_tile(run, down, across, c + at, shift, h, stride); });
  }
  void add_squares(Block asked, const double* c, double* g) const override {
    each(asked, [&](Block run, Index at) { x_.add_squares(run, c + at, g); });
  }
  void add_centred_squares(Block asked, const double* c, const double* m, double* squares,
                           double* seen) const override {
    each(asked, [&](Block run, Index at) { x_.add_centred_squares(run, c + at, m, squares, seen); });
  }

 private:
  /// Calls body(rows of the whole matrix, offset within `asked`) for each run that is contiguous there.
  template <class Body>
  void each(Block asked, Body&& body) const {
    Index at = 0;
    while (at < asked.count) {
      const Index row = asked.first + at;
      const Block kept = block(row / size_);
      const Index inside = row % size_;
      const Index count = std::min(kept.count - inside, asked.count - at);
      body(Block{kept.first + inside, count}, at);
      at += count;
    }
  }

  const Rows& x_;
  Index stride_, size_, kept_ = 0, rows_ = 0;
};

/// Rows, targets and weights of every stride-th block.
class ThinnedSample {
 public:
  ThinnedSample(const Sample& whole, Index targets, Index stride) : rows_(*whole.x, stride) {
    for (Index b = 0; b < rows_.blocks(); ++b) {
      const Block block = rows_.block(b);
      y_.insert(y_.end(), whole.y + block.first * targets, whole.y + (block.first + block.count) * targets);
      if (whole.weights == nullptr) continue;
      weights_.insert(weights_.end(), whole.weights + block.first, whole.weights + block.first + block.count);
    }
    weighted_ = whole.weights != nullptr;
  }
  Sample sample() const { return {&rows_, y_.data(), weighted_ ? weights_.data() : nullptr}; }

 private:
  ThinnedRows rows_;
  std::vector<double> y_, weights_;
  bool weighted_ = false;
};

}  // namespace tutelage
