"""Selection for the price of a fit: cross-validation, searches, subsets and curves.

Every choice between models asks for many fits: of each candidate, on each fold, for each subset of columns, on each
number of rows. Refitted from nothing they cost their number. But they share rows, columns and factors, and a learner
that says how (`tutelage.fold_paths`) is not refitted: ridge takes all strengths and folds from moments that add up,
neighbours every k from one search, naive Bayes adds counts, logistic regression starts at the fit of all rows. What
comes out are the numbers of refitting; any other estimator of scikit-learn's interface is refitted, in parallel.

    scores      cross_validate, cross_val_score, cross_val_predict, permutation_test_score, nested_score
    search      GridSearchCV, RandomizedSearchCV, HalvingGridSearchCV, HalvingRandomSearchCV, OptunaSearch;
                OneStandardError
    subsets     SequentialFeatureSelector
    splits      hold_out, train_dev_test, BlockedTimeSplit, BootstrapSplit, MultilabelStratifiedKFold; bootstrap_score
    curves      learning_curve, validation_curve, LearningCurve, ValidationCurve, bias_variance

Names that scikit-learn has too take its parameters and give its attributes. The lecture is `docs/notes/selection.md`.

>>> import numpy as np
>>> from tutelage import GridSearchCV, Ridge
>>> X = np.random.default_rng(0).normal(size=(50, 3))
>>> search = GridSearchCV(Ridge(), {"alpha": [0.01, 1.0, 100.0]}).fit(X, X @ [1.0, -2.0, 0.5])
>>> search.best_params_
{'alpha': 0.01}
"""

from tutelage.selection.bootstrap import bootstrap_score
from tutelage.selection.curves import learning_curve, validation_curve
from tutelage.selection.decomposition import bias_variance
from tutelage.selection.halving import HalvingGridSearchCV, HalvingRandomSearchCV
from tutelage.selection.learning import LearningCurve, ValidationCurve
from tutelage.selection.multilabel import MultilabelStratifiedKFold
from tutelage.selection.nested import nested_score
from tutelage.selection.optuna_search import OptunaSearch
from tutelage.selection.permutation import permutation_test_score
from tutelage.selection.predictions import cross_val_predict
from tutelage.selection.search import GridSearchCV, RandomizedSearchCV
from tutelage.selection.sequential import SequentialFeatureSelector
from tutelage.selection.splits import BlockedTimeSplit, BootstrapSplit, hold_out, train_dev_test
from tutelage.selection.standard_error import OneStandardError
from tutelage.selection.validation import cross_val_score, cross_validate

__all__ = [
    "BlockedTimeSplit",
    "BootstrapSplit",
    "GridSearchCV",
    "HalvingGridSearchCV",
    "HalvingRandomSearchCV",
    "LearningCurve",
    "MultilabelStratifiedKFold",
    "OneStandardError",
    "OptunaSearch",
    "RandomizedSearchCV",
    "SequentialFeatureSelector",
    "ValidationCurve",
    "bias_variance",
    "bootstrap_score",
    "cross_val_predict",
    "cross_val_score",
    "cross_validate",
    "hold_out",
    "learning_curve",
    "nested_score",
    "permutation_test_score",
    "train_dev_test",
    "validation_curve",
]
