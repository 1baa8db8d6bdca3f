"""A refresh: from the positions of the last one to the newest snapshots of the inputs. Result, state and positions become visible in one commit.

State tables are written first. The target's commit names their snapshots; until it is there, they are those of a refresh that did not
happen, and the next one rolls them back. No other record is needed, whenever a process ends.
"""

from __future__ import annotations

import threading
import uuid
from typing import TYPE_CHECKING

from paimon_nb.base.errors import (
    CommitConflict,
    CommitOverwritten,
    MissingFile,
    PaimonError,
    QueryChanged,
    SnapshotNotFound,
    TableNotFound,
    TableReplaced,
    TargetChanged,
)
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.catalog.state_tables import drop_state_tables
from paimon_nb.incremental.deltas import change_between
from paimon_nb.incremental.engine import Engine
from paimon_nb.incremental.evaluate import result_change
from paimon_nb.incremental.evaluation import Evaluation
from paimon_nb.incremental.operators import WEIGHT
from paimon_nb.incremental.positions import PROPERTY, InputPosition, LastRefresh, Positions, last_refresh
from paimon_nb.incremental.shapes import all_shapes
from paimon_nb.incremental.state import USER_PREFIX, StateLost, StateTables
from paimon_nb.incremental.target import Change, change_of_result, check_target, difference, write_change
from paimon_nb.incremental.watermarks import Watermarks
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.table.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from paimon_nb.catalog import Catalog
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.incremental.analysed import AnalysedQuery
    from paimon_nb.incremental.operators import Source
    from paimon_nb.session.core.session import Session

UNCHANGED, BUILT, INCREMENTAL, RECOMPUTED = "unchanged", "built", "incremental", "recomputed"
_locks: dict[str, threading.Lock] = {}


@dataclass(frozen=True, slots=True)
class RefreshResult:
    """What a refresh did."""

    action: str
    """unchanged, built (everything was computed, with its state), incremental, or recomputed (without state)."""
    reason: str
    """Why it was built or recomputed, if it was not the first refresh."""
    snapshot: int | None
    """The snapshot of the target with the result; None: nothing was committed."""
    added: int
    """Rows that were added to the target, new values of changed rows among them."""
    removed: int
    """Rows that were removed, old values of changed rows among them."""
    inputs: tuple[InputPosition, ...]
    """What the result contains."""
    lookups: int = 0
    """Reads of state tables."""
    late: int = 0
    """Rows that were dropped, because they came after the watermark of their input had closed their window."""


def refresh(
    plan: AnalysedQuery,
    target: Table | str | Sequence[str],
    *,
    rebuild: bool = False,
    properties: Mapping[str, str] | None = None,
) -> RefreshResult:
    """Move a target to the newest snapshots of the inputs: see `IncrementalPlan.refresh`."""
    catalog, table = _resolve(plan.session, target)
    with _locks.setdefault(table.path, threading.Lock()):
        return _Refresh(plan, catalog, table.refresh(), dict(properties or {})).run(rebuild=rebuild)


def drop_state(session: Session, target: Table | str | Sequence[str]) -> list[str]:
    """Drop the state tables of a target: see `IncrementalPlan.drop_state`."""
    catalog, table = _resolve(session, target)
    return [str(n) for n in drop_state_tables(catalog, table.name)]


def _resolve(session: Session, target: Table | str | Sequence[str]) -> tuple[Catalog, Table]:
    if isinstance(target, Table):
        return session.catalog, target
    from paimon_nb.base.identifier import split_name

    parts = split_name(target) if isinstance(target, str) else tuple(target)
    found = session.find(parts)
    return found.catalog, found.catalog.table(found.name, {})


class _Refresh:
    def __init__(self, plan: AnalysedQuery, catalog: Catalog, table: Table, properties: dict[str, str]) -> None:
        self.plan, self.catalog, self.table, self.properties = plan, catalog, table, properties
        self.user = f"{USER_PREFIX}{uuid.uuid4()}"
        self.latest: Snapshot | None = None
        self.now: list[Snapshot | None] = []
        self.late_before = 0
        """Rows that earlier refreshes dropped."""

    @property
    def inputs(self) -> tuple[InputPosition, ...]:
        return tuple(InputPosition.of(s, n) for s, n in zip(self.plan.sources, self.now, strict=True))

    def run(self, *, rebuild: bool) -> RefreshResult:
        self.table.store.forget_snapshots()
        self.latest = self.table.latest_snapshot()
        last = last_refresh(self.table, self.latest)
        for source in self.plan.sources:
            source.table.store.forget_snapshots()
            source.table.store.check_identity()
        self.now = [s.table.latest_snapshot() for s in self.plan.sources]
        reason = "" if rebuild else self._why_not_continue(last)
        if rebuild:
            reason = "a rebuild was requested"
        elif last is not None and not reason:
            assert last.positions is not None
            if self.plan.sources and last.positions.inputs == self.inputs:
                return RefreshResult(UNCHANGED, "", None, 0, 0, self.inputs)
            if last.positions.states is not None and self.plan.built is not None:
                try:
                    return self._continue(last)
                except StateLost as error:
                    reason = str(error)
                except NotLocal as error:
                    return self._recompute(str(error))
        if self.plan.built is None:
            return self._recompute(self.plan.reason)
        try:
            return self._build(reason)
        except NotLocal as error:
            return self._recompute(str(error))

    def _why_not_continue(self, last: LastRefresh | None) -> str:
        """Why everything must be computed; empty: the last refresh can be continued, or there is none. Raises QueryChanged, TargetChanged."""
        name = self.table.name
        hint = f"refresh {name} with rebuild=True: rows that the query does not have are removed"
        if last is None:
            if self.latest is not None and self.latest.total_record_count:
                raise TargetChanged(f"{name} has rows that no refresh wrote", hint=hint, table=str(name))
            return ""
        if last.positions is None:
            return "the last refresh was by another version"
        if last.positions.query not in (self.plan.identity, self.plan.text_identity):
            if last.positions.text != self.plan.text_identity:
                raise QueryChanged(f"{name} was written by another query", hint=hint, table=str(name))
            return "the plan of the query, or the schema of an input, changed"
        if last.is_changed_since:
            raise TargetChanged(
                f"other writers changed rows of {name} since its last refresh", hint=hint, table=str(name)
            )
        return ""

    # -- ways to the new result

    def _continue(self, last: LastRefresh) -> RefreshResult:
        """Compute what changed. Raises StateLost, NotLocal."""
        assert last.positions is not None
        starts = self._starts(last.positions)
        states = StateTables(self.catalog, self.table.name, all_shapes(self.plan.root))
        states.open(list(last.positions.states or ()), self._check_now)

        def change_of(source: Source) -> pa.Table:
            try:
                return change_between(source.table, starts[source.number], self.now[source.number], list(source.used))
            except PaimonError as error:
                raise StateLost(f"the changes of {source.table.name} cannot be read: {error}") from error

        with Engine(self.plan.session.time_zone or "UTC") as engine:
            self._run_checks(engine)
            evaluation = Evaluation(
                engine,
                {s.shape.suffix: s for s in states.states},
                change_of,
                lambda s: starts[s.number],
                self._watermarks(last.positions),
                is_first=False,
            )
            result = result_change(evaluation, self.plan.root)
            change = change_of_result(engine, self.table, self._rows(engine, result.name))
        return self._commit(INCREMENTAL, "", change, states, evaluation.watermarks)

    def _watermarks(self, positions: Positions | None) -> Watermarks:
        known = () if positions is None else positions.watermarks
        self.late_before = 0 if positions is None else positions.late
        return Watermarks(known if len(known) == len(self.plan.sources) else [None] * len(self.plan.sources))

    def _starts(self, positions: Positions) -> list[Snapshot | None]:
        """The snapshots of the inputs from which the changes are read. Raises StateLost: one is gone."""
        found: list[Snapshot | None] = []
        if len(positions.inputs) != len(self.plan.sources):
            raise StateLost("the query reads other tables")
        for source, before, now in zip(self.plan.sources, positions.inputs, self.inputs, strict=True):
            if before.identity != now.identity:
                raise StateLost(f"{source.table.name} is another table than at the last refresh")
            if before.snapshot is None:
                found.append(None)
                continue
            try:
                snapshot = source.table.store.snapshots.get(before.snapshot)
            except PaimonError as error:
                raise StateLost(f"snapshot {before.snapshot} of {source.table.name} has expired") from error
            if snapshot.delta_manifest_list != before.manifest:
                raise StateLost(f"{source.table.name} was rolled back")
            found.append(snapshot)
        return found

    def _build(self, reason: str) -> RefreshResult:
        """Compute everything, with its state."""
        check_target(self.table, self.plan.names)
        rows = sum((n.total_record_count or 0) for n in self.now if n is not None)
        states = StateTables(self.catalog, self.table.name, all_shapes(self.plan.root))
        self._check_now()
        states.create(rows)
        with Engine(self.plan.session.time_zone or "UTC") as engine:
            self._run_checks(engine)
            evaluation = Evaluation(
                engine,
                {s.shape.suffix: s for s in states.states},
                lambda source: change_between(source.table, None, self.now[source.number], list(source.used)),
                lambda _: None,
                self._watermarks(None),
                is_first=True,
            )
            try:
                result = result_change(evaluation, self.plan.root)
            except StateLost as error:
                raise NotLocal(str(error)) from error
            rows_of_result = self._rows(engine, f"{result.name}, unnest(range({WEIGHT}))")
            change = difference(engine, self.table, rows_of_result.drop_columns([WEIGHT]))
        return self._commit(BUILT, reason, change, states, evaluation.watermarks)

    def _recompute(self, reason: str) -> RefreshResult:
        """Run the query as it is displayed. The state is dropped: it would not follow."""
        from paimon_nb.incremental.batch import batch_rows

        rows = batch_rows(self.plan)
        check_target(self.table, rows.column_names)
        self._check_now()
        drop_state_tables(self.catalog, self.table.name)
        with Engine(self.plan.session.time_zone or "UTC") as engine:
            change = difference(engine, self.table, rows)
        return self._commit(RECOMPUTED, reason, change, None)

    def _run_checks(self, engine: Engine) -> None:
        """Compute what depends on no row: an error of it is an error of the query, also without rows."""
        if self.plan.checks:
            engine.values(f"SELECT {', '.join(self.plan.checks)}")

    def _rows(self, engine: Engine, source: str) -> pa.Table:
        ids = "".join(f"{c.id}, " for c in self.plan.root.columns)
        return engine.rows(f"SELECT {ids}{WEIGHT} FROM {source}")

    # -- the commit

    def _commit(
        self,
        action: str,
        reason: str,
        change: Change,
        states: StateTables | None,
        watermarks: Watermarks | None = None,
    ) -> RefreshResult:
        if action == RECOMPUTED and not self.plan.sources and change.is_empty and self.latest is not None:
            return RefreshResult(UNCHANGED, reason, None, 0, 0, self.inputs)
        try:
            made = self._write(change, states, watermarks)
        except PaimonError:  # another refresh may have replaced rows or state that this one was about to change
            self._check_now()
            raise
        lookups = 0 if states is None else sum(s.lookups for s in states.states)
        return RefreshResult(
            action,
            reason,
            made[0],
            change.added.num_rows,
            change.removed.num_rows,
            self.inputs,
            lookups,
            0 if watermarks is None else watermarks.late,
        )

    def _write(self, change: Change, states: StateTables | None, watermarks: Watermarks | None) -> list[int]:
        try:
            named = None if states is None else tuple(states.commit(self.user))
        except (CommitOverwritten, MissingFile, SnapshotNotFound, TableNotFound, TableReplaced) as error:
            raise self._conflict(f"the state of {self.table.name}") from error
        query = self.plan.identity if states is not None else self.plan.text_identity
        after, late = ((), 0) if watermarks is None else (tuple(watermarks.after), self.late_before + watermarks.late)
        text = Positions(query, self.plan.text_identity, self.inputs, named, after, late).as_text()
        return write_change(
            self.table,
            change,
            before=self.latest,
            is_unique=self.plan.key is not None and set(self.plan.key) <= set(self.table.primary_keys),
            user=self.user,
            properties={**self.properties, PROPERTY: text},
            check=self._check_latest,
        )

    def _check_now(self) -> None:
        """Raises CommitConflict: state must not be changed now, because it is that of another refresh."""
        self.table.store.forget_snapshots()
        self._check_latest(self.table.latest_snapshot())

    def _check_latest(self, latest: Snapshot | None) -> None:
        """Raises CommitConflict: another refresh, or another writer, has committed to the target."""
        found, own = latest, self.latest
        while found is not None and (own is None or found.id > own.id) and found.commit_kind in ("COMPACT", "ANALYZE"):
            found = self.table.store.snapshots.get(found.id - 1) if found.id > 1 else None
        base = own
        while base is not None and base.commit_kind in ("COMPACT", "ANALYZE") and base.id > 1:
            if found is not None and found.id == base.id:
                break
            base = self.table.store.snapshots.get(base.id - 1)
        expected = None if base is None else (base.id, base.delta_manifest_list)
        if (None if found is None else (found.id, found.delta_manifest_list)) != expected:
            raise self._conflict(str(self.table.name))

    def _conflict(self, what: str) -> CommitConflict:
        return CommitConflict(
            f"{what} was changed while {self.table.name} was refreshed; nothing was changed by this refresh",
            hint="refresh it again",
            table=str(self.table.name),
        )
