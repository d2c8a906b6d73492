"""The data of the cases: generated, or real sets in the folder that TUTELAGE_DATA names (else ../shared/data)."""

from __future__ import annotations

import gzip
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy import sparse

FOLDER = Path(os.environ.get("TUTELAGE_DATA", Path(__file__).parents[3] / "shared" / "data"))
Examples = tuple[Any, np.ndarray]


def standardised(X: np.ndarray) -> np.ndarray:
    X = np.asarray(X, dtype=np.float64)
    X = X - X.mean(axis=0)
    spread = X.std(axis=0)
    return X / np.where(spread > 0, spread, 1.0)


def signs(y: Any) -> np.ndarray:
    """Give -1 and +1 for a column of two values."""
    values = np.asarray(y)
    return np.where(values == np.unique(values)[-1], 1.0, -1.0)


def codes(y: Any) -> np.ndarray:
    return np.unique(np.asarray(y), return_inverse=True)[1].astype(np.float64)


# Generated -------------------------------------------------------------------------------------------------------


def _correlated(n: int, d: int, seed: int, share: float = 0.5) -> tuple[np.ndarray, np.random.Generator]:
    """Draw normal features with a common factor, so that columns are correlated."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X += share * rng.standard_normal((n, 1))
    return X, rng


@cache
def dense_binary(n: int, d: int) -> Examples:
    X, rng = _correlated(n, d, 1)
    z = X @ (rng.standard_normal(d) / np.sqrt(d)) + 0.3
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-z)), 1.0, -1.0)


@cache
def dense_numbers(n: int, d: int, informative: int, order: str = "C") -> Examples:
    X, rng = _correlated(n, d, 2, share=0.3)
    w = np.zeros(d)
    w[rng.choice(d, informative, replace=False)] = rng.standard_normal(informative)
    signal = X @ w
    y = signal + signal.std() * rng.standard_normal(n)
    return (np.asfortranarray(X) if order == "F" else X), y


@cache
def dense_counts(n: int, d: int) -> Examples:
    X, rng = _correlated(n, d, 3)
    return X, rng.poisson(np.exp(X @ (rng.standard_normal(d) / (2 * np.sqrt(d))) + 0.5)).astype(float)


@cache
def genes(n: int, d: int) -> Examples:
    """Draw an expression-like matrix: few rows, many columns in correlated blocks, binary targets as numbers."""
    rng = np.random.default_rng(4)
    X = standardised(np.repeat(rng.standard_normal((n, d // 10)), 10, axis=1) + rng.standard_normal((n, d)))
    y = np.sign(X[:, :200:20].sum(axis=1) + rng.standard_normal(n))
    return np.asfortranarray(X), y - y.mean()


@cache
def sparse_words(n: int, d: int, words: int, layout: str = "csr") -> Examples:
    """Draw texts: word frequencies follow Zipf's law, rows have norm one, a few hundred words decide the class."""
    rng = np.random.default_rng(5)
    lengths = np.maximum(rng.poisson(words, n), 1)
    frequency = 1.0 / (np.arange(d) + 10.0)
    columns = np.searchsorted(np.cumsum(frequency) / frequency.sum(), rng.random(lengths.sum()))
    rows = np.repeat(np.arange(n), lengths)
    X = sparse.coo_array((np.ones(len(rows)), (rows, np.minimum(columns, d - 1))), shape=(n, d)).tocsr()
    idf = np.log(n / (1.0 + np.bincount(X.indices, minlength=d))) + 1
    X.data = (1 + np.log(X.data)) * idf[X.indices]
    norm = np.sqrt(X.power(2).sum(axis=1))
    X.data /= np.repeat(norm, np.diff(X.indptr))
    w = np.zeros(d)
    w[rng.choice(d // 10, 500, replace=False)] = 6 * rng.standard_normal(500)
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-(X @ w))), 1.0, -1.0)
    return X.asformat(layout), y


# Real ------------------------------------------------------------------------------------------------------------


@cache
def a9a(layout: str = "csr") -> Examples:
    rows, columns, labels = [], [], []
    with gzip.open(FOLDER / "a9a/train.svm.gz", "rt") as lines:
        for i, line in enumerate(lines):
            label, *entries = line.split()
            labels.append(float(label))
            columns += [int(entry.split(":")[0]) - 1 for entry in entries]
            rows += [i] * len(entries)
    X = sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=(len(labels), 123))
    return X.asformat(layout), np.array(labels)


@cache
def adult() -> Examples:
    table = pl.read_csv(FOLDER / "adult/train.csv.gz")
    words = [name for name in table.columns if table[name].dtype == pl.String and name != "income"]
    numbers = standardised(table.select(pl.exclude([*words, "income"])).to_numpy())
    return np.hstack([numbers, table.select(words).to_dummies().to_numpy()]), signs(table["income"])


@cache
def magic() -> Examples:
    table = pl.read_parquet(FOLDER / "magic_gamma/magic_gamma.parquet")
    return standardised(table.drop("Class").to_numpy()), signs(table["Class"])


@cache
def _covertype() -> tuple[np.ndarray, np.ndarray]:
    table = pl.read_parquet(FOLDER / "covertype/covertype.parquet")
    return standardised(table.drop("Cover_Type").to_numpy()), table["Cover_Type"].to_numpy()


def covertype_binary() -> Examples:
    X, y = _covertype()
    return X, np.where(y == 2, 1.0, -1.0)


def covertype() -> Examples:
    X, y = _covertype()
    return X, codes(y)


@cache
def letter() -> Examples:
    table = pl.read_parquet(FOLDER / "letter/letter.parquet")
    return standardised(table.drop("lettr").to_numpy()), codes(table["lettr"])


@cache
def small(name: str) -> Examples:
    table = pl.read_csv(FOLDER / f"small/{name}.csv.gz")
    X = table.drop("target").to_numpy().astype(np.float64)
    return X, codes(table["target"])


def digits() -> Examples:
    X, y = small("digits")
    return X / 16, y


@cache
def fashion(n: int) -> Examples:
    """Take every (60000 / n)-th image: the file is grouped by class."""
    with gzip.open(FOLDER / "fashion_mnist/train-images-idx3-ubyte.gz") as file:
        X = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)
    with gzip.open(FOLDER / "fashion_mnist/train-labels-idx1-ubyte.gz") as file:
        y = np.frombuffer(file.read(), np.uint8, offset=8)
    keep = np.random.default_rng(0).permutation(len(y))[:n]
    return X[keep] / 255.0, codes(y[keep])


@cache
def _newsgroups() -> tuple[Any, np.ndarray]:
    from sklearn.feature_extraction.text import TfidfVectorizer

    table = pl.read_parquet(FOLDER / "newsgroups20/train.parquet")
    X = TfidfVectorizer(sublinear_tf=True, min_df=2).fit_transform(table["text"].to_list())
    return sparse.csr_array(X), codes(table["group"])


def newsgroups() -> Examples:
    return _newsgroups()


def newsgroups_binary(layout: str = "csr") -> Examples:
    """Newsgroups on computers and science against the others."""
    X, y = _newsgroups()
    return X.asformat(layout), np.where(np.isin(y, [1, 2, 3, 4, 5, 11, 12, 13, 14]), 1.0, -1.0)


def newsgroups_numbers(layout: str = "csr") -> Examples:
    X, y = newsgroups_binary(layout)
    return X, y - y.mean()


@cache
def bikes() -> Examples:
    table = pl.read_csv(FOLDER / "bike_sharing/hour.csv.gz")
    calendar = table.select("season", "mnth", "hr", "weekday", "weathersit").select(pl.all().cast(pl.String))
    numbers = standardised(table.select("yr", "holiday", "workingday", "temp", "hum", "windspeed").to_numpy())
    return np.hstack([numbers, calendar.to_dummies().to_numpy()]), table["cnt"].to_numpy().astype(np.float64)
