"""Laws of certificates: the numbers agree with each other, and doubt is said once, in one way."""

from __future__ import annotations

import json
import math
import pickle
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from tutelage.certificate import Certificate, Kind, Reason, warn_unless_trustworthy

VALUES = st.floats(-1e6, 1e6)


@given(VALUES, VALUES)
def test_the_gap_is_the_difference_and_never_negative(primal: float, dual: float) -> None:
    certificate = Certificate(primal, dual)
    assert certificate.gap == max(primal - dual, 0.0)
    assert certificate.relative_gap >= 0
    assert certificate.measure == certificate.relative_gap
    if primal != 0 and certificate.relative_gap < math.inf:
        assert certificate.relative_gap * abs(primal) == pytest.approx(certificate.gap)


def test_a_gap_summed_by_the_solver_is_kept() -> None:
    assert Certificate(1.0, 1.0, gap=1e-20).relative_gap == 1e-20


def test_at_a_value_of_zero_only_a_gap_of_zero_is_small() -> None:
    assert Certificate(0.0, 0.0).relative_gap == 0
    assert Certificate(0.0, -1.0).relative_gap == math.inf


def test_without_a_dual_the_residual_is_the_measure() -> None:
    certificate = Certificate(1.0, kind=Kind.GRADIENT_NORM, residual=1e-9, reason=Reason.CONVERGED)
    assert math.isnan(certificate.gap)
    assert math.isnan(certificate.relative_gap)
    assert certificate.measure == 1e-9
    assert "relative gradient norm of 1.0e-09" in str(certificate)


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("reason", Reason)
def test_every_certificate_reads_as_sentences_and_survives_travel(reason: Reason, kind: Kind) -> None:
    certificate = Certificate(
        0.25, 0.2, rounds=1, passes=2.5, seconds=0.01, solver="<newton>", reason=reason, kind=kind, residual=1e-3
    )
    text = str(certificate)
    assert text[0].isupper()
    assert text.endswith(".")
    assert "  " not in text
    assert "in 1 round and 2.5 passes over the data in 10 ms" in text
    assert (str(reason) in text) == (reason is not Reason.CONVERGED)
    assert "&lt;newton&gt;" in certificate._repr_html_()
    assert pickle.loads(pickle.dumps(certificate)) == certificate
    assert json.loads(json.dumps(certificate.as_dict()))["reason"] == reason.name


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_is_a_sentence_and_doubt_comes_with_advice(reason: Reason) -> None:
    assert str(reason)[0].isupper()
    assert str(reason).endswith(".")
    assert bool(reason.advice) == (not reason.trustworthy)


@pytest.mark.parametrize("reason", Reason)
def test_exactly_the_doubtful_reasons_warn(reason: Reason) -> None:
    certificate = Certificate(1.0, 0.5, reason=reason)
    if reason.trustworthy:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warn_unless_trustworthy(certificate)
    else:
        with pytest.warns(
            ConvergenceWarning, match=r"^lbfgs failed to converge\. .* gap is 5\.0e-01\. .*\.$"
        ) as caught:
            warn_unless_trustworthy(certificate, opening="lbfgs failed to converge.", stacklevel=2)
        assert str(reason) in str(caught[0].message)
        assert caught[0].filename == __file__
