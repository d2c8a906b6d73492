"""``python -m tutelage``: one fit, its proof and its exam, on a table that comes with the package.

Problem: who survived the Titanic? A quarter of the rows is sealed by a seed before anything looks at the data; logistic
regression learns from the rest, from three facts of each passenger: the title in the name, the class, the size of the
family. Printed are the certificate of the fit, what the model found, and the score on the sealed rows, opened once.

The interval of the score is Wilson's (1927): the proportions p for which what was seen is not surprising,

    (p - share)^2 = z^2 p (1 - p) / n,     z = 1.96 for 95 %

which stays inside [0, 1] and holds for small n, where share -+ z sqrt(share (1 - share) / n) does neither.

>>> low, high = wilson(8, 10)
>>> round(low, 3), round(high, 3)
(0.49, 0.943)
"""

from __future__ import annotations

import math
import os
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tutelage.certificate import Certificate

SEED = 1912
TOLERANCE = 1e-8  # of the relative duality gap
SEALED = 0.25  # the share of the rows that the fit never sees
WIDTH = 18  # of the longest bar


@dataclass(frozen=True)
class Demonstration:
    """What was fitted and what came of it.

    Attributes
    ----------
    certificate : Certificate
        The proof of the fit.
    effects : list of (str, float)
        Each feature's name and coefficient, the largest first.
    learned, sealed, right, common : int
        Rows learned from; rows sealed; of these, those predicted right, and those of the class most common in training.
    seconds : float
        How long the fit took, features included.
    """

    certificate: Certificate
    effects: list[tuple[str, float]]
    learned: int
    sealed: int
    right: int
    common: int
    seconds: float


def demonstrate(seed: int = SEED) -> Demonstration:
    """Seal rows, fit on the others, open the sealed rows once.

    Parameters
    ----------
    seed : int, default=1912
        Which rows are sealed.
    """
    import numpy as np
    import polars as pl
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline

    from tutelage import Buckets, LogisticRegression, OneHot, datasets

    frame, y = datasets.titanic(return_X_y=True)
    shuffled = np.random.default_rng(seed).permutation(len(y))
    sealed, learned = np.split(shuffled, [round(SEALED * len(y))])
    X = frame.select(
        "Pclass",
        title=pl.col("Name").str.extract(r", ([^.]*)\."),
        family=1 + pl.col("SibSp") + pl.col("Parch"),
    )
    features = make_column_transformer(
        (OneHot(unknown="ignore", min_count=10), ["title", "Pclass"]),
        (Buckets(edges=[2, 5]), ["family"]),
        verbose_feature_names_out=False,
    )
    model = make_pipeline(features, LogisticRegression(tol=TOLERANCE))
    start = time.perf_counter()
    model.fit(X[learned], y[learned])
    seconds = time.perf_counter() - start
    effects: list[tuple[str, float]] = list(zip(features.get_feature_names_out(), model[-1].coef_[0], strict=True))
    truth = y[sealed]
    return Demonstration(
        certificate=model[-1].certificate_,
        effects=sorted(effects, key=lambda effect: -effect[1]),
        learned=len(learned),
        sealed=len(sealed),
        right=int((model.predict(X[sealed]) == truth).sum()),
        common=int((truth == np.bincount(y[learned]).argmax()).sum()),
        seconds=seconds,
    )


def wilson(right: int, total: int, quantile: float = 1.959963984540054) -> tuple[float, float]:
    """Give Wilson's interval for a proportion.

    Parameters
    ----------
    right, total : int
        How often it was so, and out of how many; total is at least 1.
    quantile : float, default=1.96
        Of the normal distribution; 1.96 makes a 95 % interval.

    Returns
    -------
    low, high : float
        The interval.
    """
    share, spread = right / total, quantile**2 / total
    centre = (share + spread / 2) / (1 + spread)
    half = math.sqrt(share * (1 - share) * spread + spread**2 / 4) / (1 + spread)
    return centre - half, centre + half


def lines(result: Demonstration, *, bold: str = "", dim: str = "", plain: str = "", bar: str = "#") -> Iterator[str]:
    """Yield the report, line by line.

    Parameters
    ----------
    result : Demonstration
        What to report.
    bold, dim, plain : str
        Escape sequences of the terminal; empty off a terminal.
    bar : str
        What bars are made of.
    """
    proof = result.certificate
    low, high = wilson(result.right, result.sealed)
    verdict = f"tolerance {TOLERANCE:g}, {'' if proof.reason.trustworthy else 'not '}reached"

    def heading(words: str) -> str:
        return f"{bold}{words}{plain}"

    yield heading("Who survived the Titanic?")
    yield f"Logistic regression on {result.learned} passengers; {result.sealed} others were sealed before."
    yield ""
    yield heading("Proof") + "   how far the fit can be from the best there is"
    yield f"  primal value    {proof.primal:.15f}   what these coefficients cost"
    yield f"  dual value      {proof.dual:.15f}   no coefficients cost less"
    yield f"  relative gap    {proof.relative_gap:<17.1e}   {verdict}"
    yield f"  {dim}{proof.solver}, {proof.rounds} rounds, {proof.passes:g} passes, {1e3 * result.seconds:.0f} ms{plain}"
    yield ""
    yield heading("Model") + "   what speaks for survival (+) and against it (-), in log-odds"
    names = max(len(name) for name, _ in result.effects)
    largest = max(abs(effect) for _, effect in result.effects)
    for name, effect in result.effects:
        yield f"  {name:<{names}}  {effect:+.2f}  {dim}{bar * round(WIDTH * abs(effect) / largest)}{plain}"
    yield ""
    yield heading("Exam") + "    the sealed rows, opened once"
    yield f"  accuracy        {result.right / result.sealed:.3f}   95 % interval {low:.3f} to {high:.3f}"
    yield f"  the commonest   {result.common / result.sealed:.3f}   what always guessing one answer would have scored"


def main(out: TextIO | None = None) -> int:
    """Print the demonstration; return the exit code, 0 if the fit reached its tolerance.

    Parameters
    ----------
    out : file, optional
        Where to; standard output if not given.
    """
    stream: Any = sys.stdout if out is None else out
    result = demonstrate()
    style: dict[str, str] = {}
    if stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM", "") not in {"", "dumb"}:
        style = {"bold": "\x1b[1m", "dim": "\x1b[2m", "plain": "\x1b[0m"}
    if (getattr(stream, "encoding", None) or "").lower().replace("-", "") == "utf8":
        style["bar"] = "\u2588"
    for line in lines(result, **style):
        print(line, file=stream)
    return 0 if result.certificate.reason.trustworthy else 1


if __name__ == "__main__":
    sys.exit(main())
