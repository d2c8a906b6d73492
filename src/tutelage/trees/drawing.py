"""A tree drawn as SVG: a box for each node with a bar of class shares, a line for each branch, one row's way in bold.

>>> from tutelage.trees import DecisionTree
>>> picture = DecisionTree().fit([[1.0], [2.0]], ["a", "b"]).svg()
>>> picture.startswith("<svg"), picture.count("<rect")
(True, 7)
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tutelage.trees.branches import Node
    from tutelage.trees.lecture import DecisionTree

WIDTH, HEIGHT, GAP, LEVEL = 116, 46, 14, 104
# Of even lightness and told apart by the colour-blind (Okabe and Ito's).
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999")


def svg(model: DecisionTree, row: Any) -> str:
    """Draw the tree of a model, and the way of a row if one is given."""
    places: dict[int, tuple[float, int]] = {}
    leaves = _place(model.root_, 0, 0, places)
    depth = max(level for _, level in places.values())
    on_way = set() if row is None else _way(model.root_, row[0])
    parts: list[str] = []
    _draw(model, model.root_, places, on_way, parts)
    width, height = leaves * (WIDTH + GAP) + GAP, depth * LEVEL + HEIGHT + 2 * GAP
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
    title = "A decision tree for the classes " + ", ".join(map(str, model.classes_))
    return "\n".join([f'{head}font-size="12" role="img"><title>{escape(title)}</title>', *parts, "</svg>"])


def _place(node: Node, first: int, level: int, places: dict[int, tuple[float, int]]) -> int:
    """Put leaves side by side, and every other node over the middle of its branches; answers how many leaves."""
    taken = 0
    for branch in node.branches:
        taken += _place(branch, first + taken, level + 1, places)
    width = max(1, taken)
    places[id(node)] = (GAP + (first + width / 2) * (WIDTH + GAP) - GAP / 2, level)
    return width


def _way(node: Node, row: Any) -> set[int]:
    found = {id(node)}
    if node.column is not None:
        *parts, _ = node.parts(row[[node.column]], np.ones(1))
        for branch, (rows, _) in zip(node.branches, parts, strict=True):
            if len(rows):
                found |= _way(branch, row)
    return found


def _draw(
    model: DecisionTree, node: Node, places: dict[int, tuple[float, int]], on_way: set[int], parts: list[str]
) -> None:
    x, level = places[id(node)]
    top = GAP + level * LEVEL
    names = model.branch_names(node) if node.branches else []
    for name, branch in zip(names, node.branches, strict=True):
        below = places[id(branch)][0]
        bold = id(branch) in on_way
        line = f'stroke="{"#000" if bold else "#999"}" stroke-width="{2.5 if bold else 1}"'
        parts.append(f'<path d="M{x:.1f} {top + HEIGHT}L{below:.1f} {top + LEVEL}" {line}/>')
        middle = top + (HEIGHT + LEVEL) / 2
        parts.append(
            f'<text x="{(x + 2 * below) / 3:.1f}" y="{middle:.1f}" text-anchor="middle" paint-order="stroke" '
            f'stroke="#fff" stroke-width="4">{escape(name)}</text>'
        )
        _draw(model, branch, places, on_way, parts)
    left = x - WIDTH / 2
    bold = id(node) in on_way
    parts.append(
        f'<rect x="{left:.1f}" y="{top}" width="{WIDTH}" height="{HEIGHT}" rx="5" fill="#fff" '
        f'stroke="{"#000" if bold else "#999"}" stroke-width="{2.5 if bold else 1}"/>'
    )
    said = model.question(node) if node.column is not None else str(model.classes_[int(np.argmax(node.answer))])
    weight = "bold" if node.column is None else "normal"
    parts.append(f'<text x="{x:.1f}" y="{top + 18}" text-anchor="middle" font-weight="{weight}">{escape(said)}</text>')
    shares = node.answer
    at = left + 8
    for number, share in enumerate(shares):
        if share <= 0:
            continue
        wide = share * (WIDTH - 16)
        hint = f"{model.classes_[number]}: {node.counts[number]:g} of {node.counts.sum():g}"
        parts.append(
            f'<rect x="{at:.1f}" y="{top + 28}" width="{wide:.1f}" height="9" '
            f'fill="{COLOURS[number % len(COLOURS)]}"><title>{escape(hint)}</title></rect>'
        )
        at += wide
