"""A loss of your own: five lines of NumPy, minimised by native solvers.

The Cauchy loss log(1 + r^2) / 2 hardly hears outliers: its slope r / (1 + r^2) falls off again as residuals grow. It is
not convex, and says so, so the certificate claims a stationary point and no more.
"""

from __future__ import annotations

import numpy as np

from tutelage import Risk, losses, minimise, penalties


class Cauchy:
    """log(1 + r^2) / 2 of the residual r = z - y."""

    convex = False
    smoothness = 1.0

    def value(self, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return the loss of each row."""
        return np.log1p((z - y) ** 2) / 2

    def slope(self, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return its derivative in z."""
        return (z - y) / (1 + (z - y) ** 2)


def main() -> None:
    """Spoil a tenth of the targets, and see which loss still finds the coefficients."""
    random = np.random.default_rng(0)
    truth = np.array([2.0, -1.0, 0.0, 0.5])
    X = random.normal(size=(500, 4))
    y = X @ truth + 0.3 * random.normal(size=500)
    y[:50] += 30 + 10 * random.normal(size=50)
    start = None
    for loss in (losses.Squared(), losses.Huber(), Cauchy()):
        solution = minimise(Risk(loss, penalties.L2(1e-4)), X, y, start=start)
        start = np.append(solution.coef, solution.intercept)  # what is not convex begins at what is
        print(f"{type(loss).__name__:>8}: largest error {np.abs(solution.coef - truth).max():.3f}")
        print(f"          {solution.certificate}")


if __name__ == "__main__":
    main()
