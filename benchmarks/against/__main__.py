"""``python -m benchmarks.against [names...] [--quick] [--list]``."""

from __future__ import annotations

import argparse

from benchmarks.against import cases, report
from benchmarks.against.race import run


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.against", description="Run us and the peers.")
    parser.add_argument("names", nargs="*", help="only cases whose family or name contains one of these")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions and a shorter limit")
    parser.add_argument("--list", action="store_true", help="print the cases")
    words = parser.parse_args()
    known = cases.everything()
    chosen = [
        case for case in known if not words.names or any(name in f"{case.family}: {case.name}" for name in words.names)
    ]
    if words.list or not chosen:
        print("\n".join(f"{case.family}: {case.name}" for case in (chosen or known)))
        return
    for case in chosen:
        print(f"{case.family}: {case.name}", flush=True)
        try:
            row = run(case, quick=words.quick, tell=lambda text: print(text, flush=True))
        except FileNotFoundError as error:
            print(f"  left out, since its data is absent: {error}")
            continue
        rows = report.read()
        rows[case.name] = row
        report.write(rows, [one.name for one in known])
        print(report.line(row), flush=True)


if __name__ == "__main__":
    main()
