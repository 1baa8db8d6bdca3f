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


def test_every_path_of_the_pages_exists() -> None:
    pages = {name: (ROOT / "docs" / name).read_text() for name in ("find-the-file.md", "architecture.md")}
    named = {(page, path) for page, text in pages.items() for path in re.findall(r"`((?:\w+/)+(?:\w+\.py)?)`", text)}
    assert len(named) > 60
    places = (ROOT, ROOT / "paimon_nb", *(p for p in (ROOT / "paimon_nb").iterdir() if p.is_dir()))
    assert [n for n in sorted(named) if not any((place / n[1]).exists() for place in places)] == []
