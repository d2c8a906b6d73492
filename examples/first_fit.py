"""A first certified fit: malignant or benign, on scikit-learn's breast cancer data.

A fit says how far from the best it can be. A looser `tol` is a looser promise, and the promise holds: whatever the
tolerance, no fit is further from the optimum than its certificate says.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from tutelage import LogisticRegression, Risk, Standardise, losses, minimise, penalties


def main() -> None:
    """Fit, then compare what looser fits promise with what is so."""
    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    model = make_pipeline(Standardise(), LogisticRegression(C=0.1)).fit(X_train, y_train)
    best = model[-1].certificate_
    print(f"held-out accuracy {model.score(X_test, y_test):.3f}")
    print(best)

    # The same fit as a sentence: a learner of this size goes on to the last digits, `minimise` stops where it is told.
    rows, labels = model[0].transform(X_train), np.where(y_train == 1, 1.0, -1.0)
    risk = Risk(losses.Logistic(), penalties.L2(1 / (0.1 * len(rows))))
    for tol in (0.5, 1e-1, 1e-2, 1e-4, 1e-8):
        proof = minimise(risk, rows, labels, solver="lbfgs", tol=tol).certificate
        above = max(proof.primal - best.primal, 0.0)
        print(f"tol {tol:<6g} {proof.rounds:2d} rounds, at most {proof.gap:.1e} above the optimum; it is {above:.1e}")
        assert above <= proof.gap + 1e-15


if __name__ == "__main__":
    main()
