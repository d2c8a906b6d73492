"""The one-standard-error rule: of the candidates that are as good as the best, the simplest.

The best mean score is the best of many noisy ones, so it is too high, and its candidate too complex more often than
not. The rule (Breiman et al. 1984) takes the simplest candidate whose mean score lies within one standard error of the
best,

    mean_c >= mean_best - sd_best / sqrt(folds),

where sd is the standard deviation (divisor folds - 1) of the best candidate's scores over the folds. Given as ``refit``
it decides for a search:

>>> import numpy as np
>>> from tutelage import GridSearchCV, Ridge
>>> X = np.random.default_rng(0).normal(size=(40, 5))
>>> y = X[:, 0] + np.random.default_rng(1).normal(size=40)
>>> grid = {"alpha": np.geomspace(1e-3, 1e3, 13)}
>>> best = GridSearchCV(Ridge(), grid).fit(X, y)
>>> plain = GridSearchCV(Ridge(), grid, refit=OneStandardError("alpha")).fit(X, y)
>>> bool(plain.best_params_["alpha"] >= best.best_params_["alpha"])
True

It fails where folds are few: the error of five scores is itself known to a third of its size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

# Parameters of which a larger value is a simpler model; of others in the table a smaller one is.
LARGER_IS_SIMPLER = {
    **dict.fromkeys(("alpha", "strength", "n_neighbors", "var_smoothing", "reg_param", "shrinkage", "ccp_alpha"), True),
    **dict.fromkeys(("min_samples_leaf", "min_samples_split", "radius", "l2_regularization"), True),
    **dict.fromkeys(("C", "gamma", "degree", "max_depth", "max_leaf_nodes", "n_components", "covariance"), False),
    **dict.fromkeys(("max_features", "n_features_to_select", "n_estimators", "max_iter"), False),
}


@dataclass(frozen=True)
class OneStandardError:
    """A ``refit`` that chooses the simplest candidate within one standard error of the best.

    Parameters
    ----------
    parameter : str
        The parameter that orders candidates by simplicity; its last word decides (``ridge__alpha``).
    simplest : {"largest", "smallest"}, optional
        Which of its values is the simplest; None: as known of parameters of this name.
    score : str, default="score"
        The score to choose by, where there are several.
    """

    parameter: str
    simplest: Literal["largest", "smallest"] | None = None
    score: str = "score"

    def __call__(self, table: dict[str, Any]) -> int:
        """Give the row of the chosen candidate.

        Parameters
        ----------
        table : dict
            ``cv_results_`` of a search.

        Returns
        -------
        int
            The row; of equally simple ones, that of the best score.
        """
        column = f"param_{self.parameter}"
        if column not in table:
            raise ValueError(
                f"The rule orders candidates by {self.parameter!r}, which the search does not vary; it varies "
                f"{[name.removeprefix('param_') for name in table if name.startswith('param_')]}."
            )
        means = np.asarray(table[f"mean_test_{self.score}"], dtype=np.float64)
        if np.isnan(means).all():
            return 0
        best = int(np.nanargmax(means))
        folds = [
            values[best]
            for name, values in table.items()
            if name.startswith("split") and name.endswith(f"_test_{self.score}")
        ]
        error = float(np.std(folds, ddof=1)) / np.sqrt(len(folds)) if len(folds) > 1 else 0.0
        values = np.ma.filled(table[column].astype(np.float64), np.nan)
        order = values if self._larger() else -values
        good = (means >= means[best] - error) & ~np.isnan(order)
        if not good.any():
            return best
        simplest = good & (order == order[good].max())
        return int(np.flatnonzero(simplest)[np.argmax(means[simplest])])

    def _larger(self) -> bool:
        if self.simplest is not None:
            return self.simplest == "largest"
        name = self.parameter.rpartition("__")[2]
        if name not in LARGER_IS_SIMPLER:
            raise ValueError(
                f"Whether a large or a small {name!r} is simple is not known; say simplest='largest' or 'smallest'."
            )
        return LARGER_IS_SIMPLER[name]
