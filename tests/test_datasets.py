"""The bundled tables are what their sources say they are, and cost nothing until they are asked for."""

from __future__ import annotations

import subprocess
import sys
from importlib import resources
from typing import TYPE_CHECKING

import pytest

from tutelage import datasets

if TYPE_CHECKING:
    import polars as pl


def test_titanic_has_the_passengers_that_kaggle_lists() -> None:
    frame = datasets.titanic()
    assert frame.shape == (891, 12)
    assert frame["Survived"].sum() == 342
    assert frame["Age"].null_count() == 177
    assert frame["Cabin"].null_count() == 687
    test = datasets.titanic("test")
    assert test.shape == (418, 11)
    assert "Survived" not in test.columns
    assert not set(frame["PassengerId"]) & set(test["PassengerId"])


def test_sms_spam_has_the_counts_of_its_paper() -> None:
    frame = datasets.sms_spam()
    assert dict(frame["label"].value_counts().rows()) == {"ham": 4827, "spam": 747}
    assert frame["message"].null_count() == 0


def test_restaurant_is_worth_one_bit_and_its_patrons_half_of_it() -> None:
    def entropy(labels: pl.Series) -> float:
        return labels.value_counts(normalize=True)["proportion"].entropy(base=2)

    frame = datasets.restaurant()
    assert entropy(frame["Wait"]) == pytest.approx(1.0)

    def gain(column: str) -> float:
        parts = frame.partition_by(column)
        return 1 - sum(len(part) / 12 * entropy(part["Wait"]) for part in parts)

    assert gain("Pat") == pytest.approx(0.541, abs=5e-4)  # the figures of the textbook
    assert gain("Type") == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("load", [datasets.titanic, datasets.sms_spam, datasets.restaurant])
def test_features_and_targets_come_apart(load) -> None:
    frame, (X, y) = load(), load(return_X_y=True)
    assert X.height == len(y) == frame.height
    (target,) = set(frame.columns) - set(X.columns)
    assert y.tolist() == frame[target].to_list()


def test_what_cannot_be_given_is_refused() -> None:
    with pytest.raises(ValueError, match="part of titanic must be 'train' or 'test'; found 'all'"):
        datasets.titanic("all")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="return_X_y of titanic must be False"):
        datasets.titanic("test", return_X_y=True)


def test_the_tables_are_small_and_their_licences_stand_beside_them() -> None:
    files = {file.name: file for file in resources.files(datasets).iterdir() if "csv" in file.name}
    assert sum(len(file.read_bytes()) for file in files.values()) < 300_000
    licences = (resources.files(datasets) / "LICENCES.md").read_text("utf-8")
    assert all(f"`{name}`" in licences for name in files)


def test_importing_the_chapter_reads_nothing() -> None:
    code = "import sys, tutelage.datasets; print(*{'polars', 'numpy', 'sklearn'} & set(sys.modules))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not answer.stdout.strip()
