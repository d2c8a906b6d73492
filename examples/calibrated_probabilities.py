"""Probabilities one can bet on: naive Bayes counts related columns twice and is too sure; calibration mends it.

    python examples/calibrated_probabilities.py [picture.png]

Left the reliability diagram as it was, in the middle after Platt's sigmoid, right after isotonic regression; the curve
of true probabilities lies in the band. Conformal sets then say "benign", "malignant", or both where the model cannot
tell.
"""

from __future__ import annotations

import sys

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_breast_cancer

from tutelage import CalibratedClassifier, ConformalClassifier, GaussianNB
from tutelage.evaluation import reliability


def main(file: str = "calibrated_probabilities.png") -> None:
    """Calibrate, judge on rows not seen, draw, and make sets."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[:300], order[300:]
    models = {
        "as it is": GaussianNB(),
        "Platt": CalibratedClassifier(GaussianNB(), method="platt"),
        "isotonic": CalibratedClassifier(GaussianNB(), method="isotonic"),
    }
    figure, panels = plt.subplots(1, 3, figsize=(13, 4.6), layout="constrained")
    for axes, (name, model) in zip(panels, models.items(), strict=True):
        made = reliability(y[test], model.fit(X[train], y[train]).predict_proba(X[test]))
        made.plot(axes, label=name)
        print(f"{name:>9}: {made}")
    figure.savefig(file, dpi=110)
    plt.close(figure)
    print(f"drawn in {file}\n")

    sets = ConformalClassifier(GaussianNB(), level=0.98, share=0.5).fit(X[train], y[train]).predict_set(X[test])
    sizes = np.bincount(sets.sum(axis=1), minlength=3)
    held = sets[np.arange(len(test)), y[test]].mean()
    print(f"sets at 98 %: {sizes[1]} of one class, {sizes[2]} of both, {sizes[0]} empty; {held:.1%} hold the truth")


if __name__ == "__main__":
    main(*sys.argv[1:])
