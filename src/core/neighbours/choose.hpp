// From names to searches.
#pragma once
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/neighbours/panel_search.hpp"
#include "core/neighbours/scan.hpp"

namespace tutelage::neighbours {

/// Calls make(metric) with the metric of that name; the caller has prepared the rows as the metric wants them.
template <class Make>
auto with_metric(std::string_view name, double p, Index columns, Make&& make) {
  const auto d = static_cast<double>(columns);
  const auto boolean = [&](Boolean::Formula formula) {
    Boolean metric;
    metric.formula = formula;
    metric.columns = d;
    return make(metric);
  };
  if (name == "euclidean") return make(Euclidean{{}, Euclidean::Form::root});
  if (name == "sqeuclidean") return make(Euclidean{{}, Euclidean::Form::square});
  if (name == "half_sqeuclidean") return make(Euclidean{{}, Euclidean::Form::half});
  if (name == "manhattan") return make(Manhattan{});
  if (name == "chebyshev") return make(Chebyshev{});
  if (name == "minkowski") return make(Minkowski{{}, p});
  if (name == "canberra") return make(Canberra{});
  if (name == "hamming") return make(Hamming{{}, d});
  if (name == "braycurtis") return make(BrayCurtis{});
  if (name == "nan_euclidean") return make(EuclideanOfSeen{{}, d});
  if (name == "gower") return make(Gower{});
  if (name == "jaccard") return boolean(Boolean::Formula::jaccard);
  if (name == "dice") return boolean(Boolean::Formula::dice);
  if (name == "rogerstanimoto" || name == "sokalmichener") return boolean(Boolean::Formula::rogers_tanimoto);
  if (name == "russellrao") return boolean(Boolean::Formula::russell_rao);
  if (name == "sokalsneath") return boolean(Boolean::Formula::sokal_sneath);
  if (name == "yule") return boolean(Boolean::Formula::yule);
  throw std::invalid_argument("there is no metric of the name '" + std::string(name) + "'");
}

/// The same for those metrics that sparse rows are searched by.
template <class Make>
auto with_sparse_metric(std::string_view name, Make&& make) {
  if (name == "euclidean") return make(Euclidean{{}, Euclidean::Form::root});
  if (name == "sqeuclidean") return make(Euclidean{{}, Euclidean::Form::square});
  if (name == "half_sqeuclidean") return make(Euclidean{{}, Euclidean::Form::half});
  if (name == "manhattan") return make(Manhattan{});
  throw std::invalid_argument("there is no metric of the name '" + std::string(name) + "' for sparse rows");
}

/// Search over panels. algorithm: "brute", "kd_tree" or "ball_tree".
inline std::unique_ptr<Search> make_search(std::string_view name, double p, const Table<double>& x,
                                           std::string_view algorithm, Index leaf_size) {
  const Index leaf = algorithm == "brute" ? 0 : std::max(width, (leaf_size + width - 1) / width * width);
  return with_metric(name, p, x.columns, [&]<class M>(const M& metric) -> std::unique_ptr<Search> {
    if (algorithm == "kd_tree" && !M::box) {
      throw std::invalid_argument("boxes do not bound the metric '" + std::string(name) + "'");
    }
    const Bound bound = algorithm == "kd_tree" ? Bound::box : Bound::ball;
    return std::make_unique<PanelSearch<M>>(metric, x, leaf, bound);
  });
}

}  // namespace tutelage::neighbours
