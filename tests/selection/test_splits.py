"""Splits: every row has its place, and strata, groups and blocks are what they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.model_selection import cross_val_score

import tutelage as t
from tutelage.selection.multilabel import deal


@given(rows=st.integers(4, 200), labels=st.integers(1, 12), folds=st.integers(2, 6), seed=st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_several_labels_are_dealt_in_their_shares(rows: int, labels: int, folds: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    Y = (random.random((rows, labels)) < random.random(labels)).astype(int)
    fold = deal(Y, np.full(folds, 1 / folds), seed)
    sizes = np.bincount(fold, minlength=folds)
    assert sizes.sum() == rows
    assert fold.min() >= 0
    # Sizes bend where labels pull, but the rarest label, which is served first, is dealt exactly.
    counts = np.stack([Y[fold == place].sum(axis=0) for place in range(folds)])
    present = Y.sum(axis=0)
    if (present > 0).any():
        rarest = int(np.flatnonzero(present > 0)[present[present > 0].argmin()])
        assert np.abs(counts[:, rarest] - present[rarest] / folds).max() <= 1


def test_dealing_is_the_same_for_sparse_labels_and_by_seed() -> None:
    Y = (np.random.default_rng(0).random((100, 5)) < 0.3).astype(int)
    shares = [0.5, 0.3, 0.2]
    assert np.array_equal(deal(Y, shares, 3), deal(sparse.csr_array(Y), shares, 3))
    assert np.array_equal(deal(Y, shares, 3), deal(Y, shares, 3))


def one_by_one(Y: Any, shares: Any, seed: int) -> Any:
    """Iterative stratification as it was published: one row after the other."""
    random = np.random.default_rng(seed)
    wanted, whole = np.outer(shares, Y.sum(axis=0)).astype(float), np.asarray(shares) * len(Y)
    fold = np.full(len(Y), -1)
    while (fold < 0).any():
        left = Y[fold < 0].sum(axis=0)
        if not (left > 0).any():
            for row in np.flatnonzero(fold < 0):
                fold[row] = int(np.argmax(whole))
                whole[fold[row]] -= 1
            break
        label = int(np.flatnonzero(left > 0)[left[left > 0].argmin()])
        for row in np.flatnonzero((fold < 0) & (Y[:, label] > 0)):
            most = np.flatnonzero(np.isclose(wanted[:, label], wanted[:, label].max()))
            most = most[np.isclose(whole[most], whole[most].max())]
            fold[row] = random.choice(most)
            wanted[fold[row]] -= Y[row]
            whole[fold[row]] -= 1
    return fold


def test_dealing_by_labels_balances_as_dealing_by_rows() -> None:
    random = np.random.default_rng(1)
    unbalanced: dict[str, list[float]] = {"ours": [], "published": []}
    for seed in range(12):
        Y = (random.random((300, 12)) < random.random(12) * 0.3).astype(int)
        shares = np.full(5, 0.2)
        for name, fold in (("ours", deal(Y, shares, seed)), ("published", one_by_one(Y, shares, seed))):
            counts = np.stack([Y[fold == place].sum(axis=0) for place in range(5)])
            unbalanced[name].append(float(np.abs(counts - Y.sum(axis=0) / 5).mean()))
    assert np.mean(unbalanced["ours"]) <= 1.1 * np.mean(unbalanced["published"])


def test_labels_must_be_zeros_and_ones() -> None:
    with pytest.raises(ValueError, match="zeros and ones"):
        deal(np.array([[0, 2], [1, 0]]), [0.5, 0.5])
    with pytest.raises(ValueError, match="shares"):
        deal(np.eye(4), [0.5, 0.6])
    with pytest.raises(ValueError, match="use StratifiedKFold"):
        next(t.MultilabelStratifiedKFold(2).split(np.zeros(4), np.zeros(4)))
    with pytest.raises(ValueError, match="n_splits=9"):
        next(t.MultilabelStratifiedKFold(9).split(np.zeros(4), np.eye(4)))


@pytest.mark.parametrize("words", [{}, {"stratify": np.arange(60) % 3}, {"groups": np.arange(60) // 4}])
def test_three_parts_hold_every_row_once(words: dict[str, Any]) -> None:
    parts = t.train_dev_test(60, random_state=0, **words)
    assert sorted(np.concatenate(parts).tolist()) == list(range(60))
    assert [len(part) for part in parts] == [36, 12, 12]
    if "stratify" in words:
        assert [np.bincount(words["stratify"][part]).tolist() for part in parts] == [[12] * 3, [4] * 3, [4] * 3]
    if "groups" in words:
        homes = [set(words["groups"][part]) for part in parts]
        assert not homes[0] & homes[1]
        assert not homes[0] & homes[2]
        assert not homes[1] & homes[2]


def test_what_cannot_be_split_is_an_error() -> None:
    with pytest.raises(ValueError, match="groups has 1 of them, which cannot be split into 2 parts"):
        t.hold_out(10, groups=np.zeros(10))
    with pytest.raises(ValueError, match="a class of 1 rows, 'b'"):
        t.hold_out(4, stratify=["a", "a", "a", "b"])
    with pytest.raises(ValueError, match="sum to 1"):
        t.train_dev_test(10, shares=(0.5, 0.2, 0.2))
    with pytest.raises(ValueError, match="cannot be given together"):
        t.hold_out(4, stratify=[0, 0, 1, 1], groups=[0, 0, 1, 1])
    with pytest.raises(ValueError, match="stratify has 3 entries for 4 rows"):
        t.hold_out(4, stratify=[0, 0, 0])


@given(rows=st.integers(20, 100), blocks=st.integers(2, 4), gap=st.integers(0, 2), future=st.booleans())
@settings(max_examples=60, deadline=None)
def test_blocks_of_time_keep_their_distance(rows: int, blocks: int, gap: int, future: bool) -> None:
    splits = list(t.BlockedTimeSplit(blocks, gap=gap, future=future).split(np.zeros(rows)))
    assert len(splits) == t.BlockedTimeSplit(blocks).get_n_splits() == blocks
    for train, test in splits:
        assert np.array_equal(test, np.arange(test[0], test[-1] + 1))
        nearest = np.abs(train[:, None] - test[None]).min()
        assert nearest > gap
        if not future:
            assert train.max() < test.min()
    held = np.concatenate([test for _, test in splits])
    assert len(np.unique(held)) == len(held)
    assert not future or len(held) == rows


def test_blocks_without_training_rows_are_an_error() -> None:
    with pytest.raises(ValueError, match="gap=9 leaves no rows"):
        list(t.BlockedTimeSplit(2, gap=9).split(np.zeros(10)))
    with pytest.raises(ValueError, match="cannot make 5 blocks"):
        list(t.BlockedTimeSplit(5).split(np.zeros(3)))
    with pytest.raises(ValueError, match="n_splits must be"):
        list(t.BlockedTimeSplit(1).split(np.zeros(3)))


def test_a_bootstrap_holds_out_what_it_does_not_draw() -> None:
    shares = []
    for train, test in t.BootstrapSplit(50, random_state=0).split(np.zeros(200)):
        assert len(train) == 200
        assert sorted(set(train) | set(test)) == list(range(200))
        assert not set(train) & set(test)
        shares.append(len(test) / 200)
    # (1 - 1/n)^n of the rows, with a standard error of about 0.002
    assert np.mean(shares) == pytest.approx((1 - 1 / 200) ** 200, abs=0.01)


def test_splitters_work_in_scikit_learn() -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(60, 2)), random.normal(size=60)
    for splitter in (t.BlockedTimeSplit(3, gap=2), t.BootstrapSplit(3, random_state=0)):
        assert len(cross_val_score(t.Ridge(), X, y, cv=splitter)) == 3
