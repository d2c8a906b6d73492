// The columns of X as trees see them: codes that keep the order of the values, and nothing else of them.
//
// A split asks whether x <= t, so only the order of a column matters. Each column is sorted once and its values become
// codes 0 ... bins - 1 in their order; a missing value has the code `bins`. Three forms:
//
//   bytes    one byte a row, where the column has at most 256 distinct values, what is missing included (which is
//            exact), or where 255 bins of about equal count stand for them (the histogram splitter)
//   sorted   rows with their codes in order of the column: a node owns one range of it in every column
//   ranks    four bytes a row, for nodes that look at a few columns drawn at random and sort those themselves
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/machine/index.hpp"
#include "core/machine/parallel.hpp"
#include "core/trees/sorting.hpp"

namespace tutelage::trees {

/// X as it lies in memory: dense with any strides, or sparse by columns.
struct Cells {
  Index rows = 0, columns = 0;
  const void* data = nullptr;
  bool single = false;  // float32, otherwise float64
  Index row_stride = 0, column_stride = 0;
  const std::int64_t* starts = nullptr;  // of a sparse matrix: where each column begins
  const std::int64_t* where = nullptr;   // and the rows of its entries, in order

  double stored(Index i) const {
    return single ? static_cast<double>(static_cast<const float*>(data)[i]) : static_cast<const double*>(data)[i];
  }
  double at(Index row, Index column) const {
    if (!starts) return stored(row * row_stride + column * column_stride);
    const std::int64_t* const end = where + starts[column + 1];
    const std::int64_t* const found = std::lower_bound(where + starts[column], end, row);
    return found != end && *found == row ? stored(found - where) : 0.0;
  }
  /// Several neighbouring columns at once, one after another: rows in C order are read once for all of them.
  void copy(Index first, Index count, double* out) const {
    if (starts) {
      std::fill_n(out, rows * count, 0.0);
      for (Index c = 0; c < count; ++c)
        for (std::int64_t i = starts[first + c]; i < starts[first + c + 1]; ++i) out[c * rows + where[i]] = stored(i);
      return;
    }
    const auto fill = [&]<class T>(const T* x) {
      for (Index block = 0; block < rows; block += 256) {
        const Index end = std::min(rows, block + 256);
        for (Index c = 0; c < count; ++c) {
          const T* const column = x + (first + c) * column_stride;
          for (Index i = block; i < end; ++i) out[c * rows + i] = static_cast<double>(column[i * row_stride]);
        }
      }
    };
    single ? fill(static_cast<const float*>(data)) : fill(static_cast<const double*>(data));
  }
};

enum class Form { bytes, sorted, ranks };

/// One column: its form, and what its codes stand for.
struct Column {
  Form form = Form::bytes;
  std::uint32_t bins = 0;
  bool missing = false;
  std::vector<double> lows, highs;  // the ends of each bin; of sorted columns neither, since X itself knows
  std::vector<std::uint8_t> bytes;
  std::vector<std::uint32_t> ranks;
  std::vector<Entry> entries;

  /// Between the bins a < b, where a node has none in between; never so high that b's values would be below.
  double threshold(std::uint32_t a, std::uint32_t b) const { return between(highs[a], lows[b]); }
  static double between(double low, double high) {
    const double middle = low / 2 + high / 2;
    return middle >= low && middle < high ? middle : low;
  }
};

inline constexpr std::uint32_t most_bins = 255;

/// All columns of X, coded. `X` must outlive it where columns are sorted.
class Table {
 public:
  enum class Use { every_column, some_columns, histogram };

  Table(const Cells& x, Use use, std::uint32_t bins) : x_(x), columns_(static_cast<std::size_t>(x.columns)) {
    const Index strip = x.starts ? 1 : 8;
    const Index sample = use == Use::histogram ? std::min(x.rows, sample_rows) : x.rows;
    struct Room {
      std::unique_ptr<double[]> values;
      std::vector<Entry> entries, spare;
    };
    std::vector<Room> rooms;  // of those who have finished, for those who begin
    std::mutex door;
    parallel_for((x.columns + strip - 1) / strip, [&](Index task) {
      Room room;
      {
        const std::lock_guard lock(door);
        if (!rooms.empty()) {
          room = std::move(rooms.back());
          rooms.pop_back();
        }
      }
      const Index first = task * strip, count = std::min(strip, x.columns - first);
      if (!room.values) room.values.reset(new double[static_cast<std::size_t>(x.rows * std::min(strip, x.columns))]);
      room.entries.resize(static_cast<std::size_t>(sample));
      x.copy(first, count, room.values.get());
      for (Index c = 0; c < count; ++c) {
        const double* const column = room.values.get() + c * x.rows;
        Column& made = columns_[static_cast<std::size_t>(first + c)];
        if (use == Use::histogram)
          bin(made, column, sample, bins, room.entries, room.spare);
        else
          rank(made, column, use, room.entries, room.spare);
      }
      const std::lock_guard lock(door);
      rooms.push_back(std::move(room));
    });
  }

  const Cells& cells() const { return x_; }
  const std::vector<Column>& columns() const { return columns_; }
  Index rows() const { return x_.rows; }
  std::vector<Entry> taken(Index c) { return std::exchange(columns_[static_cast<std::size_t>(c)].entries, {}); }

 private:
  // So many rows say where the bins of a column are; as many as it takes for 255 bins to be even within some per cent.
  static constexpr Index sample_rows = 200'000;

  /// Sorted entries of the values that are there, coded 0, 1, ... by value; answers how many.
  static Index order(Column& column, const double* values, Index rows, Index sample, std::vector<Entry>& entries,
                     std::vector<Entry>& spare) {
    Index present = 0;
    for (Index i = 0; i < sample; ++i) {
      const Index row = sample == rows ? i : i * rows / sample;
      if (!std::isnan(values[row])) entries[present++] = {static_cast<std::uint32_t>(row), upper_key(values[row])};
    }
    sort_by_value(entries.data(), present, values, spare);
    std::uint32_t code = 0;
    for (Index i = 0; i < present; ++i) {
      if (i && values[entries[i].row] != values[entries[i - 1].row]) ++code;
      entries[i].code = code;
    }
    column.bins = present ? code + 1 : 0;
    return present;
  }

  /// Codes a column of few distinct values without sorting its rows; false, and nothing done, if there are more.
  bool code_few(Column& column, const double* values, std::uint32_t most) const {
    constexpr std::uint32_t places = 1024;
    struct Place {
      double value;
      std::uint32_t code = places;  // an empty place
    };
    std::vector<Place> table(places);
    std::vector<double> distinct;
    const auto find = [&](double x) -> Place& {
      auto at = static_cast<std::uint32_t>((std::bit_cast<std::uint64_t>(x) * 0x9e3779b97f4a7c15u) >> 54);
      while (table[at].code != places && table[at].value != x) at = (at + 1) % places;
      return table[at];
    };
    for (Index i = 0; i < x_.rows; ++i) {
      const double x = values[i] + 0.0;  // -0 is 0
      if (std::isnan(x)) {
        column.missing = true;
        continue;
      }
      Place& place = find(x);
      if (place.code != places) continue;
      if (distinct.size() == most) return false;
      place = {x, 0};
      distinct.push_back(x);
    }
    if (distinct.size() == 256 && column.missing) return false;  // a byte has no code left for what is missing
    std::sort(distinct.begin(), distinct.end());
    column.form = Form::bytes;
    column.bins = static_cast<std::uint32_t>(distinct.size());
    for (std::uint32_t code = 0; code < column.bins; ++code) find(distinct[code]).code = code;
    column.lows = column.highs = distinct;
    column.bytes.resize(static_cast<std::size_t>(x_.rows));
    for (Index i = 0; i < x_.rows; ++i)
      column.bytes[i] = static_cast<std::uint8_t>(std::isnan(values[i]) ? column.bins : find(values[i] + 0.0).code);
    return true;
  }

  void rank(Column& column, const double* values, Use use, std::vector<Entry>& entries,
            std::vector<Entry>& spare) const {
    if (code_few(column, values, 256)) return;
    const Index rows = x_.rows;
    entries.resize(static_cast<std::size_t>(rows));
    const Index present = order(column, values, rows, rows, entries, spare);
    column.missing = present < rows;
    column.form = use == Use::every_column ? Form::sorted : Form::ranks;
    if (column.form == Form::sorted) {
      Index end = present;
      for (Index i = 0; column.missing && i < rows; ++i)
        if (std::isnan(values[i])) entries[end++] = {static_cast<std::uint32_t>(i), column.bins};
      column.entries = entries;
      return;
    }
    column.lows.resize(column.bins);
    for (Index i = 0; i < present; ++i) column.lows[entries[i].code] = values[entries[i].row];
    column.highs = column.lows;
    column.ranks.assign(static_cast<std::size_t>(rows), column.bins);
    for (Index i = 0; i < present; ++i) column.ranks[entries[i].row] = entries[i].code;
  }

  void bin(Column& column, const double* values, Index sample, std::uint32_t bins, std::vector<Entry>& entries,
           std::vector<Entry>& spare) const {
    if (code_few(column, values, bins)) return;
    const Index rows = x_.rows, present = order(column, values, rows, sample, entries, spare);
    std::vector<double> cuts;
    const bool exact = column.bins <= bins && sample == rows;
    if (column.bins <= bins) {
      for (Index i = 1; i < present; ++i)
        if (entries[i].code != entries[i - 1].code)
          cuts.push_back(Column::between(values[entries[i - 1].row], values[entries[i].row]));
    } else {
      // Bins of equal count; a value too frequent for one bin has it alone, and the others share what is left.
      Index begun = 0;
      for (std::uint32_t left = bins; left > 1; --left) {
        Index end = begun + std::max<Index>(1, (present - begun) / left);
        while (end < present && entries[end].code == entries[end - 1].code) ++end;
        if (end >= present) break;
        cuts.push_back(Column::between(values[entries[end - 1].row], values[entries[end].row]));
        begun = end;
      }
    }
    column.form = Form::bytes;
    column.bins = present ? static_cast<std::uint32_t>(cuts.size()) + 1 : 0;
    if (exact) {
      column.lows.resize(column.bins);
      for (Index i = 0; i < present; ++i) column.lows[entries[i].code] = values[entries[i].row];
      column.highs = column.lows;
    } else {
      constexpr double infinity = std::numeric_limits<double>::infinity();
      column.lows = column.highs = cuts;
      column.lows.insert(column.lows.begin(), -infinity);
      column.highs.push_back(infinity);
    }
    assign(column, values, cuts);
  }

  /// The bin of each row: how many cuts lie below its value, by a search of eight halvings without branches.
  void assign(Column& column, const double* values, std::vector<double>& cuts) const {
    const Index rows = x_.rows;
    column.bytes.resize(static_cast<std::size_t>(rows));
    std::vector<double> padded(256, std::numeric_limits<double>::infinity());
    std::copy(cuts.begin(), cuts.end(), padded.begin());
    constexpr Index lanes = 16;
    for (Index i = 0; i < rows; i += lanes) {
      const Index many = std::min(lanes, rows - i);
      double x[lanes] = {};
      std::int32_t at[lanes] = {};
      std::copy_n(values + i, many, x);
      for (std::int32_t half = 128; half > 0; half /= 2)
        for (Index j = 0; j < lanes; ++j) at[j] += padded[static_cast<std::size_t>(at[j] + half - 1)] < x[j] ? half : 0;
      for (Index j = 0; j < many; ++j) {
        const bool is_missing = std::isnan(x[j]);
        column.bytes[static_cast<std::size_t>(i + j)] = static_cast<std::uint8_t>(is_missing ? column.bins : at[j]);
        column.missing |= is_missing;
      }
    }
  }

  Cells x_;
  std::vector<Column> columns_;
};

}  // namespace tutelage::trees
