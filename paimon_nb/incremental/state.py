"""State tables: Paimon tables beside the target that hold what an operator must remember, found by a text of its key.

A state table is read at the snapshot that the target's last refresh names, and gets the new absolute values of what changed: writing them
twice changes nothing. Snapshots after the one that is named are those of a refresh that did not end; they are rolled back.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import TYPE_CHECKING, Any

from paimon_nb.base import clock
from paimon_nb.base.errors import AlreadyExists, CommitConflict, PaimonError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.catalog.state_tables import STATE_COMMENT, drop_state_tables, state_name, state_tables_of, suffix_of
from paimon_nb.format.schema import TableSchema
from paimon_nb.format.types import DataField
from paimon_nb.session.query.local.values import BIGINT, STRING
from paimon_nb.table.read.predicate.key_rows import row_in
from paimon_nb.table.read.predicate.model import Compare, conjunction_of
from paimon_nb.table.write.publish.changes import forget_last_commit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from paimon_nb.base.identifier import Identifier
    from paimon_nb.catalog import Catalog
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.incremental.operators import Column
    from paimon_nb.table.read import Predicate
    from paimon_nb.table.tables.table import Table

_NOT_A_NAME = re.compile(r"[^0-9A-Za-z]+")
"""An expression without an alias is called as it is written: `(g + 1)`."""
KEY, ROW, COUNT = "_key", "_row", "_count"
_EXACT_KEYS = 16
"""So many keys are looked up one by one, which reads a few pages each."""
_SMALL = 20_000
"""A state of so few rows is read whole for more than one key."""
_ROWS_OF_BUCKET = 1_000_000
_MAX_BUCKETS = 64


class StateLost(Exception):
    """The state is not the one that the target names; it must be built again. The message says why."""


@dataclass(frozen=True, slots=True)
class StateShape:
    """What a state table holds."""

    suffix: str
    """Of its name, after `<target>__state_`."""
    columns: tuple[Column, ...]
    """Beside the key and, with rows, the row's text and count."""
    has_rows: bool
    """Whether it holds several rows of a key: a multiset. Else one row of a key."""

    @property
    def names(self) -> tuple[str, ...]:
        """A readable and unique name for each column."""
        names: list[str] = []
        taken = {KEY, ROW, COUNT}
        for column in self.columns:
            written = _NOT_A_NAME.sub("_", column.name).strip("_").lower() or "value"
            name, number = written, 1
            while name in taken:
                number += 1
                name = f"{written}_{number}"
            taken.add(name)
            names.append(name)
        return tuple(names)

    def schema(self, target: str, rows: int) -> TableSchema:
        """The definition of the table. `rows`: about how many it begins with."""
        parts: list[tuple[str, Any]] = [(KEY, STRING.with_nullable(False))]
        if self.has_rows:
            parts += [(ROW, STRING.with_nullable(False)), (COUNT, BIGINT)]
        parts += [(n, c.type.with_nullable(True)) for n, c in zip(self.names, self.columns, strict=True)]
        fields = tuple(DataField(i, n, t) for i, (n, t) in enumerate(parts))
        buckets = min(max(1, rows // _ROWS_OF_BUCKET), _MAX_BUCKETS)
        # Each refresh writes them, and few read them: what is cheap to write.
        options = {"bucket": str(buckets), "file.compression": "lz4", "data-file.thin-mode": "true"}
        if self.has_rows:
            options["bucket-key"] = KEY
        keys = (KEY, ROW) if self.has_rows else (KEY,)
        return TableSchema(
            0,
            fields,
            len(fields) - 1,
            primary_keys=keys,
            options=options,
            comment=f"{STATE_COMMENT}{target}",
            time_ms=clock.now_ms(),
        )


def empty_keys(*names: str) -> pa.Table:
    """No keys of a state table."""
    from paimon_nb.format.types.arrow_builders import empty_table

    return empty_table([DataField(i, n, STRING) for i, n in enumerate(names)])


@dataclass(slots=True)
class State:
    """A state table during one refresh."""

    shape: StateShape
    name: Identifier
    table: Table | None = None
    at: Snapshot | None = None
    """The snapshot that the target names; None: the state is empty."""
    upserts: list[pa.Table] = field(default_factory=list)
    deletes: list[pa.Table] = field(default_factory=list)
    lookups: int = 0

    def find(self, keys: pa.Table) -> pa.Table:
        """The rows of some keys, with the columns of the table. `keys`: different ones, as KEY, or as KEY and ROW."""
        if not keys.num_rows or self.at is None:
            return self._empty()
        if keys.num_rows == 1 or (keys.num_rows <= _EXACT_KEYS and not self._is_small):
            return self._read([conjunction_of([Compare(n, "=", v) for n, v in k.items()]) for k in keys.to_pylist()])
        return self._read([row_in(keys.column_names, keys)])

    def expire(self, name: str, until_us: int) -> None:
        """Remove the rows whose time is not after another. `name`: a column of TIMESTAMP; `until_us`: microseconds since 1970."""
        import pyarrow as pa
        import pyarrow.compute as pc

        until = pa.scalar(until_us, pa.timestamp("us"))
        old = [] if self.at is None else [self._read([Compare(name, "<=", until.as_py())])]
        closed = [pc.less_equal(rows.column(name).cast(until.type), until) for rows in self.upserts]
        self.deletes += [*old, *(rows.filter(those) for rows, those in zip(self.upserts, closed, strict=True))]
        self.upserts = [rows.filter(pc.invert(those)) for rows, those in zip(self.upserts, closed, strict=True)]

    @property
    def _is_small(self) -> bool:
        """Whether reading all of it costs less than several lookups."""
        return self.at is not None and (self.at.total_record_count or 0) <= _SMALL

    def _read(self, conditions: Sequence[Predicate]) -> pa.Table:
        import pyarrow as pa

        assert self.table is not None
        assert self.at is not None
        self.lookups += len(conditions)
        try:
            return pa.concat_tables([self.table.to_arrow(None, c, snapshot=self.at.id) for c in conditions])
        except PaimonError as error:
            raise StateLost(f"{self.name} cannot be read: {error}") from error

    def _empty(self) -> pa.Table:
        from paimon_nb.format.types.arrow_builders import empty_table

        return empty_table(self.shape.schema("", 0).fields)

    @property
    def is_changed(self) -> bool:
        return any(t.num_rows for t in (*self.upserts, *self.deletes))


class StateTables:
    """The state tables of one target.

    Args:
        catalog: of the target.
        target: its name.
        shapes: what the operators need, in the order of the plan.
    """

    def __init__(self, catalog: Catalog, target: Identifier, shapes: Sequence[StateShape]) -> None:
        self._catalog, self._target = catalog, target
        self.states = [State(s, state_name(target, s.suffix)) for s in shapes]

    def open(self, named: Sequence[dict[str, Any]], check: Callable[[], None]) -> None:
        """Open the tables at the snapshots that the target names.

        Args:
            named: what the target's snapshot says of each.
            check: called before newer snapshots are rolled back; it raises CommitConflict if another refresh has committed them.

        Raises:
            StateLost: one of them is another one, or was changed.
        """
        by_suffix = {suffix_of(n["table"]): n for n in named}  # the target may have been renamed since
        for state in self.states:
            entry = by_suffix.get(state.shape.suffix)
            if entry is None:
                raise StateLost(f"the last refresh does not name {state.name}")
            try:
                state.table = self._catalog.table(state.name, {})
            except PaimonError as error:
                raise StateLost(f"{state.name} was dropped: {error}") from error
            _check_shape(state)
            if entry["snapshot"] is None:
                state.at = None
                latest = state.table.latest_snapshot()
                if latest is not None:
                    raise StateLost(f"{state.name} has rows that no refresh wrote")
                continue
            try:
                self._open_at(state, entry, check)
            except CommitConflict:
                raise
            except PaimonError:  # another refresh rolls it back or commits it just now
                check()
                self._open_again(state, entry, check)

    def _open_again(self, state: State, entry: dict[str, Any], check: Callable[[], None]) -> None:
        assert state.table is not None
        state.table.store.forget_snapshots()
        try:
            self._open_at(state, entry, check)
        except CommitConflict:
            raise
        except PaimonError as error:
            raise StateLost(f"{state.name} cannot be read: {error}") from error

    def _open_at(self, state: State, entry: dict[str, Any], check: Callable[[], None]) -> None:
        assert state.table is not None
        snapshots = state.table.store.snapshots
        try:
            found = snapshots.get(entry["snapshot"])
            latest = state.table.latest_snapshot()
        except PaimonError as error:
            raise StateLost(f"snapshot {entry['snapshot']} of {state.name} is gone") from error
        if latest is None or latest.id != found.id or found.delta_manifest_list != entry["manifest"]:
            check()
        if found.delta_manifest_list != entry["manifest"]:
            raise StateLost(f"{state.name} was changed by another writer")
        if latest is not None and latest.id != found.id:
            if not _only_refreshes_wrote(state.table, found, latest):
                raise StateLost(f"{state.name} was changed by another writer")
            state.table.rollback_to(found.id)
            state.table.store.forget_snapshots()
        state.at = found

    def create(self, rows: int) -> None:
        """Drop what is there and create empty tables.

        Raises:
            AlreadyExists: a table of that name is not a state table.
            CommitConflict: another process creates them, too.
        """
        self.drop()
        for state in self.states:
            schema = state.shape.schema(str(self._target), rows)
            try:
                self._catalog.create_table(state.name, schema)
            except AlreadyExists:
                if state.name in state_tables_of(self._catalog, self._target):
                    raise CommitConflict(
                        f"another process builds {self._target} now; nothing was changed by this refresh",
                        hint="refresh it again",
                        table=str(self._target),
                    ) from None
                raise
            state.table, state.at = self._catalog.table(state.name, {}), None

    def drop(self) -> None:
        """Drop the state tables of the target, also those of an earlier query."""
        drop_state_tables(self._catalog, self._target)

    def commit(self, user: str) -> list[dict[str, Any]]:
        """Write what changed. Returns what the target's snapshot must name."""
        named = []
        for state in self.states:
            assert state.table is not None
            if state.is_changed:
                _write(state, user)
                state.at = state.table.latest_snapshot()
            named.append(
                {
                    "table": state.name.table,
                    "snapshot": None if state.at is None else state.at.id,
                    "manifest": None if state.at is None else state.at.delta_manifest_list,
                }
            )
        return named


USER_PREFIX = "incremental-"
"""Commit users of refreshes."""


def _check_shape(state: State) -> None:
    assert state.table is not None
    expected = [(f.name, f.type) for f in state.shape.schema("", 0).fields]
    if [(f.name, f.type) for f in state.table.schema.fields] != expected:
        raise StateLost(f"{state.name} was altered")


def _only_refreshes_wrote(table: Table, start: Snapshot, latest: Snapshot) -> bool:
    """Whether only refreshes, and compactions, wrote after a snapshot."""
    for number in range(start.id + 1, latest.id + 1):
        found = table.store.snapshots.get(number)
        if found.commit_kind in ("APPEND", "OVERWRITE") and not found.commit_user.startswith(USER_PREFIX):
            return False
    return True


def _write(state: State, user: str) -> None:
    assert state.table is not None
    with state.table.write() as writing:
        count = 0
        for rows, kind in ((state.upserts, "+U"), (state.deletes, "-D")):
            for part in rows:
                if part.num_rows:
                    writing.write(part, [kind] * part.num_rows if kind != "+U" else None)
                    count += part.num_rows
        messages = writing.prepare_commit()
    forget_last_commit(state.table.store)  # another process may have rolled back a refresh of this one that did not end
    state.table.commit(user).commit(messages, expected_rows=count)
