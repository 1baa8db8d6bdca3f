"""Conditions applied inside files: rows as if everything were merged first."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from paimon_nb.format.types import DataField, VarChar, parse_type
from paimon_nb.table.read import parse_predicate
from paimon_nb.table.read.predicate.evaluate import bind_literals, filter_on_file_columns
from paimon_nb.workbench import connect

ENGINES = {
    "deduplicate": {},
    "partial-update": {},
    "aggregation": {"fields.v.aggregate-function": "sum"},
    "first-row": {},
}
CONDITIONS = [
    "k = 17",
    "k = 1700",
    "k IN (3, 4, 90)",
    "k > 80 AND v > 50",
    "v = 7",
    "s = 'b'",
    "k < 20 OR v > 90",
    "k <> 5 AND k <= 6",
    "NOT (k >= 3)",
    "s IS NULL AND k < 50",
]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_condition_changes_no_result(engine, tmp_path):
    wb = connect(str(tmp_path))
    options = {"bucket": "2", "merge-engine": engine, **ENGINES[engine]}
    given = ", ".join(f"'{k}' = '{v}'" for k, v in options.items())
    wb.run(f"CREATE TABLE t (k INT, v BIGINT, s STRING, PRIMARY KEY (k) NOT ENFORCED) WITH ({given})")
    rng = np.random.default_rng(3)
    for _ in range(4):
        keys = rng.permutation(100)[:60].astype(np.int32)
        texts = pa.array([["a", "b", None][i] for i in rng.integers(0, 3, 60)], pa.string())
        wb.table("t").upsert(pa.table({"k": keys, "v": rng.integers(0, 100, 60), "s": texts}))
    if engine == "first-row":
        wb.table("t").compact()
    everything = wb.table("t").to_arrow().to_pylist()
    for condition in CONDITIONS:
        wanted = [r for r in everything if _holds(condition, r)]
        got = wb.table("t").to_arrow(where=condition).to_pylist()
        assert sorted(got, key=lambda r: r["k"]) == sorted(wanted, key=lambda r: r["k"]), condition


def _holds(condition: str, row: dict) -> bool:
    """The condition in Python; a comparison with NULL is not true."""
    if row["s"] is None and condition == "s = 'b'":
        return False
    code = condition.replace("<>", "!=").replace("IS NULL", "is None").replace(" = ", " == ").replace(" IN ", " in ")
    code = code.replace(" AND ", " and ").replace(" OR ", " or ").replace("NOT ", "not ")
    return bool(eval(code, {}, row))


def test_an_older_value_does_not_come_back(tmp_path):
    """A condition on a value must see the newest row only."""
    wb = connect(str(tmp_path))
    wb.run("CREATE TABLE t (k INT, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1')")
    wb.table("t").upsert(pa.table({"k": pa.array([1], pa.int32()), "v": pa.array([1], pa.int32())}))
    wb.table("t").upsert(pa.table({"k": pa.array([1], pa.int32()), "v": pa.array([2], pa.int32())}))
    assert wb.table("t").to_arrow(where="v = 1").num_rows == 0
    assert wb.table("t").lookup(k=1).to_pylist() == [{"k": 1, "v": 2}]


FIELDS = (
    DataField(0, "a", parse_type("INT")),
    DataField(1, "b", parse_type("STRING")),
    DataField(2, "d", parse_type("DATE")),
)


@pytest.mark.parametrize(
    ("where", "spans"),
    [
        ("a = 3", {"a": (3, 3)}),
        ("a > 3 AND a <= 9", {"a": (3, 9)}),
        ("a IN (4, 2, 7)", {"a": (2, 7)}),
        ("b >= 'x'", {"b": ("x", None)}),
        ("a <> 3", {}),
        ("a = 3 OR b = 'x'", {}),
        ("d = DATE '2024-01-01'", {}),
    ],
)
def test_spans(where, spans):
    schema = pa_schema()
    condition = bind_literals(parse_predicate(where, schema), FIELDS)
    found = filter_on_file_columns(condition, FIELDS, FIELDS)
    assert found is not None
    assert dict(found.spans) == spans


def test_a_renamed_column_is_found_and_a_retyped_one_is_left_to_later():
    condition = bind_literals(parse_predicate("a = 3", pa_schema()), FIELDS)
    renamed = DataField(0, "old_a", parse_type("INT"))
    found = filter_on_file_columns(condition, FIELDS, [renamed])
    assert found is not None
    assert found.columns == ("old_a",)
    assert found.mask(pa.table({"old_a": pa.array([2, 3, None], pa.int32())})).to_pylist() == [False, True, None]
    assert filter_on_file_columns(condition, FIELDS, [DataField(0, "a", parse_type("SMALLINT"))]) is None
    assert filter_on_file_columns(condition, FIELDS, [DataField(1, "b", VarChar())]) is None


def pa_schema():
    from paimon_nb.format.schema import create_schema

    return create_schema(FIELDS, (), (), {}, None)


def test_dates_are_compared(tmp_path):
    wb = connect(str(tmp_path))
    wb.run("CREATE TABLE t (d DATE, v INT, PRIMARY KEY (d) NOT ENFORCED) WITH ('bucket' = '1')")
    days = [dt.date(2024, 1, n) for n in range(1, 29)]
    wb.table("t").upsert(pa.table({"d": pa.array(days), "v": pa.array(range(28), pa.int32())}))
    assert wb.table("t").to_arrow(where="d = DATE '2024-01-05'").column("v").to_pylist() == [4]


@pytest.mark.parametrize("format_name", ["parquet", "orc", "avro"])
@pytest.mark.parametrize("key", [", PRIMARY KEY (k, p) NOT ENFORCED", ""], ids=["key", "append"])
def test_columns_that_stand_in_another_order_than_in_the_file(key, format_name, tmp_path):
    wb = connect(str(tmp_path))
    bucket = "'bucket' = '1', " if key else ""
    wb.run(
        f"CREATE TABLE t (k STRING, v INT, p STRING{key}) PARTITIONED BY (p) WITH ({bucket}'file.format' = '{format_name}')"
    )
    wb.run("INSERT INTO t VALUES ('a', 1, 'x'), ('x', 2, 'x'), ('a', 3, 'y')")
    wb.run("ALTER TABLE t MODIFY (p STRING FIRST)")
    t = wb.table("t")
    assert t.to_arrow(where="k = 'a' AND p = 'x'").to_pylist() == [{"p": "x", "k": "a", "v": 1}]
    assert t.to_arrow(where="k > 'a' AND p = 'x'").to_pylist() == [{"p": "x", "k": "x", "v": 2}]
    assert t.to_arrow(["v"], where="v = 3 AND p = 'y'").to_pylist() == [{"v": 3}]
    if key:
        assert t.lookup(k="a", p="y").to_pylist() == [{"p": "y", "k": "a", "v": 3}]
