// The two shapes of a loss of one score.
//
// Most losses are a function of one number: the margin m = y z (labels -1 and +1) or the residual r = z - y. Such a
// loss writes value_at, slope_at, ... of that number, and the chain rule stands here, once:
//
//     margin:    d/dz f(y z)   = y f'(y z)       sup_z a z - f(y z)   = f*(y a)         prox(y, z) = y prox_f(y z)
//     distance:  d/dz f(z - y) = f'(z - y)       sup_z a z - f(z - y) = a y + f*(a)     prox(y, z) = y + prox_f(z - y)
//
// (y^2 = 1 for margins). What a shape does not write (curvature_at of the hinge) its loss does not have.
#pragma once
#include "core/concepts.hpp"
#include "core/machine/numerics.hpp"
#include "core/registry.hpp"

namespace tutelage {

/// How far outside a bounded domain a dual variable may stand and still count as on its boundary: multipliers and
/// scaled slopes carry rounding, and an infinite conjugate would throw away a certificate for the last bit.
inline constexpr double domain_slack = 1e-12;

/// A loss f(y z) of the margin.
template <class Self>
struct Margin {
  TUTELAGE_INLINE double value(double y, double z) const { return self().value_at(y * z); }
  TUTELAGE_INLINE double slope(double y, double z) const { return y * self().slope_at(y * z); }
  TUTELAGE_INLINE double curvature(double y, double z) const
    requires requires(const Self s) { s.curvature_at(0.0); }
  {
    return self().curvature_at(y * z);
  }
  TUTELAGE_INLINE double conjugate(double y, double a) const
    requires requires(const Self s) { s.conjugate_at(0.0); }
  {
    return self().conjugate_at(y * a);
  }
  TUTELAGE_INLINE double prox(double y, double z, double step) const
    requires requires(const Self s) { s.prox_at(0.0, 1.0); }
  {
    return y * self().prox_at(y * z, step);
  }
  TUTELAGE_INLINE double prox_slope(double y, double z, double step) const
    requires requires(const Self s) { s.prox_slope_at(0.0, 1.0); }
  {
    return self().prox_slope_at(y * z, step);
  }

 private:
  const Self& self() const { return static_cast<const Self&>(*this); }
};

/// A loss f(z - y) of the residual.
template <class Self>
struct Distance {
  TUTELAGE_INLINE double value(double y, double z) const { return self().value_at(z - y); }
  TUTELAGE_INLINE double slope(double y, double z) const { return self().slope_at(z - y); }
  TUTELAGE_INLINE double curvature(double y, double z) const
    requires requires(const Self s) { s.curvature_at(0.0); }
  {
    return self().curvature_at(z - y);
  }
  TUTELAGE_INLINE double conjugate(double y, double a) const
    requires requires(const Self s) { s.conjugate_at(0.0); }
  {
    return a * y + self().conjugate_at(a);
  }
  TUTELAGE_INLINE double prox(double y, double z, double step) const
    requires requires(const Self s) { s.prox_at(0.0, 1.0); }
  {
    return y + self().prox_at(z - y, step);
  }
  TUTELAGE_INLINE double prox_slope(double y, double z, double step) const
    requires requires(const Self s) { s.prox_slope_at(0.0, 1.0); }
  {
    return self().prox_slope_at(z - y, step);
  }

 private:
  const Self& self() const { return static_cast<const Self&>(*this); }
};

}  // namespace tutelage
