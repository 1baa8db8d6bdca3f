"""Changelog kernels against a diff of plain dicts, key by key."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from paimon_nb.format.data import SEQUENCE_NUMBER, VALUE_KIND
from paimon_nb.format.schema import create_schema
from paimon_nb.format.types import parse_type
from paimon_nb.options import TableOptions
from paimon_nb.table.lsm.changelog import full_compaction_changelog, lookup_changelog
from paimon_nb.table.lsm.merge import MergeSpec, merge

ARROW = pa.schema(
    [("k", pa.int32()), ("v", pa.int32()), ("w", pa.string()), (SEQUENCE_NUMBER, pa.int64()), (VALUE_KIND, pa.int8())]
)
RETRACTS = (1, 3)
Record = tuple[int | None, str | None, int, int]
"""(v, w, sequence number, kind)."""
VALUES = st.tuples(st.none() | st.integers(0, 1), st.none() | st.sampled_from("ab"))


def spec_of(row_deduplicate: bool) -> MergeSpec:
    columns = [(n, parse_type(t), None, None) for n, t in {"k": "INT", "v": "INT", "w": "STRING"}.items()]
    options = {
        "changelog-producer.row-deduplicate": str(row_deduplicate).lower(),
        "changelog-producer.row-deduplicate-ignore-fields": "w",
    }
    return MergeSpec.of(create_schema(columns, [], ["k"], options, None), TableOptions(options))


def kv(records: dict[int, Record]) -> pa.Table:
    rows = [(k, *records[k]) for k in sorted(records)]
    return pa.Table.from_pylist([dict(zip(ARROW.names, r, strict=True)) for r in rows], schema=ARROW)


def rows_of(table: pa.Table) -> list[tuple[Any, ...]]:
    return [tuple(r.values()) for r in table.to_pylist()]


def diff(before: dict[int, Record], after: dict[int, Record], row_deduplicate: bool) -> list[tuple[Any, ...]]:
    out: list[tuple[Any, ...]] = []
    for key, new in sorted(after.items()):
        old = before.get(key)
        had, has = old is not None and old[3] not in RETRACTS, new[3] not in RETRACTS
        if has and not had:
            out.append((key, *new[:3], 0))
        elif had and not has:
            out.append((key, *old[:3], 3))
        elif had and has and not (row_deduplicate and old[0] == new[0]):
            out += [(key, *old[:3], 1), (key, *new[:3], 2)]
    return out


def records(draw: st.DrawFn, kinds: list[int], start: int) -> dict[int, Record]:
    keys = draw(st.lists(st.integers(0, 5), unique=True, max_size=6))
    return {k: (*draw(VALUES), start + i, draw(st.sampled_from(kinds))) for i, k in enumerate(keys)}


@given(data=st.data(), row_deduplicate=st.booleans())
def test_lookup(data: st.DataObject, row_deduplicate: bool) -> None:
    before = data.draw(st.composite(records)([0, 2, 3], 0))
    after = data.draw(st.composite(records)([0, 2, 3, 1], 10))
    found = lookup_changelog(kv(before), kv(after), spec_of(row_deduplicate))
    assert rows_of(found) == diff(before, after, row_deduplicate)


@given(data=st.data(), row_deduplicate=st.booleans())
def test_full_compaction(data: st.DataObject, row_deduplicate: bool) -> None:
    """The top level holds adds only; what lies on it alone has not changed."""
    top = data.draw(st.composite(records)([0], 0))
    middle = data.draw(st.composite(records)([0, 2, 3], 10))
    newest = data.draw(st.composite(records)([0, 2, 3], 20))
    spec = spec_of(row_deduplicate)
    after = merge([kv(top), kv(middle), kv(newest)], spec, drop_delete=False)
    found = full_compaction_changelog(kv(top), [kv(middle), kv(newest)], after, spec)
    touched = {k: r for k, r in (top | middle | newest).items() if k in middle or k in newest}
    assert rows_of(found) == diff(top, touched, row_deduplicate)
