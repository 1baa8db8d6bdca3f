"""Changes inside columns: ids of the fields of a ROW that is modified, and defaults, as real Paimon has them."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import ColumnNotFound, SchemaMismatch


def _ids(t) -> object:
    """Field ids by name, of a type and all types inside of it."""
    for inside in (getattr(t, "element", None), getattr(t, "value", None)):
        if inside is not None:
            return _ids(inside)
    return {f.name: (f.id, _ids(f.type)) for f in t.fields} if hasattr(t, "fields") else None


def test_only_new_fields_take_ids(tmp_path):
    wb = paimon_nb.connect(str(tmp_path))
    wb.run(
        "CREATE TABLE t (k INT, c ROW<a INT, b STRING>, d ARRAY<ROW<a INT, r ROW<x INT>>>, m MAP<STRING, ROW<q INT>>)"
    )
    wb.run("ALTER TABLE t MODIFY c ROW<n ROW<x INT, y ROW<z INT, zz INT>>, a BIGINT, o INT, b STRING>")
    wb.run("ALTER TABLE t MODIFY d ARRAY<ROW<a INT, r ROW<x BIGINT, w ROW<v INT>>, e INT>>")
    wb.run("ALTER TABLE t MODIFY m MAP<STRING, ROW<q INT, qq INT>>")
    schema = wb.table("t").schema
    assert {f.name: _ids(f.type) for f in schema.fields} == {
        "k": None,
        "c": {
            "n": (10, {"x": (11, None), "y": (14, {"z": (12, None), "zz": (13, None)})}),
            "a": (2, None), "o": (15, None), "b": (3, None),
        },
        "d": {"a": (5, None), "r": (7, {"x": (6, None), "w": (16, {"v": (17, None)})}), "e": (18, None)},
        "m": {"q": (9, None), "qq": (19, None)},
    }  # fmt: skip
    assert schema.highest_field_id == 19


@pytest.fixture
def wb(tmp_path):
    return paimon_nb.connect(str(tmp_path))


def set_default(wb, column, value):
    wb.run(f"CALL sys.alter_column_default_value('t', '{column}', '{value}')")


def test_rows_get_defaults_of_columns_not_of_fields_inside(wb):
    """Flink's answers."""
    wb.run("CREATE TABLE t (k INT, s ROW<a INT, r ROW<b INT, c STRING>>, l ARRAY<ROW<a INT>>)")
    set_default(wb, "s.a", "5")
    set_default(wb, "s.r", "{7, x}")
    set_default(wb, "l.element.a", "3")
    assert wb.table("t").schema.field("s").type.fields[0].default_value == "5"
    wb.run("INSERT INTO t (k) VALUES (1)")
    row = {"k": 2, "s": {"a": None, "r": {"b": None, "c": "y"}}, "l": [{"a": None}]}
    wb.table("t").append(pa.Table.from_pylist([row], schema=wb.table("t").to_arrow().schema))
    assert wb.table("t").to_arrow().sort_by("k").to_pylist() == [
        {"k": 1, "s": None, "l": None},
        row,
    ]
    set_default(wb, "s", "{1, {2, z}}")
    wb.run("INSERT INTO t (k) VALUES (3)")
    assert wb.table("t").to_arrow().to_pylist()[-1]["s"] == {"a": 1, "r": {"b": 2, "c": "z"}}


def test_a_default_inside_a_column_is_one_of_its_type(wb):
    wb.run("CREATE TABLE t (k INT, s ROW<a INT, r ROW<b INT, c STRING>>, l ARRAY<ROW<a INT>>, m MAP<STRING, INT>)")
    for column, value in [("s.a", "x"), ("s.r", "{7}"), ("s.r.b", "x"), ("l.element.a", "x")]:
        with pytest.raises(SchemaMismatch, match=f"column '.*': default '{re.escape(value)}' is not a valid"):
            set_default(wb, column, value)
    with pytest.raises(ColumnNotFound, match=r"no column 's\.b'"):
        set_default(wb, "s.b", "1")
    with pytest.raises(SchemaMismatch, match="column 'm': default '1' is not a valid MAP"):
        set_default(wb, "m.value", "1")
    for column in ("k.element", "l.element.a.b"):
        with pytest.raises(ColumnNotFound, match=f"'{column}'"):
            set_default(wb, column, "1")
    assert wb.table("t").schema.id == 0


def test_a_default_of_elements_and_map_values_is_that_of_the_column(wb):
    """Java's answers, also for names that are not there."""
    wb.run(
        "CREATE TABLE t (k INT, l ARRAY<INT>, m MAP<STRING, INT>, r ARRAY<ROW<x INT>>, n MAP<STRING, ROW<x INT>>, a ARRAY<ARRAY<INT>>)"
    )
    for column, value in [
        ("l.element", "[5, 6]"), ("l.x", "[7]"), ("m.value", "{a -> 5}"), ("r.element", "[{7}]"), ("r.element.x", "7"), ("n.value.x", "8"),
        ("n.key", "{a -> {7}}"), ("a.element.element", "[[1]]"),
    ]:  # fmt: skip
        set_default(wb, column, value)
    fields = {f.name: f for f in wb.table("t").schema.fields}
    assert [f.default_value for f in fields.values()] == [None, "[7]", "{a -> 5}", "[{7}]", "{a -> {7}}", "[[1]]"]
    assert [fields["r"].type.element.fields[0].default_value, fields["n"].type.value.fields[0].default_value] == [
        "7",
        "8",
    ]
    wb.run("INSERT INTO t (k) VALUES (1)")
    assert wb.table("t").to_arrow().to_pylist() == [
        {"k": 1, "l": [7], "m": [("a", 5)], "r": [{"x": 7}], "n": [("a", {"x": 7})], "a": [[1]]}
    ]
