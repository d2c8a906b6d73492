"""Draw the picture of the README: ``python docs/pictures.py`` writes docs/images/front.png.

Left, what a fit finds: logistic regression on products of two features, its regions and its boundary. Right, what a fit
proves: the same problem solved with one round more each time; no coefficients can be better than the dual value.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.colors import LinearSegmentedColormap
from sklearn.pipeline import make_pipeline

from tutelage import Polynomial, Risk, Standardise, losses, minimise, penalties

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHERE = Path(__file__).resolve().parent / "images" / "front.png"
BLUE, ORANGE, GREY = "#2b6cb0", "#dd6b20", "#4a5568"
STRENGTH = 1.5e-3
ROUNDS = 22


def moons(samples: int = 240, seed: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Draw two arcs that grip each other, with noise."""
    random = np.random.default_rng(seed)
    y = np.where(np.arange(samples) % 2 == 0, 1.0, -1.0)
    angle = np.pi * random.random(samples)
    X = np.column_stack([np.cos(angle) + (y < 0), np.where(y > 0, np.sin(angle), 0.4 - np.sin(angle))])
    return X + 0.22 * random.normal(size=X.shape), y


def draw() -> Figure:
    """Fit, and draw both panels."""
    X, y = moons()
    products = make_pipeline(Standardise(), Polynomial(degree=5), Standardise()).fit(X)
    features = products.transform(X)
    risk = Risk(losses.Logistic(), penalties.L2(STRENGTH))
    best = minimise(risk, features, y, tol=1e-12)
    steps = [minimise(risk, features, y, solver="lbfgs", max_rounds=rounds).certificate for rounds in range(ROUNDS + 1)]

    figure, (plane, proof) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    x1, x2 = np.meshgrid(np.linspace(-1.7, 2.7, 111), np.linspace(-1.4, 1.9, 83))
    points = np.column_stack([x1.ravel(), x2.ravel()])
    z = (products.transform(points) @ best.coef + best.intercept).reshape(x1.shape)
    chance = 1 / (1 + np.exp(-z))
    shades = LinearSegmentedColormap.from_list("shades", ["#f6ad7b", "#ffffff", "#8fb8de"])
    plane.contourf(x1, x2, chance, levels=np.linspace(0, 1, 11), cmap=shades)
    plane.contour(x1, x2, chance, levels=[0.5], colors=[GREY], linewidths=1.6)
    for label, colour, marker in ((1.0, BLUE, "o"), (-1.0, ORANGE, "s")):
        rows = X[y == label]
        plane.plot(*rows.T, marker, color=colour, markersize=4, markeredgecolor="white", markeredgewidth=0.6)
    plane.set(title="What it found", xticks=[], yticks=[], xlim=(-1.7, 2.7), ylim=(-1.4, 1.9))

    rounds = np.arange(len(steps))
    primal, dual = (np.array([getattr(step, side) for step in steps]) for side in ("primal", "dual"))
    dual = np.maximum.accumulate(dual)  # the best bound so far is a bound
    proof.fill_between(rounds, dual, primal, color="#e2e8f0", linewidth=0)
    proof.plot(rounds, primal, "o-", color=BLUE, markersize=4)
    proof.plot(rounds, dual, "s-", color=ORANGE, markersize=4)
    proof.annotate("primal value:\nwhat this fit costs", (rounds[4], primal[4]), (6.5, primal[0] * 0.8), color=BLUE,
                   arrowprops={"arrowstyle": "-", "color": BLUE})  # fmt: skip
    proof.annotate("dual value:\nno fit costs less", (rounds[7], dual[7]), (9.5, primal[0] * 0.05), color=ORANGE,
                   arrowprops={"arrowstyle": "-", "color": ORANGE})  # fmt: skip
    end = steps[-1]
    proof.annotate(f"relative gap {end.relative_gap:.0e}", (rounds[-1], end.primal), (13.5, primal[0] * 0.5),
                   color=GREY, arrowprops={"arrowstyle": "-", "color": GREY})  # fmt: skip
    proof.set(
        title="What it proved", xlabel="rounds of the solver", ylim=(0, primal[0] * 1.05), xlim=(-0.5, ROUNDS + 0.5)
    )
    proof.spines[["top", "right"]].set_visible(False)
    return figure


def save(path: Path = WHERE) -> None:
    """Write the picture, the same bytes every time."""
    with mpl.rc_context({"font.size": 11, "axes.titlesize": 13}):
        figure = draw()
        figure.savefig(path, dpi=140, metadata={"Software": None}, facecolor="white")
        plt.close(figure)


if __name__ == "__main__":
    mpl.use("Agg")
    save()
