"""Data files that real Java wrote: every row, in every format and codec."""

import random
import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from data_kit import GOLDEN, as_rows, comparable, file_fields, golden_file, golden_rows, golden_schema

import paimon_nb
from paimon_nb.base.errors import CorruptFile, PaimonError
from paimon_nb.format.data import format_of, iter_data_file, read_data_file
from paimon_nb.format.types import arrow_schema
from paimon_nb.fs import LocalFileIO
from paimon_nb.options import TableOptions

FS = LocalFileIO()
NAMES = sorted(p.name for p in GOLDEN.iterdir() if p.is_dir() and p.name not in ("evolved", "tokyo_ltz_orc"))


@pytest.mark.parametrize("name", NAMES)
def test_reads_javas_file(name):
    schema = golden_schema(name)
    fields, columns = file_fields(schema), list(schema.names)
    options = TableOptions(schema.options)
    table = read_data_file(FS, golden_file(name), fields, columns, options=options)
    assert table.schema.equals(arrow_schema(schema.fields, nullable=True))
    assert comparable(as_rows(table, schema.fields), schema.fields) == comparable(golden_rows(name), schema.fields)
    pieces = list(iter_data_file(FS, golden_file(name), fields, columns, rows=2, options=options))
    assert max(p.num_rows for p in pieces) <= 2
    assert type(table).from_batches(pieces).equals(table)


@pytest.mark.parametrize("name", ["new_york_o1", "new_york_o2"])
def test_orc_zone_is_the_writers(name, monkeypatch):
    import time

    schema = golden_schema(name)
    for zone in ("Asia/Tokyo", "UTC"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        table = read_data_file(FS, golden_file(name), schema.fields, options=TableOptions(schema.options))
        assert comparable(as_rows(table, schema.fields), schema.fields) == comparable(golden_rows(name), schema.fields)
    monkeypatch.undo()
    time.tzset()


def test_a_table_reads_the_zone_of_its_orc_files_as_its_options_say(tmp_path):
    schema = golden_schema("new_york_o2")
    expected = read_data_file(FS, golden_file("new_york_o2"), schema.fields, options=TableOptions(schema.options))
    columns = ", ".join(f"{f.name} {f.type}" for f in schema.fields)
    options = ", ".join(f"'{k}' = '{v}'" for k, v in schema.options.items())
    wb = paimon_nb.connect(str(tmp_path))
    wb.run(f"CREATE TABLE t ({columns}) WITH ({options}, 'compaction.min.file-num' = '2')")
    for _ in range(2):
        wb.table("t").append(expected)
    for path in wb.table("t").files().column("file_path").to_pylist():
        shutil.copyfile(golden_file("new_york_o2"), path)
    for step in ("SHOW TABLES", "CALL sys.compact('t')"):
        wb.run(step)
        assert wb.table("t").to_arrow().equals(pa.concat_tables([expected, expected]))


@pytest.mark.parametrize(("name", "zone"), [("ltz_orc", "UTC"), ("tokyo_ltz_orc", "Asia/Tokyo")])
def test_orc_file_without_a_timestamp_names_no_zone(name, zone, monkeypatch):
    """Its TIMESTAMP_LTZ is the reader's own zone's, as in Java."""
    import time

    schema = golden_schema(name)
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    table = read_data_file(FS, golden_file(name), schema.fields, options=TableOptions(schema.options))
    monkeypatch.undo()
    time.tzset()
    assert comparable(as_rows(table, schema.fields), schema.fields) == comparable(golden_rows(name), schema.fields)


@pytest.mark.parametrize("name", ["ap_parquet", pytest.param("ap_orc", marks=pytest.mark.nightly), "ap_avro"])
def test_broken_bytes_are_named(name, tmp_path):
    schema, data = golden_schema(name), Path(golden_file(name)).read_bytes()
    good, dice = read_data_file(FS, golden_file(name), schema.fields), random.Random(name)
    path = str(tmp_path / f"broken.{format_of(golden_file(name))}")
    noticed = 0
    for turn in range(150):
        if turn % 2:
            broken = bytearray(data)
            broken[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        else:
            broken = data[: dice.randrange(len(data))]
        FS.overwrite(path, bytes(broken))
        table, error = _read(path, schema.fields)
        if table is None:
            assert path in str(error)
            noticed += isinstance(error, CorruptFile)
        else:
            assert turn % 2, "a file that is cut off was read"
            if name == "ap_parquet":  # its pages have checksums; the other formats have none
                assert table.equals(good)
    assert noticed > 75


def _read(path, fields):
    try:
        return read_data_file(FS, path, fields), None
    except PaimonError as error:
        return None, error
