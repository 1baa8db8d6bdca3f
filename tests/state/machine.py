"""A table and its model, driven side by side through the public doors by steps that a seed draws; each step may be left out."""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from history_kit import missing
from model import Branch, Column, Moment, Record, Rules, State, Values, shown
from scene import scene

from paimon_nb.base import clock
from paimon_nb.base.errors import CommitConflict, SchemaChangeError, UnsupportedOperation
from paimon_nb.base.identifier import Identifier
from paimon_nb.catalog.filesystem import FilesystemCatalog
from paimon_nb.format.schema import create_schema
from paimon_nb.format.types import parse_type
from paimon_nb.fs import MemoryFileIO
from paimon_nb.statements.ddl import AddColumn, AlterColumn, DropColumn, RenameColumn
from paimon_nb.table.read import parse_predicate, plan_scan
from paimon_nb.table.read.predicate.evaluate import evaluate
from paimon_nb.table.read.row_positions import one_split_per_file, rows_with_positions
from paimon_nb.table.write.compact import compact
from paimon_nb.table.write.maintenance import (
    ExpireLimits,
    create_branch,
    delete_branch,
    expire_snapshots,
    fast_forward,
    find_orphans,
    remove_orphans,
    rename_branch,
    rollback_to_snapshot,
    rollback_to_tag,
)
from paimon_nb.table.write.row_rewrite import delete_marked_rows, rewrite_without_rows, uses_deletion_vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from paimon_nb.table.tables.table import Table

ARROW = {"INT": pa.int32(), "BIGINT": pa.int64(), "STRING": pa.string(), "DATE": pa.date32()}
PARTITIONS = ("x", "y é", "z/1")
NAMES = ("n1", "n2", "n3", "n4")
KEYS = 12


class Machine:
    """One history. `run(steps)` raises AssertionError at the first difference; `log` tells what was done."""

    def __init__(self, engine: str, bucket: str, seed: int) -> None:
        self.seed = seed
        dice = random.Random(f"{engine}/{bucket}/{seed}")
        self.scene = scene(engine, bucket, dice)
        self.log = [
            f"{engine} {bucket} seed {seed}: {self.scene.options}, keys {self.scene.keys}, partitions {self.scene.partitions}"
        ]
        self.files = MemoryFileIO()
        self.name = Identifier("default", "t")
        self.reopen()
        self.catalog.create_table(
            self.name,
            create_schema(
                [(c.name, parse_type(c.type), None, None) for c in self.scene.columns],
                list(self.scene.partitions), list(self.scene.keys), self.scene.options, None,
            ),
        )  # fmt: skip
        self.branch_name = "main"
        main = Branch(self.scene.columns, [self.scene.columns])
        self.branches: dict[str, Branch] = {"main": main}
        self.identities = 100
        self.old_handles: list[tuple[str, Table, tuple[Column, ...]]] = []

    # -- the parts

    @property
    def rules(self) -> Rules:
        return self.scene.rules

    @property
    def branch(self) -> Branch:
        return self.branches[self.branch_name]

    def roles(self) -> dict[str, int]:
        return {c.role: c.identity for c in self.scene.columns}

    def full_name(self) -> Identifier:
        return replace(self.name, branch=self.branch_name)

    def table(self) -> Table:
        return self.catalog.table(self.full_name())

    def reopen(self) -> None:
        self.catalog = FilesystemCatalog("c", "memory:/w", {}, self.files)

    # -- running

    def run(self, count: int, only: Iterable[int] | None = None) -> None:
        chosen = range(count) if only is None else only
        for number in chosen:
            dice = random.Random(f"{self.scene.engine}/{self.scene.bucket}/{self.seed}/{number}")
            name = dice.choice(STEPS)
            step: Callable[[random.Random], Any] = getattr(self, f"do_{name}")
            self.log.append(f"{number}: {name}")
            said = step(dice)
            if said is not None:
                self.log[-1] += f" {said}"
            self.check(dice)
        self.check_sound()

    def check(self, dice: random.Random) -> None:
        table = self.table()
        self.same(table.to_arrow(), self.branch.state, self.branch.columns, "now")
        assert list(self.branch.moments) == table.store.snapshots.ids(), "snapshots that are there"
        assert sorted(self.branch.tags) == table.store.tags.names(), "tags that are there"
        getattr(self, dice.choice(CHECKS))(table, dice)

    def same(self, rows: pa.Table, state: State, columns: tuple[Column, ...], what: str) -> None:
        assert rows.column_names == [c.name for c in columns], what
        got = sorted((tuple(r.values()) for r in rows.to_pylist()), key=repr)
        expected = shown(state.all(), columns)
        more, less = [r for r in got if r not in expected], [r for r in expected if r not in got]
        assert got == expected, f"{what}: rows too many {more}, missing {less}"

    def check_sound(self) -> None:
        store = self.catalog.table(self.name).store
        assert missing(store) == [], "files that are named and not there"
        assert find_orphans(store, clock.now_ms() + 1) == [], "files that nobody needs"

    # -- looking in more ways

    def look_nowhere(self, table: Table, dice: random.Random) -> None:
        """Most steps are followed by a plain read only."""

    def look_snapshot(self, table: Table, dice: random.Random) -> None:
        for moment in self.some(self.known(), dice, 2):
            assert moment.state is not None
            self.same(table.to_arrow(snapshot=moment.number), moment.state, moment.columns, f"snapshot {moment.number}")

    def look_tag(self, table: Table, dice: random.Random) -> None:
        for name in self.some(sorted(self.branch.tags), dice, 1):
            moment = self.branch.tags[name]
            if moment.state is not None:
                self.same(table.to_arrow(tag=name), moment.state, moment.columns, f"tag {name}")

    def look_branch(self, table: Table, dice: random.Random) -> None:
        name = dice.choice(sorted(self.branches))
        other = self.catalog.table(replace(self.name, branch=name))
        self.same(other.to_arrow(), self.branches[name].state, self.branches[name].columns, f"branch {name}")

    def look_filtered(self, table: Table, dice: random.Random) -> None:
        column = dice.choice(self.branch.columns)
        rows = self.branch.state.all()
        values = [v for r in rows if (v := r.get(column.identity)) is not None] or [some_value(column, dice)]
        wanted = dice.choice([*values, some_value(column, dice)])
        names = [c.name for c in self.branch.columns]
        dice.shuffle(names)
        picked = names[: dice.randint(1, len(names))]
        where, test = condition(column, wanted, dice)
        got = sorted((tuple(r.values()) for r in table.to_arrow(picked, where).to_pylist()), key=repr)
        by_name = {c.name: c for c in self.branch.columns}
        expected = shown([r for r in rows if test(r.get(column.identity))], tuple(by_name[n] for n in picked))
        assert got == expected, f"WHERE {where}, columns {picked}"

    def look_key(self, table: Table, dice: random.Random) -> None:
        if not self.scene.keyed:
            return
        by_name = {c.name: c for c in self.branch.columns}
        row = {k: self.key_value(k, dice) for k in self.scene.keys}
        got = table.lookup(**row)
        key = tuple(row[c.name] for c in sorted((by_name[k] for k in self.scene.keys), key=lambda c: c.identity))
        found = self.branch.state.rows.get(key)
        assert [tuple(r.values()) for r in got.to_pylist()] == shown([found] if found else [], self.branch.columns), row

    def look_diff(self, table: Table, dice: random.Random) -> None:
        """Audit rows between two snapshots lead from one state to the other."""
        known = self.known()
        if self.scene.keyed and len(known) > 1:
            start, end = sorted(self.some(known, dice, 2), key=lambda m: m.number)
            self.replay(start, end, table.diff(start.number, end.number), paired=False)

    def look_changes(self, table: Table, dice: random.Random) -> None:
        """The changelog that was written leads from one snapshot to the next ones."""
        logged = self.scene.options.get("changelog-producer") == "lookup" and self.scene.bucket in ("fixed", "dynamic")
        known = self.known()
        starts = [m for m in known if m.last]
        if not logged or not starts:
            return
        start = end = step = dice.choice(starts)
        while (
            (m := self.branch.moments.get(step.number + 1)) is not None and m.replayable and m.columns == start.columns
        ):
            step = m
            end = step if step.last else end
        if end is not start and end.state is not None:
            # One snapshot at a time: rows of a batch read come in no order of commits, in Java too.
            steps = [f"{n - 1},{n}" for n in range(start.number + 1, end.number + 1)]
            parts = [table.system("audit_log", options={"incremental-between": step}) for step in steps]
            self.replay(start, end, pa.concat_tables(parts))

    def replay(self, start: Moment, end: Moment, changes: pa.Table, *, paired: bool = True) -> None:
        """`paired`: an update says what was there before; a diff between two states does not, in Java too."""
        assert start.state is not None
        assert end.state is not None
        columns = self.branch.columns
        keys = [c.identity for c in columns if c.name in self.scene.keys]

        def simple(row: Values) -> Values:
            return {c.identity: row.get(c.identity) for c in columns}

        rows = {tuple(r.get(i) for i in keys): simple(r) for r in start.state.all()}
        for change in changes.to_pylist():
            kind = change.pop("rowkind")
            row = {c.identity: change[c.name] for c in columns}
            key = tuple(row[i] for i in keys)
            if kind in ("-D", "-U"):
                old = rows.pop(key, None)
                assert not paired or old == row, f"{kind} of {change}; there was {old}"
            else:
                assert not paired or key not in rows, f"{kind} of a row that was there: {change}"
                rows[key] = row
        assert shown(list(rows.values()), columns) == shown(end.state.all(), columns), (
            f"changes from {start.number} to {end.number}"
        )

    # -- rows

    def do_write(self, dice: random.Random) -> str:
        return self.write(self.table(), self.branch.columns, dice)

    do_write_more = do_write_again = do_write

    def do_write_old(self, dice: random.Random) -> str | None:
        """A writer that was opened before others changed the schema or rolled back."""
        usable = [(t, c) for b, t, c in self.old_handles if b == self.branch_name]
        if not usable:
            return None
        table, columns = dice.choice(usable)
        return self.write(table, columns, dice)

    def do_keep_handle(self, dice: random.Random) -> None:
        table = self.table()
        table.to_arrow()
        self.old_handles.append((self.branch_name, table, self.branch.columns))

    def do_read_old(self, dice: random.Random) -> None:
        """A reader that was opened earlier sees the rows of now, under the columns of then, and the past as it is now."""
        for branch, table, columns in self.old_handles:
            there = self.branches.get(branch)
            if there is None:
                continue
            self.same(table.to_arrow(), there.state, columns, "now, by an old handle")
            for moment in self.some([m for m in there.moments.values() if m.state is not None], dice, 1):
                assert moment.state is not None
                rows = table.to_arrow(snapshot=moment.number)
                self.same(rows, moment.state, moment.columns, f"snapshot {moment.number} by an old handle")

    def write(self, table: Table, columns: tuple[Column, ...], dice: random.Random) -> str:
        commits = self.records(columns, dice)
        ids: list[int] = []
        with table.write() as writing:
            for records in commits:
                writing.write(self.arrow(records, columns), pa.array([k for k, _ in records]))
            messages = writing.prepare_commit()
        ids = table.commit().commit(messages)
        state = self.branch.state.copy()
        for records in commits:
            state.write(self.rules, records, self.roles())
        self.came(ids, state, replayable=True)
        return f"{sum(map(len, commits))} rows {ids}"

    def records(self, columns: tuple[Column, ...], dice: random.Random) -> list[list[Record]]:
        """One or two batches of one commit; a key has one row kind in it."""
        kinds: dict[Any, str] = {}
        out = []
        for _ in range(dice.choice([1, 1, 2])):
            batch = []
            for _ in range(dice.choice([1, 3, 8, 20])):
                row = {
                    c.identity: self.key_value(c.name, dice) if c.role in "kp" else some_value(c, dice) for c in columns
                }
                gone = self.rules.deletes != "no" and dice.random() < 0.25
                if self.rules.deletes == "retract" and self.rules.key_of(row) not in self.branch.state.rows:
                    gone = False  # a -D that never meets another record is no row, in Java too
                if self.rules.engine == "groups" and row.get(5) is None:
                    row |= {3: None, 4: None}  # a record that never meets another is kept as it is, in Java too
                kind = kinds.setdefault(self.rules.key_of(row), "-D" if gone else "+I")
                if kind == "-D" and self.rules.deletes == "retract":
                    told = {*self.rules.key, self.rules.partition, self.roles()["a"]}
                    row = {i: v if i in told else None for i, v in row.items()}
                batch.append((kind, row))
            out.append(batch)
        return out

    def do_delete(self, dice: random.Random) -> str | None:
        """DELETE with a condition."""
        column = dice.choice(self.branch.columns)
        rows = self.branch.state.all()
        values = [v for r in rows if (v := r.get(column.identity)) is not None]
        if not values or self.rules.postponed:
            return None
        where, test = condition(column, dice.choice(values), dice)
        if self.scene.keyed and self.rules.deletes != "row":
            return None
        table = self.table()
        ids = table.delete(where) if self.scene.keyed else self.delete_placed(table, where)
        state = self.branch.state.copy()
        state.keep(lambda r: not test(r.get(column.identity)))
        self.came(ids, state, replayable=True)
        return f"{where} {ids}"

    def delete_placed(self, table: Table, where: str) -> list[int]:
        """As DELETE does on tables without keys: by position, marked or written anew."""
        plan = plan_scan(table.store)
        gone, condition = [], parse_predicate(where, plan.schema)
        for split in one_split_per_file(plan):
            rows, places = rows_with_positions(plan.store, split)
            true = pc.fill_null(evaluate(condition, rows, plan.schema.fields), False)
            positions = places[true.to_numpy(zero_copy_only=False)]
            if len(positions):
                gone.append((split, positions))
        if not gone:
            return []
        if uses_deletion_vectors(table.store):
            messages = delete_marked_rows(table.store, plan, gone)
        else:
            messages = [rewrite_without_rows(table.store, *one) for one in gone]
        return table.commit().commit(messages)

    def do_overwrite(self, dice: random.Random) -> str:
        table, columns = self.table(), self.branch.columns
        how = dice.choice(["all", "one", "dynamic"] if self.scene.partitions and not self.rules.crossing else ["all"])
        [*_, records] = self.records(columns, dice)
        records = [("+I", r) for _, r in records]
        if how == "one":
            value = dice.choice(PARTITIONS)
            records = [(k, {**r, 1: value}) for k, r in records]
            ids = table.overwrite(self.arrow(records, columns), {self.partition_name(): value})
            gone = {value}
        else:
            ids = table.overwrite(self.arrow(records, columns), dynamic=how == "dynamic")
            gone = {r[1] for _, r in records}
        state = self.branch.state.copy()
        state.keep(lambda r: how != "all" and r[1] not in gone)
        state.write(self.rules, records, self.roles())
        self.came(ids, state)
        return f"{how} {len(records)} rows {ids}"

    def do_drop_partition(self, dice: random.Random) -> str | None:
        if not self.scene.partitions:
            return None
        value = dice.choice(PARTITIONS)
        ids = self.table().drop_partitions([{self.partition_name(): value}])
        state = self.branch.state.copy()
        state.keep(lambda r: r[1] != value)
        self.came(ids, state, tidies=False)
        return f"{value} {ids}"

    def do_truncate(self, dice: random.Random) -> str | None:
        if dice.random() < 0.7:
            return None
        self.came(self.table().truncate(), State(), tidies=False)
        return ""

    # -- compaction

    def do_compact(self, dice: random.Random) -> str:
        full = dice.random() < 0.6
        ids = self.table().compact(full=full)
        self.branch.unlogged &= not full
        self.settled(ids)
        return f"{'full' if full else 'minor'} {ids}"

    do_compact_again = do_compact

    def do_compact_beside(self, dice: random.Random) -> str:
        """A compaction that began before somebody else's write and ends after it."""
        table = self.table()
        messages = compact(table.store, full=dice.random() < 0.6)
        waiting = len(self.branch.state.waiting)
        said = self.write(self.table(), self.branch.columns, dice)
        try:
            ids = table.commit().commit(messages)
        except CommitConflict as error:
            table.commit().abort(messages)
            return f"{said}; conflict: {error}"
        if self.rules.postponed and ids:
            state = self.branch.state.copy()
            moved, state.waiting = state.waiting[:waiting], state.waiting[waiting:]
            later, state.waiting = state.waiting, moved
            state.settle(self.rules, self.roles())
            state.waiting = later
            self.came(ids, state)
        else:
            self.came(ids, self.branch.state, replayable=True)
        return f"{said}; {ids}"

    def do_sort(self, dice: random.Random) -> str | None:
        if self.scene.bucket != "unaware" or "deletion-vectors.enabled" in self.scene.options:
            return None
        columns = [c.name for c in self.branch.columns]
        ids = self.table().maintain.sort_compact(dice.choice(["order", "zorder", "hilbert"]), dice.sample(columns, 2))
        self.came(ids, self.branch.state)
        return f"{ids}"

    # -- history

    def do_expire(self, dice: random.Random) -> str:
        keep = dice.randint(1, 4)
        table = self.table()
        count = expire_snapshots(table.store, ExpireLimits(1, keep, 0, 50))
        self.keep_newest(keep)
        return f"keep {keep}: {count} went"

    def do_tag(self, dice: random.Random) -> str | None:
        moments = list(self.branch.moments.values())
        name = f"t{dice.randrange(4)}"
        if not moments:
            return None
        moment, table = dice.choice(moments), self.table()
        table.tags.replace(name, moment.number, create=True)
        self.branch.tags[name] = moment
        return f"{name} of {moment.number}"

    def do_untag(self, dice: random.Random) -> str | None:
        for name in self.some(sorted(self.branch.tags), dice, 1):
            self.table().tags.delete(name)
            del self.branch.tags[name]
            return name
        return None

    def do_rollback(self, dice: random.Random) -> str | None:
        known = self.known()
        if not known:
            return None
        moment = dice.choice(known)
        rollback_to_snapshot(self.table().store, moment.number)
        self.branch.back_to(moment)
        return f"to {moment.number}"

    def do_rollback_tag(self, dice: random.Random) -> str | None:
        names = [n for n, m in sorted(self.branch.tags.items()) if m.state is not None]
        for name in self.some(names, dice, 1):
            moment = self.branch.tags[name]
            rollback_to_tag(self.table().store, name)
            self.branch.back_to(moment)
            return f"to {name}, snapshot {moment.number}"
        return None

    # -- branches

    def do_branch(self, dice: random.Random) -> str | None:
        main, name = self.branches["main"], f"b{dice.randrange(3)}"
        tags = [None, *(n for n, m in sorted(main.tags.items()) if m.state is not None)]
        tag = dice.choice(tags)
        if name in self.branches:
            return None
        create_branch(self.catalog.table(self.name).store, name, tag)
        if tag is None:
            self.branches[name] = Branch(main.columns, list(main.schemas))
            return f"{name}, empty"
        moment = main.tags[tag]
        schemas = main.schemas[: 1 + max(i for i, c in enumerate(main.schemas) if c == moment.columns)]
        new = Branch(moment.columns, schemas)
        assert moment.state is not None
        new.state, new.unlogged = moment.state.copy(), not moment.last
        new.moments[moment.number] = replace(moment, replayable=False)
        new.tags[tag] = moment
        self.branches[name] = new
        return f"{name} at {tag}, snapshot {moment.number}"

    def do_switch(self, dice: random.Random) -> str:
        self.branch_name = dice.choice(sorted(self.branches))
        return self.branch_name

    def do_unbranch(self, dice: random.Random) -> str | None:
        for name in self.some([b for b in sorted(self.branches) if b != "main"], dice, 1):
            delete_branch(self.catalog.table(self.name).store, name)
            del self.branches[name]
            self.old_handles = [h for h in self.old_handles if h[0] != name]
            if self.branch_name == name:
                self.branch_name = "main"
            return name
        return None

    def do_rename_branch(self, dice: random.Random) -> str | None:
        to = f"b{dice.randrange(3)}"
        for name in self.some([b for b in sorted(self.branches) if b != "main"], dice, 1):
            if to in self.branches:
                return None
            rename_branch(self.catalog.table(self.name).store, name, to)
            self.branches[to] = self.branches.pop(name)
            self.old_handles = [h for h in self.old_handles if h[0] != name]
            if self.branch_name == name:
                self.branch_name = to
            return f"{name} to {to}"
        return None

    def do_forward(self, dice: random.Random) -> str | None:
        """Main becomes what the branch is."""
        for name in self.some([b for b in sorted(self.branches) if b != "main"], dice, 1):
            branch, main = self.branches[name], self.branches["main"]
            if not branch.moments:
                return None
            try:
                fast_forward(self.catalog.table(self.name).store, name)
            except UnsupportedOperation as error:  # history that stays would lose its schema
                return str(error)
            first = min(branch.moments)
            taken = branch.copy()
            taken.moments = {**{n: m for n, m in main.moments.items() if n < first}, **taken.moments}
            taken.tags = {**{n: m for n, m in main.tags.items() if m.number < first}, **taken.tags}
            self.branches["main"] = taken
            self.old_handles = [h for h in self.old_handles if h[0] != "main"]
            return name
        return None

    # -- schema

    def do_alter(self, dice: random.Random) -> str | None:
        columns = list(self.branch.columns)
        free = [n for n in NAMES if n not in {c.name for c in columns}]
        extra = [c for c in columns if c.role == "extra"]
        movable = [c for c in columns if c.role not in "kp"]
        match dice.choice(["add", "add", "drop", "rename", "widen", "move"]):
            case "add" if free:
                self.identities += 1
                new = Column(self.identities, dice.choice(free), dice.choice(["INT", "STRING", "BIGINT", "DATE"]))
                where = dice.choice([None, "first", *(c.name for c in columns)])
                change: Any = AddColumn(
                    (new.name,), new.type, first=where == "first", after=None if where in (None, "first") else where
                )
                at = (
                    len(columns)
                    if where is None
                    else 0
                    if where == "first"
                    else 1 + [c.name for c in columns].index(where)
                )
                columns.insert(at, new)
            case "drop" if extra or len(movable) > 1:
                old = dice.choice([*extra, *extra, *movable])
                if old.role != "extra" and self.names_column(old):
                    with pytest.raises(SchemaChangeError, match="uses it"):
                        self.catalog.alter_table(self.full_name(), [DropColumn((old.name,))])
                    return f"may not drop {old.name}"
                # An old reader would have to show values that compactions throw away.
                self.old_handles = [h for h in self.old_handles if old.identity not in {c.identity for c in h[2]}]
                change = DropColumn((old.name,))
                columns.remove(old)
            case "rename" if free:
                old = dice.choice(movable)
                new = replace(old, name=dice.choice(free))
                change = RenameColumn((old.name,), new.name)
                columns[columns.index(old)] = new
            case "widen" if ints := [c for c in movable if c.type == "INT"]:
                old = dice.choice(ints)
                # An old reader would have to show values that its type cannot hold.
                self.old_handles = [h for h in self.old_handles if old.identity not in {c.identity for c in h[2]}]
                change = AlterColumn((old.name,), type="BIGINT")
                columns[columns.index(old)] = replace(old, type="BIGINT")
            case "move":
                old = dice.choice(columns)
                columns.remove(old)
                at = dice.randint(0, len(columns))
                change = (
                    AlterColumn((old.name,), first=True)
                    if at == 0
                    else AlterColumn((old.name,), after=columns[at - 1].name)
                )
                columns.insert(at, old)
            case _:
                return None
        self.catalog.alter_table(self.full_name(), [change])
        if tuple(columns) != self.branch.columns:
            self.branch.columns = tuple(columns)
            self.branch.schemas.append(tuple(columns))
        return repr(change)

    do_alter_again = do_alter

    def names_column(self, column: Column) -> bool:
        """Whether an option says something about the column; plain text search is enough for our options."""
        return any(
            column.name in v.split(",") or f".{column.name}." in k for k, v in self.table().schema.options.items()
        )

    # -- upkeep

    def do_reopen(self, dice: random.Random) -> None:
        self.reopen()

    def do_orphans(self, dice: random.Random) -> str:
        store = self.catalog.table(self.name).store
        gone = remove_orphans(store, clock.now_ms() + 1, dry_run=False)
        assert gone == [], "files that nobody needs"
        return ""

    def do_analyze(self, dice: random.Random) -> str:
        made = self.table().maintain.analyze()
        self.came([made] if made is not None else [], self.branch.state, replayable=True, tidies=False)
        return f"{made}"

    # -- helpers

    def came(self, ids: list[int], state: State, *, replayable: bool = False, tidies: bool = True) -> None:
        """One commit's snapshots. Rows on level 0 that readers do not see yet leave the steps between unsaid."""
        known = len(ids) < 2 or not (self.scene.hides_level_0 or self.rules.postponed)
        self.branch.came(ids, state, steps_known=known, replayable=replayable)
        if self.scene.keeps and ids and tidies and not self.is_postponed(ids[-1]):
            self.keep_newest(self.scene.keeps)

    def is_postponed(self, number: int) -> bool:
        """Whether the snapshot's rows wait for a compaction, which expires snapshots in the place of this commit."""
        return self.rules.postponed and self.table().store.snapshots.get(number).commit_kind != "COMPACT"

    def keep_newest(self, count: int) -> None:
        """An expiry counts ids, as Java's does, also over a gap that a fast-forward left; what stands before the gap has no next
        snapshot whose age could keep it."""
        newest = max(self.branch.moments, default=0)
        first = newest - count + 1
        while first < newest and first + 1 not in self.branch.moments:
            first += 1
        self.branch.moments = {n: m for n, m in self.branch.moments.items() if n >= first}

    def settled(self, ids: list[int]) -> None:
        state = self.branch.state.copy()
        state.settle(self.rules, self.roles())
        self.came(ids, state, replayable=True)

    def known(self) -> list[Moment]:
        return [m for m in self.branch.moments.values() if m.state is not None]

    def some(self, items: list[Any], dice: random.Random, count: int) -> list[Any]:
        return dice.sample(items, min(count, len(items)))

    def partition_name(self) -> str:
        return next(c.name for c in self.branch.columns if c.role == "p")

    def key_value(self, name: str, dice: random.Random) -> Any:
        if name == "p":
            return dice.choice(PARTITIONS)
        number = dice.randrange(KEYS)
        kind = next(c.type for c in self.scene.columns if c.role == "k")
        return {"STRING": f"k{number} é", "DATE": dt.date(2024, 1, 1) + dt.timedelta(number)}.get(kind, number)

    def arrow(self, records: list[Record], columns: tuple[Column, ...]) -> pa.Table:
        return pa.table({c.name: pa.array([r[c.identity] for _, r in records], ARROW[c.type]) for c in columns})


STEPS = [name.removeprefix("do_") for name in vars(Machine) if name.startswith("do_")]
CHECKS = [name for name in vars(Machine) if name.startswith("look_")]


def some_value(column: Column, dice: random.Random) -> Any:
    if column.role not in "kp" and dice.random() < 0.2:
        return None
    number = dice.randrange(40)
    match column.type:
        case "STRING":
            return dice.choice(PARTITIONS) if column.role == "p" else f"{number} ü"
        case "DATE":
            return dt.date(2024, 1, 1) + dt.timedelta(number)
        case "BIGINT" if dice.random() < 0.2 and column.role != "v":
            return number + (1 << 40)
    return number


def condition(column: Column, wanted: Any, dice: random.Random) -> tuple[str, Callable[[Any], bool]]:
    """A WHERE text over one column, and the same as a function; NULL is never true but for IS NULL."""
    text = (
        f"'{wanted}'" if isinstance(wanted, str) else f"DATE '{wanted}'" if isinstance(wanted, dt.date) else str(wanted)
    )
    if wanted is None or dice.random() < 0.1:
        return f"`{column.name}` IS NULL", lambda v: v is None
    match dice.choice(["=", "<", ">=", "<>", "IN"]):
        case "=":
            return f"`{column.name}` = {text}", lambda v: v is not None and v == wanted
        case "<":
            return f"`{column.name}` < {text}", lambda v: v is not None and _bytes(v) < _bytes(wanted)
        case ">=":
            return f"`{column.name}` >= {text}", lambda v: v is not None and _bytes(v) >= _bytes(wanted)
        case "<>":
            return f"`{column.name}` <> {text}", lambda v: v is not None and v != wanted
    return f"`{column.name}` IN ({text}, NULL)", lambda v: v is not None and v == wanted


def _bytes(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else value
