// What a loss, a penalty and a matrix must say.
//
// The library minimises one sentence,
//
//     (1 / S) sum_i s_i loss(y_i, z_i) + penalty(w),     z_i = x_i . w + b,     S = sum_i s_i,
//
// and these concepts are its words. A loss and a separable penalty are scalar mathematics: they own no loop, no thread,
// no layout and no dtype. The `Any...` classes are the same words erased to one virtual call per vector: solvers whose
// loop is a vector speak to them, solvers whose loop is a sample or a coordinate take the concept as a template.
//
// Layout, everywhere: with k scores per row, scores Z and slopes are n x k with the k scores of a row adjacent;
// coefficients W and gradients are k x d with the d coefficients of a score adjacent. Everything but X is double.
#pragma once
#include <concepts>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/index.hpp"

namespace tutelage {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

// ---- losses -------------------------------------------------------------------------------------------------------

/// What targets a loss accepts. `label` is -1 or +1, `category` is 0, 1, ..., k - 1.
enum class Targets { label, category, real, nonnegative, positive };

/// What is true of a loss; a number that depends on its parameters (delta of Huber) is computed for those parameters.
struct LossFacts {
  std::string_view name;
  std::string_view formula;
  Targets targets = Targets::real;
  bool convex = true;
  bool quadratic = false;        // the same curvature everywhere: a quadratic model of the risk is the risk
  bool trainable = true;         // false: evaluation only (zero-one)
  bool calibrated = false;       // classification-calibrated (Bartlett, Jordan, McAuliffe 2006)
  bool relative = false;         // of several scores, only their differences matter
  double smoothness = infinity;  // sup of the curvature in z; infinity where there is none
  double lipschitz = infinity;   // sup of |slope| in z
  bool has_curvature = false;    // a (generalised) second derivative that Newton's method may use
  bool has_conjugate = false;
  bool has_prox = false;
  std::string_view kink = "none";  // which subgradient is given where there are several
};

template <class L>
concept Loss = requires(const L loss, double y, double z) {
  { loss.facts() } -> std::same_as<LossFacts>;
  { loss.value(y, z) } -> std::same_as<double>;
  { loss.slope(y, z) } -> std::same_as<double>;  // d value / dz, or the subgradient that facts().kink names
};
template <class L>
concept SmoothLoss = Loss<L> && requires(const L loss, double y, double z) {
  { loss.curvature(y, z) } -> std::same_as<double>;  // d slope / dz, where it exists; >= 0 for a convex loss
};
template <class L>
concept DualLoss = Loss<L> && requires(const L loss, double y, double a) {
  { loss.conjugate(y, a) } -> std::same_as<double>;  // sup_z a z - value(y, z); +infinity outside its domain
};
template <class L>
concept ProximalLoss = Loss<L> && requires(const L loss, double y, double z, double step) {
  { loss.prox(y, z, step) } -> std::same_as<double>;  // argmin_u (u - z)^2 / 2 + step value(y, u)
};

/// A loss over blocks of rows. Sums are weighted by s (nullptr: every weight is 1); nothing is divided by S here.
class AnyLoss {
 public:
  virtual ~AnyLoss() = default;
  virtual LossFacts facts() const = 0;
  virtual Index scores() const { return 1; }   // k
  virtual Index targets() const { return 1; }  // columns of y; k for losses of several outputs
  /// True when a call is dear (it enters Python): the risk then asks for all rows at once, on the calling thread.
  virtual bool whole() const { return false; }

  /// Returns sum_i s_i value(y_i, z_i). Where not null, slope[i] = s_i slope and curvature[i] = s_i curvature; for k >
  /// 1 curvature holds the diagonal d^2 value / dz_c^2 only.
  virtual double evaluate(const double* y, const double* s, const double* z, Index n, double* slope,
                          double* curvature) const = 0;
  /// out_i = s_i * (Hessian of value in z at z_i) u_i; for k = 1 it is s_i curvature_i u_i.
  virtual void curvature_times(const double* y, const double* s, const double* z, const double* u, Index n,
                               double* out) const = 0;
  /// The Hessians of the rows, pair of scores by pair: out[pair * stride + i] = s_i d^2 value / dz_a dz_b, the pairs
  /// (a, b), a >= b, in columns of the triangle: (0, 0), (1, 0), ..., (1, 1), (2, 1), ...
  virtual void curvature_pairs(const double* y, const double* s, const double* z, Index n, double* out,
                               Index stride) const {
    const Index k = scores();
    std::vector<double> unit(static_cast<std::size_t>(n * k), 0.0), column(unit);
    Index pair = 0;
    for (Index b = 0; b < k; ++b) {
      for (Index i = 0; i < n; ++i) {
        if (b > 0) unit[static_cast<std::size_t>(i * k + b - 1)] = 0;
        unit[static_cast<std::size_t>(i * k + b)] = 1;
      }
      curvature_times(y, s, z, unit.data(), n, column.data());
      for (Index a = b; a < k; ++a, ++pair) {
        for (Index i = 0; i < n; ++i) out[pair * stride + i] = column[static_cast<std::size_t>(i * k + a)];
      }
    }
  }
  /// out(a, b) += sum_i s_i d^2 value / dz_a dz_b, the lower triangle of a k x k matrix.
  virtual void curvature_sum(const double* y, const double* s, const double* z, Index n, double* out) const {
    const Index k = scores();
    std::vector<double> pairs(static_cast<std::size_t>(n * k * (k + 1) / 2));
    curvature_pairs(y, s, z, n, pairs.data(), n);
    const double* from = pairs.data();
    for (Index b = 0; b < k; ++b) {
      for (Index a = b; a < k; ++a, from += n) {
        for (Index i = 0; i < n; ++i) out[a * k + b] += from[i];
      }
    }
  }
  /// Returns sum_i s_i conjugate(y_i, a_i) (a is not weighted), infinity if any a_i is outside the domain.
  virtual double conjugate(const double* y, const double* s, const double* a, Index n) const = 0;

  /// Row by row, out_i = argmin_u |u - z_i|^2 / 2 + step value(y_i, u), for a loss with facts().has_prox.
  virtual void prox(const double*, const double*, double, Index, double*) const {
    throw std::logic_error("the loss '" + std::string(facts().name) + "' has no proximal operator");
  }
  /// Row by row, out_i = (derivative of prox at z_i) u_i; on a corner of prox, of one side.
  virtual void prox_slope_times(const double*, const double*, double, const double*, Index, double*) const {
    throw std::logic_error("the loss '" + std::string(facts().name) + "' has no proximal operator");
  }
  /// A quicker envelope for this sigma than the one that losses/envelope.hpp makes of prox, or null. Do not call it:
  /// call make_envelope, which does.
  virtual std::unique_ptr<AnyLoss> envelope(double) const { return nullptr; }
};

// ---- penalties ----------------------------------------------------------------------------------------------------

/// What is true of a penalty for its parameters.
struct PenaltyFacts {
  std::string_view name;
  std::string_view formula;
  bool convex = true;
  bool separable = false;       // a sum over coefficients: prox_one and value_one may be used
  bool quadratic = false;       // w'Qw / 2 + q'w + const: Newton's method and the closed form may use it
  double strong_convexity = 0;  // largest m with penalty - m |w|^2 / 2 convex
  bool has_conjugate = false;
  bool scales_dual =
      true;             // 0 is inside the domain of the conjugate: dual_scale makes any v feasible and keeps some of it
  bool smooth = false;  // differentiable: add_gradient may be used (a quadratic penalty is smooth)
  bool has_prox = true;
};

/// The scalar form, for one coefficient. Strengths and weights live in the struct.
template <class P>
concept Penalty = requires(const P penalty, double w, double step) {
  { penalty.facts() } -> std::same_as<PenaltyFacts>;
  { penalty.value(w) } -> std::same_as<double>;
  { penalty.prox(w, step) } -> std::same_as<double>;  // argmin_u (u - w)^2 / 2 + step value(u)
};

/// A penalty over the k x d coefficients of one fit. The intercept is never among them.
class AnyPenalty {
 public:
  virtual ~AnyPenalty() = default;
  virtual PenaltyFacts facts() const = 0;
  /// Throws std::invalid_argument where lists given for each coefficient (weights, bounds, groups) do not fit k and d.
  virtual void check(Index, Index) const {}
  virtual double value(const double* w, Index k, Index d) const = 0;
  /// out = argmin_u |u - v|^2 / 2 + step value(u); out may be v.
  virtual void prox(const double* v, double step, Index k, Index d, double* out) const = 0;

  // Separable penalties: coefficient number j = score * d + column.
  virtual double value_one(Index j, double w) const = 0;
  virtual double prox_one(Index j, double v, double step) const = 0;

  // Quadratic penalties. add_hessian adds Q to one d x d matrix (row-major, both triangles) for score c.
  virtual void add_gradient(const double* w, Index k, Index d, double* g) const = 0;
  virtual void add_hessian(Index score, Index d, double* h) const = 0;
  virtual void add_hessian_times(const double* v, Index k, Index d, double* out) const = 0;
  virtual void add_hessian_diagonal(Index k, Index d, double* diagonal) const = 0;
  /// For a smooth penalty: adds the diagonal of its Hessian at w, which is all of it where the penalty is separable.
  virtual void add_curvature(const double*, Index k, Index d, double* diagonal) const {
    add_hessian_diagonal(k, d, diagonal);
  }

  // Duality: conjugate(v) = sup_w v.w - value(w); dual_scale(v) is the largest t in [0, 1] with conjugate(t v) finite.
  virtual double conjugate(const double* v, Index k, Index d) const = 0;
  virtual double dual_scale(const double* v, Index k, Index d) const = 0;
  /// Whether conjugate is infinite where v_j = v, however small v is, so that no scale helps. d columns.
  virtual bool pinned(Index /* j */, Index /* d */, double /* v */) const { return false; }
  /// Distance (maximum norm) from -g to the subdifferential of the penalty at w: zero at a stationary point.
  virtual double stationarity(const double* w, const double* g, Index k, Index d) const = 0;
};

// ---- matrices -----------------------------------------------------------------------------------------------------

/// A run of rows [first, first + count).
struct Block {
  Index first = 0;
  Index count = 0;
};

/// Products with many scores of a matrix that is sparse and wide. The k coefficients of a column stand together, W is
/// turned once for a whole pass, and each column of G is made whole, by whoever takes it.
class ColumnSums {
 public:
  virtual ~ColumnSums() = default;
  /// Numbers of room that `turn` needs for each column.
  virtual Index padded(Index k) const = 0;
  virtual void turn(const double* w, Index k, double* turned) const = 0;
  /// z = X_block W', W having been turned.
  virtual void times(Block block, const double* turned, Index k, double* z) const = 0;
  /// G is k x d; S is n x k.
  virtual void transpose_times(const double* s, Index k, double* g) const = 0;
};

/// A matrix read by blocks of rows. Block operations never start threads: the caller owns the loop over blocks.
class Rows {
 public:
  virtual ~Rows() = default;
  virtual Index rows() const = 0;
  virtual Index columns() const = 0;
  virtual Index stored() const = 0;  // stored entries: rows * columns when dense; decides block sizes and costs
  virtual bool sparse() const = 0;
  /// How many rows a block should have so that it stays in cache between two uses of it.
  virtual Index block_rows() const = 0;
  /// z = X_block W': z is count x k, W is k x d.
  virtual void times(Block block, const double* w, Index k, double* z) const = 0;
  /// G += S' X_block: S is count x k, G is k x d.
  virtual void add_transpose_times(Block block, const double* s, Index k, double* g) const = 0;
  /// H += sum_i c_i (x_i - shift)(x_i - shift)' over the block, lower triangle of a row-major d x d matrix. shift may
  /// be null (zero); a sparse matrix takes null only.
  virtual void add_sandwich(Block block, const double* c, const double* shift, double* h) const = 0;
  /// The same for rows `down` and columns `across` of H alone: h points at H[down.first][across.first], rows of H stand
  /// `stride` apart. What lies above the diagonal is left as it is.
  virtual void add_sandwich_tile(Block block, Block down, Block across, const double* c, const double* shift, double* h,
                                 Index stride) const {
    const Index d = columns();
    std::vector<double> whole(static_cast<std::size_t>(d * d), 0.0);
    add_sandwich(block, c, shift, whole.data());
    for (Index p = 0; p < down.count; ++p) {
      for (Index q = 0; q < across.count && across.first + q <= down.first + p; ++q) {
        h[p * stride + q] += whole[static_cast<std::size_t>((down.first + p) * d + across.first + q)];
      }
    }
  }
  /// A copy of the matrix for products with S' alone, where it makes them much faster with many scores; else null.
  virtual std::unique_ptr<ColumnSums> by_columns() const { return nullptr; }
  /// g_j += sum_i c_i x_ij^2 over the block.
  virtual void add_squares(Block block, const double* c, double* g) const = 0;
  /// Over the stored entries of the block: squares_j += sum_i c_i (x_ij - m_j)^2 and, in a sparse matrix only, seen_j
  /// += sum_i c_i. What is not stored adds m_j^2 times the weight not seen.
  virtual void add_centred_squares(Block block, const double* c, const double* m, double* squares, double* seen) const {
    std::vector<double> sums(static_cast<std::size_t>(columns()), 0.0);
    double total = 0;
    for (Index i = 0; i < block.count; ++i) total += c[i];
    add_squares(block, c, squares);
    add_transpose_times(block, c, 1, sums.data());
    for (Index j = 0; j < columns(); ++j) {
      squares[j] += m[j] * (m[j] * total - 2 * sums[static_cast<std::size_t>(j)]);
      if (sparse()) seen[j] += total;
    }
  }
};

/// A matrix read by columns.
class Columns {
 public:
  virtual ~Columns() = default;
  virtual Index rows() const = 0;
  virtual Index columns() const = 0;
  virtual Index stored() const = 0;
  virtual Index stored(Index j) const = 0;
  virtual double dot(Index j, const double* r) const = 0;                            // <x_j, r>
  virtual void add(Index j, double a, double* z) const = 0;                          // z += a x_j
  virtual double weighted_dot(Index j, const double* c, const double* r) const = 0;  // sum_i c_i x_ij r_i
  virtual double weighted_square(Index j, const double* c) const = 0;                // sum_i c_i x_ij^2; c may be null
  /// sum_i c_i (x_ij - m)^2 over all rows, stored or not, in which total = sum_i c_i. c may be null.
  virtual double centred_square(Index j, const double* c, double m, double total) const {
    const std::vector<double> ones(static_cast<std::size_t>(rows()), 1.0);
    const double sum = c == nullptr ? dot(j, ones.data()) : weighted_dot(j, c, ones.data());
    return weighted_square(j, c) + m * (m * total - 2 * sum);
  }
};

}  // namespace tutelage
