"""Random conditions on real tables: what partitions, buckets, statistics, indexes and vectors leave out is never a wanted row."""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from sampling import sampled
from write_kit import arrow, compact_all, make_table, put

from paimon_nb.format.types import DataField, parse_type
from paimon_nb.fs import MemoryFileIO
from paimon_nb.table.lsm.merge import PICKS_ROWS
from paimon_nb.table.read import (
    And,
    Compare,
    In,
    IsNotNull,
    IsNull,
    Like,
    Or,
    Predicate,
    ScanPlan,
    StartsWith,
    filter_rows,
    plan_scan,
    read_plan,
)
from paimon_nb.table.read.predicate.evaluate import bind_literals
from paimon_nb.table.read.row_positions import one_split_per_file, rows_with_positions
from paimon_nb.table.read.strategy.late_materialization import read_only_matching_rows
from paimon_nb.table.write.commit import TableCommit
from paimon_nb.table.write.row_rewrite import delete_marked_rows, rewrite_without_rows

if TYPE_CHECKING:
    from paimon_nb.table.read.store import TableStore

COLUMNS = {
    "k": "INT", "p": "STRING", "q": "DATE", "i": "INT", "b": "BIGINT", "t": "TINYINT", "s": "STRING", "c": "CHAR(3)",
    "f": "DOUBLE", "r": "FLOAT", "d": "DATE", "n": "DECIMAL(12, 2)", "m": "TIMESTAMP(3)", "u": "TIMESTAMP(6)",
    "z": "TIMESTAMP(3) WITH LOCAL TIME ZONE", "o": "BOOLEAN", "x": "BYTES",
}  # fmt: skip
INDEXES = {
    "file-index.bloom-filter.columns": "s,b,d,i",
    "file-index.bitmap.columns": "i,t,o,c",
    "file-index.bsi.columns": "b,d,m",
    "file-index.range-bitmap.columns": "n,u",
}
KINDS = ("append", "unaware-vectors", "deduplicate", "keyed-vectors", "first-row", "partial-update", "aggregation")
LATER = {"r2": "r", "late": "i"}
"""Names that came later, and the column whose values they get."""
DAY = dt.date(2024, 1, 1)


def some(column: str, dice: random.Random, *, null: bool = True) -> Any:
    """A value; few different ones, and far away ones now and then."""
    if null and column not in "kpq" and dice.random() < 0.15:
        return None
    far = dice.random() < 0.1
    number = dice.randrange(12)
    moment = dt.datetime(2024, 1, 1) + dt.timedelta(hours=number * 7, microseconds=0)
    match column:
        case "k":
            return dice.randrange(60)
        case "p":
            return dice.choice(["x", "y é", "z/1", ""])
        case "q" | "d":
            return (
                dt.date(1, 1, 1)
                if far and column == "d"
                else DAY + dt.timedelta(number % 3 if column == "q" else number)
            )
        case "i":
            return dice.choice([-(1 << 31), (1 << 31) - 1]) if far else number
        case "b":
            return dice.choice([-(1 << 63), (1 << 63) - 1]) if far else number - 6
        case "t":
            return dice.choice([-128, 127]) if far else number
        case "s":
            return (
                dice.choice(["", "aaaaaaaaaaaaaaaaaaaaaaaaab", "aaaaaaaaaaaaaaaaaaaaaaaaac", "\U0010ffff" * 17, "é"])
                if far
                else f"s{number}"
            )
        case "c":
            return dice.choice(["a", "ab", "abc", "é"])
        case "f" | "r":
            return dice.choice([float("nan"), float("inf"), float("-inf"), -0.0, 0.0]) if far else number / 2
        case "n":
            return Decimal("9999999999.99") if far else Decimal(number) / 4
        case "m":
            return moment.replace(year=1) if far else moment
        case "u":
            return moment + dt.timedelta(microseconds=number)
        case "z":
            return moment.replace(tzinfo=dt.UTC)
        case "o":
            return dice.random() < 0.5
    return b"\xff" * 20 if far else bytes([number])


def random_table(seed: int) -> TableStore:
    """A table of random kind, with history: batches, compactions, deletions, columns that came, went and grew."""
    dice = random.Random(f"table {seed}")
    kind = KINDS[seed % len(KINDS)]
    keyed = kind not in ("append", "unaware-vectors")
    partitions = dice.choice([[], ["p"], ["q", "p"]])
    options = {
        "bucket": dice.choice(["1", "3", "-1"]) if keyed else "-1",
        "file.format": dice.choice(["parquet", "orc", "avro"]),
        "metadata.stats-mode": dice.choice(["full", "truncate(16)", "truncate(2)", "counts", "none"]),
        "metadata.stats-dense-store": dice.choice(["true", "false"]),
        "num-sorted-run.compaction-trigger": dice.choice("35"),
        "target-file-size": dice.choice(["1 kb", "128 mb"]),
        "file.block-size": dice.choice(["1 kb", "128 mb"]),
        "file-index.in-manifest-threshold": dice.choice(["1 b", "1 mb"]),
        "manifest.target-file-size": dice.choice(["1 b", "8 mb"]),
        **(INDEXES if dice.random() < 0.6 else {}),
    }
    if keyed:
        options["merge-engine"] = "deduplicate" if kind == "keyed-vectors" else kind
    if kind == "aggregation":
        options |= {"fields.b.aggregate-function": "min", "fields.i.aggregate-function": "max"}
        options |= {"fields.default-aggregate-function": "last_value"}
    if "vectors" in kind:
        options["deletion-vectors.enabled"] = "true"
    store = make_table(
        f"memory:/t{seed}", COLUMNS, [*partitions, "k"] if keyed else [], partitions, MemoryFileIO(), **options
    )
    for turn in range(6):
        store = store.refreshed()
        names = store.schema.names
        rows = [{c: some(LATER.get(c, c), dice) for c in names} for _ in range(dice.choice([3, 30]))]
        put(
            store,
            arrow(store, rows),
            [dice.choice(["+I"] * 9 + ["-D"]) for _ in rows] if kind in ("deduplicate", "keyed-vectors") else None,
        )
        if turn in (2, 4):
            compact_all(store, full=dice.random() < 0.5)
        if turn == 3 and dice.random() < 0.5:
            evolve(store, dice)
        if not keyed and turn > 2:
            delete_some(store, dice)
    return store.refreshed()


def evolve(store: TableStore, dice: random.Random) -> None:
    """INT to BIGINT, a name for another column, one more column, and all in another order."""
    fields = [
        replace(f, type=parse_type("BIGINT")) if f.name == "i" else replace(f, name="r2") if f.name == "r" else f
        for f in store.schema.fields
    ]
    late = DataField(len(fields), "late", parse_type("INT"))
    shuffled = tuple(dice.sample([late, *fields], len(fields) + 1))
    assert store.schemas.create(replace(store.schema, id=1, fields=shuffled, highest_field_id=len(fields)))


def delete_some(store: TableStore, dice: random.Random) -> None:
    plan = plan_scan(store)
    gone = []
    for split in one_split_per_file(plan):
        _, places = rows_with_positions(plan.store, split)
        picked = sorted(dice.sample(places.tolist(), len(places) // 4))
        if picked:
            gone.append((split, pa.array(picked).to_numpy()))
    vectors = store.options.deletion_vectors
    TableCommit(store).commit(
        delete_marked_rows(store, plan, gone) if vectors else [rewrite_without_rows(store, *one) for one in gone]
    )


def condition(store: TableStore, dice: random.Random, depth: int = 2) -> Predicate:
    if depth and dice.random() < 0.5:
        parts = tuple(condition(store, dice, depth - 1) for _ in range(dice.randint(2, 3)))
        found: Predicate = dice.choice([And, Or])(parts)
        return found.negate() if dice.random() < 0.2 else found
    field = dice.choice(store.schema.fields)
    like = LATER.get(field.name, field.name)

    def literal() -> Any:
        return some(like, dice, null=False)

    match dice.randrange(8):
        case 0:
            return dice.choice([IsNull, IsNotNull])(field.name)
        case 1:
            return In(field.name, tuple(literal() for _ in range(dice.randrange(4))))
        case 2 if like in "psc":
            return dice.choice([StartsWith(field.name, literal()[:2]), Like(field.name, literal()[:1] + "%")])
        case 3:
            return Compare(field.name, "=", literal()).negate()
    return Compare(field.name, dice.choice(["=", "=", "=", "<>", "<", "<=", ">", ">="]), literal())


def found_by_value(plan: ScanPlan) -> pa.Table | None:
    """The rows as a query finds few of them, columns of the condition first; None where the files do not allow it."""
    files = [f for s in plan.splits for f in s.files]
    picks = all(s.raw for s in plan.splits) or plan.store.options.merge_engine in PICKS_ROWS
    if not files or not picks or plan.predicate is None or any(not f.file_name.endswith(".parquet") for f in files):
        return None
    return read_only_matching_rows(plan.store, plan.splits, plan.schema.fields, plan.predicate, max_rows=1 << 62)


def differences(tables: int, conditions: int, first: int = 0) -> tuple[int, int, int, list[str]]:
    """(conditions tried, files left out, conditions that were searched for by value too, what differed)"""
    wrong, skipped, tried, by_value = [], 0, 0, 0
    for seed in range(first, first + tables):
        store = random_table(seed)
        everything = read_plan(plan_scan(store))
        dice = random.Random(f"conditions {seed}")
        for number in range(conditions):
            wanted = condition(store, dice)
            plan = plan_scan(store, wanted)
            found = read_plan(plan)
            expected = filter_rows(bind_literals(wanted, store.schema.fields), everything, store.schema.fields)
            tried += 1
            skipped += sum(s.total - s.remaining for s in plan.skipped.stages if s.name != "manifests")
            few = found_by_value(plan)
            by_value += few is not None
            where = f"table {seed} ({KINDS[seed % len(KINDS)]}), condition {number}: {wanted}"
            if not same_rows(found, expected):
                wrong.append(f"{where}: {found.num_rows} rows, not {expected.num_rows}")
            if few is not None and not same_rows(few, expected):
                wrong.append(f"{where}: {few.num_rows} rows by value, not {expected.num_rows}")
    return tried, skipped, by_value, wrong


def same_rows(one: pa.Table, other: pa.Table) -> bool:
    return sorted(map(repr, one.to_pylist())) == sorted(map(repr, other.to_pylist()))


def test_21_conditions():
    tried, skipped, _, wrong = differences(len(KINDS), 3)
    assert wrong == []
    assert (tried, skipped > 15) == (21, True)


@pytest.mark.parametrize("seed", sampled([17, 18, 44, 38, 58], 5))
def test_few_rows_by_value(seed):
    """Parquet tables of kinds that pick rows: with deletion vectors, first-row, deduplicate."""
    tried, _, by_value, wrong = differences(1, 20, first=seed)
    assert wrong == []
    assert (tried, by_value > 10) == (20, True)


@pytest.mark.nightly
def test_10_000_conditions(capsys):
    tried, skipped, by_value, wrong = differences(100, 100, first=1000)
    with capsys.disabled():
        print(
            f"\n  {tried} conditions, {skipped} partitions, buckets and files left out, {by_value} also by value, "
            f"{len(wrong)} differences"
        )
    assert wrong == []
