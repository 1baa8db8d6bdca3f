"""Rows as callers have them: every form of Arrow's, frames of pandas and polars; what is no rows says so."""

from __future__ import annotations

import datetime as dt
import warnings
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from write_kit import make_table

import paimon_nb
from paimon_nb.base.errors import SchemaMismatch
from paimon_nb.table.tables.table import Table
from paimon_nb.table.write import input_rows

if TYPE_CHECKING:
    from pathlib import Path

TWO = pa.table({"k": [1, 2], "v": ["a", None]})
FORMS = {
    "batch": lambda: TWO.to_batches()[0],
    "reader": lambda: TWO.to_reader(),
    "pandas": lambda: TWO.to_pandas(),
    "part of a frame": lambda: pd.DataFrame({"k": [0, 1, 2], "v": ["z", "a", None]})[1:],
    "frame with the key as index": lambda: TWO.to_pandas().set_index("k"),
}


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return Table(make_table(f"{tmp_path}/t", {"k": "INT", "v": "STRING"}, ["k"], bucket="1"))


@pytest.mark.parametrize("form", FORMS)
def test_rows_may_come_in_any_arrow_form(table, form):
    table.upsert(FORMS[form]())
    assert table.to_arrow().to_pylist() == TWO.to_pylist()
    table.overwrite(FORMS[form]())
    assert table.to_arrow().to_pylist() == TWO.to_pylist()
    table.delete(FORMS[form]())
    assert table.to_arrow().num_rows == 0


def test_a_frame_of_polars_with_categories(table):
    frame = polars.DataFrame({"k": [1, 2], "v": ["a", None]}, schema_overrides={"v": polars.Categorical})
    table.upsert(frame)
    assert table.to_arrow().to_pylist() == TWO.to_pylist()


@pytest.mark.parametrize("encode", [pc.run_end_encode, pc.dictionary_encode])
def test_encoded_columns_are_decoded(table, encode):
    table.upsert(pa.table({"k": encode(pa.array([1, 2])), "v": encode(pa.array(["a", None]))}))
    assert table.to_arrow().to_pylist() == TWO.to_pylist()


def test_a_write_handle_takes_a_frame_and_a_list_of_kinds(table):
    table.upsert(TWO)
    with table.write() as write:
        write.write(TWO.to_pandas(), ["-D", "+U"])
        table.commit().commit(write.prepare_commit())
    assert table.to_arrow().to_pylist() == [{"k": 2, "v": None}]


@pytest.mark.parametrize("write", ["append", "upsert", "overwrite", "delete", "merge", "create_table"])
def test_a_reader_that_was_read_before_gives_a_warning(table, tmp_path, write):
    """An empty frame does not: it is what it is."""
    table.append(TWO)
    merge = lambda rows: table.merge(rows, on="k").when_matched_delete().execute()  # noqa: E731
    with paimon_nb.connect(str(tmp_path)) as wb, warnings.catch_warnings():
        create = lambda rows: wb.create_table(f"t{len(wb.tables())}", rows)  # noqa: E731
        call = {"merge": merge, "create_table": create}.get(write) or getattr(table, write)
        warnings.simplefilter("error")
        for empty in (TWO[:0], polars.DataFrame(TWO[:0]), polars.LazyFrame(TWO[:0])):
            call(empty)
        reader = TWO.to_reader()
        reader.read_all()
        with pytest.warns(UserWarning, match="the reader has no rows, so none were written") as caught:
            call(reader)
    assert [w.filename for w in caught] == [__file__]


def test_record_batches_of_a_query_are_rows(table):
    table.append(TWO)
    table.overwrite(table.where("k = 2").to_batches())
    assert table.to_arrow().to_pylist() == [{"k": 2, "v": None}]


@pytest.mark.parametrize("write", ["append", "upsert", "overwrite", "create_table"])
def test_progress_is_reported_after_each_chunk(table, tmp_path, write, monkeypatch):
    monkeypatch.setattr(input_rows, "_CHUNK_ROWS", 2)
    batches = [pa.record_batch({"k": pa.array([i, -i], pa.int32())}) for i in (1, 2, 3)]
    seen: list[tuple[int, int]] = []

    def stops(*_: int) -> None:
        raise ZeroDivisionError

    with paimon_nb.connect(str(tmp_path)) as wb:
        call = getattr(table, write, None) or (lambda *args, **more: wb.create_table("made", *args, **more))
        with pytest.raises(ZeroDivisionError):
            call(pa.Table.from_batches(batches), progress=stops)
        assert (table.latest_snapshot(), [p.name for p in tmp_path.rglob("*.parquet")], wb.tables()) == (None, [], [])
        call(pa.Table.from_batches(batches), progress=lambda rows, size: seen.append((rows, size)))
    assert seen == [(2, 8), (4, 16), (6, 24)]


@pytest.mark.parametrize("rows", [[{"k": 1}], {"k": [1]}, None, "abc", pd.Series([1])], ids=lambda r: type(r).__name__)
def test_what_is_no_table_is_refused_by_name(table, rows):
    for take in (
        table.append,
        table.upsert,
        table.delete if not isinstance(rows, str) else table.append,
        table.overwrite,
    ):
        with pytest.raises(SchemaMismatch, match=f"rows of type {type(rows).__name__} cannot be written"):
            take(rows)


def test_a_column_of_several_types_is_refused(table):
    with pytest.raises(SchemaMismatch, match="cannot be converted to an Arrow table"):
        table.upsert(pd.DataFrame({"k": [1, "x"]}))


def test_keys_may_be_values_of_numpy_and_arrow(tmp_path):
    columns = {"k": "INT", "d": "DATE", "at": "TIMESTAMP(6)"}
    table = Table(make_table(f"{tmp_path}/t", columns, list(columns), bucket="1"))
    table.append(pa.table({"k": [7], "d": [dt.date(2024, 1, 31)], "at": [dt.datetime(2024, 1, 31, 12)]}))
    for wrap in (pa.scalar, {int: np.int64, dt.date: np.datetime64, dt.datetime: np.datetime64}.get):
        key = {"k": 7, "d": dt.date(2024, 1, 31), "at": dt.datetime(2024, 1, 31, 12)}
        wrapped = {c: wrap(v) if wrap is pa.scalar else wrap(type(v))(v) for c, v in key.items()}
        assert table.lookup(**wrapped).to_pylist() == [key]
