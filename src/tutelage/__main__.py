"""``python -m tutelage``: one fit, its proof and its exam, on a table that comes with the package.

Problem: who survived the Titanic? A quarter of the rows is sealed by a seed before anything looks at the data; logistic
regression learns from the rest, from three facts of each passenger: the title in the name, the class, the size of the
family. Printed are the certificate of the fit, what the model found, and the score on the sealed rows, opened once.

The sealing, the opening and the interval of the score are those of `tutelage.Exam`.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tutelage.certificate import Certificate
    from tutelage.evaluation import Opening

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
    learned : int
        Rows learned from.
    score : Opening
        What the exam answered.
    common : float
        The share of the commonest class among the rows learned from.
    seconds : float
        How long the fit took, features included.
    """

    certificate: Certificate
    effects: list[tuple[str, float]]
    learned: int
    score: Opening
    common: float
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

    from tutelage import Buckets, Exam, LogisticRegression, OneHot, datasets

    frame, y = datasets.titanic(return_X_y=True)
    X = frame.select(
        "Pclass",
        title=pl.col("Name").str.extract(r", ([^.]*)\."),
        family=1 + pl.col("SibSp") + pl.col("Parch"),
    )
    exam = Exam(X, y, share=SEALED, random_state=seed)
    features = make_column_transformer(
        (OneHot(unknown="ignore", min_count=10), ["title", "Pclass"]),
        (Buckets(edges=[2, 5]), ["family"]),
        verbose_feature_names_out=False,
    )
    model = make_pipeline(features, LogisticRegression(tol=TOLERANCE))
    start = time.perf_counter()
    model.fit(exam.X, exam.y)
    seconds = time.perf_counter() - start
    effects: list[tuple[str, float]] = list(zip(features.get_feature_names_out(), model[-1].coef_[0], strict=True))
    return Demonstration(
        certificate=model[-1].certificate_,
        effects=sorted(effects, key=lambda effect: -effect[1]),
        learned=len(exam.y),
        score=exam.open(model),
        common=float(np.bincount(exam.y).max() / len(exam.y)),
        seconds=seconds,
    )


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
    low, high = result.score.interval
    verdict = f"tolerance {TOLERANCE:g}, {'' if proof.reason.trustworthy else 'not '}reached"

    def heading(words: str) -> str:
        return f"{bold}{words}{plain}"

    yield heading("Who survived the Titanic?")
    yield f"Logistic regression on {result.learned} passengers; {result.score.rows} others were sealed before."
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
    yield f"  accuracy        {result.score.value:.3f}   95 % interval {low:.3f} to {high:.3f}"
    yield f"  the commonest   {result.common:.3f}   what always guessing one answer scores on the rows learned from"


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
