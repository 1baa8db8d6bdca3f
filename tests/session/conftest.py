"""A workbench over an empty warehouse. `wb` starts no JVM until a statement needs one; `swb` shares one Spark."""

from pathlib import Path

import pytest

import paimon_nb


@pytest.fixture
def wb(tmp_path: Path) -> paimon_nb.Workbench:
    return paimon_nb.connect(str(tmp_path / "w"))


@pytest.fixture
def swb(tmp_path: Path, spark) -> paimon_nb.Workbench:
    return paimon_nb.connect(str(tmp_path / "w"), spark=spark)
