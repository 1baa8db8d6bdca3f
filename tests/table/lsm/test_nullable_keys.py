"""Tables with `primary-key.nullable`: NULL is a key like others, and the smallest one."""

from __future__ import annotations

import random
from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from sampling import sampled

import paimon_nb
from paimon_nb.base.errors import BadOptionValue, FixedOption, NullNotAllowed, UnsupportedOperation

NULLABLE = "'primary-key.nullable' = 'true'"
TYPES = {"INT": [None, 0, 1, -5, 7], "STRING": [None, "", "a", "b", "ab"], "DOUBLE": [None, 0.0, -1.5, 2.0, 9.0]}


@pytest.fixture
def wb(tmp_path):
    return paimon_nb.connect(str(tmp_path / "w"))


def made(wb, options: str = "", columns: str = "id INT, v STRING", key: str = "id"):
    wb.run(f"CREATE TABLE t ({columns}) WITH ('primary-key' = '{key}', {NULLABLE}{options})")
    return wb.table("t")


def rows(t) -> set[tuple]:
    return {tuple(r.values()) for r in t.to_arrow().to_pylist()}


def write(t, *new: tuple, kinds: list[str] | None = None) -> None:
    schema = t.to_arrow().schema
    table = pa.table([pa.array(c, f.type) for c, f in zip(zip(*new, strict=True), schema, strict=True)], schema=schema)
    with t.write() as writing:
        writing.write(table, kinds)
        t.commit().commit(writing.prepare_commit())


LAYOUTS = {
    "one bucket": "'bucket' = '1'",
    "buckets": "'bucket' = '3'",
    "dynamic": "'bucket' = '-1', 'dynamic-bucket.target-row-num' = '3'",
    "lookup": "'bucket' = '1', 'changelog-producer' = 'lookup'",
    "full": "'bucket' = '1', 'changelog-producer' = 'full-compaction'",
    "vectors": "'bucket' = '2', 'deletion-vectors.enabled' = 'true'",
    "index": "'bucket' = '1', 'file-index.bloom-filter.columns' = 'a,b', 'file.format' = 'orc'",
    "thin": "'bucket' = '1', 'data-file.thin-mode' = 'true'",
    "avro": "'bucket' = '1', 'file.format' = 'avro'",
}


ENGINES = ("deduplicate", "partial-update", "aggregation", "first-row")
CASES = [
    pytest.param(layout, engine, marks=() if number % 9 == 0 else pytest.mark.nightly)
    for number, (layout, engine) in enumerate((layout, engine) for layout in LAYOUTS for engine in ENGINES)
    if engine != "first-row" or layout not in ("full", "vectors")
]


@pytest.mark.parametrize(("layout", "engine"), sampled(CASES, 3))
def test_random_changes_equal_those_of_a_dict(wb, layout, engine):
    random_ = random.Random(f"{layout} {engine}")
    one, other = random_.sample(sorted(TYPES), 2)
    options = f", 'merge-engine' = '{engine}', 'num-sorted-run.compaction-trigger' = '3', {LAYOUTS[layout]}"
    options += ", 'fields.n.aggregate-function' = 'sum'" if engine == "aggregation" else ""
    t = made(wb, options, f"a {one}, b {other}, n INT, v STRING", "a,b")
    model: dict[tuple, tuple] = {}
    for step in range(12):
        new = []
        for _ in range(random_.randint(1, 8)):
            key = random_.choice(TYPES[one]), random_.choice(TYPES[other])
            n, v = random_.choice([None, 1, 2]), random_.choice([None, f"s{step}"])
            new.append((*key, n, v))
            before = model.get(key)
            if before is None or engine == "deduplicate":
                model[key] = (n, v)
            elif engine == "partial-update":
                model[key] = tuple(b if a is None else a for a, b in zip((n, v), before, strict=True))
            elif engine == "aggregation":
                total = before[0] if n is None else n if before[0] is None else n + before[0]
                model[key] = total, before[1] if v is None else v
        write(t, *new)
        if engine == "deduplicate" and step % 4 == 3:
            (key, value), *_ = model.items()
            write(t, (*key, *value), kinds=["-D"])
            del model[key]
        if step % 5 == 4:
            t.compact()
    t.compact()
    assert rows(t) == {(*k, *v) for k, v in model.items()}
    for a in TYPES[one]:
        condition = "a IS NULL" if a is None else f"a = {a!r}"
        assert {r for r in rows(t) if r[0] == a} == {tuple(r.values()) for r in t.to_arrow(where=condition).to_pylist()}


@pytest.mark.parametrize("kind", ["INT", "STRING", "TIMESTAMP(6)", "DATE", "DECIMAL(20, 2)", "BYTES", "BOOLEAN"])
def test_null_is_a_key_of_its_own_and_the_smallest(wb, kind):
    """The files are sorted with it first, as Java sorts them."""
    t = made(wb, ", 'bucket' = '1', 'write-only' = 'true'", f"id {kind}, v STRING")
    other = {
        "INT": -(1 << 31),
        "STRING": "",
        "TIMESTAMP(6)": datetime(1, 1, 1),
        "DATE": date(1, 1, 1),
        "DECIMAL(20, 2)": Decimal("-99999999999.99"),
        "BYTES": b"",
        "BOOLEAN": False,
    }[kind]
    write(t, (other, "one"), (None, "null"))
    write(t, (None, "newer"))
    assert rows(t) == {(other, "one"), (None, "newer")}
    t.copy({"write-only": "false"}).compact()
    (file,) = t.scan().plan.files
    assert t.to_arrow()["v"].to_pylist() == ["newer", "one"]
    assert file.key_stats.null_counts == (1,)


def test_partitions_and_sequences_may_be_null_too(wb):
    t = made(wb, ", 'partition' = 'dt', 'bucket' = '1', 'sequence.field' = 'n'", "dt STRING, id INT, n INT", "dt,id")
    write(t, (None, 1, 5), ("a", None, 5))
    write(t, (None, 1, 4), ("a", None, 6), ("b", 2, 1))
    assert rows(t) == {(None, 1, 5), ("a", None, 6), ("b", 2, 1)}


def test_a_key_that_changes_its_partition(wb):
    t = made(wb, ", 'partition' = 'dt', 'bucket' = '-1'", "dt STRING, id INT, v STRING", "id")
    write(t, ("a", None, "old"), ("a", 1, "one"))
    write(t, ("b", None, "new"))
    assert rows(t) == {("b", None, "new"), ("a", 1, "one")}


def test_rows_without_bucket(wb):
    t = made(wb, ", 'bucket' = '-2'")
    write(t, (None, "old"), (1, "one"))
    write(t, (None, "new"))
    t.compact()
    assert rows(wb.table("t")) == {(None, "new"), (1, "one")}


def test_changes_of_the_null_key_are_told(wb):
    t = made(wb, ", 'bucket' = '1', 'changelog-producer' = 'lookup'")
    write(t, (None, "old"), (1, "one"))
    write(t, (None, "new"))
    log = wb.run(
        "SELECT rowkind, id, v FROM `t$audit_log` /*+ OPTIONS('incremental-between' = '2,4', 'incremental-between-scan-mode' = 'changelog') */"
    ).arrow
    assert [tuple(r.values()) for r in log.to_pylist()] == [("-U", None, "old"), ("+U", None, "new")]


def test_update_delete_and_upsert_from_python(wb):
    t = made(wb, ", 'bucket' = '1'")
    write(t, (None, "old"), (1, "one"), (2, "two"))
    t.update({"v": "new"}, where="id IS NULL")
    assert rows(t) == {(None, "new"), (1, "one"), (2, "two")}
    t.delete("v = 'new' OR id = 1")
    assert rows(t) == {(2, "two")}


def test_the_key_stays_nullable(wb):
    t = made(wb, ", 'bucket' = '1'")
    assert [f.type.nullable for f in t.schema.fields] == [True, True]
    wb.run("ALTER TABLE t ADD (x INT); ALTER TABLE t MODIFY id INT COMMENT 'key'")
    assert wb.table("t").schema.field("id").type.nullable
    wb.run("ALTER TABLE t SET ('primary-key.nullable' = 'false')")
    assert not wb.table("t").schema.field("id").type.nullable
    with pytest.raises(NullNotAllowed):
        write(wb.table("t"), (None, "old", 1))
    wb.run("ALTER TABLE t SET ('primary-key.nullable' = 'true')")
    write(wb.table("t"), (None, "old", 1))
    with pytest.raises(FixedOption):
        wb.run("ALTER TABLE t SET ('primary-key.nullable' = 'false')")
    assert rows(wb.table("t")) == {(None, "old", 1)}


def test_a_declared_key_is_nullable_with_the_option(wb):
    wb.run(f"CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', {NULLABLE})")
    assert wb.table("t").schema.field("id").type.nullable


def test_it_needs_a_key(wb):
    with pytest.raises(BadOptionValue, match="primary keys"):
        wb.run(f"CREATE TABLE t (id INT) WITH ({NULLABLE})")


def test_flink_knows_such_a_key_as_an_option(wb):
    """Its own constraint means NOT NULL. It cannot normalise changes by a key that it does not know."""
    made(wb, ", 'bucket' = '1'")
    wb.run("SET 'execution.runtime-mode' = 'streaming'")
    (text,) = wb.run("SHOW CREATE TABLE t").arrow["result"].to_pylist()
    assert "'primary-key' = 'id'" in text
    assert "CONSTRAINT" not in text
    assert wb.run("DESCRIBE t").arrow["key"].to_pylist() == [None, None]
    with pytest.raises(UnsupportedOperation, match="nullable primary keys require a full changelog"):
        wb.run("SELECT * FROM t")
