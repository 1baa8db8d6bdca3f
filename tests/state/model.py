"""The whole truth about a table, as plain Python: rows per snapshot, tag and branch. Knows no file and no product code.

A row is a dict from column identity (a number that is never used twice) to value, so that renames and re-used names
cannot be mixed up; NULL is None or absence.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from typing import Any

Values = dict[int, Any]
Record = tuple[str, Values]
"""Row kind (+I or -D) and values."""


@dataclass(frozen=True)
class Column:
    """One column as it is now: what it is called and typed changes, `identity` and `role` never."""

    identity: int
    name: str
    type: str
    role: str = "extra"
    """'k' key, 'p' partition, 'a' 'v' 's' 'g' as the merge engine treats them, 'extra' for columns that came later."""


@dataclass(frozen=True)
class Rules:
    """What the model must know about a table to merge rows as it does."""

    engine: str
    """append, deduplicate, sequence, partial-update, groups, aggregation, first-row."""
    key: tuple[int, ...]
    partition: int | None
    crossing: bool = False
    postponed: bool = False
    deletes: str = "no"
    """'no', 'row' (the row goes) or 'retract' (sums are reduced)."""

    def key_of(self, row: Values) -> tuple[Any, ...]:
        return tuple(row[i] for i in self.key)


@dataclass
class State:
    """The rows at one moment."""

    rows: dict[tuple[Any, ...], Values] = field(default_factory=dict)
    bag: list[Values] = field(default_factory=list)
    """Rows of a table without keys."""
    waiting: list[Record] = field(default_factory=list)
    """Rows that no reader sees before the next compaction (bucket = -2)."""

    def all(self) -> list[Values]:
        return [*self.rows.values(), *self.bag]

    def copy(self) -> State:
        return copy.deepcopy(self)

    # -- changes, in place

    def write(self, rules: Rules, records: list[Record], roles: dict[str, int]) -> None:
        if rules.postponed:
            self.waiting += records
            return
        for kind, row in records:
            if rules.engine == "append":
                self.bag.append(row)
            else:
                self._merge(rules, kind, row, roles)

    def settle(self, rules: Rules, roles: dict[str, int]) -> None:
        """Rows that waited become visible."""
        waiting, self.waiting = self.waiting, []
        for kind, row in waiting:
            self._merge(rules, kind, row, roles)

    def keep(self, wanted: Any) -> None:
        """Forget rows for which `wanted(values)` is false."""
        self.rows = {k: r for k, r in self.rows.items() if wanted(r)}
        self.bag = [r for r in self.bag if wanted(r)]
        self.waiting = [(kind, r) for kind, r in self.waiting if wanted(r)]

    def _merge(self, rules: Rules, kind: str, row: Values, roles: dict[str, int]) -> None:
        key = rules.key_of(row)
        old = self.rows.get(key)
        new = merged(rules, old, kind, row, roles)
        if new is None:
            self.rows.pop(key, None)
        else:
            self.rows[key] = new


def merged(rules: Rules, old: Values | None, kind: str, row: Values, roles: dict[str, int]) -> Values | None:
    """The row of a key after one more record; None: there is no such row."""
    if kind == "-D" and rules.deletes == "row":
        return None
    match rules.engine:
        case "deduplicate":
            return row
        case "first-row":
            return old or row
        case "sequence":
            return row if old is None or _rank(row, roles["v"]) >= _rank(old, roles["v"]) else old
    fixed = set(rules.key) | {rules.partition}
    out = dict(old or {})
    if old is None or not rules.crossing:
        out |= {i: row.get(i) for i in fixed if i is not None}
    for i, value in row.items():
        if i in fixed:
            continue
        role = next((r for r, number in roles.items() if number == i), "extra")
        if rules.engine == "aggregation":
            out[i] = aggregated(role, out.get(i), value, retract=kind == "-D")
        elif rules.engine == "groups" and role in ("g", "v", "s"):
            continue
        elif value is not None:
            out[i] = value
    if (
        rules.engine == "groups"
        and row.get(roles["g"]) is not None
        and _rank(row, roles["g"]) >= _rank(out, roles["g"])
    ):
        out |= {roles[r]: row.get(roles[r]) for r in ("g", "v", "s")}
    return out


def aggregated(role: str, old: Any, value: Any, *, retract: bool) -> Any:
    """a: sum. v: max. g: min. All else: the last value that is not NULL. Only sums take values back."""
    if value is None or (retract and role != "a"):
        return old
    if role == "a":
        return (old or 0) + (-value if retract else value)
    if old is None:
        return value
    return max(old, value) if role == "v" else min(old, value) if role == "g" else value


def _rank(row: Values, column: int) -> tuple[bool, Any]:
    """NULL is smallest."""
    value = row.get(column)
    return (value is not None, value if value is not None else 0)


@dataclass(frozen=True)
class Moment:
    """A snapshot or tag: what it holds and the columns it was committed under. `state` None: not said (see `Branch.came`)."""

    number: int
    columns: tuple[Column, ...]
    state: State | None
    replayable: bool = False
    """Its changelog leads here from the snapshot before."""
    last: bool = True
    """Last of the snapshots of its commit: compaction of the new rows and its changelog are in."""


@dataclass
class Branch:
    """One line of history."""

    columns: tuple[Column, ...]
    schemas: list[tuple[Column, ...]] = field(default_factory=list)
    state: State = field(default_factory=State)
    moments: dict[int, Moment] = field(default_factory=dict)
    tags: dict[str, Moment] = field(default_factory=dict)
    unlogged: bool = False
    """It was taken back to between a write and its changelog: buckets that nobody compacts still wait for theirs."""

    def came(self, ids: list[int], state: State, *, steps_known: bool, replayable: bool = False) -> None:
        """A commit made snapshots `ids` and led to `state`. Of several, all hold it already if `steps_known`."""
        self.state = state
        for number in ids:
            known = steps_known or number == ids[-1]
            self.moments[number] = Moment(
                number,
                self.columns,
                state.copy() if known else None,
                replayable,
                number == ids[-1] and not self.unlogged,
            )

    def back_to(self, moment: Moment) -> None:
        assert moment.state is not None
        self.state = moment.state.copy()
        self.unlogged = not moment.last
        self.moments = {n: m for n, m in self.moments.items() if n <= moment.number}
        self.moments.setdefault(moment.number, replace(moment, replayable=False))
        self.tags = {n: m for n, m in self.tags.items() if m.number <= moment.number}

    def copy(self) -> Branch:
        return copy.deepcopy(self)


def shown(rows: list[Values], columns: tuple[Column, ...]) -> list[tuple[Any, ...]]:
    """Rows as a reader under these columns gets them, sorted."""
    return sorted((tuple(row.get(c.identity) for c in columns) for row in rows), key=repr)
