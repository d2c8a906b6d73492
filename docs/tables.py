"""Write the tables of docs/notes from the facts of the code: ``python docs/tables.py``.

A table stands between ``<!-- table: name -->`` and ``<!-- end -->``. ``tests/test_notes.py`` fails where a page and the
code disagree, and running this file is what it asks for.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING

import tutelage
from tutelage import losses, penalties
from tutelage.certificate import Kind, Reason
from tutelage.evaluation import METRICS

if TYPE_CHECKING:
    from collections.abc import Callable

NOTES = Path(__file__).resolve().parent / "notes"
MARKED = re.compile(r"(<!-- table: (?P<name>[\w-]+) -->\n).*?(?=<!-- end -->)", re.DOTALL)


def linear_models() -> str:
    """Give a line for each learner and function of `tutelage.linear`: its name and the first line of its docstring."""
    lines = ["| name | what it is |", "| --- | --- |"]
    for name in tutelage.CHAPTERS["linear"]:
        first = (inspect.getdoc(getattr(tutelage, name)) or "").splitlines()[0]
        lines.append(f"| `{name}` | {_cell(first)} |")
    return "\n".join(lines)


def reasons() -> str:
    """Give a line for each reason why a solver stops."""
    lines = ["| reason | sentence | an answer | advice |", "| --- | --- | --- | --- |"]
    lines += [f"| {one.name} | {one.value} | {'yes' if one.trustworthy else 'no'} | {one.advice} |" for one in Reason]
    return "\n".join(lines)


def kinds() -> str:
    """Give a line for each kind of certificate."""
    return "\n".join(["| kind | name |", "| --- | --- |", *(f"| {kind.name} | {kind.value} |" for kind in Kind)])


def metrics() -> str:
    """Give a line for each metric: what it needs, which way is better, and how its interval is made."""
    lines = ["| metric | needs | better | interval |", "| --- | --- | --- | --- |"]
    for one in METRICS.values():
        way = "Wilson" if one.proportion is not None else "DeLong" if one.name == "auc" else "BCa bootstrap"
        lines.append(f"| `{one.name}` | {one.needs} | {'more' if one.greater_is_better else 'less'} | {way} |")
    return "\n".join(lines)


TABLES: dict[str, Callable[[], str]] = {
    "losses": losses.table,
    "penalties": penalties.table,
    "linear-models": linear_models,
    "reasons": reasons,
    "kinds": kinds,
    "metrics": metrics,
}


def filled(page: str) -> str:
    """Give the text of a page with its tables as the code has them now."""
    return MARKED.sub(lambda found: f"{found[1]}{TABLES[found['name']]()}\n", page)


def _cell(words: str) -> str:
    return words.replace("``", "`").replace("|", "\\|")


if __name__ == "__main__":
    for path in sorted(NOTES.glob("*.md")):
        text = path.read_text("utf-8")
        path.write_text(filled(text), "utf-8")
