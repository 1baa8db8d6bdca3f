"""The page of tasks names files that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_file_of_the_task_table_exists() -> None:
    rows = re.findall(r"^\| (\d+) \| .*? \| (.*?) \| .*? \|$", (ROOT / "docs" / "find-the-file.md").read_text(), re.M)
    assert [int(number) for number, _ in rows] == list(range(1, 21))
    first = {number: re.findall(r"`([\w/]+(?:\.py|/))`", files)[:1] for number, files in rows}
    assert [n for n, files in first.items() if not files and n != "19"] == []
    assert [f for files in first.values() for f in files if not (ROOT / "paimon_nb" / f).exists()] == []
