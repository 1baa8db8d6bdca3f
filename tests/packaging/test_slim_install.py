"""Tables without the notebook's packages and Spark: `pip install --no-deps` and seven packages beside it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("slim_script.py")
ROOT = Path(__file__).parents[2]


def check(out: dict[str, object]) -> None:
    """What the script prints wherever it runs."""
    one = [{"id": 501, "state": "written", "day": "mon"}]
    for file_format in ("parquet", "avro"):
        found = out[file_format]
        assert isinstance(found, dict)
        assert found == {
            "rows": found["rows"],
            "same": True,
            "one": one,
            "kinds": ["APPEND", "COMPACT"],
            "files": found["files"],
        }
        assert found["rows"] == 200
        assert found["files"] <= 4
    assert out["append"] == 5
    assert out["orc"] == "pip install 'pyorc>=0.10'"
    assert out["counted"] == [{"n": 5}]
    assert "pyspark" in str(out["query"])
    assert out["loaded"] == []


def test_tables_need_neither_spark_nor_pandas_nor_the_notebook(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path), "refuse"], capture_output=True, text=True, cwd=ROOT, check=False,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
    )  # fmt: skip
    assert done.stderr == ""
    check(json.loads(done.stdout))
