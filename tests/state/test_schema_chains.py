"""Random chains of ALTER TABLE, nested columns too: every snapshot, under its own schema and read again at the end, is the model's."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from paimon_nb.base.identifier import Identifier
from paimon_nb.catalog.filesystem import FilesystemCatalog
from paimon_nb.format.schema import create_schema
from paimon_nb.format.types import parse_type
from paimon_nb.fs import MemoryFileIO
from paimon_nb.statements.ddl import AddColumn, AlterColumn, DropColumn, RenameColumn

WIDER = {
    "TINYINT": "SMALLINT",
    "SMALLINT": "INT",
    "INT": "BIGINT",
    "FLOAT": "DOUBLE",
    "DECIMAL(4, 1)": "DECIMAL(9, 1)",
    "VARCHAR(5)": "STRING",
}
LEAVES = (*WIDER, "DATE", "BOOLEAN")
NAMES = [f"c{i}" for i in range(9)]


@dataclass(frozen=True)
class Leaf:
    type: str

    def text(self) -> str:
        return self.type


@dataclass(frozen=True)
class Struct:
    fields: tuple[Field, ...]

    def text(self) -> str:
        return "ROW<" + ", ".join(f"`{f.name}` {f.type.text()}" for f in self.fields) + ">"


@dataclass(frozen=True)
class Items:
    """An array, or a map from texts."""

    of: Leaf | Struct
    is_map: bool

    def text(self) -> str:
        return f"MAP<STRING NOT NULL, {self.of.text()}>" if self.is_map else f"ARRAY<{self.of.text()}>"


@dataclass(frozen=True)
class Field:
    identity: int
    name: str
    type: Leaf | Struct | Items


class Chain:
    """A table with one key column, and its columns as the model has them."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(f"chain {seed}")
        self.identities = 0
        self.keyed = self.dice.random() < 0.6
        options = {
            "bucket": "1" if self.keyed else "-1",
            "file.format": self.dice.choice(["parquet", "orc", "avro"]),
            "num-sorted-run.compaction-trigger": "3",
        }
        self.fields = tuple(self.new_field(n, 2) for n in ("c0", "c1", "c2"))
        self.catalog, self.name = FilesystemCatalog("c", "memory:/w", {}, MemoryFileIO()), Identifier("default", "t")
        columns = [
            ("k", parse_type("INT"), None, None),
            *((f.name, parse_type(f.type.text()), None, None) for f in self.fields),
        ]
        self.catalog.create_table(self.name, create_schema(columns, [], ["k"] if self.keyed else [], options, None))
        self.rows: list[tuple[int, dict[int, Any]]] = []
        self.seen: dict[int, tuple[tuple[Field, ...], list[Any]]] = {}
        self.log: list[str] = [str(options)]

    def new_field(self, name: str, depth: int) -> Field:
        self.identities += 1
        return Field(self.identities, name, self.new_type(depth))

    def new_type(self, depth: int) -> Leaf | Struct | Items:
        kind = self.dice.random()
        if depth and kind < 0.3:
            return Struct(tuple(self.new_field(n, depth - 1) for n in ("c0", "c1")))
        if depth and kind < 0.5:
            inner = self.new_type(depth - 1)
            return Items(inner, self.dice.random() < 0.5) if not isinstance(inner, Items) else inner
        return Leaf(self.dice.choice(LEAVES))

    def run(self, steps: int) -> None:
        for _ in range(steps):
            if self.dice.random() < 0.6:
                self.alter()
            else:
                self.write()
            if self.dice.random() < 0.15:
                self.saw(self.catalog.table(self.name).compact(full=self.dice.random() < 0.5))
            self.check(self.catalog.table(self.name).to_arrow(), self.fields, self.expected())
        for number, (fields, expected) in self.seen.items():
            self.check(self.catalog.table(self.name).to_arrow(snapshot=number), fields, expected)

    def check(self, rows: pa.Table, fields: tuple[Field, ...], expected: list[Any]) -> None:
        assert rows.column_names == ["k", *(f.name for f in fields)]
        assert sorted(rows.to_pylist(), key=repr) == expected

    def expected(self) -> list[Any]:
        kept = dict(self.rows).items() if self.keyed else self.rows
        return sorted(
            ({"k": k, **{f.name: shown(row.get(f.identity), f.type) for f in self.fields}} for k, row in kept), key=repr
        )

    def saw(self, ids: list[int]) -> None:
        self.seen |= {number: (self.fields, self.expected()) for number in ids}

    def write(self) -> None:
        rows = [
            (self.dice.randrange(6), {f.identity: self.value(f.type) for f in self.fields})
            for _ in range(self.dice.choice([1, 5]))
        ]
        table = self.catalog.table(self.name)
        plain_rows = [{"k": k, **{f.name: shown(row[f.identity], f.type) for f in self.fields}} for k, row in rows]
        arrow = pa.Table.from_pylist(plain_rows, schema=table.schema.arrow.remove_metadata())
        ids = table.append(arrow)
        self.rows += rows
        self.log.append(f"write {len(rows)}: {ids}")
        self.saw(ids)

    def value(self, t: Leaf | Struct | Items) -> Any:
        """A value by identities, as the model keeps it."""
        if self.dice.random() < 0.15:
            return None
        number = self.dice.randrange(50)
        match t:
            case Struct(fields):
                return {f.identity: self.value(f.type) for f in fields}
            case Items(of, is_map):
                count = range(self.dice.randrange(3))
                return {f"k{i}": self.value(of) for i in count} if is_map else [self.value(of) for _ in count]
            case Leaf("FLOAT" | "DOUBLE"):
                return number / 4
            case Leaf("DECIMAL(4, 1)" | "DECIMAL(9, 1)"):
                return Decimal(number) / 2 + Decimal("0.0")
            case Leaf("VARCHAR(5)" | "STRING"):
                return f"é{number}"
            case Leaf("BOOLEAN"):
                return number % 2 == 0
            case Leaf("DATE"):
                import datetime as dt

                return dt.date(2024, 1, 1) + dt.timedelta(number)
        return number

    # -- changes

    def alter(self) -> None:
        places = [((), self.fields), *structs(self.fields)]
        path, fields = self.dice.choice(places)
        names = [f.name for f in fields]
        free = [n for n in NAMES if n not in names]
        after: list[Field] = list(fields)
        change: Any
        match self.dice.choice(["add", "drop", "rename", "widen", "move"]):
            case "add":
                new = self.new_field(self.dice.choice(free), 1)
                at = self.dice.randint(0, len(after))
                anchor = {"first": True} if at == 0 else {"after": names[at - 1]}
                change = AddColumn((*path, new.name), new.type.text(), **anchor)
                after.insert(at, new)
            case "drop" if len(after) > 1:
                change = DropColumn((*path, after.pop(self.dice.randrange(len(after))).name))
            case "rename":
                at = self.dice.randrange(len(after))
                after[at] = replace(after[at], name=self.dice.choice(free))
                change = RenameColumn((*path, names[at]), after[at].name)
            case "widen" if at_type := [
                i for i, f in enumerate(after) if isinstance(f.type, Leaf) and f.type.type in WIDER
            ]:
                at = self.dice.choice(at_type)
                after[at] = replace(after[at], type=Leaf(WIDER[after[at].type.type]))
                change = AlterColumn((*path, names[at]), type=after[at].type.text())
            case "move" if not path and len(after) > 1:
                old = after.pop(self.dice.randrange(len(after)))
                at = self.dice.randint(0, len(after))
                change = AlterColumn((old.name,), after="k" if at == 0 else after[at - 1].name)
                after.insert(at, old)
            case _:
                return
        if not path and isinstance(change, AddColumn) and change.first:
            change = replace(change, first=False, after="k")
        self.log.append(repr(change))
        self.catalog.alter_table(self.name, [change])
        self.fields = tuple(after) if not path else put_back(self.fields, path, tuple(after))


def structs(fields: tuple[Field, ...], path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], tuple[Field, ...]]]:
    """Every ROW inside the columns, with the path that ALTER TABLE knows it by."""
    out = []
    for f in fields:
        here, t = (*path, f.name), f.type
        if isinstance(t, Items):
            here, t = (*here, "value" if t.is_map else "element"), t.of
        if isinstance(t, Struct):
            out += [(here, t.fields), *structs(t.fields, here)]
    return out


def put_back(fields: tuple[Field, ...], path: tuple[str, ...], new: tuple[Field, ...]) -> tuple[Field, ...]:
    name, *rest = path
    out = []
    for f in fields:
        if f.name == name:
            t = f.type
            below = tuple(rest[1:]) if isinstance(t, Items) else tuple(rest)
            inner = t.of if isinstance(t, Items) else t
            assert isinstance(inner, Struct)
            changed = Struct(put_back(inner.fields, below, new) if below else new)
            f = replace(f, type=replace(t, of=changed) if isinstance(t, Items) else changed)
        out.append(f)
    return tuple(out)


def shown(value: Any, t: Leaf | Struct | Items) -> Any:
    """A value by the names of now, as Arrow has it: a map is a list of pairs."""
    if value is None:
        return None
    match t:
        case Struct(fields):
            return {f.name: shown(value.get(f.identity), f.type) for f in fields}
        case Items(of, is_map):
            return [(k, shown(v, of)) for k, v in value.items()] if is_map else [shown(v, of) for v in value]
    return value


def chains(seeds: range) -> int:
    snapshots = 0
    for seed in seeds:
        chain = Chain(seed)
        try:
            chain.run(20)
        except BaseException:
            print(f"seed {seed}", *chain.log, sep="\n")
            raise
        snapshots += len(chain.seen)
    return snapshots


def test_6_chains():
    assert chains(range(6)) > 20


@pytest.mark.nightly
def test_500_chains(capsys):
    count = chains(range(1000, 1500))
    with capsys.disabled():
        print(f"\n  500 chains, {count} snapshots equal")
