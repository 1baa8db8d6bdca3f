"""Data files outside the warehouse, as Java puts them with data-file.external-paths: read where the catalog allows the place."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import OutsideWarehouse
from paimon_nb.table.commit import TableCommit
from paimon_nb.table.write import TableWrite


@pytest.fixture
def scattered(tmp_path: Path) -> Path:
    """A warehouse with a table of two files, one of them at another place."""
    wb = paimon_nb.connect(str(tmp_path / "w"), options={"data-file.external-paths": f"file://{tmp_path}/away"})
    wb.run("CREATE TABLE t (k INT, v STRING)")
    table = wb.table("t")
    table.append(pa.table({"k": pa.array([1], pa.int32()), "v": ["near"]}))
    with TableWrite(table.store) as write:
        write.write(pa.table({"k": pa.array([2], pa.int32()), "v": ["far"]}), None)
        [message] = write.prepare()
    [file] = message.new_files
    away = tmp_path / "away" / "bucket-0" / file.file_name
    away.parent.mkdir(parents=True)
    shutil.move(table.store.data_path(message.partition, message.bucket, file), away)
    moved = replace(message, new_files=(replace(file, external_path=f"file:{away}"),))
    TableCommit(table.store).commit([moved])
    return tmp_path


def test_an_allowed_place_is_read(scattered: Path) -> None:
    allowed = {"data-file.external-paths": f"file://{scattered}/nowhere, file://{scattered}/away"}
    wb = paimon_nb.connect(str(scattered / "w"), options=allowed)
    assert sorted(wb.table("t").to_arrow().column("v").to_pylist()) == ["far", "near"]
    path = str(scattered / "w" / "default.db" / "t")
    assert paimon_nb.open_table(path, options=allowed).to_arrow().num_rows == 2


def test_another_place_is_refused_with_the_option_that_allows_it(scattered: Path) -> None:
    with pytest.raises(OutsideWarehouse, match=r"data-file\.external-paths"):
        paimon_nb.connect(str(scattered / "w")).table("t").to_arrow()
