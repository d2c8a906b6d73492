// What coordinate descent asks of a matrix: products with sets of columns.
//
// The inner loop works on a small model of the problem (models.hpp); X itself is read here alone, some columns at a
// time and in parallel. Every number that comes out belongs to one column or one row and is summed in an order that
// depends on the length alone, so neither the set it was asked with nor the number of threads changes its bits.
//
// Centring is implicit: `shift` holds the number subtracted from each column of X (indexed by column, null for none).
#pragma once
#include <memory>

#include "core/concepts.hpp"

namespace tutelage {

/// What a first reading of X tells about its columns, under row weights c.
struct Survey {
  double* means = nullptr;    // sum c x / sum c; left alone when null
  double* squares = nullptr;  // sum c (x - mean)^2, or sum c x^2 when means is null
  double* dots = nullptr;     // sum (x - mean) r, or sum x r; not formed when null
};

class ColumnProducts {
 public:
  virtual ~ColumnProducts() = default;
  virtual Index rows() const = 0;
  virtual Index columns() const = 0;
  virtual Index stored() const = 0;
  virtual Index stored(Index j) const = 0;
  virtual bool sparse() const = 0;

  /// Fills `survey` for every column. c may be null (all 1). With means, r must sum to zero.
  virtual void survey(const double* c, const double* r, const Survey& survey) const = 0;
  /// out[t] = sum_i c_i x_ij for j = js[t].
  virtual void sums(const Index* js, Index count, const double* c, double* out) const = 0;
  /// out[t] = sum_i (x_ij - shift_j) r_i for j = js[t].
  virtual void dots(const Index* js, Index count, const double* shift, const double* r, double* out) const = 0;
  /// z_i += sum_t a_t (x_ij - shift_j), j = js[t].
  virtual void add(const Index* js, Index count, const double* shift, const double* a, double* z) const = 0;
  /// h[p ldh + q] = h[q ldh + p] = sum_i c_i (x_ij - shift_j)(x_ik - shift_k), j = js[p], k = js[q], for
  /// first <= p < count and q <= p. c may be null. With a shift, it must be the mean under c.
  virtual void gram(const Index* js, Index first, Index count, const double* c, const double* shift, double* h,
                    Index ldh) const = 0;
  /// Roughly how many multiplications gram(js, 0, count) would cost, counted in those of a dense product.
  virtual double gram_cost(const Index* js, Index count) const = 0;

  /// Dense matrices: columns sqrt(c) (x_j - shift_j) one after the other, count x rows. c may be null.
  virtual void gather(const Index* js, Index count, const double* c, const double* shift, double* out) const = 0;
  /// Sparse matrices: the stored entries of column j times sqrt(c), appended at `indices` and `values`; tells how many.
  virtual Index gather(Index j, const double* c, Index* indices, double* values) const = 0;
};

/// The products of a matrix of this library. The result refers to `x`.
std::unique_ptr<ColumnProducts> column_products(const Columns& x);  // matrices.hpp

}  // namespace tutelage
