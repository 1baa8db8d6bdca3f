"""The binlog as transactions: what changed, and the position behind it. Read by python-mysql-replication.

A position is text: MariaDB's GTIDs with commas ('0-1-42'), else 'file:offset'.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from paimon_nb.base.errors import SourceLost
from paimon_nb.connectors.cdc.mysql_client import MySqlConf, away, libraries

INSERT, BEFORE, AFTER, DELETE = "+I", "-U", "+U", "-D"
_SILENT_S = 60
"""A server that says nothing for so long, not even that it lives, is gone."""
_LOST = (1236, 1373, 1220)
"""The server's numbers for 'that part of the binlog is gone'."""


@dataclass(frozen=True, slots=True)
class RowChange:
    schema: str
    table: str
    kind: str
    values: dict[str, Any]


@dataclass(slots=True)
class Transaction:
    """What became visible at once."""

    position: str
    """Behind it."""
    changes: list[RowChange] = field(default_factory=list)
    reshaped: bool = False
    """Tables may have other columns from here on."""
    time_ms: int = 0


def is_behind(position: str, other: str) -> bool:
    """Whether everything up to `other` is also before `position`, or the same."""
    if ":" in position or ":" in other:
        return _file(position) >= _file(other)
    own, others = _domains(position), _domains(other)
    return all(own.get(d, 0) >= n for d, n in others.items())


def joined(position: str, gtid: str) -> str:
    """A position after one more transaction."""
    if ":" in gtid:
        return gtid
    parts = {p.split("-")[0]: p for p in position.split(",") if p}
    parts[gtid.split("-")[0]] = gtid
    return ",".join(parts[d] for d in sorted(parts, key=int))


def _domains(position: str) -> dict[str, int]:
    return {p.split("-")[0]: int(p.split("-")[2]) for p in position.split(",") if p}


def _file(position: str) -> tuple[int, int]:
    name, _, offset = position.rpartition(":")
    number = re.search(r"(\d+)$", name)
    return (int(number[1]) if number else 0, int(offset or 0))


class Binlog:
    """The transactions behind a position, as they come. Close it.

    The stream blocks, and the server's heartbeats tell when there is nothing more: of one that ends at the end of the binlog,
    MariaDB resets the connection as soon as it has sent all, and what the reader has not read by then is lost with it.
    """

    def __init__(self, conf: MySqlConf, position: str, *, is_mariadb: bool, idle_s: float = 0.2) -> None:
        """idle_s: how long nothing comes until `transactions` says so, at least a millisecond."""
        pymysql, replication = libraries()
        from pymysqlreplication import event, row_event

        self.conf, self.position = conf, position
        self._errors, self._lost = pymysql.MySQLError, pymysql.OperationalError(2013, "the connection was lost")
        self._idle = event.HeartbeatLogEvent
        self._rows = {row_event.WriteRowsEvent: self._written, row_event.UpdateRowsEvent: self._updated, row_event.DeleteRowsEvent: self._deleted}  # fmt: skip
        self._gtid_kind, self._query, self._xid = event.MariadbGtidEvent, event.QueryEvent, event.XidEvent
        start: dict[str, Any] = {}
        if is_mariadb:
            start["auto_position"] = position or None
        else:
            name, _, offset = position.rpartition(":")
            start |= {"log_file": name, "log_pos": int(offset)}
        settings = {
            "host": conf.host,
            "port": conf.port,
            "user": conf.user,
            "passwd": conf.password,
            "connect_timeout": 10,
            "read_timeout": _SILENT_S,
        }
        self.is_mariadb = is_mariadb
        self.stream = replication.BinLogStreamReader(
            connection_settings=settings, server_id=conf.server_id, resume_stream=True,
            blocking=True, is_mariadb=is_mariadb, slave_heartbeat=max(idle_s, 0.001),
            only_events=[*self._rows, self._gtid_kind, self._query, self._xid, self._idle], **start,
        )  # fmt: skip

    def __enter__(self) -> Binlog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        with _silenced():
            self.stream.close()

    def transactions(self) -> Iterator[Transaction | None]:
        """Transaction after transaction; None whenever there is nothing more for the moment. Ends only when it is left.

        Raises:
            SourceUnavailable: the server went away, or the connection did. SourceLost: the position is no longer in its binlog.
        """
        current = Transaction("")
        gtid, begun = "", ""
        try:
            for event in self.stream:
                if isinstance(event, self._idle):
                    yield None
                    continue
                if isinstance(event, self._gtid_kind):
                    if begun and is_behind(begun, event.gtid):
                        raise self._lost  # the library connected anew without a word, and reads once more from the position
                    current, gtid = Transaction(""), event.gtid
                    begun = joined(begun, gtid)
                    continue
                make = self._rows.get(type(event))
                if make is not None:
                    if self.conf.matches(event.schema, event.table):
                        current.changes += [c for row in event.rows for c in make(event, row)]
                    continue
                if isinstance(event, self._query):
                    word = _text(event.query).lstrip().split(None, 1)[0].upper() if event.query else ""
                    if word in ("BEGIN", "SAVEPOINT", "START"):
                        continue
                    if word not in ("COMMIT", "ROLLBACK"):
                        current.reshaped = True
                    if word == "ROLLBACK":
                        current.changes.clear()
                here = gtid if self.is_mariadb else f"{self.stream.log_file}:{self.stream.log_pos}"
                self.position = current.position = joined(self.position, here)
                current.time_ms = event.timestamp * 1000
                yield current
                current = Transaction("")
        except self._errors as error:
            if error.args and error.args[0] in _LOST:
                raise SourceLost(
                    f"MySQL at {self.conf.host}:{self.conf.port} has no binlog behind {self.position!r} any more",
                    hint="sync anew: drop the table, or start with another commit user; keep binlogs longer (expire_logs_days)",
                ) from None
            raise away(self.conf, error) from None

    def _written(self, event: Any, row: Any) -> list[RowChange]:
        return [RowChange(event.schema, event.table, INSERT, row["values"])]

    def _deleted(self, event: Any, row: Any) -> list[RowChange]:
        return [RowChange(event.schema, event.table, DELETE, row["values"])]

    def _updated(self, event: Any, row: Any) -> list[RowChange]:
        return [
            RowChange(event.schema, event.table, BEFORE, row["before_values"]),
            RowChange(event.schema, event.table, AFTER, row["after_values"]),
        ]


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


@contextmanager
def _silenced() -> Iterator[None]:
    try:
        yield
    except Exception:  # a connection that is gone cannot be closed well
        return
