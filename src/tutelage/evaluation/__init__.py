"""Scores one can believe: intervals, comparisons, the exam, bounds, calibration and the pictures of them.

Each file is a chapter of its own:

- `tutelage.evaluation.metrics`: metrics taken apart (`tutelage.evaluation.samples`), so that resampling them is cheap.
- `tutelage.evaluation.intervals`: Wilson, Clopper-Pearson, BCa; `tutelage.evaluation.ranking`: DeLong;
  `tutelage.evaluation.cross_validation`: the corrected and the nested interval of cross-validation
  (`tutelage.evaluation.refits` refits).
- `tutelage.evaluation.scores`: a metric with its interval, of predictions or of a model.
- `tutelage.evaluation.comparison`: two models; `tutelage.evaluation.ranks`: several models on several tables.
- `tutelage.evaluation.exam`: the sealed rows; `tutelage.evaluation.ledger`: who counts.
- `tutelage.evaluation.bounds`, `tutelage.evaluation.complexity`, `tutelage.evaluation.pac_bayes`: what theory promises,
  in numbers; `tutelage.evaluation.linear_bounds`: all that apply.
- `tutelage.evaluation.calibrators`, `tutelage.evaluation.calibrated`: scores become probabilities;
  `tutelage.evaluation.reliability_diagram`: whether they are.
- `tutelage.evaluation.thresholds`: where to cut, and decisions by their costs; `tutelage.evaluation.meta` wraps a
  classifier for these.
- `tutelage.evaluation.conformal`: sets and intervals that hold what they promise.
- `tutelage.evaluation.importance`, `tutelage.evaluation.partial_dependence`: what a model uses, and how.
- `tutelage.evaluation.curves`, `tutelage.evaluation.confusion_matrix`, `tutelage.evaluation.residual_picture`,
  `tutelage.evaluation.regions`, `tutelage.evaluation.margin_distribution`: pictures, by `tutelage.evaluation.pictures`.

>>> from tutelage.evaluation import wilson
>>> print(wilson(90, 100))
0.8256 to 0.9448
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tutelage.evaluation.bounds import Bound as Bound
    from tutelage.evaluation.bounds import compression_bound as compression_bound
    from tutelage.evaluation.bounds import holdout_bound as holdout_bound
    from tutelage.evaluation.bounds import margin_dimension as margin_dimension
    from tutelage.evaluation.bounds import perceptron_bound as perceptron_bound
    from tutelage.evaluation.bounds import vc_bound as vc_bound
    from tutelage.evaluation.calibrated import CalibratedClassifier as CalibratedClassifier
    from tutelage.evaluation.calibrators import BetaCalibration as BetaCalibration
    from tutelage.evaluation.calibrators import IsotonicCalibration as IsotonicCalibration
    from tutelage.evaluation.calibrators import PlattScaling as PlattScaling
    from tutelage.evaluation.calibrators import TemperatureScaling as TemperatureScaling
    from tutelage.evaluation.comparison import Comparison as Comparison
    from tutelage.evaluation.comparison import compare as compare
    from tutelage.evaluation.comparison import corrected_t as corrected_t
    from tutelage.evaluation.comparison import five_by_two as five_by_two
    from tutelage.evaluation.comparison import mcnemar as mcnemar
    from tutelage.evaluation.comparison import paired_bootstrap as paired_bootstrap
    from tutelage.evaluation.complexity import margin_bound as margin_bound
    from tutelage.evaluation.complexity import rademacher as rademacher
    from tutelage.evaluation.complexity import rademacher_bound as rademacher_bound
    from tutelage.evaluation.conformal import ConformalClassifier as ConformalClassifier
    from tutelage.evaluation.conformal import ConformalRegressor as ConformalRegressor
    from tutelage.evaluation.confusion_matrix import confusion as confusion
    from tutelage.evaluation.cross_validation import corrected_interval as corrected_interval
    from tutelage.evaluation.cross_validation import cross_evaluate as cross_evaluate
    from tutelage.evaluation.cross_validation import nested_interval as nested_interval
    from tutelage.evaluation.curves import precision_recall as precision_recall
    from tutelage.evaluation.curves import roc as roc
    from tutelage.evaluation.exam import Exam as Exam
    from tutelage.evaluation.exam import Opening as Opening
    from tutelage.evaluation.importance import importances as importances
    from tutelage.evaluation.intervals import Interval as Interval
    from tutelage.evaluation.intervals import bootstrap as bootstrap
    from tutelage.evaluation.intervals import clopper_pearson as clopper_pearson
    from tutelage.evaluation.intervals import newcombe as newcombe
    from tutelage.evaluation.intervals import wilson as wilson
    from tutelage.evaluation.linear_bounds import risk_bounds as risk_bounds
    from tutelage.evaluation.margin_distribution import margins as margins
    from tutelage.evaluation.metrics import METRICS as METRICS
    from tutelage.evaluation.metrics import Metric as Metric
    from tutelage.evaluation.metrics import metric as metric
    from tutelage.evaluation.pac_bayes import pac_bayes_bound as pac_bayes_bound
    from tutelage.evaluation.partial_dependence import dependence as dependence
    from tutelage.evaluation.ranking import compare_areas as compare_areas
    from tutelage.evaluation.ranking import delong as delong
    from tutelage.evaluation.ranks import friedman as friedman
    from tutelage.evaluation.regions import decision_regions as decision_regions
    from tutelage.evaluation.reliability_diagram import reliability as reliability
    from tutelage.evaluation.residual_picture import residuals as residuals
    from tutelage.evaluation.scores import Evaluation as Evaluation
    from tutelage.evaluation.scores import Score as Score
    from tutelage.evaluation.scores import assess as assess
    from tutelage.evaluation.scores import evaluate as evaluate
    from tutelage.evaluation.thresholds import CostClassifier as CostClassifier
    from tutelage.evaluation.thresholds import ThresholdClassifier as ThresholdClassifier
    from tutelage.evaluation.thresholds import best_offsets as best_offsets
    from tutelage.evaluation.thresholds import best_threshold as best_threshold
    from tutelage.evaluation.thresholds import cheapest as cheapest

# File -> the public names in it; loaded when they are first touched.
FILES: dict[str, tuple[str, ...]] = {
    "bounds": ("Bound", "compression_bound", "holdout_bound", "margin_dimension", "perceptron_bound", "vc_bound"),
    "calibrated": ("CalibratedClassifier",),
    "calibrators": ("BetaCalibration", "IsotonicCalibration", "PlattScaling", "TemperatureScaling"),
    "comparison": ("Comparison", "compare", "corrected_t", "five_by_two", "mcnemar", "paired_bootstrap"),
    "complexity": ("margin_bound", "rademacher", "rademacher_bound"),
    "conformal": ("ConformalClassifier", "ConformalRegressor"),
    "confusion_matrix": ("confusion",),
    "cross_validation": ("corrected_interval", "cross_evaluate", "nested_interval"),
    "curves": ("precision_recall", "roc"),
    "exam": ("Exam", "Opening"),
    "importance": ("importances",),
    "intervals": ("Interval", "bootstrap", "clopper_pearson", "newcombe", "wilson"),
    "linear_bounds": ("risk_bounds",),
    "margin_distribution": ("margins",),
    "metrics": ("METRICS", "Metric", "metric"),
    "pac_bayes": ("pac_bayes_bound",),
    "partial_dependence": ("dependence",),
    "ranking": ("compare_areas", "delong"),
    "ranks": ("friedman",),
    "regions": ("decision_regions",),
    "reliability_diagram": ("reliability",),
    "residual_picture": ("residuals",),
    "scores": ("Evaluation", "Score", "assess", "evaluate"),
    "thresholds": ("CostClassifier", "ThresholdClassifier", "best_offsets", "best_threshold", "cheapest"),
}

_FILE_OF = {name: file for file, names in FILES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _FILE_OF:
        raise AttributeError(f"module 'tutelage.evaluation' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"tutelage.evaluation.{_FILE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_FILE_OF})
