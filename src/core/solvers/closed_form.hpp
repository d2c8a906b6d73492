// Least squares with a quadratic penalty, without iteration.
//
//     minimise (1 / 2S) sum_i s_i |y_i - W x_i - b|^2 + penalty(W)
//
// The minimum solves (G + Q) w = r for each output, G = X_c' s X_c / S, r = X_c' s y_c / S, X_c and y_c centred when
// there is an intercept. One pass over X makes G and r for all outputs; what follows depends on the shape and the
// numbers:
//
//   gram     d <= n, or any d with a penalty that is not uniform: Cholesky of G + Q.
//   kernel   n < d: the same solution through the n x n matrix X_c X_c' (uniform penalty, or none).
//   spectral the factor above has a pivot at rounding level: columns are collinear. Without a penalty X itself is
//   reduced
//            by QR, block of rows after block, and solved by its singular values, which squares nothing; with one, the
//            eigenvectors of G + Q serve. Either gives the solution of least norm.
//
// The gap is exact: the risk is quadratic, so primal - minimum = e' (G + Q)^+ e / 2, e the residual of the equations.
#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>

#include "core/machine/blas.hpp"
#include "core/machine/cholesky.hpp"
#include "core/risk.hpp"
#include "core/solvers/certificate.hpp"
#include "core/solvers/moments.hpp"
#include "core/solvers/newton.hpp"

namespace tutelage {

class ClosedForm {
 public:
  ClosedForm(const Risk& risk, const Stopping& stopping, bool keep_spectrum = false)
      : risk_(risk),
        watch_(stopping),
        n_(risk.rows()),
        d_(risk.columns()),
        k_(risk.scores()),
        keep_spectrum_(keep_spectrum) {}

  /// The singular values of the centred X, where they were asked to be kept.
  Spectrum take_spectrum() { return std::move(spectrum_); }

  Fit run() {
    Fit fit;
    fit.certificate.solver = "closed_form";
    fit.point.assign(std::size_t(risk_.size()), 0.0);
    const double strength = uniform_strength();
    // Gram costs n d^2, kernel n^2 d; below a few columns the question is idle.
    if (n_ < d_ && d_ > 16 && strength >= 0 && through_kernel(fit, strength)) return finish(fit);
    if (n_ < d_ && d_ > 4096 && strength == 0) {
      through_rows(fit);
      return finish(fit);
    }
    through_gram(fit);
    return finish(fit);
  }

 private:
  Fit& finish(Fit& fit) {
    Certificate& c = fit.certificate;
    c.gap = gap_between(c.gap, 0);
    c.dual = c.primal - c.gap;
    c.rounds = 1;
    c.passes = risk_.passes();
    c.seconds = watch_.seconds();
    c.reason = Reason::converged;
    return fit;
  }

  /// The strength of a penalty strength |w|^2 / 2, zero for none, negative for any other.
  double uniform_strength() const {
    Vector q(std::size_t(k_ * d_), 0.0), g(q);
    if (q.empty() || !(risk_.penalty().facts().separable && risk_.penalty().facts().quadratic)) return -1;
    risk_.penalty().add_hessian_diagonal(k_, d_, q.data());
    risk_.penalty().add_gradient(Vector(q.size(), 0.0).data(), k_, d_, g.data());
    for (std::size_t j = 0; j < q.size(); ++j) {
      if (q[j] != q[0] || g[j] != 0) return -1;
    }
    return q[0];
  }

  static void require_number(double square) {
    if (!std::isfinite(square))
      throw std::invalid_argument("X has NaN, infinity or numbers too large to square; impute or rescale them.");
  }

  // ---- gram ---------------------------------------------------------------------------------------------------------

  void through_gram(Fit& fit) {
    const Moments moments(risk_);
    const Vector &h = moments.gram, &r = moments.cross;
    for (Index j = 0; j < d_; ++j) require_number(h[std::size_t(j * d_ + j)]);
    fit.certificate.gap = 0;
    solve_gram(h, r, fit);
    double gained = moments.energy - moments.centred_energy();
    for (Index c = 0; c < k_; ++c) {
      const double* w = fit.point.data() + c * d_;
      if (risk_.intercept() && !by_rows_) {
        double b = moments.target_mean[std::size_t(c)];
        for (Index j = 0; j < d_; ++j) b -= moments.column_mean[std::size_t(j)] * w[j];
        fit.point[std::size_t(k_ * d_ + c)] = b;
      }
      Vector product(std::size_t(d_), 0.0);
      symmetric_times(h, w, product.data());
      for (Index j = 0; j < d_; ++j) gained += w[j] * (r[std::size_t(c * d_ + j)] - product[std::size_t(j)] / 2);
    }
    if (keep_spectrum_ && !by_rows_) {
      Vector means = moments.column_mean;
      for (std::size_t j = 0; j < risk_.shift().size(); ++j) means[j] += risk_.shift()[j];
      spectrum_ = Spectrum(h, d_, risk_.total_weight(), std::min(n_, d_), std::move(means));
    }
    if (by_rows_) return;
    const double loss = moments.energy - gained;
    // Near a perfect fit the difference of two large sums is noise: read X once more.
    fit.certificate.primal =
        loss > 1e-5 * moments.energy ? loss + risk_.penalty().value(fit.point.data(), k_, d_) : risk_.value(fit.point);
  }

  void symmetric_times(const Vector& h, const double* x, double* out) const {
    for (Index i = 0; i < d_; ++i) {
      const double* row = h.data() + i * d_;
      double sum = row[i] * x[i];
      for (Index j = 0; j < i; ++j) {
        sum += row[j] * x[j];
        out[j] += row[j] * x[i];
      }
      out[i] += sum;
    }
  }

  /// The Hessian of the penalty in the coefficients of one output: its diagonal where it has no more, since with many
  /// columns a matrix of zeros is as large as the Gram matrix.
  struct Quadratic {
    bool diagonal = true;
    Vector entries;
    bool operator==(const Quadratic&) const = default;
  };

  Quadratic quadratic(Index c) const {
    Quadratic q;
    q.diagonal = risk_.penalty().facts().separable;
    if (q.diagonal) {
      Vector all(std::size_t(k_ * d_), 0.0);
      risk_.penalty().add_hessian_diagonal(k_, d_, all.data());
      q.entries.assign(all.begin() + c * d_, all.begin() + (c + 1) * d_);
    } else {
      q.entries.assign(std::size_t(d_ * d_), 0.0);
      risk_.penalty().add_hessian(c, d_, q.entries.data());
    }
    return q;
  }

  /// h += q in the lower triangle.
  void add_quadratic(const Quadratic& q, Vector& h) const {
    for (Index i = 0; i < d_; ++i) {
      if (q.diagonal) {
        h[std::size_t(i * d_ + i)] += q.entries[std::size_t(i)];
        continue;
      }
      for (Index j = 0; j <= i; ++j) h[std::size_t(i * d_ + j)] += q.entries[std::size_t(i * d_ + j)];
    }
  }

  /// out = (h + q) x
  void times(const Vector& h, const Quadratic& q, const double* x, Vector& out) const {
    out.assign(std::size_t(d_), 0.0);
    symmetric_times(h, x, out.data());
    for (Index i = 0; i < d_; ++i) {
      if (q.diagonal) {
        out[std::size_t(i)] += q.entries[std::size_t(i)] * x[i];
        continue;
      }
      for (Index j = 0; j < d_; ++j) out[std::size_t(i)] += q.entries[std::size_t(i * d_ + j)] * x[j];
    }
  }

  /// Solves (H + Q_c) w_c = r_c - q_c for each output; one factor serves outputs with equal penalties.
  void solve_gram(const Vector& h, const Vector& r, Fit& fit) {
    Vector factor, product;
    Quadratic last;
    bool flat = false;
    for (Index c = 0; c < k_; ++c) {
      Quadratic q = quadratic(c);
      if (c == 0 || q != last) {
        factor = h;
        add_quadratic(q, factor);
        flat = !factor_scaled(factor);
      }
      if (flat) break;
      double* w = fit.point.data() + c * d_;
      const Vector goal = right_side(r, c);
      Vector residual = goal;
      // Solve, then refine with the residual while that gains anything; what could still be gained is the gap.
      double first = 0;
      for (int round = 0;; ++round) {
        Vector step(residual);
        solve_scaled(factor, step);
        const double gain = dot(residual, step) / 2;
        if (round == 0) first = gain;
        if (round == 3 || (round > 0 && gain <= 1e-28 * first)) {
          fit.certificate.gap += gain;
          break;
        }
        for (Index j = 0; j < d_; ++j) w[j] += step[std::size_t(j)];
        times(h, q, w, product);
        for (Index j = 0; j < d_; ++j) residual[std::size_t(j)] = goal[std::size_t(j)] - product[std::size_t(j)];
      }
      last = std::move(q);
    }
    if (flat && risk_.penalty().facts().strong_convexity == 0 && uniform_strength() == 0) {
      by_rows_ = true;
      through_rows(fit);
    } else if (flat) {
      through_eigenvectors(h, r, fit);
    }
  }

  /// r_c minus the linear part of the penalty.
  Vector right_side(const Vector& r, Index c) const {
    Vector zero(std::size_t(k_ * d_), 0.0), linear(zero), out(std::size_t(d_), 0.0);
    risk_.penalty().add_gradient(zero.data(), k_, d_, linear.data());
    for (Index j = 0; j < d_; ++j) out[std::size_t(j)] = r[std::size_t(c * d_ + j)] - linear[std::size_t(c * d_ + j)];
    return out;
  }

  /// Cholesky after scaling the diagonal to one, so that the units of the columns do not look like collinearity.
  bool factor_scaled(Vector& h) {
    scale_.assign(std::size_t(d_), 1.0);
    for (Index j = 0; j < d_; ++j) {
      const double entry = h[std::size_t(j * d_ + j)];
      if (!(entry > 0)) return false;
      scale_[std::size_t(j)] = 1 / std::sqrt(entry);
    }
    for (Index i = 0; i < d_; ++i) {
      for (Index j = 0; j <= i; ++j) h[std::size_t(i * d_ + j)] *= scale_[std::size_t(i)] * scale_[std::size_t(j)];
    }
    return cholesky(h.data(), d_, 1e-11);
  }
  void solve_scaled(const Vector& factor, Vector& v) const {
    for (Index j = 0; j < d_; ++j) v[std::size_t(j)] *= scale_[std::size_t(j)];
    cholesky_solve(factor.data(), d_, v.data());
    for (Index j = 0; j < d_; ++j) v[std::size_t(j)] *= scale_[std::size_t(j)];
  }

  // ---- spectral -----------------------------------------------------------------------------------------------------

  /// (H + Q)^+ through the eigenvectors of H + Q.
  void through_eigenvectors(const Vector& h, const Vector& r, Fit& fit) {
    for (Index c = 0; c < k_; ++c) {
      Vector a(std::size_t(d_ * d_), 0.0);
      risk_.penalty().add_hessian(c, d_, a.data());
      for (Index i = 0; i < d_; ++i) {
        for (Index j = 0; j <= i; ++j) a[std::size_t(i * d_ + j)] += h[std::size_t(i * d_ + j)];
      }
      const Vector values = eigenvalues(a, d_, true);
      const Vector goal = right_side(r, c);
      const double floor = 1e-13 * double(d_) * std::max(values[std::size_t(d_ - 1)], 0.0);
      double* w = fit.point.data() + c * d_;
      std::fill_n(w, d_, 0.0);
      for (Index e = 0; e < d_; ++e) {
        if (!(values[std::size_t(e)] > floor)) continue;
        const double* vector = a.data() + e * d_;
        double along = 0;
        for (Index j = 0; j < d_; ++j) along += vector[j] * goal[std::size_t(j)];
        for (Index j = 0; j < d_; ++j) w[j] += along / values[std::size_t(e)] * vector[j];
      }
      fit.certificate.gap += left_to_gain(h, c, goal, w, a, values, floor);
    }
    fit.certificate.solver = "closed_form (eigenvectors)";
  }

  /// e' (H + Q)^+ e / 2 with e = goal - (H + Q) w, from the eigenvectors of H + Q (one a row) above the floor.
  double left_to_gain(const Vector& h, Index c, const Vector& goal, const double* w, const Vector& vectors,
                      const Vector& values, double floor) const {
    Vector product(std::size_t(d_), 0.0), q(std::size_t(d_ * d_), 0.0);
    symmetric_times(h, w, product.data());
    risk_.penalty().add_hessian(c, d_, q.data());
    for (Index i = 0; i < d_; ++i) {
      for (Index j = 0; j < d_; ++j) product[std::size_t(i)] += q[std::size_t(i * d_ + j)] * w[j];
    }
    double gap = 0;
    for (Index e = 0; e < d_; ++e) {
      if (!(values[std::size_t(e)] > floor)) continue;
      double along = 0;
      for (Index j = 0; j < d_; ++j) {
        along += vectors[std::size_t(e * d_ + j)] * (goal[std::size_t(j)] - product[std::size_t(j)]);
      }
      gap += along * along / values[std::size_t(e)] / 2;
    }
    return gap;
  }

  /// Least norm without a penalty: X reduced by QR a block of rows at a time, then by singular values.
  void through_rows(Fit& fit) {
    const SerialBlas serial;
    const Rows& x = *risk_.sample().x;
    const double* s = risk_.sample().weights;
    const Index width = d_ + k_, step = std::clamp<Index>(2 * width, 64, 1024);
    const Vector centre = weighted_means(risk_);
    Index kept = 0, room = std::min(n_, width) + step;
    Vector stack(std::size_t(room * width), 0.0);  // column order
    const double* y = risk_.sample().y;
    for (Index first = 0; first < n_; first += step) {
      const Index count = std::min(step, n_ - first);
      Vector identity(std::size_t(count * count), 0.0), dense(std::size_t(count * d_), 0.0);
      for (Index i = 0; i < count; ++i) identity[std::size_t(i * count + i)] = 1;
      x.add_transpose_times({first, count}, identity.data(), count, dense.data());
      for (Index i = 0; i < count; ++i) {
        const double root = s == nullptr ? 1.0 : std::sqrt(s[first + i]);
        for (Index j = 0; j < d_; ++j) {
          stack[std::size_t(j * room + kept + i)] = root * (dense[std::size_t(i * d_ + j)] - centre[std::size_t(j)]);
        }
        for (Index c = 0; c < k_; ++c) {
          stack[std::size_t((d_ + c) * room + kept + i)] =
              root * (y[(first + i) * k_ + c] - centre[std::size_t(d_ + c)]);
        }
      }
      kept += count;
      if (kept > width && first + count < n_) kept = reduce(stack, room, kept, width);
    }
    risk_.count_passes(2);
    if (kept > width) kept = reduce(stack, room, kept, width);
    solve_singular(stack, room, kept, centre, fit);
    fit.certificate.solver = "closed_form (singular values)";
    fit.certificate.primal = risk_.value(fit.point);
    fit.certificate.gap = 0;
  }

  /// Householder QR of the first `rows` rows of the stack; leaves R there.
  static Index reduce(Vector& stack, Index room, Index rows, Index width) {
    const Index rank = std::min(rows, width);
    Vector tau(static_cast<std::size_t>(rank)), work(std::size_t(64 * width));
    int info = 0;
    fortran(blas.dgeqrf, rows, width, stack.data(), room, tau.data(), work.data(), Index(work.size()), &info);
    for (Index j = 0; j < width; ++j) {
      for (Index i = j + 1; i < rows; ++i) stack[std::size_t(j * room + i)] = 0;
    }
    return rank;
  }

  void solve_singular(Vector& stack, Index room, Index rows, const Vector& centre, Fit& fit) {
    const Index tall = std::max(rows, d_);
    Vector right(std::size_t(tall * k_), 0.0), values(std::size_t(std::max<Index>(1, std::min(rows, d_))));
    for (Index c = 0; c < k_; ++c) {
      for (Index i = 0; i < rows; ++i) right[std::size_t(c * tall + i)] = stack[std::size_t((d_ + c) * room + i)];
    }
    for (const double v : stack) {
      if (!std::isfinite(v)) {
        throw std::invalid_argument("Entries of X or y are so large that their squares overflow. Scale them down.");
      }
    }
    if (rows > 0 && d_ > 0) {
      int info = 0, rank = 0;
      double size = 0;
      int more = 0;
      const double floor = 2.2e-16 * double(std::max(n_, d_));
      fortran(blas.dgelsd, rows, d_, k_, stack.data(), room, right.data(), tall, values.data(), floor, &rank, &size,
              Index(-1), &more, &info);
      Vector work(std::size_t(size) + 1);
      std::vector<int> integers(std::size_t(std::max(1, more)));
      fortran(blas.dgelsd, rows, d_, k_, stack.data(), room, right.data(), tall, values.data(), floor, &rank,
              work.data(), Index(work.size()), integers.data(), &info);
      if (info != 0) throw std::runtime_error("LAPACK's dgelsd did not converge.");
      values.resize(std::size_t(std::min(n_, d_)), 0.0);
      if (keep_spectrum_) spectrum_ = Spectrum(values);
    }
    for (Index c = 0; c < k_; ++c) {
      double moved = 0;
      for (Index j = 0; j < d_; ++j) {
        const double w = right[std::size_t(c * tall + j)];
        fit.point[std::size_t(c * d_ + j)] = w;
        moved += w * (centre[std::size_t(j)] - (risk_.shift().empty() ? 0.0 : risk_.shift()[std::size_t(j)]));
      }
      if (risk_.intercept()) fit.point[std::size_t(k_ * d_ + c)] = centre[std::size_t(d_ + c)] - moved;
    }
  }

  // ---- kernel -------------------------------------------------------------------------------------------------------

  /// w = X_c' a with (X_c X_c' / S + strength) a = y_c / S. False when a pivot is at rounding level.
  bool through_kernel(Fit& fit, double strength) {
    const double* s = risk_.sample().weights;
    const Vector centre = weighted_means(risk_);
    Vector kernel = centred_kernel(risk_, centre);
    Vector untouched = keep_spectrum_ ? kernel : Vector();
    double largest = 0;
    for (Index i = 0; i < n_; ++i) {
      require_number(kernel[std::size_t(i * n_ + i)]);
      largest = std::max(largest, kernel[std::size_t(i * n_ + i)]);
    }
    const double total = risk_.total_weight();
    for (Index i = 0; i < n_; ++i) {
      for (Index j = 0; j <= i; ++j) {
        // Centred rows sum to zero with these weights: a constant in that direction keeps the matrix regular.
        const double root = s == nullptr ? 1.0 : std::sqrt(s[i] * s[j]);
        if (risk_.intercept()) kernel[std::size_t(i * n_ + j)] += root * largest / double(n_);
      }
      kernel[std::size_t(i * n_ + i)] += strength * total;
    }
    if (!cholesky(kernel.data(), n_, strength > 0 ? 1e-14 : 1e-9)) return false;
    for (Index c = 0; c < k_; ++c) {
      Vector a(static_cast<std::size_t>(n_));
      for (Index i = 0; i < n_; ++i) {
        const double root = s == nullptr ? 1.0 : std::sqrt(s[i]);
        a[std::size_t(i)] = root * (risk_.sample().y[i * k_ + c] - centre[std::size_t(d_ + c)]);
      }
      cholesky_solve(kernel.data(), n_, a.data());
      double sum = 0;
      for (Index i = 0; i < n_; ++i) {
        a[std::size_t(i)] *= s == nullptr ? 1.0 : std::sqrt(s[i]);
        sum += a[std::size_t(i)];
      }
      double* w = fit.point.data() + c * d_;
      risk_.sample().x->add_transpose_times({0, n_}, a.data(), 1, w);
      double moved = 0;
      for (Index j = 0; j < d_; ++j) {
        w[j] -= sum * centre[std::size_t(j)];
        moved += w[j] * (centre[std::size_t(j)] - (risk_.shift().empty() ? 0.0 : risk_.shift()[std::size_t(j)]));
      }
      if (risk_.intercept()) fit.point[std::size_t(k_ * d_ + c)] = centre[std::size_t(d_ + c)] - moved;
    }
    certify_kernel(fit, strength);
    if (keep_spectrum_) spectrum_ = Spectrum(std::move(untouched), n_, 1.0, n_);
    fit.certificate.solver = "closed_form (kernel)";
    return true;
  }

  /// The gap by Fenchel's inequality: |gradient|^2 / (2 strength), or the value itself without a penalty.
  void certify_kernel(Fit& fit, double strength) {
    Risk::Local local;
    risk_.evaluate(fit.point, local);
    fit.certificate.primal = local.value;
    double square = 0;
    for (Index j = 0; j < k_ * d_; ++j) square += local.gradient[std::size_t(j)] * local.gradient[std::size_t(j)];
    fit.certificate.gap = strength > 0 ? std::min(local.value, square / (2 * strength)) : 0;
  }

  const Risk& risk_;
  Watch watch_;
  Index n_, d_, k_;
  bool keep_spectrum_;
  bool by_rows_ = false;
  Vector scale_;
  Spectrum spectrum_;
};

}  // namespace tutelage
