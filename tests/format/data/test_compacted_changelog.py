"""Changelog files that were compacted before the commit: the entry of each bucket reads its range."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest

from paimon_nb.base.errors import MissingFile
from paimon_nb.format.data import iter_data_file, read_data_file
from paimon_nb.format.types import DataField, parse_type
from paimon_nb.fs import LocalFileIO

if TYPE_CHECKING:
    from pathlib import Path

FIELDS = (DataField(0, "id", parse_type("INT")), DataField(1, "v", parse_type("STRING")))
WRITERS = {"parquet": pq.write_table, "orc": orc.write_table}


@pytest.mark.parametrize("kind", WRITERS)
def test_each_bucket_reads_its_range(tmp_path: Path, kind: str) -> None:
    buckets = [pa.table({"id": pa.array([n, n + 1], pa.int32()), "v": [f"a{n}", None]}) for n in (1, 20, 300)]
    parts = []
    for rows in buckets:
        WRITERS[kind](rows, tmp_path / "part")
        parts.append((tmp_path / "part").read_bytes())
    first = f"compacted-changelog-0b2e$4-{len(parts[0])}"
    (tmp_path / "bucket-4").mkdir()
    (tmp_path / "bucket-4" / f"{first}.cc-{kind}").write_bytes(b"".join(parts))
    names, begin = [f"bucket-4/{first}.cc-{kind}"], len(parts[0])
    for number, part in enumerate(parts[1:]):
        names.append(f"bucket-{number}/{first}-{begin}-{len(part)}.cc-{kind}")
        begin += len(part)
    fs = LocalFileIO()
    for name, rows in zip(names, buckets, strict=True):
        path = f"{tmp_path}/{name}"
        assert read_data_file(fs, path, FIELDS).to_pylist() == rows.to_pylist()
        assert [r for b in iter_data_file(fs, path, FIELDS, rows=1) for r in b.to_pylist()] == rows.to_pylist()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingFile, match=r"bucket-4/compacted-changelog-0b2e\$4-10\.cc-parquet"):
        read_data_file(LocalFileIO(), f"{tmp_path}/bucket-1/compacted-changelog-0b2e$4-10-10-5.cc-parquet", FIELDS)
