from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the source tree, for tests that read it; skips where only the tests were copied."""
    if not (ROOT / "src" / "tutelage").is_dir():
        pytest.skip("the source tree is not beside the tests")
    return ROOT


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Real data sets, in the folder named by TUTELAGE_DATA or beside the repository; skips when there is none."""
    folder = Path(os.environ.get("TUTELAGE_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no data sets in {folder}; name their folder in TUTELAGE_DATA")
    return folder


@pytest.fixture(params=[1, 2, 7])
def thread_count(request: pytest.FixtureRequest) -> int:
    """Numbers of threads under which a fit must give the same bits."""
    return int(request.param)
