"""Reads the binlog as transactions with row changes and positions, with python-mysql-replication.

A position is text: comma-separated GTIDs of MariaDB ('0-1-42'), or 'file:offset'.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import field
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import SourceLost
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.connectors.cdc.binlog_values import UNDECODED, as_queried
from paimon_nb.connectors.cdc.mysql_client import MySqlConf, import_mysql_libraries, unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

INSERT, BEFORE, AFTER, DELETE = "+I", "-U", "+U", "-D"
_READ_TIMEOUT_S = 60
"""A server that sends neither events nor heartbeats for so long is considered lost."""
_PURGED_BINLOG_ERRORS = (1236, 1373, 1220)
"""Error codes of the server for a purged binlog."""


@dataclass(frozen=True, slots=True)
class RowChange:
    schema: str
    table: str
    kind: str
    values: dict[str, Any]


@dataclass(slots=True)
class Transaction:
    """A committed transaction."""

    position: str
    """Position after the transaction."""
    changes: list[RowChange] = field(default_factory=list)
    schema_changed: bool = False
    """Whether tables may have other columns from here on: the transaction is DDL."""
    time_ms: int = 0


def has_reached(position: str, other: str) -> bool:
    """Whether `position` is at or after `other`."""
    if ":" in position or ":" in other:
        return _file_and_offset(position) >= _file_and_offset(other)
    own, others = _gtid_domains(position), _gtid_domains(other)
    return all(own.get(d, 0) >= n for d, n in others.items())


def advance_position(position: str, gtid: str) -> str:
    """The position after one more transaction."""
    if ":" in gtid:
        return gtid
    parts = {p.split("-")[0]: p for p in position.split(",") if p}
    parts[gtid.split("-")[0]] = gtid
    return ",".join(parts[d] for d in sorted(parts, key=int))


def _gtid_domains(position: str) -> dict[str, int]:
    return {p.split("-")[0]: int(p.split("-")[2]) for p in position.split(",") if p}


def _file_and_offset(position: str) -> tuple[int, int]:
    name, _, offset = position.rpartition(":")
    number = re.search(r"(\d+)$", name)
    return (int(number[1]) if number else 0, int(offset or 0))


class Binlog:
    """Stream of the transactions after a position. Call `close`.

    The stream blocks; heartbeats of the server signal that there are no more events. A non-blocking stream is not used:
    MariaDB resets its connection at the end of the binlog, and the reader loses events that it has not read yet.
    """

    def __init__(self, conf: MySqlConf, position: str, *, is_mariadb: bool, idle_s: float = 0.2) -> None:
        """idle_s: time without events after which `transactions` returns None; at least a millisecond."""
        pymysql, replication = import_mysql_libraries()
        from pymysqlreplication import event, row_event

        # Its own decoding fails at the first byte that it does not know, and takes UTF-16 for little-endian.
        row_event.RowsEvent.charset_to_encoding = staticmethod(lambda _name: UNDECODED)
        self.conf, self.position = conf, position
        self._errors, self._connection_lost = (
            pymysql.MySQLError,
            pymysql.OperationalError(2013, "the connection was lost"),
        )
        self._idle = event.HeartbeatLogEvent
        self._rows = {row_event.WriteRowsEvent: self._insert_changes, row_event.UpdateRowsEvent: self._update_changes, row_event.DeleteRowsEvent: self._delete_changes}  # fmt: skip
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
            "read_timeout": _READ_TIMEOUT_S,
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
        with _without_warnings():
            self.stream.close()

    def transactions(self) -> Iterator[Transaction | None]:
        """The transactions; None whenever there are no more events at present. The iterator does not end.

        Raises:
            SourceUnavailable: the connection to the server is lost.
            SourceLost: the binlog at the position was purged.
        """
        current = Transaction("")
        gtid, last_started = "", ""
        try:
            for event in self.stream:
                if isinstance(event, self._idle):
                    yield None
                    continue
                if isinstance(event, self._gtid_kind):
                    if last_started and has_reached(last_started, event.gtid):
                        raise self._connection_lost  # the library reconnected silently and reads again from the position
                    current, gtid = Transaction(""), event.gtid
                    last_started = advance_position(last_started, gtid)
                    continue
                make = self._rows.get(type(event))
                if make is not None:
                    if self.conf.matches(event.schema, event.table):
                        current.changes += [c for row in event.rows for c in make(event, row)]
                    continue
                if isinstance(event, self._query):
                    word = _decode_text(event.query).lstrip().split(None, 1)[0].upper() if event.query else ""
                    if word in ("BEGIN", "SAVEPOINT", "START"):
                        continue
                    if word not in ("COMMIT", "ROLLBACK"):
                        current.schema_changed = True
                    if word == "ROLLBACK":
                        current.changes.clear()
                here = gtid if self.is_mariadb else f"{self.stream.log_file}:{self.stream.log_pos}"
                self.position = current.position = advance_position(self.position, here)
                current.time_ms = event.timestamp * 1000
                yield current
                current = Transaction("")
        except self._errors as error:
            if error.args and error.args[0] in _PURGED_BINLOG_ERRORS:
                raise SourceLost(
                    f"MySQL at {self.conf.host}:{self.conf.port} has purged the binlog after {self.position!r}",
                    hint="drop the table and start the sync again; keep binlogs longer (expire_logs_days)",
                ) from None
            raise unavailable(self.conf, error) from None

    def _insert_changes(self, event: Any, row: Any) -> list[RowChange]:
        return [_row_change(event, INSERT, row, "")]

    def _delete_changes(self, event: Any, row: Any) -> list[RowChange]:
        return [_row_change(event, DELETE, row, "")]

    def _update_changes(self, event: Any, row: Any) -> list[RowChange]:
        return [_row_change(event, BEFORE, row, "before_"), _row_change(event, AFTER, row, "after_")]


def _row_change(event: Any, kind: str, row: Any, image: str) -> RowChange:
    """`image`: prefix of the library's names."""
    values = as_queried(event.columns, row[f"{image}values"], row[f"{image}none_sources"])
    return RowChange(event.schema, event.table, kind, values)


def _decode_text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


@contextmanager
def _without_warnings() -> Iterator[None]:
    try:
        yield
    except Exception:  # closing a lost connection may fail
        return
