// Arrays of numbers on their way in and out.
#pragma once
#include <nanobind/ndarray.h>

#include <cstddef>
#include <initializer_list>
#include <string>

#include "bind/bind.hpp"
#include "core/machine/index.hpp"

namespace tutelage {

/// Float64, contiguous, of any shape: read as one run of numbers.
using Numbers = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using NewNumbers = nb::ndarray<nb::numpy, double, nb::c_contig>;

/// A new array, zero everywhere, that Python will own.
inline NewNumbers new_numbers(std::initializer_list<std::size_t> shape) {
  std::size_t count = 1;
  for (const std::size_t length : shape) count *= length;
  auto* const data = new double[count]();
  const nb::capsule owner(data, [](void* held) noexcept { delete[] static_cast<double*>(held); });
  return NewNumbers(data, shape, owner);
}

/// A copy of numbers of ours that Python may keep, with rows of the given width; one-dimensional when that is 1.
inline nb::object copied(const double* data, Index rows, Index width) {
  NewNumbers made =
      width == 1 ? new_numbers({std::size_t(rows)}) : new_numbers({std::size_t(rows), std::size_t(width)});
  for (Index i = 0; i < rows * width; ++i) made.data()[i] = data[i];
  return nb::cast(made);
}

/// What a Python function answered, as so many numbers; `who` begins the sentence that refuses anything else.
class Answer {
 public:
  Answer(nb::handle answered, Index count, const std::string& who) {
    const nb::object as_array = nb::module_::import_("numpy").attr("ascontiguousarray")(answered, "float64");
    numbers_ = nb::cast<Numbers>(as_array);
    if (Index(numbers_.size()) != count)
      throw nb::value_error(
          (who + " gave " + std::to_string(numbers_.size()) + " numbers where " + std::to_string(count) + " were due.")
              .c_str());
  }
  double operator[](Index i) const { return numbers_.data()[i]; }

 private:
  Numbers numbers_;
};

}  // namespace tutelage
