// Sorting the rows of a column: by a radix sort whose cost does not depend on the values.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/machine/index.hpp"

namespace tutelage::trees {

/// A row and the code of its value, which orders entries.
struct Entry {
  std::uint32_t row;
  std::uint32_t code;
};

/// Entries in order of their codes below 2^bits, equal codes in the order they stood in.
inline void sort_by_code(Entry* entries, Index count, int bits, std::vector<Entry>& spare) {
  if (count <= 24) {
    for (Index i = 1; i < count; ++i) {
      const Entry moved = entries[i];
      Index j = i;
      for (; j > 0 && entries[j - 1].code > moved.code; --j) entries[j] = entries[j - 1];
      entries[j] = moved;
    }
    return;
  }
  const int digit = bits <= 8 || count < 1024 ? 8 : 11;  // few rows do not pay for many counters
  const std::uint32_t mask = (1u << digit) - 1;
  spare.resize(std::max<std::size_t>(spare.size(), static_cast<std::size_t>(count)));
  Entry* from = entries;
  Entry* to = spare.data();
  std::array<std::uint32_t, 2048> start;
  for (int shift = 0; shift < bits; shift += digit) {
    std::fill_n(start.begin(), mask + 1, 0u);
    for (Index i = 0; i < count; ++i) ++start[(from[i].code >> shift) & mask];
    if (start[(from[0].code >> shift) & mask] == static_cast<std::uint32_t>(count)) continue;  // all alike
    std::uint32_t sum = 0;
    for (std::uint32_t d = 0; d <= mask; ++d) {
      const std::uint32_t many = start[d];
      start[d] = sum;
      sum += many;
    }
    for (Index i = 0; i < count; ++i) to[start[(from[i].code >> shift) & mask]++] = from[i];
    std::swap(from, to);
  }
  if (from != entries) std::copy_n(from, count, entries);
}

/// The upper half of a double as an integer in the same order.
inline std::uint32_t upper_key(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x + 0.0);  // -0 becomes 0
  const std::uint64_t ordered = bits ^ ((bits >> 63) ? ~std::uint64_t{0} : std::uint64_t{1} << 63);
  return static_cast<std::uint32_t>(ordered >> 32);
}

/// Entries whose codes are the upper halves of values[row], in order of the values, equal ones by row.
inline void sort_by_value(Entry* entries, Index count, const double* values, std::vector<Entry>& spare) {
  sort_by_code(entries, count, 32, spare);
  for (Index i = 0; i < count;) {
    Index end = i + 1;
    bool sorted = true;
    for (; end < count && entries[end].code == entries[i].code; ++end)
      sorted &= values[entries[end - 1].row] <= values[entries[end].row];
    if (!sorted)
      std::stable_sort(entries + i, entries + end,
                       [&](const Entry& a, const Entry& b) { return values[a.row] < values[b.row]; });
    i = end;
  }
}

}  // namespace tutelage::trees
