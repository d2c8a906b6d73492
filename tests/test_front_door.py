"""``python -m tutelage`` shows a certified fit and an honest score, wherever it is printed to."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys

import pytest

from tutelage.__main__ import TOLERANCE, demonstrate, lines, main


def run(**environment: str) -> subprocess.CompletedProcess[bytes]:
    known = {name: value for name, value in os.environ.items() if name not in {"PYTHONIOENCODING", "PYTHONUTF8"}}
    command = [sys.executable, "-W", "error", "-m", "tutelage"]
    return subprocess.run(command, capture_output=True, env=known | environment, check=False)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "cp1252"])
def test_the_command_succeeds_off_a_terminal_in_any_encoding(encoding: str) -> None:
    answer = run(PYTHONIOENCODING=encoding)
    assert answer.returncode == 0, answer.stderr
    text = answer.stdout.decode(encoding)
    assert "\x1b" not in text
    assert {"Proof", "Model", "Exam"} <= set(re.findall(r"^\w+", text, re.MULTILINE))
    assert max(map(len, text.splitlines())) <= 100
    assert answer.stderr == b""


def test_a_terminal_gets_emphasis_unless_it_asks_for_none(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        encoding = "utf-8"

        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    emphasised, plain = Terminal(), Terminal()
    assert main(emphasised) == 0
    monkeypatch.setenv("NO_COLOR", "1")
    assert main(plain) == 0
    assert "\x1b[1m" in emphasised.getvalue()
    assert "\x1b" not in plain.getvalue()


def test_what_is_printed_is_what_was_found() -> None:
    result = demonstrate()
    proof = result.certificate
    assert proof.dual <= proof.primal
    assert proof.relative_gap <= TOLERANCE
    assert result.learned + result.score.rows == 891
    assert result.score.number == 1
    assert result.common < result.score.value <= 1
    text = "\n".join(lines(result))
    assert f"{result.score.value:.3f}" in text
    assert all(name in text for name, _ in result.effects)


def test_the_same_seed_seals_the_same_rows() -> None:
    first, second, other = demonstrate(3), demonstrate(3), demonstrate(4)
    assert first.effects == second.effects
    assert first.effects != other.effects
