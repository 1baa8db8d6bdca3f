"""The partitions that `scan.partitions` selects by their order: 'max_pt()', 'max_two_pt()' and 'dt=max_pt(),hh=max_pt()'."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.options.read import SCAN_PARTITIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.table.read.store import TableStore


def for_queries(store: TableStore) -> TableStore:
    """`TableStore.for_queries` of a batch read: the greatest partitions are those with rows now.

    Raises: BadOptionValue: `scan.partitions` names no partition column, or a text that is not a value.
    """
    greatest = greatest_partitions(store)
    found = store.for_queries()
    return found if greatest is None else replace(found, read_partitions=tuple(greatest))


def greatest_partitions(store: TableStore) -> list[dict[str, Any]] | None:
    """The partitions that `scan.partitions` selects by their order, in the in-row form; None: it does not.

    'max_pt()' and 'max_two_pt()' are the greatest one or two values of the first column, 'dt=max_pt(),hh=max_pt()' the greatest
    values of the first columns.

    Raises: BadOptionValue: it names a column that is not a partition column, or the table is not partitioned.
    """
    text = SCAN_PARTITIONS.read(store.options.raw)
    if not text or not ("max_pt()" in text or text.strip().lower() in ("max_pt()", "max_two_pt()")):
        return None
    keys = store.schema.partition_keys
    if not keys:
        raise BadOptionValue(
            f"{store.name} has no partitions",
            hint="leave 'scan.partitions' out",
            option=SCAN_PARTITIONS.key,
            value=text,
        )
    present = [dict(zip(keys, values, strict=True)) for values in partitions_with_rows(store)]
    if text.strip().lower() in ("max_pt()", "max_two_pt()"):
        # As in Flink, the first partition column decides.
        greatest = sorted({v[keys[0]] for v in present if v[keys[0]] is not None}, reverse=True)
        selected = greatest[: 2 if "two" in text.lower() else 1]
        return [values for values in present if values[keys[0]] in selected]
    return _greatest_of_levels(store, text, present)


def _greatest_of_levels(store: TableStore, text: str, present: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The partitions whose first columns have the greatest values. Source: DynamicPartitionLevelLoader of Java's lookup."""
    named = [p.partition("=")[0].strip() for p in text.split(",")]
    levels = store.schema.partition_keys[: len(named)]
    if sorted(named) != sorted(levels):
        raise BadOptionValue(
            f"max_pt() of {', '.join(named)}: these are not the first partition columns",
            hint=f"name the first of {', '.join(store.schema.partition_keys)}", option=SCAN_PARTITIONS.key, value=text,
        )  # fmt: skip
    known = [tuple(v[k] for k in levels) for v in present]
    greatest = max((values for values in known if None not in values), default=None)
    return [v for v, values in zip(present, known, strict=True) if values == greatest]


def partitions_with_rows(store: TableStore) -> list[tuple[Any, ...]]:
    """The partitions with rows at the point in time that the options select, in the in-row form."""
    from paimon_nb.table.read.format_table import data_files, find_partitions
    from paimon_nb.table.read.live_files import live_entries
    from paimon_nb.table.read.plan.time_travel import parse_travel, resolve_time_travel

    if store.is_format_table:
        return [p.values for p in find_partitions(store) if data_files(store, p.path)]
    entries = live_entries(store, resolve_time_travel(store, parse_travel(store.options)))
    return [store.partition_values(p) for p in dict.fromkeys(e.partition for e in entries)]
