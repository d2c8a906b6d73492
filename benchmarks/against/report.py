"""The table: rows kept as JSON beside it, the words made from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parents[1]
ROWS, TABLE = HERE / "results.json", HERE / "RESULTS.md"

_OPENING = """# We and the peers

Written by `python -m benchmarks.against` (`make bench`); rows are kept in `results.json`, and a run with a filter
replaces its own. Times are seconds to an objective within a relative 1e-6 of the best known, the best of several turns
in one process, without compilation; memory is the peak of a fit above what was resident before it, in a process of its
own.
The ratio is the fastest peer's time divided by ours: above 1 we are faster. How it is measured:
`benchmarks/against/__init__.py`.
"""


def read() -> dict[str, Any]:
    return json.loads(ROWS.read_text()) if ROWS.exists() else {}


def write(rows: dict[str, Any], order: list[str]) -> None:
    """Store the rows in the order of the cases, and write the table."""
    rows = {name: rows[name] for name in order if name in rows}
    ROWS.write_text(json.dumps(rows, indent=1) + "\n")
    TABLE.write_text("\n".join([_OPENING, *_summary(rows), *_details(rows), *_circumstances(rows)]) + "\n")


def line(row: dict[str, Any]) -> str:
    """Give a row as a line for the terminal."""
    ours, peer = sides(row)
    if not ours or not peer:
        return f"{row['case']}: {'we did not get there' if not ours else 'no peer got there'}"
    ratio = peer["seconds"] / ours["seconds"]
    return (
        f"{row['case']}: {ours['seconds']:.4g} s, {peer['name']} {peer['seconds']:.4g} s, ratio {ratio:.2f} "
        f"(goal {row['goal']:g}), memory {ours['megabytes']:.0f} MB against {_memory(row)}"
    )


def sides(row: dict[str, Any]) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Give our entry and that of the fastest peer, where they got there."""
    there = [entry for entry in row["contestants"] if entry["reached"]]
    ours = next((entry for entry in there if entry["package"] == "tutelage"), None)
    peers = [entry for entry in there if entry["package"] != "tutelage"]
    return ours, min(peers, key=lambda entry: entry["seconds"]) if peers else None


def _memory(row: dict[str, Any]) -> str:
    peer = sides(row)[1]
    return f"{peer['megabytes']:.0f} MB" if peer else "none"


def _summary(rows: dict[str, Any]) -> list[str]:
    lines = [
        "| case | n x d | density | ours | fastest peer | | ratio | goal | our MB | peer's MB | run |",
        "| --- | ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: | --- |",
    ]
    for row in rows.values():
        ours, peer = sides(row)
        ratio = f"{peer['seconds'] / ours['seconds']:.2f}" if ours and peer else "-"
        if ours and peer and peer["seconds"] / ours["seconds"] >= row["goal"]:
            ratio = f"**{ratio}**"
        cells = [
            f"{row['family']}: {row['case']}",
            f"{row['rows']} x {row['columns']}",
            f"{row['density']:.2g}",
            _seconds(ours["seconds"]) if ours else "not reached",
            _seconds(peer["seconds"]) if peer else "-",
            peer["name"] if peer else "none got there",
            ratio,
            f"{row['goal']:g}",
            f"{ours['megabytes']:.0f}" if ours else "-",
            f"{peer['megabytes']:.0f}" if peer else "-",
            row["date"] + (" quick" if row["quick"] else ""),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _details(rows: dict[str, Any]) -> list[str]:
    lines = ["", "## Every contestant"]
    for row in rows.values():
        points = f", a path of {row['points']} strengths" if row["points"] else ""
        intercept = "with" if row["intercept"] and not row["points"] else "without"
        lines += [
            "",
            f"### {row['family']}: {row['case']}",
            "",
            (
                f"{row['loss']} loss, l1 = {row['l1']:.4g}, l2 = {row['l2']:.4g}, {intercept} intercept{points}; "
                f"{row['rows']} x {row['columns']}, {row['layout']}."
            ),
            "",
            "| contestant | tol | objective | excess | seconds | MB | |",
            "| --- | ---: | ---: | ---: | ---: | ---: | --- |",
        ]
        order = sorted(row["contestants"], key=lambda entry: (not entry["reached"], entry.get("seconds", 1e9)))
        for entry in order:
            known = "objective" in entry
            cells = [
                entry["name"],
                f"{entry['tol']:.0e}" if entry["tol"] else "-",
                f"{entry['objective']:.10g}" if known else "-",
                f"{entry['excess']:.1e}" if known else "-",
                _seconds(entry["seconds"]) if entry["reached"] else "-",
                f"{entry['megabytes']:.0f}" if known else "-",
                entry.get("why", ""),
            ]
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def _circumstances(rows: dict[str, Any]) -> list[str]:
    machines = sorted({row["machine"] for row in rows.values()})
    versions = sorted({f"{name} {version}" for row in rows.values() for name, version in row["versions"].items()})
    return ["", "## Circumstances", "", *[f"- {one}" for one in machines], f"- {', '.join(versions)}"]


def _seconds(value: float) -> str:
    if value < 1e-2:
        return f"{value * 1e3:.3g} ms"
    return f"{value:.3g} s"
