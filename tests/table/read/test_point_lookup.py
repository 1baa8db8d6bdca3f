"""Lookups of one key: the same rows as reading everything and filtering, whatever the table, and hardly anything decoded."""

import datetime as dt
import random
from decimal import Decimal

import pyarrow as pa
import pytest
from sampling import sampled

from paimon_nb.format.data import parquet as parquet_reader
from paimon_nb.table.read import Compare, PointLookup, conjunction_of
from paimon_nb.workbench import connect

KEYS = {
    "INT": lambda r: r.randrange(-20, 20),
    "BIGINT": lambda r: r.choice([-(1 << 63), (1 << 63) - 1, *range(15)]),
    "STRING": lambda r: r.choice(["", "a", "ab", "b", "é", "\U0001f600", "z" * 30, *map(str, range(9))]),
    "DATE": lambda r: dt.date(2024, 1, 1) + dt.timedelta(days=r.randrange(20)),
    "DECIMAL(10, 2)": lambda r: Decimal(r.randrange(-500, 500)).scaleb(-2),
    "TIMESTAMP(9)": lambda r: dt.datetime(2024, 1, 1) + dt.timedelta(microseconds=r.randrange(20)),
    "BOOLEAN": lambda r: r.random() < 0.5,
    "DOUBLE": lambda r: r.choice([0.0, 1.5, -3.0, 1e300]),
}
ENGINES = {
    "deduplicate": {},
    "partial-update": {},
    "aggregation": {"fields.v.aggregate-function": "sum"},
    "first-row": {},
    "deduplicate, vectors": {"deletion-vectors.enabled": "true"},
    "deduplicate, newest by v": {"sequence.field": "v"},
}
SHAPES = [{"bucket": "1"}, {"bucket": "3"}, {"bucket": "-1"}, {"bucket": "2", "data-file.thin-mode": "true"}]


@pytest.mark.parametrize("seed", sampled(range(12), 3))
def test_the_row_of_a_key_is_the_one_that_reading_everything_finds(seed, tmp_path):
    r = random.Random(seed)
    key_types = [r.choice(list(KEYS)) for _ in range(r.choice([1, 1, 2]))]
    engine = list(ENGINES)[seed % len(ENGINES)]
    partitioned = r.random() < 0.4
    options = {**r.choice(SHAPES), "merge-engine": engine.split(",")[0], **ENGINES[engine]}
    options |= r.choice([{}, {}, {"file.format": "avro"}, {"file.format": "orc"}])
    options["parquet.page.row.count.limit"] = "7"
    names = [f"k{i}" for i in range(len(key_types))] + (["p"] if partitioned else [])
    columns = [f"k{i} {t} NOT NULL" for i, t in enumerate(key_types)] + (["p STRING NOT NULL"] if partitioned else [])
    wb = connect(str(tmp_path))
    wb.run(
        f"CREATE TABLE t ({', '.join(columns)}, v BIGINT, s STRING, a ARRAY<INT>, PRIMARY KEY ({', '.join(names)}) NOT ENFORCED)"
        f" {'PARTITIONED BY (p)' if partitioned else ''} WITH ({', '.join(f'{k!r} = {v!r}' for k, v in options.items())})"
    )
    table = wb.table("t")
    draws = [*(KEYS[t] for t in key_types), *([lambda r: r.choice(["x", "y", "ä b"])] if partitioned else [])]

    def draw() -> tuple:
        return tuple(d(r) for d in draws)

    asked = {draw() for _ in range(10)}
    for _ in range(r.randrange(1, 6)):
        keys = list({draw(): None for _ in range(r.choice([3, 60]))})
        rows = [
            {
                **dict(zip(names, k, strict=True)),
                "v": r.randrange(1000),
                "s": r.choice([None, "t"]),
                "a": r.choice([None, [1, None]]),
            }
            for k in keys
        ]
        table.upsert(pa.Table.from_pylist(rows, schema=table.schema.arrow))
        asked |= set(keys[:10])
        if engine == "deduplicate" and r.random() < 0.5:
            table.delete(pa.Table.from_pylist([rows[0]], schema=table.schema.arrow))
        if r.random() < 0.3 or engine in ("first-row", "deduplicate, vectors"):
            table.compact(full=r.random() < 0.5)
    everything = table.to_arrow().to_pylist()
    for key in asked:
        values = dict(zip(names, key, strict=True))
        expected = [row for row in everything if all(row[n] == v for n, v in values.items())]
        assert table.lookup(**values).to_pylist() == expected, (values, options)
    for low, high in zip(sorted(asked), sorted(asked)[2:], strict=False):
        between = conjunction_of([Compare("k0", ">=", low[0]), Compare("k0", "<", high[0])])
        expected = [row for row in everything if low[0] <= row["k0"] < high[0]]
        found = table.to_arrow(where=between).to_pylist()
        assert sorted(map(repr, found)) == sorted(map(repr, expected)), (low, high, options)


@pytest.fixture
def table(tmp_path):
    wb = connect(str(tmp_path))
    wb.run("CREATE TABLE t (k BIGINT, s STRING, n ROW<k BIGINT>, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1', 'write-only' = 'true')")  # fmt: skip
    t = wb.table("t")
    for n in range(3):
        keys = range(n, 30_000, n + 1)
        rows = {"k": list(keys), "s": [f"{n}-{k}" for k in keys], "n": [{"k": -k} for k in keys]}
        t.upsert(pa.table(rows, schema=t.schema.arrow))
    return t


def test_only_files_with_the_key_are_read(table):
    finder = PointLookup(table.store)

    def files(key: int) -> int:
        return sum(len(split.files) for split in finder.plan(Compare("k", "=", key)).splits)

    assert [files(k) for k in (0, 1, 2, 5, 29_999, 40_000)] == [1, 2, 2, 3, 3, 0]
    assert table.lookup(k=5).to_pylist() == [{"k": 5, "s": "2-5", "n": {"k": -5}}]
    assert table.lookup(k=4).to_pylist() == [{"k": 4, "s": "0-4", "n": {"k": -4}}]


def test_a_lookup_opens_no_file_as_a_whole(table, monkeypatch):
    opened = []
    monkeypatch.setattr(parquet_reader.ParquetReader, "__init__", lambda _self, *a: opened.append(a))
    assert table.lookup(k=7).to_pylist() == [{"k": 7, "s": "1-7", "n": {"k": -7}}]
    assert opened == []


def test_a_lookup_sees_what_was_committed_since_the_last(table):
    assert table.lookup(k=7).column("s").to_pylist() == ["1-7"]
    table.upsert(pa.table({"k": [7], "s": ["new"], "n": [None]}, schema=table.schema.arrow))
    assert table.lookup(k=7).column("s").to_pylist() == ["new"]
    table.delete(pa.table({"k": [7]}, schema=pa.schema([("k", pa.int64())])))
    assert table.lookup(k=7).num_rows == 0


def test_what_the_finder_leaves_to_the_usual_plan(table):
    finder = PointLookup(table.store)
    assert finder.plan(Compare("k", "=", 1.5)) is None
    assert finder.plan(Compare("s", "=", "x")) is None
    assert finder.plan(conjunction_of([Compare("k", "=", 1), Compare("k", ">", 0)])) is None
    assert PointLookup(table.store.copy({"scan.snapshot-id": "1"})).plan(Compare("k", "=", 1)) is None
    assert table.copy({"scan.snapshot-id": "1"}).lookup(k=7).column("s").to_pylist() == ["0-7"]
    assert table.lookup(k=1.5).num_rows == 0


@pytest.mark.usefixtures("table")
def test_keys_of_another_type_than_today(tmp_path):
    wb = connect(str(tmp_path / "other"))
    wb.run("CREATE TABLE w (k INT, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '4')")
    wb.table("w").upsert(pa.table({"k": pa.array(range(50), pa.int32()), "v": pa.array(range(50), pa.int32())}))
    wb.run("ALTER TABLE w RENAME COLUMN v TO u")
    wb.table("w").upsert(pa.table({"k": pa.array([3], pa.int32()), "u": pa.array([33], pa.int32())}))
    assert wb.table("w").lookup(k=3).to_pylist() == [{"k": 3, "u": 33}]
    assert wb.table("w").lookup(k=4).to_pylist() == [{"k": 4, "u": 4}]
