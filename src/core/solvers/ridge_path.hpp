// Every ridge fit of one data set, and its leave-one-out errors, from one factorisation.
//
//     minimise sum_i s_i |y_i - W x_i - b|^2 + alpha |W|^2        for many alphas
//
// The shorter side of X_c is factored once (moments.hpp):
//
//   gram    X_c' s X_c = V e V',    w(alpha) = V (e + alpha)^-1 V' X_c' s y_c.
//           Leverage of row i: h_i = s_i (|q_i|^2 with weights 1 / (e + alpha)) + s_i / S, q_i = V' x_i. One more
//           reading of X, by blocks of rows, makes q and everything that follows from it for all alphas.
//   kernel  K = sqrt(s) X_c X_c' sqrt(s) = U e U',  a(alpha) = U (e + alpha)^-1 U' sqrt(s) y_c,  w = X_c' sqrt(s) a.
//           With G = (K + alpha)^-1 the left-out residual is a_i / (sqrt(s_i) G_ii).
//
// Leaving out row i costs nothing more: its residual under the fit without it is residual_i / (1 - h_i). The intercept
// is part of the fit and is left out with the row.
//
// Cost: n d min(n, d) for the factor, the same once more for the errors, n min(n, d) for each alpha and output.
// A row of weight zero has an error like any other in gram form, and none (NaN) in kernel form, which does not see it.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/solvers/certificate.hpp"
#include "core/solvers/moments.hpp"

namespace tutelage {

class RidgePath {
 public:
  /// What is left of y under the fit without each row: n x k x alphas, and its weighted squares summed over the rows:
  /// alphas x k.
  struct LeftOut {
    Vector residuals;
    Vector squares;
  };

  /// The risk has the squared loss of k outputs; its penalty is not looked at.
  RidgePath(const Risk& risk, bool by_kernel)
      : risk_(risk), by_kernel_(by_kernel), n_(risk.rows()), d_(risk.columns()), k_(risk.scores()) {
    if (by_kernel_) {
      factor_kernel();
    } else {
      factor_gram();
    }
  }

  Index outputs() const { return k_; }

  /// Coefficients (d) and intercept of one output.
  double solve(Index output, double alpha, double* w) const {
    std::fill_n(w, d_, 0.0);
    const Vector shares = this->shares(alpha);
    Vector part(std::size_t(side_), 0.0);
    for (Index e = 0; e < side_; ++e) {
      const double along = shares[std::size_t(e)] * targets_[std::size_t(output * side_ + e)];
      for (Index j = 0; j < side_; ++j) part[std::size_t(j)] += along * vectors_[std::size_t(e * side_ + j)];
    }
    double moved = 0;
    if (!by_kernel_) {
      for (Index j = 0; j < d_; ++j) w[j] = part[std::size_t(j)];
    } else {
      double sum = 0;
      for (Index i = 0; i < n_; ++i) {
        part[std::size_t(i)] *= root(i);
        sum += part[std::size_t(i)];
      }
      risk_.sample().x->add_transpose_times({0, n_}, part.data(), 1, w);
      if (risk_.intercept()) {
        for (Index j = 0; j < d_; ++j) w[j] -= sum * means_[std::size_t(j)];
      }
    }
    if (!risk_.intercept()) return 0;
    for (Index j = 0; j < d_; ++j) moved += means_[std::size_t(j)] * w[j];
    return means_[std::size_t(d_ + output)] - moved;
  }

  /// How far a point (coefficients, then intercepts) can be from the fit with these alphas, one an output. Where alpha
  /// is zero the eigenvectors say what is left to gain, elsewhere the strength of the penalty bounds it.
  Certificate certify(Vector point, const Vector& alphas) const {
    const double total = risk_.total_weight();
    const Vector outside(point);
    risk_.import_point(point);
    Risk::Local local;
    risk_.evaluate(point, local);
    Certificate certificate;
    certificate.solver = by_kernel_ ? "eigenvectors of the kernel" : "eigenvectors";
    certificate.primal = local.loss;
    certificate.gap = 0;
    for (Index c = 0; c < k_; ++c) {
      const double strength = alphas[std::size_t(c)] / total;
      double size = 0, square = 0;
      Vector slope(std::size_t(d_), 0.0);
      for (Index j = 0; j < d_; ++j) {
        const double w = point[std::size_t(c * d_ + j)];
        slope[std::size_t(j)] = local.gradient[std::size_t(c * d_ + j)] + strength * w;
        size += w * w;
        square += slope[std::size_t(j)] * slope[std::size_t(j)];
      }
      certificate.primal += strength * size / 2;
      certificate.gap += strength > 0 ? square / (2 * strength) : unpenalised_gap(c, outside, slope);
    }
    certificate.gap = std::min(certificate.gap, certificate.primal);
    certificate.dual = certificate.primal - certificate.gap;
    certificate.rounds = 1;
    certificate.passes = risk_.passes();
    certificate.reason = Reason::converged;
    return certificate;
  }

  LeftOut leave_one_out(const Vector& alphas, bool keep_residuals) const {
    LeftOut out;
    const Index a = static_cast<Index>(alphas.size());
    out.squares.assign(std::size_t(a * k_), 0.0);
    if (keep_residuals) out.residuals.resize(std::size_t(n_ * k_ * a));
    Vector shares;  // alphas x side
    for (const double alpha : alphas) {
      const Vector one = this->shares(alpha);
      shares.insert(shares.end(), one.begin(), one.end());
    }
    Vector scaled(std::size_t(k_ * a * side_));  // of the targets
    for (Index c = 0; c < k_; ++c) {
      for (Index p = 0; p < a; ++p) {
        for (Index e = 0; e < side_; ++e) {
          scaled[std::size_t((c * a + p) * side_ + e)] =
              shares[std::size_t(p * side_ + e)] * targets_[std::size_t(c * side_ + e)];
        }
      }
    }
    const SerialBlas serial;
    const Index rows = std::clamp<Index>(16384 / std::max<Index>(1, side_ + a * k_), 16, 512);
    const Index tasks = (n_ + rows - 1) / rows;
    Vector parts(std::size_t(tasks * a * k_), 0.0);
    parallel_for(tasks, [&](Index task) {
      const Index first = task * rows;
      block({first, std::min(rows, n_ - first)}, a, shares, scaled, parts.data() + task * a * k_,
            keep_residuals ? out.residuals.data() : nullptr);
    });
    for (Index task = 0; task < tasks; ++task) {
      for (Index j = 0; j < a * k_; ++j) out.squares[std::size_t(j)] += parts[std::size_t(task * a * k_ + j)];
    }
    return out;
  }

 private:
  double root(Index i) const {
    const double* s = risk_.sample().weights;
    return s == nullptr ? 1.0 : std::sqrt(s[i]);
  }

  double unpenalised_gap(Index output, const Vector& point, const Vector& slope) const {
    const double total = risk_.total_weight();
    double gap = 0;
    Vector against(std::size_t(by_kernel_ ? n_ : d_));
    if (by_kernel_) {
      // What is left of y, seen along the eigenvectors that the fit could still use.
      risk_.sample().x->times({0, n_}, point.data() + output * d_, 1, against.data());
      const double b = risk_.intercept() ? point[std::size_t(k_ * d_ + output)] : 0.0;
      for (Index i = 0; i < n_; ++i) {
        against[std::size_t(i)] = root(i) * (risk_.sample().y[i * k_ + output] - against[std::size_t(i)] - b);
      }
    } else {
      against = slope;
    }
    for (Index e = 0; e < side_; ++e) {
      if (e == intercept_direction_ || values_[std::size_t(e)] == 0) continue;
      double along = 0;
      for (Index j = 0; j < side_; ++j) along += vectors_[std::size_t(e * side_ + j)] * against[std::size_t(j)];
      gap += by_kernel_ ? along * along / total / 2 : along * along * total / values_[std::size_t(e)] / 2;
    }
    return gap;
  }

  /// 1 / (e + alpha), nothing for directions that are empty or belong to the intercept.
  Vector shares(double alpha) const {
    Vector out(std::size_t(side_), 0.0);
    for (Index e = 0; e < side_; ++e) {
      if (e == intercept_direction_) continue;
      const double value = values_[std::size_t(e)];
      // An empty direction has no coefficient, but it has a place in the inverse of the kernel.
      if (value > 0 || (by_kernel_ && alpha > 0)) out[std::size_t(e)] = 1 / (value + alpha);
    }
    return out;
  }

  void factor_gram() {
    Moments moments(risk_);
    side_ = d_;
    const double total = risk_.total_weight();
    vectors_ = std::move(moments.gram);
    values_ = eigenvalues(vectors_, side_, true);
    for (double& value : values_) value *= total;
    settle(double(std::max(n_, d_)));
    means_.assign(std::size_t(d_ + k_), 0.0);
    for (Index j = 0; risk_.intercept() && j < d_; ++j) {
      means_[std::size_t(j)] =
          moments.column_mean[std::size_t(j)] + (risk_.shift().empty() ? 0.0 : risk_.shift()[std::size_t(j)]);
    }
    for (Index c = 0; c < k_; ++c) means_[std::size_t(d_ + c)] = moments.target_mean[std::size_t(c)];
    centre_.assign(std::size_t(side_), 0.0);
    for (Index e = 0; e < side_; ++e) {
      for (Index j = 0; j < d_; ++j)
        centre_[std::size_t(e)] += vectors_[std::size_t(e * d_ + j)] * means_[std::size_t(j)];
    }
    targets_.assign(std::size_t(k_ * side_), 0.0);
    for (Index c = 0; c < k_; ++c) {
      for (Index e = 0; e < side_; ++e) {
        double along = 0;
        for (Index j = 0; j < d_; ++j) {
          along += vectors_[std::size_t(e * d_ + j)] * moments.cross[std::size_t(c * d_ + j)];
        }
        targets_[std::size_t(c * side_ + e)] = total * along;
      }
    }
  }

  void factor_kernel() {
    side_ = n_;
    means_ = weighted_means(risk_);
    vectors_ = centred_kernel(risk_, means_);
    if (risk_.intercept()) {
      // Centred rows say nothing along sqrt(s). Lifted above all others, that direction is an eigenvector of its own,
      // the last, however many others have the eigenvalue zero.
      double trace = 0;
      for (Index i = 0; i < n_; ++i) trace += vectors_[std::size_t(i * n_ + i)];
      const double lift = 2 * std::max(trace, std::numeric_limits<double>::min()) / risk_.total_weight();
      for (Index i = 0; i < n_; ++i) {
        for (Index j = 0; j <= i; ++j) vectors_[std::size_t(i * n_ + j)] += lift * root(i) * root(j);
      }
      intercept_direction_ = n_ - 1;
    }
    values_ = eigenvalues(vectors_, side_, true);
    settle(double(std::max(n_, d_)));
    targets_.assign(std::size_t(k_ * side_), 0.0);
    for (Index c = 0; c < k_; ++c) {
      for (Index e = 0; e < side_; ++e) {
        double along = 0;
        for (Index i = 0; i < n_; ++i) {
          along += vectors_[std::size_t(e * n_ + i)] * root(i) *
                   (risk_.sample().y[i * k_ + c] - means_[std::size_t(d_ + c)]);
        }
        targets_[std::size_t(c * side_ + e)] = along;
      }
    }
  }

  /// Eigenvalues at rounding level are zero.
  void settle(double size) {
    const double floor = values_.empty() ? 0.0 : 2.2e-16 * size * std::max(0.0, values_.back());
    for (double& value : values_) {
      if (!(value > floor)) value = 0;
    }
  }

  void block(Block rows, Index a, const Vector& shares, const Vector& scaled, double* squares,
             double* residuals) const {
    const Index count = rows.count;
    Vector q(std::size_t(count * side_)), square(q.size());
    place_rows(rows, q);
    for (std::size_t j = 0; j < q.size(); ++j) square[j] = q[j] * q[j];
    Vector spread(std::size_t(count * a), 0.0), fits(std::size_t(count * a * k_), 0.0);
    if (side_ > 0 && count > 0) {
      fortran(blas.dgemm, 'T', 'N', a, count, side_, 1.0, shares.data(), side_, square.data(), side_, 0.0,
              spread.data(), a);
      fortran(blas.dgemm, 'T', 'N', a * k_, count, side_, 1.0, scaled.data(), side_, q.data(), side_, 0.0, fits.data(),
              a * k_);
    }
    const double* s = risk_.sample().weights;
    for (Index i = 0; i < count; ++i) {
      const Index row = rows.first + i;
      const double weight = s == nullptr ? 1.0 : s[row];
      for (Index c = 0; c < k_; ++c) {
        for (Index p = 0; p < a; ++p) {
          const double fit = fits[std::size_t(i * a * k_ + c * a + p)], extent = spread[std::size_t(i * a + p)];
          double left;
          if (by_kernel_) {
            left = fit / (root(row) * extent);
          } else {
            const double target = risk_.sample().y[row * k_ + c] - means_[std::size_t(d_ + c)];
            const double constant = risk_.intercept() ? 1 / risk_.total_weight() : 0.0;
            left = (target - fit) / (1 - weight * (extent + constant));
          }
          squares[p * k_ + c] += weight == 0 ? 0 : weight * left * left;
          if (residuals != nullptr) residuals[(row * k_ + c) * a + p] = left;
        }
      }
    }
  }

  /// The rows in the basis of the eigenvectors: V'(x_i - m), or row i of U.
  void place_rows(Block rows, Vector& q) const {
    if (by_kernel_) {
      for (Index i = 0; i < rows.count; ++i) {
        for (Index e = 0; e < side_; ++e) {
          q[std::size_t(i * side_ + e)] = vectors_[std::size_t(e * side_ + rows.first + i)];
        }
      }
      return;
    }
    risk_.sample().x->times(rows, vectors_.data(), side_, q.data());
    for (Index i = 0; risk_.intercept() && i < rows.count; ++i) {
      for (Index e = 0; e < side_; ++e) q[std::size_t(i * side_ + e)] -= centre_[std::size_t(e)];
    }
  }

  const Risk& risk_;
  bool by_kernel_;
  Index n_, d_, k_;
  Index side_ = 0;
  Index intercept_direction_ = -1;
  Vector vectors_;  // eigenvectors, one a row
  Vector values_;   // ascending
  Vector targets_;  // k x side: y in the basis of the eigenvectors
  Vector means_;    // of the columns, then of the targets
  Vector centre_;   // the column means in the basis of the eigenvectors
};

}  // namespace tutelage
