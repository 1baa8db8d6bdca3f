"""Calls to a Hive metastore: a few connections a process, made again when they broke. Knows no table of ours."""

from __future__ import annotations

import getpass
import logging
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from queue import LifoQueue
from typing import Any
from urllib.parse import urlsplit

from paimon_nb.base.errors import BadOptionValue, EnvironmentError_, SourceUnavailable, StoreError, UnsupportedOperation
from paimon_nb.catalog.hive.hive_conf import URIS

_PORT = 9083
_TIMEOUT_S = 600
"""Hive's own default for one answer."""


class Refused(StoreError):
    """The metastore said no. Facts: `text`, its own words."""


class NotFound(Refused):
    """There is no such database, table, partition or lock."""


class Exists(Refused):
    """The name is taken."""


@dataclass(frozen=True)
class HiveMetastoreClient:
    """Where a metastore listens. Pickles; each process makes its own connections, at most `connections` at a time."""

    addresses: tuple[tuple[str, int], ...]
    """Host and port; the next one is tried when one does not answer."""
    framed: bool = False
    compact: bool = False
    timeout_s: float = _TIMEOUT_S
    connections: int = 2

    @classmethod
    def of(cls, settings: Mapping[str, str], connections: int) -> HiveMetastoreClient:
        """From Hive's settings. Raises BadOptionValue: no address. UnsupportedOperation: it asks for Kerberos."""
        addresses = tuple(_address(text.strip()) for text in settings.get(URIS, "").split(",") if text.strip())
        if not addresses:
            raise BadOptionValue(
                "a catalog of metastore 'hive' needs the metastore's address",
                hint="'uri' = 'thrift://host:9083', or 'hive-conf-dir' with a hive-site.xml that has hive.metastore.uris",
                option="uri",
            )
        if _true(settings, "hive.metastore.sasl.enabled") or _true(settings, "hive.metastore.use.SSL"):
            raise UnsupportedOperation(
                "a metastore that asks for Kerberos or TLS cannot be spoken to from here",
                hint="tunnel to it, or use 'metastore' = 'filesystem' on the same warehouse",
            )
        return cls(
            addresses,
            _true(settings, "hive.metastore.thrift.framed.transport.enabled"),
            _true(settings, "hive.metastore.thrift.compact.protocol.enabled"),
            connections=max(1, connections),
        )

    def ask(self, call: str, *arguments: Any) -> Any:
        """The answer to a call that changes nothing; asked once more on a new connection when the old one broke.

        Raises: NotFound, Exists, Refused: the metastore's own no. SourceUnavailable: nobody answers.
        """
        return self._run(call, arguments, again=True)

    def change(self, call: str, *arguments: Any) -> Any:
        """The answer to a call that changes something; never sent twice. Raises as `ask`; StoreError: the reply was lost."""
        return self._run(call, arguments, again=False)

    def _run(self, call: str, arguments: tuple[Any, ...], again: bool) -> Any:
        from thrift.Thrift import TApplicationException, TException
        from thrift.transport.TTransport import TTransportException

        broken = (TTransportException, OSError, EOFError)
        pool = _pool(self, os.getpid())
        while True:
            held = pool.take()
            try:
                fresh = held.client is None
                if held.client is None:
                    held.client = self._connect()
                elif not again:  # a connection that slept may have been closed: found out before it counts
                    try:
                        held.client.getName()
                    except broken:
                        held.close()
                        held.client, fresh = self._connect(), True
                return getattr(held.client, call)(*arguments)
            except broken as error:
                held.close()
                if again and not fresh:
                    continue
                raise StoreError(
                    f"the Hive metastore {self.place} broke off during {call}: {error}",
                    hint="look whether it was done, then try again",
                    metastore=self.place,
                ) from None
            except TApplicationException as error:
                held.close()
                if error.type == TApplicationException.INTERNAL_ERROR:
                    raise _refusal(call, error) from None
                raise UnsupportedOperation(
                    f"the Hive metastore {self.place} does not know {call}: {error}",
                    hint="Hive 2.3 and 4.0 are known to",
                    metastore=self.place,
                ) from None
            except TException as error:
                raise _refusal(call, error) from None
            except (KeyboardInterrupt, SystemExit):
                held.close()  # an answer that was not read to its end would be the next question's
                raise
            finally:
                pool.give(held)

    def _connect(self) -> Any:
        try:
            from hive_metastore import ThriftHiveMetastore
            from thrift.protocol import TBinaryProtocol, TCompactProtocol
            from thrift.transport import TSocket, TTransport
        except ImportError as error:
            raise EnvironmentError_(
                f"a Hive catalog needs the Python package pyiceberg with its Hive part ({error.name} is missing)",
                hint="pip install 'paimon-nb[hive]'",
                package="pyiceberg[hive]",
            ) from None
        logging.getLogger(TSocket.__name__).setLevel(logging.CRITICAL)  # what it would print, our error says
        why: Exception | None = None
        for host, port in self.addresses:
            socket = TSocket.TSocket(host, port)
            socket.setTimeout(self.timeout_s * 1000)
            transport = (TTransport.TFramedTransport if self.framed else TTransport.TBufferedTransport)(socket)
            protocol = TCompactProtocol.TCompactProtocol if self.compact else TBinaryProtocol.TBinaryProtocol
            client = ThriftHiveMetastore.Client(protocol(transport))
            try:
                transport.open()
                with suppress(ThriftHiveMetastore.TApplicationException, ThriftHiveMetastore.MetaException):
                    client.set_ugi(user(), [])  # whose files they are, where Hive makes directories
                return client
            except (TTransport.TTransportException, OSError, EOFError) as error:
                why = error
        raise SourceUnavailable(
            f"the Hive metastore {self.place} does not answer: {why}",
            hint="check 'uri' and that it runs",
            metastore=self.place,
        ) from None

    @property
    def is_old(self) -> bool:
        """Whether it is of Hive 2: it knows no catalogs, and no timestamps with a time zone."""
        return _is_old(self)

    @property
    def place(self) -> str:
        """As users write it."""
        return ",".join(f"thrift://{host}:{port}" for host, port in self.addresses)


class _Held:
    """One place of the pool, with or without a connection."""

    client: Any = None

    def close(self) -> None:
        if self.client is not None:
            with suppress(Exception):
                self.client._iprot.trans.close()
        self.client = None


class _Pool:
    """At most so many connections; who comes when all are at work waits."""

    def __init__(self, connections: int) -> None:
        self._free: LifoQueue[_Held] = LifoQueue()
        for _ in range(connections):
            self._free.put(_Held())

    def take(self) -> _Held:
        return self._free.get()

    def give(self, held: _Held) -> None:
        self._free.put(held)


@cache
def _pool(metastore: HiveMetastoreClient, process: int) -> _Pool:
    """Keyed by process: connections must not be shared over a fork, as Spark's workers do."""
    return _Pool(metastore.connections)


@cache
def _is_old(metastore: HiveMetastoreClient) -> bool:
    try:
        metastore.ask("get_catalogs")
    except UnsupportedOperation:
        return True
    return False


def user() -> str:
    """Who works here, as Hadoop knows them."""
    return os.environ.get("HADOOP_USER_NAME") or getpass.getuser()


def _refusal(call: str, error: Any) -> Refused:
    """Thrift's exceptions cannot pass through context managers, so ours take their place."""
    kinds = {
        "NoSuchObjectException": NotFound, "UnknownTableException": NotFound, "NoSuchLockException": NotFound,
        "AlreadyExistsException": Exists,
    }  # fmt: skip
    text = str(getattr(error, "message", None) or error).strip().splitlines()[0]
    kind = kinds.get(type(error).__name__, Refused)
    return kind(f"the Hive metastore refused {call}: {text}", hint="look into the metastore's log", text=text)


def _address(text: str) -> tuple[str, int]:
    parts = urlsplit(text if "://" in text else f"thrift://{text}")
    try:
        port = parts.port or _PORT
    except ValueError:
        port = 0
    if parts.scheme != "thrift" or not parts.hostname or not port:
        raise BadOptionValue(
            f"{text!r} is no address of a Hive metastore", hint="'uri' = 'thrift://host:9083'", option="uri", value=text
        )
    return parts.hostname, port


def _true(settings: Mapping[str, str], key: str) -> bool:
    return settings.get(key, "").strip().lower() == "true"
