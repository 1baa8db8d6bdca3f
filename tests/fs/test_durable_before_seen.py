"""A file that names others can be seen only when they, and it itself, have been sent to the disk."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa

from paimon_nb.fs import LocalFileIO
from paimon_nb.workbench import connect


def watched(monkeypatch) -> tuple[set[int], list[tuple[str, set[int]]]]:
    """(inodes synced so far, (name, inodes that had been synced) of each publication)."""
    synced: set[int] = set()
    seen: list[tuple[str, set[int]]] = []
    fsync, link = os.fsync, os.link

    def syncing(handle: int) -> None:
        fsync(handle)
        synced.add(os.fstat(handle).st_ino)

    def linking(source: str, target: str, **folders: int) -> None:
        seen.append((Path(target).name, set(synced)))
        link(source, target, **folders)

    monkeypatch.setattr(os, "fsync", syncing)
    monkeypatch.setattr(os, "link", linking)
    return synced, seen


def test_of_any_file(tmp_path: Path, monkeypatch) -> None:
    fs = LocalFileIO()
    names = [f"{tmp_path}/a/{n}" for n in range(3)]
    for name in names:
        fs.write(name, b"x" * 10)
    synced, seen = watched(monkeypatch)
    head = f"{tmp_path}/b/head"
    assert fs.sync_and_put_if_absent(names, head, b"names") is True
    assert [name for name, _ in seen] == ["head"]
    assert {Path(p).stat().st_ino for p in [*names, head]} <= seen[0][1]
    assert (tmp_path / "b").stat().st_ino in synced
    assert (fs.sync_and_put_if_absent(names, head, b"others"), fs.read(head)) == (False, b"names")
    assert [p.name for p in (tmp_path / "b").iterdir()] == ["head"]


def test_of_a_snapshot(tmp_path: Path, monkeypatch) -> None:
    wb = connect(str(tmp_path))
    wb.run("CREATE TABLE t (k BIGINT, v STRING, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '2')")
    table = wb.table("t")
    _, seen = watched(monkeypatch)
    table.upsert(pa.table({"k": pa.array(range(50), pa.int64()), "v": ["x"] * 50}))
    [done] = [inodes for name, inodes in seen if name == "snapshot-1"]
    files = [p for folder in ("manifest", "bucket-*", "snapshot") for p in Path(table.path).glob(f"{folder}/*")]
    named = [p for p in files if p.name not in ("LATEST", "EARLIEST")]
    assert len(named) == 2 + 3 + 1
    assert {p.name for p in named if p.stat().st_ino not in done} == set()
