"""A workbench with one table that has a history; no JVM unless a test asks for `.sql`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import paimon_nb

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paimon_nb.table.tables.table import Table


class Scene:
    """What the tests say and ask."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.wb = paimon_nb.connect(str(folder / "w"))
        self.notes: list[str] = []
        self.commits: list[tuple[str, int]] = []

    def call(self, text: str) -> list[dict[str, Any]]:
        """Rows of `CALL sys.<text>`; notes and commits are kept."""
        result = self.wb.run(f"CALL sys.{text}")
        self.notes, self.commits = result.notes, result.snapshots
        assert result.arrow is not None
        return result.arrow.to_pylist()  # type: ignore[no-any-return]

    def make(self, name: str = "t", columns: str = "k INT, v STRING", tail: str = "") -> Table:
        self.wb.run(f"CREATE TABLE {name} ({columns}) {tail}")
        return self.wb.table(name)

    def table(self, name: str = "t") -> Table:
        return self.wb.table(name)

    def put(self, *rows: tuple[Any, ...], name: str = "t") -> None:
        table = self.table(name)
        types = table.schema.arrow
        table.append(pa.table({f.name: pa.array([r[i] for r in rows], f.type) for i, f in enumerate(types)}))

    def rows(self, name: str = "t") -> list[tuple[Any, ...]]:
        return sorted((tuple(r.values()) for r in self.table(name).to_arrow().to_pylist()), key=str)

    def ids(self, name: str = "t") -> list[int]:
        return self.table(name).store.snapshots.ids()

    def kinds(self, name: str = "t") -> list[str]:
        return [s.commit_kind for s in self.table(name).store.snapshots.all()]

    def tags(self, name: str = "t") -> dict[str, int]:
        tags = self.table(name).store.tags
        return {n: tags.get(n).snapshot.id for n in tags.names()}

    def files(self, pattern: str, name: str = "t") -> list[str]:
        return sorted(p.name for p in self.path(name).rglob(pattern))

    def path(self, name: str = "t") -> Path:
        return Path(self.table(name).path)

    def age(self, days: float, name: str = "t") -> None:
        """Every file of the table becomes older."""
        for path in self.path(name).rglob("*"):
            if path.is_file():
                stat = path.stat()
                os.utime(path, (stat.st_atime - days * 86400, stat.st_mtime - days * 86400))


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    made = Scene(tmp_path)
    yield made
    made.wb.close()


@pytest.fixture
def three(scene: Scene) -> Scene:
    """Table t with snapshots 1, 2, 3 of a row each."""
    scene.make()
    for i in (1, 2, 3):
        scene.put((i, f"v{i}"))
    return scene
