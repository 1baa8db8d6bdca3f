"""The merge kernels against a row-at-a-time reference: any versions, in any runs, in any order of runs."""

from __future__ import annotations

import random
from functools import cache
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import Refused, Version
from sampling import sampled

from paimon_nb import UnsupportedOperation
from paimon_nb.format.data import SEQUENCE_NUMBER, VALUE_KIND
from paimon_nb.format.schema import create_schema
from paimon_nb.format.types import parse_type
from paimon_nb.options import TableOptions
from paimon_nb.table.lsm.key_chunks import chunks_aligned_by_key
from paimon_nb.table.lsm.merge import MergeSpec, SortedChunks, merge, merge_sorted_groups, remaining_rows
from paimon_nb.table.lsm.merge import groups as pieces

if TYPE_CHECKING:
    from collections.abc import Sequence

COLUMNS = {
    "k": "INT", "l": "STRING", "a": "INT", "b": "BIGINT", "s": "INT", "t": "INT", "c": "ARRAY<INT>", "x": "STRING",
    "f": "BOOLEAN", "n": "INT NOT NULL",
}  # fmt: skip
GROUPS = {"fields.s.sequence-group": "a,c", "fields.t,b.sequence-group": "x,f"}
IN_GROUPS = {"fields.a.aggregate-function": "sum", "fields.c.aggregate-function": "collect"}
PARTIAL = {"merge-engine": "partial-update"}
NUMBERS = ("sum", "product", "max", "min", "last_value", "last_non_null_value", "first_value", "first_non_null_value")
SPECS: dict[str, dict[str, str]] = {
    "deduplicate": {},
    "deduplicate-sequence": {"sequence.field": "s"},
    "deduplicate-descending": {"sequence.field": "s,t", "sequence.field.sort-order": "descending"},
    "deduplicate-ignore-delete": {"ignore-delete": "true"},
    "first-row": {"merge-engine": "first-row"},
    "first-row-ignore-delete": {"merge-engine": "first-row", "ignore-delete": "true"},
    "partial": PARTIAL,
    "partial-sequence": PARTIAL | {"sequence.field": "s"},
    "partial-ignore-delete": PARTIAL | {"ignore-delete": "true"},
    "partial-remove": PARTIAL | {"partial-update.remove-record-on-delete": "true"},
    "partial-groups": PARTIAL | GROUPS,
    "partial-groups-aggregates": PARTIAL | GROUPS | IN_GROUPS,
    "partial-groups-remove": PARTIAL | GROUPS | {"partial-update.remove-record-on-sequence-group": "s"},
    "aggregation-retracts": {
        "merge-engine": "aggregation",
        "fields.a.aggregate-function": "sum",
        "fields.c.aggregate-function": "collect",
        "fields.x.aggregate-function": "last_value",
        "fields.b.aggregate-function": "max",
        "fields.b.ignore-retract": "true",
    },
    "aggregation-remove": {
        "merge-engine": "aggregation",
        "aggregation.remove-record-on-delete": "true",
        "fields.default-aggregate-function": "first_non_null_value",
    },
} | {
    f"aggregation-{name}": {
        "merge-engine": "aggregation",
        "fields.a.aggregate-function": name,
        "fields.b.aggregate-function": name,
        "fields.n.aggregate-function": name,
        "fields.x.aggregate-function": "listagg",
        "fields.f.aggregate-function": "bool_and" if i % 2 else "bool_or",
        "fields.c.aggregate-function": "collect",
        "sequence.field": "t",
    }
    for i, name in enumerate(NUMBERS)
}

EXAMPLES = settings.default.max_examples // 4


def spec_of(options: dict[str, str]) -> MergeSpec:
    columns = [(n, parse_type(t), None, None) for n, t in COLUMNS.items()]
    schema = create_schema(columns, [], ["k", "l"], options, None)
    return MergeSpec.of(schema, TableOptions(options))


@cache
def arrow_schema() -> pa.Schema:
    schema = create_schema([(n, parse_type(t), None, None) for n, t in COLUMNS.items()], [], ["k", "l"], {}, None)
    plain = pa.schema([pa.field(f.name, f.type) for f in schema.arrow])
    return plain.append(pa.field(SEQUENCE_NUMBER, pa.int64())).append(pa.field(VALUE_KIND, pa.int8()))


def kv(versions: Sequence[Version]) -> pa.Table:
    """A run: its rows in key order."""
    rows = sorted(versions, key=lambda v: (v.values["k"], v.values["l"].encode()))
    return pa.Table.from_pylist(
        [{**v.values, SEQUENCE_NUMBER: v.sequence, VALUE_KIND: v.kind} for v in rows], schema=arrow_schema()
    )


def versions_of(table: pa.Table) -> list[Version]:
    return [Version({n: row[n] for n in COLUMNS}, row[SEQUENCE_NUMBER], row[VALUE_KIND]) for row in table.to_pylist()]


def some_values(dice: random.Random) -> dict[str, object]:
    """A row of few keys; most columns are NULL now and then."""

    def small() -> int:
        return dice.randint(-3, 3)

    def some(value: object) -> object:
        return None if dice.random() < 0.25 else value

    return {
        "k": dice.randrange(3), "l": dice.choice(["", "ä"]), "a": some(small()), "b": some(small()), "s": some(small()),
        "t": some(small()), "c": some([small() for _ in range(dice.randrange(4))]), "x": some(dice.choice(["", "p", "q"])),
        "f": some(dice.random() < 0.5), "n": small(),
    }  # fmt: skip


def history(count: int, run_count: int, seed: int) -> list[list[Version]]:
    """Runs of versions: sequence numbers are unique, and say nothing about the order of runs."""
    dice = random.Random(seed)
    runs: list[list[Version]] = [[] for _ in range(run_count)]
    for number in dice.sample(range(count), count):
        dice.choice(runs).append(Version(some_values(dice), number, dice.choice([0, 0, 0, 0, 1, 2, 3])))
    return [r for r in runs if r]


def histories() -> st.SearchStrategy[list[list[Version]]]:
    """Drawn from a seed: a draw of its own for each value takes ten times as long as the merge of a history."""
    return st.builds(history, st.integers(1, 9), st.integers(1, 4), st.integers(0, 1 << 32))


@pytest.mark.parametrize("name", SPECS)
@given(runs=histories(), drop_delete=st.booleans(), alone_as_is=st.booleans())
@settings(max_examples=EXAMPLES)
def test_kernel_equals_reference(name: str, runs: list[list[Version]], drop_delete: bool, alone_as_is: bool) -> None:
    spec = spec_of(SPECS[name])
    flat = [v for run in runs for v in run]
    try:
        expected = reference.merged(flat, spec, drop_delete=drop_delete, alone_as_is=alone_as_is)
    except Refused:
        with pytest.raises(UnsupportedOperation):
            merge([kv(r) for r in runs], spec, drop_delete, alone_as_is=alone_as_is)
        return
    assert versions_of(merge([kv(r) for r in runs], spec, drop_delete, alone_as_is=alone_as_is)) == expected


@pytest.mark.parametrize("name", sampled(SPECS, 2))
@pytest.mark.parametrize("joined_bytes", sampled([0, 1 << 20], 2), ids=["apart", "joined"])
@given(runs=histories())
@settings(max_examples=EXAMPLES)
def test_keys_in_pieces_are_what_one_merge_gives(name: str, joined_bytes: int, runs: list[list[Version]]) -> None:
    spec, tables = spec_of(SPECS[name]), [kv(r) for r in runs]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "PIECE_KEYS", 2)
        patch.setattr(pieces, "_JOINED_BYTES", joined_bytes)
        try:
            expected = versions_of(merge(tables, spec, drop_delete=False))
        except UnsupportedOperation:
            with pytest.raises(UnsupportedOperation):
                [merge_sorted_groups(groups, spec) for groups in SortedChunks(tables, spec)]
            return
        rows = SortedChunks(tables, spec)
        assert [v for groups in rows for v in versions_of(merge_sorted_groups(groups, spec))] == expected
        every = [v for groups in rows for v in versions_of(groups.sorted)]
        assert sorted(v.sequence for v in every) == sorted(v.sequence for run in runs for v in run)
        assert [(v.values["k"], v.values["l"]) for v in every] == sorted((v.values["k"], v.values["l"]) for v in every)


@pytest.mark.parametrize("name", [n for n in SPECS if n.startswith(("deduplicate", "first-row-"))])
@given(runs=histories())
@settings(max_examples=EXAMPLES)
def test_winners_are_the_merged_rows(name: str, runs: list[list[Version]]) -> None:
    spec = spec_of(SPECS[name])
    whole = pa.concat_tables([kv(r) for r in runs])
    merged = versions_of(merge([whole], spec))
    assert versions_of(whole.take(pa.array(remaining_rows(whole, spec)))) == merged


KEY_FIELDS = create_schema(
    [(n, parse_type(t), None, None) for n, t in COLUMNS.items()], [], ["k", "l"], {}, None
).key_fields


@pytest.mark.parametrize("name", ["deduplicate", "partial-groups-aggregates", "aggregation-first_value"])
@given(runs=histories(), batch_rows=st.integers(1, 3))
@settings(max_examples=EXAMPLES)
def test_chunk_by_chunk_equals_at_once(name: str, runs: list[list[Version]], batch_rows: int) -> None:
    spec = spec_of(SPECS[name] | {"ignore-delete": "true"})
    # A sorted run has each key once, as files have.
    once = [kv(list({(v.values["k"], v.values["l"]): v for v in run}.values())) for run in runs]
    streams = [iter([t.slice(i, batch_rows) for i in range(0, t.num_rows, batch_rows)]) for t in once]
    parts = [merge([t for t in tables if t is not None], spec) for tables in chunks_aligned_by_key(KEY_FIELDS, streams)]
    assert [v for p in parts for v in versions_of(p)] == versions_of(merge(once, spec))
