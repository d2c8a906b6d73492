"""Naive Bayes in which every column has a family of its own.

    log P(x, c) = log P(c) + sum over the columns j that are there of log P(x_j | c)

The naive assumption makes a table of mixed columns easy: each column is modelled alone, by what suits it,

==============  ==================================================================================================
family          P(x_j | c)
==============  ==================================================================================================
"bernoulli"     zero or not: (n_1 + a) / (n + 2 a)
"categorical"   one of m values: (n_v + a) / (n + a m); a value that no class has met says nothing
"gaussian"      a normal distribution
"poisson"       a count: rate (sum + a r) / (n + a) with r the rate over all classes
"buckets"       a number, cut into intervals (ten of equally many rows), which are categories
==============  ==================================================================================================

with a the smoothing. Labels (strings) are categories. A missing value (NaN, None) is left
out of the product: P(x without x_j | c) is that product, exactly.
The family of a column is given, or chosen by a look at it: zeros and ones are Bernoulli, few whole numbers categories,
whole numbers whose variance is about their mean Poisson, bell-shaped numbers Gaussian, and all others are cut into
buckets.

`explain` tells what each column says, in log-odds, and that is all there is to a prediction. `sample` draws rows.

Cost: one pass for moments and one count for each entry. It fails where columns repeat each other: their evidence is
counted twice. Probabilities are then far too sure; calibrate them, or drop columns.

>>> import numpy as np
>>> X = np.array([[0, 1.0], [0, 2.0], [1, np.nan], [1, 9.0], [1, 8.0], [0, 7.5]])
>>> y = ["no", "no", "no", "yes", "yes", "yes"]
>>> model = NaiveBayes(families={0: "bernoulli", 1: "gaussian"}).fit(X, y)
>>> model.predict([[0, np.nan], [0, 8.0]])
array(['no', 'yes'], dtype='<U3')
>>> evidence = model.explain([[0, 8.0]])
>>> odds = np.diff(model.predict_log_proba([[0, 8.0]]))
>>> bool(np.isclose(evidence.sum(), odds.item()))  # the classes are equally frequent
True
>>> sizes = np.array([["small", 1.5], ["small", 2.5], ["large", None], ["large", 2.0]], dtype=object)
>>> NaiveBayes().fit(sizes, ["no", "no", "yes", "yes"]).predict([["large", None], ["unheard of", 1.5]])
array(['yes', 'no'], dtype='<U3')
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
from scipy.special import gammaln, logsumexp
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from tutelage import _core, matrices
from tutelage.base import Accepts, Floats, Matrix
from tutelage.bayes.base import CountingClassifier, logarithm
from tutelage.bayes.buckets import inner_edges
from tutelage.bayes.families import choose_family
from tutelage.counts import Categories, Moments, categories, moments
from tutelage.fold_paths import NoFoldPath
from tutelage.parameters import Arrays, Count, Interval, NonNegative, Positive, Range, fitted, invalid, parameter
from tutelage.tables import Vocabulary, as_codes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tutelage.fold_paths import FoldPath, Rows
    from tutelage.labels import Codes, Weights

FAMILIES = ("bernoulli", "categorical", "gaussian", "poisson", "buckets")
TABLES = ("bernoulli", "categorical", "buckets")
_LOG_2_PI = float(np.log(2 * np.pi))


@dataclass(frozen=True, eq=False)
class MixedCounts:
    """All that is known of the rows: weights of classes, moments of the numbers, counts of the categories.

    Attributes
    ----------
    total : array of shape (k,)
        The weight of each class.
    moments : Moments
        Of the Gaussian and Poisson columns, in their order.
    tables : Categories
        Of the others.
    """

    total: Floats
    moments: Moments
    tables: Categories

    def __add__(self, other: Self) -> Self:
        return type(self)(self.total + other.total, self.moments + other.moments, self.tables + other.tables)

    def __sub__(self, other: Self) -> Self:
        tables = self.tables - other.tables  # which checks that nothing becomes negative
        return type(self)(tables.total, self.moments - other.moments, tables)


class NaiveBayes(CountingClassifier):
    """Naive Bayes with a family for each column; missing values are left out.

    Examples
    --------
    >>> from tutelage import NaiveBayes
    >>> model = NaiveBayes({1: "poisson"}).fit([[0, 5], [0, 7], [1, 6], [1, 4]], [0, 0, 1, 1])
    >>> model.families_
    ['bernoulli', 'poisson']
    >>> model.forget([[0, 7]], [0]).parameters_[0].round(3)
    array([[0.667, 0.333],
           [0.25 , 0.75 ]])
    """

    accepts: ClassVar[Accepts] = Accepts(missing=True, one_class=True)

    families: Annotated[
        Literal["auto", "bernoulli", "categorical", "gaussian", "poisson", "buckets"] | dict[Any, str],
        "The family of all columns, or of each by its name or number; those not named are chosen by a look at them.",
    ] = parameter(default="auto", kw_only=False)
    alpha: Annotated[
        NonNegative, "Smoothing: how often everything is taken to have occurred.", Range(1e-2, 10.0, logarithmic=True)
    ] = 1.0
    n_buckets: Annotated[
        Annotated[int, Interval(2)],
        "The most buckets of a number.",
        Range(3, 30, logarithmic=True, integer=True),
    ] = 10
    strategy: Annotated[
        Literal["quantile", "uniform", "mdl"],
        "Buckets of equally many rows, of equal widths, or cut where classes change.",
    ] = "quantile"
    var_smoothing: Annotated[Positive, "Share of a column's variance that is added to it in each class."] = 1e-9
    priors: Annotated[Arrays | None, "Probabilities of the classes; None is their shares of the rows."] = None

    counts_: MixedCounts = fitted("What was counted: totals that add and subtract.")
    families_: list[str] = fitted("The family of each column.")
    class_count_: Floats = fitted("The weight of the rows of each class.")
    class_prior_: Floats = fitted("The probability of each class.")
    parameters_: list[Floats] = fitted(
        "For each column an array with a row for each class: probabilities, rates, or means and variances."
    )
    values_: list[Any] = fitted(
        "For each column its categories (of labels: their codes), or the inner edges of its buckets, or None."
    )
    labels_: Vocabulary = fitted("For each column of labels, by its number: the code of each label.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def _check_arrays(self, *arrays: Any, **options: Any) -> Any:
        reset = options.get("reset", True)
        known = None if reset else self.labels_
        rows, learned = as_codes(arrays[0], known, extend=len(arrays) > 1)
        made = super()._check_arrays(rows, *arrays[1:], **options)
        if len(arrays) > 1:
            self.labels_ = learned
        return made

    # ---- learning -----------------------------------------------------------------------------------------------

    def _begin(self, X: Matrix, codes: Codes, weight: Weights | None) -> None:
        given = self._given(X.shape[1])
        known = np.ones(len(X)) if weight is None else weight
        self.families_, self.values_, self._ends = [], [], []
        for column, family in zip(X.T, given, strict=True):
            there = (known > 0) & ~np.isnan(column)
            values, kinds, heavy = column[there].astype(np.float64), codes[there], known[there]
            chosen = family or choose_family(values, kinds, heavy, self.n_buckets)
            if (j := len(self.families_)) in self.labels_:
                chosen = self._family_of_labels(j, family)
            self.families_.append(chosen)
            self._ends.append((values.min(initial=np.inf), values.max(initial=-np.inf)))
            if chosen == "buckets":
                self.values_.append(inner_edges(values, kinds, heavy, self.strategy, self.n_buckets))
            else:
                self.values_.append({"categorical": np.empty(0), "bernoulli": np.array([0.0, 1.0])}.get(chosen))

    def _given(self, columns: int) -> list[str | None]:
        """Give the family asked for each column, None where there is none."""
        if isinstance(self.families, str):
            return [None if self.families == "auto" else self.families] * columns
        names = {str(name): j for j, name in enumerate(vars(self).get("feature_names_in_", ()))}
        made: list[str | None] = [None] * columns
        for key, family in self.families.items():
            j = names.get(key) if isinstance(key, str) else key
            if not isinstance(j, int | np.integer) or not 0 <= j < columns:
                raise invalid(self, "families", f"a dictionary whose keys are columns of X, which {key!r} is not")
            if family not in (*FAMILIES, "auto"):
                raise invalid(self, "families", f"a dictionary whose values are of {FAMILIES}, which {family!r} is not")
            made[j] = None if family == "auto" else family
        return made

    def _family_of_labels(self, j: int, family: str | None) -> str:
        if family in (None, "categorical"):
            return "categorical"
        raise invalid(self, "families", f"'categorical' or 'auto' for column {j}, which holds labels")

    def _columns(self, *families: str) -> list[int]:
        return [j for j, family in enumerate(self.families_) if family in families]

    def _count(self, X: Matrix, codes: Codes, weight: Weights | None) -> MixedCounts:
        numbers, tables = self._columns("gaussian", "poisson"), self._columns(*TABLES)
        self._check_counts(X)
        for j in self._columns("categorical"):
            new = np.setdiff1d(X[:, j][~np.isnan(X[:, j])] if weight is None else self._heavy(X[:, j], weight),
                               self.values_[j])  # fmt: skip
            self.values_[j] = np.append(self.values_[j], new)  # behind those of earlier calls, whose numbers stay
        widths = [len(self.values_[j]) + (self.families_[j] == "buckets") for j in tables]
        made = moments(np.ascontiguousarray(X[:, numbers]), codes, weight, len(self.classes_), missing=True)
        counted = categories(self._coded(X, tables), codes, weight, len(self.classes_), widths, missing=True)
        return MixedCounts(counted.total, made, counted)

    @staticmethod
    def _heavy(column: Floats, weight: Weights) -> Floats:
        chosen: Floats = column[(weight > 0) & ~np.isnan(column)]
        return chosen

    def _check_counts(self, X: Matrix) -> None:
        for j in self._columns("poisson"):
            if (lowest := np.nanmin(X[:, j], initial=0.0)) < 0:
                raise ValueError(
                    f"Column {j} of X must hold counts for the family 'poisson', found {lowest:g}; give the column "
                    "another family in families."
                )

    def _coded(self, X: Matrix, columns: list[int]) -> Any:
        """Number the categories and buckets of columns; -1 where there is none."""
        made = np.empty((len(X), len(columns)), dtype=np.intp, order="F")
        for place, j in enumerate(columns):
            column, family, values = X[:, j], self.families_[j], self.values_[j]
            missing = np.isnan(column)
            if family == "bernoulli":
                code = (column != 0).astype(np.intp)
            elif family == "buckets":
                code = np.searchsorted(values, column, side="right")
            elif len(values) == 0:
                code = np.full(len(column), -1)
            else:
                order = np.argsort(values)
                code = order[np.minimum(np.searchsorted(values, column, sorter=order), len(values) - 1)]
                missing = missing | (values[code] != column)
            made[:, place] = np.where(missing, -1, code)
        return made

    def _accept_counts(self, counted: MixedCounts) -> None:
        # Categories that these rows do not have are none of the model's, as in a fit to them.
        self.values_ = list(self.values_)
        tables = list(counted.tables.tables)
        for place, j in enumerate(self._columns(*TABLES)):
            if self.families_[j] == "categorical":
                there = np.zeros(len(self.values_[j]), dtype=bool)
                there[: tables[place].shape[1]] = tables[place].any(axis=0)
                tables[place] = tables[place][:, there[: tables[place].shape[1]]]
                self.values_[j] = self.values_[j][there]
        super()._accept_counts(MixedCounts(counted.total, counted.moments, Categories(counted.total, tuple(tables))))

    def fold_paths(
        self,
        X: Any,
        y: Any,
        folds: Sequence[tuple[Rows, Rows]],
        grid: Sequence[dict[str, Any]],
        sample_weight: Any = None,
    ) -> Iterator[FoldPath | None]:
        """Fit every candidate on every fold, from counts that add up.

        Parameters
        ----------
        X, y : arrays
            All rows and their classes.
        folds : list of (train, test)
            Row numbers.
        grid : list of dict
            The candidates.
        sample_weight : array of shape (n,), optional
            How much each row counts.

        Returns
        -------
        iterator of FoldPath or None
            See `tutelage.fold_paths`.
        """
        from tutelage.bayes.fold_paths import counted_fold_paths

        # A look at other rows may choose other families, or other buckets.
        if not all(self._is_fixed(candidate.get("families", self.families), np.shape(X)[1]) for candidate in grid):
            raise NoFoldPath
        return counted_fold_paths(self, X, y, folds, grid, sample_weight)

    @staticmethod
    def _is_fixed(families: Any, columns: int) -> bool:
        named = list(families.values()) if isinstance(families, dict) else [families]
        whole = not isinstance(families, dict) or len(families) == columns
        return whole and not {"auto", "buckets"} & set(named)

    def _estimate(self) -> None:
        counted = self.counts_
        self.class_count_ = counted.total
        shares = counted.total / counted.total.sum() if self.priors is None else np.array(self.priors, dtype=np.float64)
        if shares.shape != counted.total.shape or not np.isclose(shares.sum(), 1.0) or shares.min() < 0:
            raise invalid(self, "priors", f"{len(self.classes_)} probabilities that add up to 1, one for each class")
        self.class_prior_ = shares
        numbers = iter(zip(*(part.T for part in (counted.moments.total, counted.moments.mean,
                                                 counted.moments.square)), strict=True))  # fmt: skip
        tables = iter(counted.tables.tables)
        makers = {"gaussian": self._normal, "poisson": self._rates}
        self.parameters_ = [
            makers[family](*next(numbers)) if family in makers else self._shares(next(tables))
            for family in self.families_
        ]

    def _normal(self, total: Floats, mean: Floats, square: Floats) -> Floats:
        """Give means and variances; a class that never has the column takes those of all, and so says nothing."""
        all_of_it = max(total.sum(), np.finfo(float).tiny)
        centre = (total * mean).sum() / all_of_it
        spread = (square + total * (mean - centre) ** 2).sum() / all_of_it
        variance = np.divide(square, total, out=np.full_like(square, spread), where=total > 0)
        variance = variance + self.var_smoothing * spread if spread > 0 else np.ones_like(square)
        return np.stack([np.where(total > 0, mean, centre), variance], axis=1)

    def _rates(self, total: Floats, mean: Floats, square: Floats) -> Floats:  # noqa: ARG002
        rate = (total * mean).sum() / max(total.sum(), np.finfo(float).tiny)
        sums, below = total * mean + self.alpha * rate, total + self.alpha
        made: Floats = np.divide(sums, below, out=np.full_like(mean, rate), where=below > 0)[:, None]
        return made

    def _shares(self, table: Floats) -> Floats:
        smoothed = table + self.alpha
        whole = smoothed.sum(axis=1, keepdims=True)
        # Without smoothing a class that never has the column says nothing.
        even = np.full_like(table, 1 / max(1, table.shape[1]))
        made: Floats = np.divide(smoothed, whole, out=even, where=whole > 0)
        return made

    # ---- densities ----------------------------------------------------------------------------------------------

    def _joint(self, X: Matrix) -> Floats:
        joint = np.tile(logarithm(self.class_prior_), (len(X), 1))
        normal = self._columns("gaussian")
        if normal:
            mean, variance = (np.ascontiguousarray(part) for part in np.stack([self.parameters_[j] for j in normal]).T)
            rows = matrices.rows(np.ascontiguousarray(X[:, normal]))
            base = -0.5 * (_LOG_2_PI + np.log(variance))
            joint += np.asarray(_core.gaussian_scores(rows, base, mean, 1 / variance, missing=True))
        for _, term in self._other_terms(X):
            joint += term
        return joint

    def _other_terms(self, X: Matrix) -> Any:
        """Give, for each column that is not Gaussian, its number and log P(x_j | c), zero where it is missing."""
        self._check_counts(X)
        tables = self._columns(*TABLES)
        for j, code in zip(tables, self._coded(X, tables).T, strict=True):
            logs = np.vstack([logarithm(self.parameters_[j]).T, np.zeros(len(self.classes_))])
            yield j, logs[code]  # -1 is the row of zeros at the end
        for j in self._columns("poisson"):
            rate, count = self.parameters_[j][:, 0], X[:, j].astype(np.float64)[:, None]
            with np.errstate(invalid="ignore"):
                term = np.where(count > 0, count * logarithm(rate), 0.0) - rate - gammaln(count + 1)
            yield j, np.where(np.isnan(count), 0.0, term)

    def explain(self, X: Any) -> Floats:
        """Tell what each column says about the class of each row.

        Parameters
        ----------
        X : array or frame of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, d) for two classes, (n, d, k) for more
            For two classes log P(x_j | second) - log P(x_j | first): the sum over columns, with the log-odds of the
            class probabilities added, is the log-odds of the prediction. For more, log P(x_j | c) less its mean over
            the classes. Zero where a value is missing.
        """
        check_is_fitted(self)
        X = self.validate_rows(X)
        made = np.zeros((*X.shape, len(self.classes_)))
        for j in self._columns("gaussian"):
            mean, variance = self.parameters_[j].T
            column = X[:, j].astype(np.float64)[:, None]
            term = -0.5 * (_LOG_2_PI + np.log(variance) + (column - mean) ** 2 / variance)
            made[:, j] = np.where(np.isnan(column), 0.0, term)
        for j, term in self._other_terms(X):
            made[:, j] = term
        if len(self.classes_) == 2:
            two: Floats = made[:, :, 1] - made[:, :, 0]
            return two
        centred: Floats = made - made.mean(axis=2, keepdims=True)
        return centred

    def score_samples(self, X: Any) -> Floats:
        """Give log P(x), the density of rows whatever their class: low for novelties.

        Parameters
        ----------
        X : array or frame of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n,)
            Log densities; those of buckets are probabilities of the bucket.
        """
        made: Floats = logsumexp(self.predict_joint_log_proba(X), axis=1)
        return made

    def sample(self, n: Count = 1, random_state: Any = None) -> tuple[Floats, Any]:
        """Draw rows and their classes from the model.

        Parameters
        ----------
        n : int, default=1
            How many.
        random_state : int, RandomState or None
            The source of chance.

        Returns
        -------
        X : array of shape (n, d)
            Rows. Inside a bucket all values are equally likely.
        y : array of shape (n,)
            Their classes.
        """
        check_is_fitted(self)
        chance = check_random_state(random_state)
        codes = chance.choice(len(self.classes_), size=n, p=self.class_prior_)
        X = np.empty((n, len(self.families_)))
        for j, (family, found) in enumerate(zip(self.families_, self.parameters_, strict=True)):
            if family == "gaussian":
                X[:, j] = chance.normal(found[codes, 0], np.sqrt(found[codes, 1]))
            elif family == "poisson":
                X[:, j] = chance.poisson(found[codes, 0])
            else:
                steps = np.cumsum(found, axis=1)[codes, :-1]
                drawn = (chance.random_sample(n)[:, None] >= steps).sum(axis=1)
                X[:, j] = self._value(j, drawn, chance)
        return self._labelled(X), self.classes_[codes]

    def _labelled(self, X: Floats) -> Any:
        """Give columns of labels their labels back."""
        if not self.labels_:
            return X
        made = X.astype(object)
        for j, codes in self.labels_.items():
            labels = np.array([*codes, None], dtype=object)
            made[:, j] = labels[np.where(np.isnan(X[:, j]), -1, X[:, j]).astype(np.intp)]
        return made

    def _value(self, j: int, drawn: Any, chance: Any) -> Any:
        if self.families_[j] != "buckets":
            return self.values_[j][drawn] if len(self.values_[j]) else np.nan
        low, high = self._ends[j]
        if low > high:  # nothing was ever there
            return np.nan
        edges = np.concatenate([[low], self.values_[j], [max(high, *self.values_[j], low)]])
        return chance.uniform(edges[drawn], edges[drawn + 1])
