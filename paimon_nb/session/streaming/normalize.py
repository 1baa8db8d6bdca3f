"""Converts micro-batches that contain only new rows to changes: each replaced row is emitted first. Runs in the driver.

`table.stream.normalize` has the rule; here it meets DataFrames.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from paimon_nb.base.identifier import quote
from paimon_nb.connectors.api import CHANGELOG_FIELDS, KIND, ORDER
from paimon_nb.format.data import VALUE_KIND
from paimon_nb.format.types.arrow_builders import from_numpy, to_numpy
from paimon_nb.session.query.computed_columns import computed_columns
from paimon_nb.spark.runtime.arrow_interop import from_arrow, session_zone, to_arrow
from paimon_nb.spark.types import fields_of_spark
from paimon_nb.table.read.row_kinds import kind_texts
from paimon_nb.table.read.stream import ChangelogNormalize
from paimon_nb.table.write.input_rows import DELETE, UPDATE_AFTER, UPDATE_BEFORE, kind_codes

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from paimon_nb.session.streaming.planner import StreamInput
    from paimon_nb.table.tables.table import Table

_SNAPSHOT_BITS = 33
"""`ORDER` of a table's stream holds the snapshot above so many bits."""


def with_postponed_rows(spark: SparkSession, table: Table, waiting: pa.Table) -> DataFrame:
    """The table's rows as a stream knows them: rows without a bucket replace those of the same key, the last one counts.

    `waiting`: the rows without a bucket in their order, with kinds. They are in the driver's memory.
    """
    from paimon_nb.spark.scan.table_scan import to_dataframe
    from paimon_nb.table.read.strategy.planned_scan import plan_table_scan

    keys = [table.schema.field(k) for k in table.primary_keys]
    changes = waiting.drop_columns([VALUE_KIND])
    latest = ChangelogNormalize(keys)
    latest.apply(changes, to_numpy(waiting.column(VALUE_KIND)))
    assert latest.rows is not None
    merged = to_dataframe(spark, plan_table_scan(table, zone=session_zone(spark)))
    touched = from_arrow(spark, changes.select(table.primary_keys), keys)
    same = [merged[quote(k)].eqNullSafe(touched[quote(k)]) for k in table.primary_keys]  # a key may be nullable
    others = merged.join(touched, same, "left_anti").select(*map(quote, table.schema.names))
    return others.unionAll(from_arrow(spark, latest.rows, table.schema.fields))


class TableChanges:
    """The micro-batches of one table's stream, normalised. They have the columns of the table, `KIND` and `ORDER`."""

    def __init__(self, one: StreamInput, *, resumed: bool) -> None:
        """`resumed`: the query, or another one with its consumer, dealt with micro-batches before: their rows are looked up in the table."""
        assert one.table is not None
        self._table: Table = one.table
        self._columns_read = None if computed_columns(one.table.schema.options) else one.ref.columns
        self._resumed = resumed
        self._normalize = ChangelogNormalize([one.table.schema.field(k) for k in one.table.primary_keys])

    def __call__(self, batch: DataFrame) -> DataFrame:
        columns = [KIND, *self._compared_columns(), ORDER]
        fields = {f.name: f for f in (*fields_of_spark(batch.schema), *self._table.schema.fields)}
        rows = to_arrow(batch.select(*columns), [fields[c] for c in columns]).sort_by(ORDER)
        if self._resumed and rows.num_rows:
            self._resumed = False
            self._load_previous_rows(rows.column(ORDER)[0].as_py() >> _SNAPSHOT_BITS)
        changes, kinds = self._normalize.apply(rows.drop_columns([KIND, ORDER]), kind_codes(rows.column(KIND)))
        result = changes.add_column(0, KIND, kind_texts(from_numpy(kinds)))
        result = result.append_column(ORDER, from_numpy(np.arange(len(kinds), dtype=np.int64)))
        return from_arrow(batch.sparkSession, result, [fields[c] for c in columns])

    def _compared_columns(self) -> list[str]:
        """The columns to compare: those that the query can need, and the key."""
        schema = self._table.schema
        if self._columns_read is None:
            return list(schema.names)
        names = {c.lower() for c in (*self._columns_read, *schema.primary_keys)}
        return [n for n in schema.names if n.lower() in names]

    def _load_previous_rows(self, snapshot: int) -> None:
        """Know the rows before a snapshot's changes. Raises SnapshotExpired."""
        from paimon_nb.table.read import read_plan
        from paimon_nb.table.read.plan.snapshot_scan import plan_snapshot

        store = self._table.store
        if snapshot > 1:
            before = plan_snapshot(store, store.snapshots.get(snapshot - 1))
            self._normalize.load(read_plan(before, self._compared_columns()))


class ResultChanges:
    """Micro-batches with the new results of groups, normalised."""

    def __init__(self, keys: Sequence[int], *, retractions_first: bool) -> None:
        """Begin with no result.

        Args:
            keys: the positions of the columns that identify a group.
            retractions_first: all rows of earlier results go before the first new one comes: a group may get the key, in
                the table that is written, of another group's earlier row.
        """
        self._keys, self._retractions_first = keys, retractions_first
        self._normalize: ChangelogNormalize | None = None

    def __call__(self, batch: DataFrame) -> DataFrame:
        fields = fields_of_spark(batch.schema)
        names = [str(i) for i in range(len(fields))]  # a result may have several columns of one name
        rows: pa.Table = to_arrow(batch, fields).rename_columns(names)
        if self._normalize is None:
            self._normalize = ChangelogNormalize([replace(fields[k], name=names[k]) for k in self._keys])
        kinds = np.full(rows.num_rows, UPDATE_AFTER, np.int8)
        changes, kinds = self._normalize.apply(rows, kinds)
        if self._retractions_first:
            order = np.argsort(~np.isin(kinds, (UPDATE_BEFORE, DELETE)), kind="stable")
            changes, kinds = changes.take(order), kinds[order]
        result = changes.rename_columns([f.name for f in fields]).append_column(KIND, kind_texts(from_numpy(kinds)))
        return from_arrow(batch.sparkSession, result, [*fields, CHANGELOG_FIELDS[0]]).coalesce(1)
