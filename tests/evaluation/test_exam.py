"""The exam seals, counts across copies, pickles and processes, says little, and keeps its promise when it is abused."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from tutelage import Exam, GaussianNB, KNeighborsClassifier, LinearRegression, LogisticRegression, Ridge
from tutelage.evaluation import clopper_pearson, wilson
from tutelage.evaluation.exam import EXPONENTS, _rounded

RANDOM = np.random.default_rng(0)
Y = RANDOM.integers(0, 2, 400)
X = RANDOM.normal(size=(400, 4)) + Y[:, None] * [1.0, 0.5, 0.0, 0.0]


class Says:
    """A model that answers what it was told to."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def predict(self, _: Any) -> Any:
        return np.asarray(self.answer)


def sealed(exam: Exam) -> tuple[Any, Any]:
    return exam._sealed


def test_the_first_opening_is_the_plain_score() -> None:
    exam = Exam(X, Y)
    model = GaussianNB().fit(exam.X, exam.y)
    opening = exam.open(model, "the only one")
    rows, truth = sealed(exam)
    right = int((model.predict(rows) == truth).sum())
    assert (opening.number, opening.rows, opening.note) == (1, 100, "the only one")
    assert opening.value == right / 100
    assert opening.interval == wilson(right, 100)
    assert opening.widened == 1
    assert "Opening 1: GaussianNB, accuracy" in str(opening)


@pytest.mark.parametrize("how", ["random", "stratified", "last"])
def test_rows_are_sealed_once_and_none_is_lost(how: Any) -> None:
    exam = Exam(np.arange(400.0)[:, None], Y, how=how, share=0.3, random_state=5)
    rows, truth = sealed(exam)
    everyone = np.concatenate([exam.X[:, 0], rows[:, 0]])
    assert np.array_equal(np.sort(everyone), np.arange(400))
    assert np.array_equal(truth, Y[rows[:, 0].astype(int)])
    assert np.array_equal(exam.y, Y[exam.X[:, 0].astype(int)])
    assert abs(len(truth) - 120) <= 1
    if how == "last":
        assert rows[:, 0].min() == 280
    if how == "stratified":
        assert abs(truth.mean() - Y.mean()) < 0.01
    again = Exam(np.arange(400.0)[:, None], Y, how=how, share=0.3, random_state=5)
    assert np.array_equal(sealed(again)[0], rows)


def test_groups_stay_together() -> None:
    groups = np.arange(400) // 8
    exam = Exam(np.arange(400.0)[:, None], Y, groups=groups)
    inside = groups[sealed(exam)[0][:, 0].astype(int)]
    outside = groups[exam.X[:, 0].astype(int)]
    assert not set(inside) & set(outside)


def test_frames_stay_frames() -> None:
    frame = pl.DataFrame(X, schema=list("abcd"))
    exam = Exam(frame, pl.Series(Y))
    assert isinstance(exam.X, pl.DataFrame)
    assert exam.open(GaussianNB().fit(exam.X, exam.y)).value > 0.5


def test_the_same_answers_are_the_same_opening() -> None:
    exam = Exam(X, Y)
    model = GaussianNB().fit(exam.X, exam.y)
    first = exam.open(model)
    assert exam.open(copy.deepcopy(model)) == first
    assert len(exam.openings) == 1


def test_a_worse_model_learns_only_that_it_is_not_better() -> None:
    exam = Exam(X, Y)
    good = exam.open(GaussianNB().fit(exam.X, exam.y))
    truth = sealed(exam)[1]
    told = {(exam.open(Says(np.roll(truth, shift))).value) for shift in (3, 5, 7)}
    assert told == {good.value}
    assert [one.better for one in exam.openings] == [True, False, False, False]
    assert exam.best == good
    assert "not better than the best so far" in str(exam.openings[-1])


def test_a_better_model_is_told_its_score_with_a_wider_interval() -> None:
    exam = Exam(X, Y)
    truth = sealed(exam)[1]
    worse = truth.copy()
    worse[:40] = 1 - worse[:40]
    exam.open(Says(worse))
    better = truth.copy()
    better[:10] = 1 - better[:10]
    opening = exam.open(Says(better))
    assert (opening.better, opening.number, opening.value) == (True, 2, 0.9)
    # One answer out of 101 was given before.
    assert opening.interval == clopper_pearson(90, 100, 1 - 0.05 / 101)
    assert opening.widened > 1
    assert "1 earlier opening made" in str(opening)


def test_a_gain_within_the_noise_is_not_told() -> None:
    exam = Exam(X, Y)
    truth = sealed(exam)[1]
    first = truth.copy()
    first[:20] = 1 - first[:20]
    exam.open(Says(first))
    slightly = truth.copy()
    slightly[20:39] = 1 - slightly[20:39]  # 19 wrong in place of 20, on other rows
    assert not exam.open(Says(slightly)).better
    paired = first.copy()
    paired[:5] = truth[:5]  # five more right, none less: that is no noise
    assert exam.open(Says(paired)).better


@pytest.mark.parametrize("metric", ["auc", "log_loss", "f1", "r2", "root_squared_error"])
def test_other_metrics_are_told_with_three_digits(metric: str) -> None:
    numbers = metric in {"r2", "root_squared_error"}
    y = X @ [1.0, 2.0, 0.0, 0.0] + RANDOM.normal(size=400) if numbers else Y
    exam = Exam(X, y, metric)
    weak, strong = (Ridge(1e4), LinearRegression()) if numbers else (KNeighborsClassifier(1), LogisticRegression())
    first = exam.open(weak.fit(exam.X, exam.y if numbers else exam.y[::-1]))
    second = exam.open(strong.fit(exam.X, exam.y))
    assert first.low < first.value < first.high
    assert float(f"{first.value:.3g}") == first.value
    assert second.better
    assert second.widened > 1
    assert second.low < second.value < second.high
    if metric in {"auc", "f1"}:
        assert 0 < second.low < second.high < 1


def test_the_probabilities_of_numbers_told_sum_to_at_most_one() -> None:
    total = 0.0
    for exponent in range(-30, 31):
        for mantissa in range(100, 1000):
            total += 2 * _rounded(float(f"{mantissa}e{exponent - 2}"), 3)[1]
    assert total + 4 * _rounded(0.0, 3)[1] <= 1
    assert pytest.approx(sum(1 / (1 + abs(e)) ** 2 for e in range(-100_000, 100_001)), rel=1e-4) == EXPONENTS


# --- counting
# ------------------------------------------------------------------------------------------------------------


def test_copies_and_pickles_count_together() -> None:
    exam = Exam(X, Y)
    copied, pickled = copy.deepcopy(exam), pickle.loads(pickle.dumps(exam))
    n = exam.rows
    exam.open(Says(np.zeros(n, int)))
    copied.open(Says(np.ones(n, int)))
    pickled.open(Says(np.arange(n) % 2))
    for one in (exam, copied, pickled):
        assert [opening.number for opening in one.openings] == [1, 2, 3]


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_count_together(method: str) -> None:
    exam = Exam(X, Y)
    # Six that answer differently: the same answers again would be no new opening.
    models = [KNeighborsClassifier(1).fit(exam.X, np.random.default_rng(seed).permutation(exam.y)) for seed in range(6)]
    with multiprocessing.get_context(method).Pool(2) as pool:
        # A new process can import what is installed, and not this file: a function of it would never arrive there.
        opened = pool.starmap_async(Exam.open, [(exam, model) for model in models]).get(timeout=120)
    assert sorted(opening.number for opening in opened) == [1, 2, 3, 4, 5, 6]
    assert len(exam.openings) == 6


def test_a_pickle_remembers_after_its_process_has_ended(tmp_path: Path) -> None:
    code = f"""
import pickle, numpy as np
from tutelage import Exam, GaussianNB
X, y = np.arange(40.0)[:, None], np.repeat([0, 1], 20)
exam = Exam(X, y, share=0.5)
exam.open(GaussianNB().fit(exam.X, exam.y))
pickle.dump(exam, open({str(tmp_path / "exam.pkl")!r}, "wb"))
print(exam._ledger.path)
"""
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not Path(answer.stdout.strip()).exists()  # the ledger of a process goes with it
    exam = pickle.loads((tmp_path / "exam.pkl").read_bytes())
    assert len(exam.openings) == 1
    assert exam.open(Says(np.zeros(20, int))).number == 2
    exam._ledger.path.unlink()


def test_a_named_ledger_counts_the_next_run(tmp_path: Path) -> None:
    for run in range(3):
        exam = Exam(X, Y, ledger=tmp_path / "exam.jsonl")
        exam.open(Says(np.arange(exam.rows) % (run + 2) == 0))
    assert len(exam.openings) == 3
    other = Exam(X, Y, ledger=tmp_path / "exam.jsonl", random_state=1)
    assert len(other.openings) == 0
    assert "opened 0 times" in repr(other)


def test_a_spoilt_ledger_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "exam.jsonl"
    exam = Exam(X, Y, ledger=path)
    exam.open(GaussianNB().fit(exam.X, exam.y))
    path.write_text(path.read_text("utf-8") + "not a line\n", "utf-8")
    with pytest.raises(ValueError, match="cannot be read: line 2"):
        exam.open(GaussianNB().fit(exam.X, exam.y))


def test_the_ledger_tells_nothing_of_the_truth(tmp_path: Path) -> None:
    """Two exams with other truths but equal scores write the same lines."""
    lines = []
    for turn in (0, 1):
        y = np.tile([0, 1], 40) if turn == 0 else np.tile([1, 0], 40)
        exam = Exam(np.arange(80.0)[:, None], y, ledger=tmp_path / f"{turn}.jsonl", how="last", share=0.5)
        exam.open(Says(np.zeros(40, int)))
        line = (tmp_path / f"{turn}.jsonl").read_text("utf-8")
        lines.append([part for part in line.split(", ") if '"exam"' not in part and '"when"' not in part])
    assert lines[0] == lines[1]


def test_a_broken_seal_is_known_everywhere() -> None:
    exam = Exam(X, Y)
    other = pickle.loads(pickle.dumps(exam))
    rows, truth = exam.break_seal()
    assert len(rows) == len(truth) == 100
    assert exam.broken
    assert other.broken
    assert len(exam.openings) == 0
    with pytest.raises(ValueError, match="seal of this exam was broken"):
        other.open(Says(truth))


def test_bad_input_is_told_and_does_not_count(tmp_path: Path) -> None:
    exam = Exam(X, Y, "log_loss")
    with pytest.raises(ValueError, match="gives none"):
        exam.open(Says(np.zeros(100)))
    assert len(exam.openings) == 0
    for words, match in (
        ({"share": 1.5}, "share must lie between"),
        ({"share": 1e-6}, "rows on both sides"),
        ({"how": "some"}, "how must be"),
        ({"groups": [1, 2]}, "a value for each"),
        ({"groups": Y, "how": "stratified"}, "cannot be had together"),
        ({"ledger": tmp_path / "none" / "x"}, "folder that exists"),
        ({"level": 2}, "level must lie"),
        ({"metric_name": "acuracy"}, "Did you mean 'accuracy'"),
    ):
        with pytest.raises(ValueError, match=match):
            Exam(X, Y, **words)  # type: ignore[arg-type]


# --- the promise
# ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("openings", [2, pytest.param(30, marks=pytest.mark.slow)])
def test_intervals_hold_against_an_analyst_who_climbs(openings: int) -> None:
    """Labels are coins, so every model is right half the time. An analyst keeps what was called better and votes."""
    runs, missed, naive = 150, 0, 0
    n = 200
    for seed in range(runs):
        random = np.random.default_rng(seed)
        y = random.integers(0, 2, 2 * n)
        exam = Exam(np.zeros((2 * n, 1)), y, share=0.5, random_state=seed)
        best = random.integers(0, 2, n)
        last = exam.open(Says(best))
        for _ in range(openings - 1):
            changed = np.where(random.random(n) < 0.3, 1 - best, best)
            opening = exam.open(Says(changed))
            if opening.better:
                best, last = changed, opening
        missed += 0.5 not in last.interval
        naive += 0.5 not in wilson(round(last.value * n), n)
    # The last interval that was told; the level holds for each opening, chosen beforehand or by the ladder.
    assert stats.binomtest(missed, runs, 0.05, alternative="greater").pvalue > 1e-3
    if openings > 10:
        assert naive > 0.2 * runs  # what an exam that did not count would have claimed
