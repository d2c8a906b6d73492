// Which products belong to which matrix.
#pragma once
#include <memory>
#include <stdexcept>

#include "core/matrices/dense.hpp"
#include "core/matrices/sparse.hpp"
#include "core/solvers/coordinate/dense_columns.hpp"
#include "core/solvers/coordinate/dense_rows.hpp"
#include "core/solvers/coordinate/sparse_columns.hpp"

namespace tutelage {

namespace coordinate {

template <class T>
std::unique_ptr<ColumnProducts> dense_products(const Columns& x) {
  if (const auto* m = dynamic_cast<const DenseColumns<T>*>(&x))
    return std::make_unique<DenseColumnProducts<T>>(m->data(), m->rows(), m->columns(), m->stride());
  if (const auto* m = dynamic_cast<const DenseRows<T>*>(&x))
    return std::make_unique<DenseRowProducts<T>>(m->data(), m->rows(), m->columns(), m->stride());
  return nullptr;
}

template <class T, class I>
std::unique_ptr<ColumnProducts> sparse_products(const Columns& x) {
  if (const auto* m = dynamic_cast<const SparseColumns<T, I>*>(&x))
    return std::make_unique<SparseColumnProducts<T, I>>(m->lines(), m->rows(), m->columns());
  return nullptr;
}

}  // namespace coordinate

inline std::unique_ptr<ColumnProducts> column_products(const Columns& x) {
  using namespace coordinate;
  if (auto p = dense_products<double>(x)) return p;
  if (auto p = dense_products<float>(x)) return p;
  if (auto p = sparse_products<double, std::int32_t>(x)) return p;
  if (auto p = sparse_products<float, std::int32_t>(x)) return p;
  if (auto p = sparse_products<double, std::int64_t>(x)) return p;
  if (auto p = sparse_products<float, std::int64_t>(x)) return p;
  throw std::invalid_argument("coordinate descent cannot read this kind of matrix by columns");
}

}  // namespace tutelage
