"""Client of a Hive metastore: a small connection pool per process with reconnects. Knows no Paimon tables."""

from __future__ import annotations

import getpass
import logging
import os
from contextlib import suppress
from functools import cache
from queue import LifoQueue
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from paimon_nb.base.errors import BadOptionValue, EnvironmentError_, SourceUnavailable, StoreError, UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.catalog.hive.hive_conf import URIS

if TYPE_CHECKING:
    from collections.abc import Mapping

_PORT = 9083
_TIMEOUT_S = 600
"""Hive's default timeout of a call."""


class Refused(StoreError):
    """The metastore rejected a call. Facts: `text`, its message."""


class NotFound(Refused):
    """The database, table, partition or lock does not exist."""


class Exists(Refused):
    """The name exists."""


@dataclass(frozen=True)
class HiveMetastoreClient:
    """A metastore's address. Pickles; each process opens its own connections, at most `connections`."""

    addresses: tuple[tuple[str, int], ...]
    """Hosts and ports, tried in order."""
    framed: bool = False
    compact: bool = False
    timeout_s: float = _TIMEOUT_S
    connections: int = 2

    @classmethod
    def of(cls, settings: Mapping[str, str], connections: int) -> HiveMetastoreClient:
        """From Hive's settings. Raises BadOptionValue: no address. UnsupportedOperation: it needs Kerberos or TLS."""
        addresses = tuple(_parse_address(text.strip()) for text in settings.get(URIS, "").split(",") if text.strip())
        if not addresses:
            raise BadOptionValue(
                "a catalog of metastore 'hive' needs the metastore's address",
                hint="'uri' = 'thrift://host:9083', or 'hive-conf-dir' with a hive-site.xml that has hive.metastore.uris",
                option="uri",
            )
        if _is_true(settings, "hive.metastore.sasl.enabled") or _is_true(settings, "hive.metastore.use.SSL"):
            raise UnsupportedOperation(
                "Hive metastores with Kerberos or TLS are not supported",
                hint="use a tunnel, or use 'metastore' = 'filesystem' on the same warehouse",
            )
        return cls(
            addresses,
            _is_true(settings, "hive.metastore.thrift.framed.transport.enabled"),
            _is_true(settings, "hive.metastore.thrift.compact.protocol.enabled"),
            connections=max(1, connections),
        )

    def query(self, call: str, *arguments: Any) -> Any:
        """The result of a read-only call; retried once on a new connection if the old one is broken.

        Raises:
            NotFound, Exists, Refused: the metastore rejected the call.
            SourceUnavailable: the metastore does not answer.
        """
        return self._call(call, arguments, retry=True)

    def execute(self, call: str, *arguments: Any) -> Any:
        """The result of a call that changes something; never sent twice. Raises as `query`; StoreError: the reply was lost."""
        return self._call(call, arguments, retry=False)

    def _call(self, call: str, arguments: tuple[Any, ...], retry: bool) -> Any:
        from thrift.Thrift import TApplicationException, TException
        from thrift.transport.TTransport import TTransportException

        connection_errors = (TTransportException, OSError, EOFError)
        pool = _connection_pool(self, os.getpid())
        while True:
            slot = pool.take()
            try:
                is_new_connection = slot.client is None
                if slot.client is None:
                    slot.client = self._connect()
                elif not retry:  # an idle connection may be closed: check it before the call
                    try:
                        slot.client.getName()
                    except connection_errors:
                        slot.close()
                        slot.client, is_new_connection = self._connect(), True
                return getattr(slot.client, call)(*arguments)
            except connection_errors as error:
                slot.close()
                if retry and not is_new_connection:
                    continue
                raise StoreError(
                    f"connection to the Hive metastore {self.address} failed during {call}: {error}",
                    hint="check whether the change was applied, then try again",
                    metastore=self.address,
                ) from None
            except TApplicationException as error:
                slot.close()
                if error.type == TApplicationException.INTERNAL_ERROR:
                    raise _error_of_thrift(call, error) from None
                raise UnsupportedOperation(
                    f"the Hive metastore {self.address} does not support {call}: {error}",
                    hint="use Hive 2.3 or 4.0",
                    metastore=self.address,
                ) from None
            except TException as error:
                raise _error_of_thrift(call, error) from None
            except (KeyboardInterrupt, SystemExit):
                slot.close()  # an unread reply would be taken for the next call's
                raise
            finally:
                pool.release(slot)

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
        logging.getLogger(TSocket.__name__).setLevel(logging.CRITICAL)  # our error has the details
        last_error: Exception | None = None
        for host, port in self.addresses:
            socket = TSocket.TSocket(host, port)
            socket.setTimeout(self.timeout_s * 1000)
            transport = (TTransport.TFramedTransport if self.framed else TTransport.TBufferedTransport)(socket)
            protocol = TCompactProtocol.TCompactProtocol if self.compact else TBinaryProtocol.TBinaryProtocol
            client = ThriftHiveMetastore.Client(protocol(transport))
            try:
                transport.open()
                with suppress(ThriftHiveMetastore.TApplicationException, ThriftHiveMetastore.MetaException):
                    client.set_ugi(user(), [])  # the owner of directories that Hive creates
                return client
            except (TTransport.TTransportException, OSError, EOFError) as error:
                last_error = error
        raise SourceUnavailable(
            f"the Hive metastore {self.address} does not answer: {last_error}",
            hint="check 'uri', and that the metastore is running",
            metastore=self.address,
        ) from None

    @property
    def is_old(self) -> bool:
        """Whether it is Hive 2, which has no catalogs and no timestamps with a time zone."""
        return _lacks_catalogs_api(self)

    @property
    def address(self) -> str:
        """The address as in the option `uri`."""
        return ",".join(f"thrift://{host}:{port}" for host, port in self.addresses)


class _Slot:
    """A slot of the pool, with or without a connection."""

    client: Any = None

    def close(self) -> None:
        if self.client is not None:
            with suppress(Exception):
                self.client._iprot.trans.close()
        self.client = None


class _Pool:
    """A pool of at most `connections` connections; waits while all are in use."""

    def __init__(self, connections: int) -> None:
        self._free: LifoQueue[_Slot] = LifoQueue()
        for _ in range(connections):
            self._free.put(_Slot())

    def take(self) -> _Slot:
        return self._free.get()

    def release(self, slot: _Slot) -> None:
        self._free.put(slot)


@cache
def _connection_pool(metastore: HiveMetastoreClient, _process_id: int) -> _Pool:
    """Keyed by process: connections must not be shared across a fork, as with Spark's workers."""
    return _Pool(metastore.connections)


@cache
def _lacks_catalogs_api(metastore: HiveMetastoreClient) -> bool:
    try:
        metastore.query("get_catalogs")
    except UnsupportedOperation:
        return True
    return False


def user() -> str:
    """The Hadoop user name."""
    return os.environ.get("HADOOP_USER_NAME") or getpass.getuser()


def _error_of_thrift(call: str, error: Any) -> Refused:
    """Our error for a Thrift exception, which cannot pass through context managers."""
    error_classes = {
        "NoSuchObjectException": NotFound, "UnknownTableException": NotFound, "NoSuchLockException": NotFound,
        "AlreadyExistsException": Exists,
    }  # fmt: skip
    text = str(getattr(error, "message", None) or error).strip().splitlines()[0]
    error_class = error_classes.get(type(error).__name__, Refused)
    return error_class(f"the Hive metastore refused {call}: {text}", hint="look into the metastore's log", text=text)


def _parse_address(text: str) -> tuple[str, int]:
    parts = urlsplit(text if "://" in text else f"thrift://{text}")
    try:
        port = parts.port or _PORT
    except ValueError:
        port = 0
    if parts.scheme != "thrift" or not parts.hostname or not port:
        raise BadOptionValue(
            f"{text!r} is not the address of a Hive metastore",
            hint="'uri' = 'thrift://host:9083'",
            option="uri",
            value=text,
        )
    return parts.hostname, port


def _is_true(settings: Mapping[str, str], key: str) -> bool:
    return settings.get(key, "").strip().lower() == "true"
