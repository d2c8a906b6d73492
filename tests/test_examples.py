"""The examples run as they stand, without a warning, quickly, and leave nothing but what they say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parent.parent / "examples").glob("*.py"))


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_example(script: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "MPLCONFIGDIR": str(tmp_path / "matplotlib")}
    if inherited := os.environ.get("PYTHONPATH"):
        environment["PYTHONPATH"] = os.pathsep.join(str(Path(entry).resolve()) for entry in inherited.split(os.pathsep))
    command = [sys.executable, "-W", "error", str(script)]
    answer = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.strip()
    left = {path.name for path in tmp_path.iterdir()} - {"matplotlib"}
    assert all(name in answer.stdout for name in left)


def test_there_are_examples() -> None:
    if not EXAMPLES:
        pytest.skip("the examples are not beside the tests")
    assert {"first_fit", "lasso_path", "confidence_intervals", "own_loss"} <= {script.stem for script in EXAMPLES}
