"""Gaussian discriminants against logistic regression: right assumptions win early, wrong ones lose for ever.

Two Gaussian classes of one covariance have a logistic posterior, and so have two Poisson classes. Logistic regression
assumes only that posterior. The discriminant also assumes that rows are Gaussian: where they are, it needs fewer of
them; where they are skewed counts, it stops improving with more of them, and logistic regression passes it.
"""

from __future__ import annotations

import numpy as np

from tutelage import GaussianDiscriminant, GenerativeClassifier, LogisticRegression

DIMENSION = 8


def gaussian(random: np.random.Generator, y: np.ndarray) -> np.ndarray:
    """Draw rows of two Gaussian classes that share a covariance."""
    mix = np.linalg.cholesky(0.5 * np.eye(DIMENSION) + 0.5)
    return random.normal(size=(len(y), DIMENSION)) @ mix.T + 0.5 * y[:, None] * np.arange(DIMENSION) / DIMENSION


def poisson(random: np.random.Generator, y: np.ndarray) -> np.ndarray:
    """Draw rows of two Poisson classes of very different rates."""
    return random.poisson(np.where(y[:, None] == 1, 1.4, 0.35), (len(y), DIMENSION)).astype(float)


def log_loss(model: object, X: np.ndarray, y: np.ndarray) -> float:
    """Measure -log P(y | x), the mean over rows."""
    return float(-model.predict_log_proba(X)[np.arange(len(y)), y].mean())  # type: ignore[attr-defined]


def main() -> None:
    """Compare log losses on many rows not seen, averaged over training sets."""
    random = np.random.default_rng(0)
    models = {
        "Gaussian discriminant": GaussianDiscriminant(),
        "logistic regression": LogisticRegression(C=1e4),
        "Poisson classes": GenerativeClassifier("poisson"),
    }
    for kind, draw in (("Gaussian", gaussian), ("Poisson", poisson)):
        y_test = random.integers(0, 2, 20000)
        X_test = draw(random, y_test)
        print(f"{kind} classes: mean log loss on {len(y_test)} rows not seen")
        print(f"{'rows':>8}" + "".join(f"{name:>24}" for name in models if kind == "Poisson" or "Poisson" not in name))
        for rows, repetitions in ((40, 40), (200, 20), (20000, 2)):
            losses: dict[str, list[float]] = {name: [] for name in models}
            for _ in range(repetitions):
                y = np.arange(rows) % 2
                X = draw(random, y)
                for name, model in models.items():
                    if kind == "Poisson" or "Poisson" not in name:
                        losses[name].append(log_loss(model.fit(X, y), X_test, y_test))
            print(f"{rows:>8}" + "".join(f"{np.mean(each):>24.4f}" for each in losses.values() if each))
        print()


if __name__ == "__main__":
    main()
