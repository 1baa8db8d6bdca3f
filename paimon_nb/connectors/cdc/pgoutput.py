"""Decoder of PostgreSQL's `pgoutput` messages: bytes to transactions with row changes.

Source: PostgreSQL's manual, "Logical Replication Message Formats", protocol version 1. Values are text, as printed by the server.
"""

from __future__ import annotations

import struct
from dataclasses import field
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

INSERT, BEFORE, AFTER, DELETE = "+I", "-U", "+U", "-D"
_EPOCH_MS = 946_684_800_000
"""The PostgreSQL epoch, 2000-01-01, in Unix milliseconds."""


@dataclass(frozen=True, slots=True)
class Relation:
    """Definition of a table in the log. It is written again whenever the columns change."""

    schema: str
    table: str
    columns: tuple[tuple[str, int, int], ...]
    """Name, type (oid), type modifier."""


@dataclass(frozen=True, slots=True)
class Change:
    kind: str
    relation: Relation
    values: Mapping[str, Any]
    """Column -> text or None."""


@dataclass(slots=True)
class Transaction:
    lsn: int
    """LSN of the commit."""
    xid: int
    """Lower 32 bits of the transaction id."""
    time_ms: int
    changes: list[Change] = field(default_factory=list)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.position = data, 0

    def read_struct(self, form: str) -> Any:
        (value,) = struct.unpack_from(">" + form, self.data, self.position)
        self.position += struct.calcsize(">" + form)
        return value

    def read_text(self, length: int | None = None) -> str:
        """Text of `length` bytes; None: up to a zero byte."""
        end = self.data.index(0, self.position) if length is None else self.position + length
        found = self.data[self.position : end].decode()
        self.position = end + (length is None)
        return found


def decode_transactions(messages: Iterable[bytes]) -> Iterator[Transaction]:
    """Complete transactions in commit order. Raises UnsupportedOperation: the log omits a value."""
    relations: dict[int, Relation] = {}
    current = Transaction(0, 0, 0)
    for data in messages:
        read = _Reader(data)
        match chr(read.read_struct("B")):
            case "B":
                lsn, micros, xid = read.read_struct("Q"), read.read_struct("q"), read.read_struct("I")
                current = Transaction(lsn, xid, _EPOCH_MS + micros // 1000)
            case "C":
                yield current
            case "R":
                oid = read.read_struct("I")
                relations[oid] = _read_relation(read)
            case "I":
                relation = relations[read.read_struct("I")]
                read.read_struct("B")
                current.changes.append(Change(INSERT, relation, _read_row(read, relation)))
            case "U":
                relation = relations[read.read_struct("I")]
                before = None
                if chr(read.read_struct("B")) in "KO":
                    before = _read_row(read, relation)
                    read.read_struct("B")
                    current.changes.append(Change(BEFORE, relation, before))
                current.changes.append(Change(AFTER, relation, _read_row(read, relation, before)))
            case "D":
                relation = relations[read.read_struct("I")]
                read.read_struct("B")
                current.changes.append(Change(DELETE, relation, _read_row(read, relation)))


def _read_relation(reader: _Reader) -> Relation:
    schema, table = reader.read_text() or "pg_catalog", reader.read_text()
    reader.read_struct("B")
    columns = []
    for _ in range(reader.read_struct("H")):
        reader.read_struct("B")
        columns.append((reader.read_text(), reader.read_struct("I"), reader.read_struct("i")))
    return Relation(schema, table, tuple(columns))


def _read_row(reader: _Reader, relation: Relation, before: Mapping[str, Any] | None = None) -> dict[str, Any]:
    row: dict[str, Any] = {}
    count = reader.read_struct("H")
    for name, _, _ in relation.columns[:count]:
        match chr(reader.read_struct("B")):
            case "n":
                row[name] = None
            case "t":
                row[name] = reader.read_text(reader.read_struct("i"))
            case _:  # 'u': an unchanged TOAST value; the old row contains it if the log has old rows
                if before is None:
                    raise UnsupportedOperation(
                        f"PostgreSQL's log omits the unchanged value of {relation.schema}.{relation.table}.{name}",
                        hint=f"ALTER TABLE {relation.schema}.{relation.table} REPLICA IDENTITY FULL, and start the sync again",
                    )
                row[name] = before.get(name)
    return row
