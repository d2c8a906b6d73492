"""Searches: what they choose, what they survive, and that they go on where they were."""

from __future__ import annotations

import io
import json
import pickle
import subprocess
import sys
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV as TheirGridSearchCV
from sklearn.tree import DecisionTreeClassifier

import tutelage as t
from tutelage.selection.checkpoint import Checkpoint
from tutelage.selection.engine import Watch, evaluate
from tutelage.selection.fitting import Outcome, Scoring
from tutelage.selection.progress import Progress
from tutelage.selection.search import BaseSearch

if TYPE_CHECKING:
    from pathlib import Path

X, y = load_iris(return_X_y=True)
RANDOM = np.random.default_rng(0)
XR = RANDOM.normal(size=(80, 4))
YR = XR @ [1.0, -2.0, 0.5, 0.0] + RANDOM.normal(size=80)


class Recording(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier without an algebra, that tells of its fits and can be made to fail or to be interrupted."""

    fits: list[Any] = []  # noqa: RUF012 - shared by clones on purpose

    def __init__(self, level: float = 0.0, fail: bool = False, interrupt: bool = False) -> None:
        self.level = level
        self.fail = fail
        self.interrupt = interrupt

    def fit(self, X: Any, y: Any) -> Recording:  # noqa: ARG002
        self.fits.append(self.level)
        if self.interrupt:
            raise KeyboardInterrupt
        if self.fail:
            raise RuntimeError("the level is out of order")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.where(X[:, 0] > self.level, self.classes_[-1], self.classes_[0])


@pytest.fixture(autouse=True)
def _no_fits_yet() -> None:
    Recording.fits.clear()


def test_any_estimator_is_searched_as_scikit_learn_does() -> None:
    grid = [{"max_depth": [1, 2, 3]}, {"min_samples_leaf": [5, 20], "criterion": ["gini", "entropy"]}]
    ours = t.GridSearchCV(DecisionTreeClassifier(random_state=0), grid, return_train_score=True).fit(X, y)
    theirs = TheirGridSearchCV(DecisionTreeClassifier(random_state=0), grid, return_train_score=True).fit(X, y)
    assert ours.cv_results_.keys() == theirs.cv_results_.keys()
    for name, column in theirs.cv_results_.items():
        if "time" not in name:
            assert np.asanyarray(ours.cv_results_[name]).tolist() == np.asanyarray(column).tolist(), name
    assert ours.best_params_ == theirs.best_params_
    assert np.array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("jobs", [1, 2])
def test_jobs_change_nothing(jobs: int) -> None:
    grid = {"max_depth": [1, 2]}
    search = t.GridSearchCV(DecisionTreeClassifier(random_state=0), grid, n_jobs=jobs).fit(X, y)
    alone = t.GridSearchCV(DecisionTreeClassifier(random_state=0), grid).fit(X, y)
    assert np.array_equal(search.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"])


# ---- what goes wrong ----


def test_a_failing_candidate_keeps_its_reason_and_the_search_goes_on() -> None:
    search = t.GridSearchCV(Recording(), {"fail": [True, False]}, cv=3)
    warnings.filterwarnings("ignore", "One or more of the test scores")
    with pytest.warns(FitFailedWarning, match="3 fits failed out of a total of 6"):
        search.fit(X, y)
    assert search.best_params_ == {"fail": False}
    assert [(failure.params, failure.fold) for failure in search.failures] == [({"fail": True}, k) for k in range(3)]
    assert str(search.failures[0]).endswith("the level is out of order")


def test_a_candidate_that_fails_among_fast_ones_fails_alone() -> None:
    search = t.GridSearchCV(t.KNeighborsClassifier(), {"n_neighbors": [1, 10_000]}, cv=3)
    warnings.filterwarnings("ignore", "One or more of the test scores")
    with pytest.warns(UserWarning, match="n_neighbors = 10000"):
        search.fit(X, y)
    assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [False, True]
    assert search.best_params_ == {"n_neighbors": 1}


def test_all_candidates_failing_is_an_error_that_says_why() -> None:
    with pytest.raises(ValueError, match=r"All the 3 fits failed[\s\S]*the level is out of order"):
        t.GridSearchCV(Recording(fail=True), {"level": [1.0]}, cv=3).fit(X, y)


def test_a_metric_that_needs_probabilities_says_so() -> None:
    with pytest.raises(ValueError, match="scoring='neg_log_loss' needs predict_proba, which Recording does not have"):
        t.GridSearchCV(Recording(), {"level": [5.0]}, scoring="neg_log_loss").fit(X, y)
    with pytest.raises(ValueError, match="scoring='neg_log_loss' needs predict_proba, which Recording does not have"):
        t.cross_val_score(Recording(), X, y, scoring="neg_log_loss")
    assert not Recording.fits


def test_groups_that_cannot_be_split_are_an_error() -> None:
    from sklearn.model_selection import GroupKFold

    with pytest.raises(ValueError, match="number of groups"):
        t.cross_val_score(t.Ridge(), XR, YR, groups=np.zeros(80), cv=GroupKFold(3))


def test_interruption_keeps_what_is_done_and_is_passed_on(tmp_path: Path) -> None:
    place = tmp_path / "search.json"
    grid = {"interrupt": [False, True]}
    search = t.GridSearchCV(Recording(level=5.8), grid, cv=3, checkpoint=place)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y)
    assert search.cv_results_["params"] == [{"interrupt": False}]
    assert search.best_params_ == {"interrupt": False}
    assert not hasattr(search, "best_estimator_")
    assert len(json.loads(place.read_text("utf-8"))["candidates"]) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["search.json"]
    pickle.loads(pickle.dumps(search))


def test_an_interruption_before_anything_is_done_is_just_passed_on() -> None:
    with pytest.raises(KeyboardInterrupt):
        t.GridSearchCV(Recording(interrupt=True), {"level": [1.0]}, cv=3).fit(X, y)


# ---- going on ----


def test_a_search_goes_on_from_its_file(tmp_path: Path) -> None:
    place = tmp_path / "search.json"
    first = t.GridSearchCV(Recording(), {"level": [5.0, 6.0]}, cv=3, refit=False, checkpoint=place).fit(X, y)
    assert len(Recording.fits) == 6
    more = t.GridSearchCV(Recording(), {"level": [5.0, 6.0, 7.0]}, cv=3, refit=False, checkpoint=place).fit(X, y)
    assert Recording.fits[6:] == [7.0] * 3  # only the new one
    assert np.array_equal(more.cv_results_["mean_test_score"][:2], first.cv_results_["mean_test_score"])


def test_a_search_goes_on_in_another_process(tmp_path: Path) -> None:
    place = tmp_path / "search.json"
    code = f"""
import numpy as np
from sklearn.tree import DecisionTreeClassifier
from tutelage import GridSearchCV
def own(model, X, y):
    return model.score(X, y)
X, y = np.arange(40.0)[:, None], np.arange(40) % 3
model, grid = DecisionTreeClassifier(random_state=0), {{"max_depth": [1, 2]}}
GridSearchCV(model, grid, scoring=own, checkpoint={str(place)!r}).fit(X, y)
"""
    first, second = (_run(code, place) for _ in range(2))
    assert first == second


def _run(code: str, place: Path) -> str:
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    return place.read_text("utf-8")  # the seconds of the fits too: nothing was computed again


def test_a_file_of_another_search_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "search.json"
    t.GridSearchCV(Recording(), {"level": [5.0]}, cv=3, checkpoint=place).fit(X, y)
    with pytest.raises(ValueError, match="belongs to a search of another"):
        t.GridSearchCV(Recording(), {"level": [5.0]}, cv=3, checkpoint=place).fit(X[::-1], y)
    with pytest.raises(ValueError, match="belongs to a search of another"):
        t.GridSearchCV(Recording(), {"level": [5.0]}, cv=4, checkpoint=place).fit(X, y)
    place.write_text("not a search", "utf-8")
    with pytest.raises(ValueError, match="is not a file of a search"):
        t.GridSearchCV(Recording(), {"level": [5.0]}, cv=3, checkpoint=place).fit(X, y)
    with pytest.raises(FileNotFoundError, match="folder"):
        Checkpoint(tmp_path / "nowhere" / "search.json", "")


def test_the_file_is_whole_at_every_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "search.json"
    file = Checkpoint(place, "mark")
    file.keep({"a": 1}, [Outcome(test=1.0)])
    before = place.read_text("utf-8")

    def fail(self: Any, target: Any) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    file.found["more"] = []
    with pytest.raises(OSError, match="full"):
        file.write()
    assert place.read_text("utf-8") == before
    assert [path.name for path in tmp_path.iterdir()] == ["search.json"]


def test_time_ends_a_search_between_candidates() -> None:
    search = t.GridSearchCV(Recording(), {"level": [5.0, 6.0, 7.0]}, cv=3, time_limit=1e-9)
    with pytest.warns(UserWarning, match="ended the search after 1 of 3 candidates"):
        search.fit(X, y)
    assert search.cv_results_["params"] == [{"level": 5.0}]
    assert search.best_estimator_.level == 5.0


def test_progress_is_silent_off_a_terminal_and_tells_the_time_left_on_one(capsys: pytest.CaptureFixture[str]) -> None:
    t.GridSearchCV(Recording(), {"level": [5.0, 6.0]}, cv=3).fit(X, y)
    assert capsys.readouterr() == ("", "")
    t.GridSearchCV(Recording(), {"level": [5.0, 6.0]}, cv=3, progress=True).fit(X, y)
    shown = capsys.readouterr().err
    assert "1 of 2 candidates" in shown
    assert "left" in shown
    assert shown.endswith("\n")

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    assert Progress(None, Terminal()).active
    assert not Progress(None, io.StringIO()).active


def test_what_is_known_is_not_computed() -> None:
    known = {0: [Outcome(test=0.25)] * 2}
    folds = [(np.arange(100), np.arange(100, 150)), (np.arange(50, 150), np.arange(50))]
    words = Scoring(lambda model, X, y: model.level)  # noqa: ARG005
    table = evaluate(Recording(), X, y, folds, [{"level": 1.0}, {"level": 2.0}], words, watch=Watch(known=known))
    assert [[outcome.test for outcome in row] for row in table] == [[0.25, 0.25], [2.0, 2.0]]
    assert Recording.fits == [2.0, 2.0]


# ---- choosing ----


def table_of(means: list[list[float]], values: list[float]) -> dict[str, Any]:
    scores = np.array(means)
    found: dict[str, Any] = {f"split{fold}_test_score": column for fold, column in enumerate(scores.T)}
    found["mean_test_score"] = scores.mean(axis=1)
    found["param_alpha"] = np.ma.array(values)
    found["param_odd"] = np.ma.array(values)
    return found


def test_one_standard_error_takes_the_simplest_that_is_good_enough() -> None:
    # best: 0.9, standard error of (0.8, 1.0) is 0.1
    table = table_of([[0.9, 0.6], [0.9, 0.72], [0.8, 1.0], [0.7, 0.8]], [1000.0, 100.0, 1.0, 10.0])
    assert t.OneStandardError("alpha")(table) == 1
    assert t.OneStandardError("alpha", simplest="smallest")(table) == 2
    with pytest.raises(ValueError, match="is not known; say simplest"):
        t.OneStandardError("odd")(table)
    with pytest.raises(ValueError, match="does not vary"):
        t.OneStandardError("C")(table)


def test_one_standard_error_decides_a_search() -> None:
    grid = {"alpha": np.geomspace(1e-3, 1e4, 15)}
    best = t.GridSearchCV(t.Ridge(), grid).fit(XR, YR)
    simple = t.GridSearchCV(t.Ridge(), grid, refit=t.OneStandardError("alpha")).fit(XR, YR)
    scores = best.cv_results_["mean_test_score"]
    splits = [best.cv_results_[f"split{fold}_test_score"][best.best_index_] for fold in range(5)]
    floor = scores[best.best_index_] - np.std(splits, ddof=1) / np.sqrt(5)
    assert simple.best_params_["alpha"] == grid["alpha"][scores >= floor].max()
    assert simple.best_score_ == scores[simple.best_index_]


def test_draws_are_those_of_the_seed() -> None:
    places = {"alpha": loguniform(1e-3, 1e3)}
    one, other = (t.RandomizedSearchCV(t.Ridge(), places, n_iter=6, random_state=3).fit(XR, YR) for _ in range(2))
    assert one.cv_results_["params"] == other.cv_results_["params"]


def test_halving_ends_with_the_best_of_the_last_round() -> None:
    search = t.HalvingGridSearchCV(
        t.KNeighborsClassifier(), {"n_neighbors": list(range(1, 10))}, factor=3, random_state=0
    ).fit(X, y)
    rounds = search.cv_results_["iter"]
    assert [int((rounds == number).sum()) for number in range(search.n_iterations_)] == search.n_candidates_
    last = np.flatnonzero(rounds == rounds.max())
    assert search.best_score_ == search.cv_results_["mean_test_score"][last].max()


def test_a_search_of_ones_own_runs_in_rounds() -> None:
    class Coarse(BaseSearch):
        def _search(self, run: Any) -> None:
            table = run([{"alpha": 0.01}, {"alpha": 100.0}])
            near = table["params"][int(np.argmax(table["mean_test_score"]))]["alpha"]
            run([{"alpha": near / 3}, {"alpha": near * 3}])

    search = Coarse(t.Ridge()).fit(XR, YR)
    assert len(search.cv_results_["params"]) == 4
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()


def test_optuna_searches_the_ranges_that_a_learner_declares() -> None:
    pytest.importorskip("optuna")
    search = t.OptunaSearch(t.Ridge(), n_iter=6, random_state=0).fit(XR, YR)
    assert len(search.cv_results_["params"]) == 6
    low, high = (getattr(t.Ridge.search_space()["alpha"], end) for end in ("low", "high"))
    assert all(low <= candidate["alpha"] <= high for candidate in search.cv_results_["params"])


def test_without_optuna_the_error_says_what_to_install() -> None:
    try:
        import optuna  # noqa: F401
    except ImportError:
        with pytest.raises(ImportError, match=r"tutelage\[optuna\]"):
            t.OptunaSearch(t.Ridge()).fit(XR, YR)


def test_weights_reach_the_fits_and_the_scorer() -> None:
    weight = RANDOM.uniform(0.1, 3.0, 80)
    grid = {"alpha": [0.1, 10.0]}
    ours = t.GridSearchCV(t.Ridge(), grid).fit(XR, YR, sample_weight=weight)
    theirs = TheirGridSearchCV(t.Ridge(), grid).fit(XR, YR, sample_weight=weight)
    assert np.allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-10)
