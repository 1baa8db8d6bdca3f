"""What the contract suite and its catalogs share: small schemas, names with odd characters, catalogs opened twice."""

from __future__ import annotations

import threading
import uuid
from typing import TYPE_CHECKING, Any

import pytest

from paimon_nb.format.schema import TableSchema, create_schema
from paimon_nb.format.types import parse_type

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

KINDS = (
    "filesystem",
    "memory",
    "sqlite",
    "rest",
    "s3",
    *(
        pytest.param(kind, marks=pytest.mark.nightly)
        for kind in ("sqlite on s3", "hdfs", "postgresql", "mariadb", "hive", "hive 4")
    ),
)
"""Those of the nightly run share their code with one that is always run; `test_jdbc.py` and `test_hive.py` meet servers every time."""
KINDS_WITHOUT_S3 = tuple(pytest.param(k, marks=pytest.mark.nightly) if k == "s3" else k for k in KINDS)

_LESS_ODD = ("a-b", "a b", "x_y", "select", "表")
ODD_NAMES = (
    *("a.b", "100%", "'; DROP TABLE t; --", "été", "a=b", "50%25", "q?x#y"),
    *(pytest.param(name, marks=pytest.mark.nightly) for name in _LESS_ODD),
)
"""Each one a legal name of a directory entry, and a trap for whoever glues text."""


def schema(*more: str, options: dict[str, str] | None = None) -> TableSchema:
    """`id INT` as key, `v STRING`, and `more` INT columns."""
    fields = [("id", parse_type("INT NOT NULL"), None, None), ("v", parse_type("STRING"), None, None)]
    fields += [(name, parse_type("INT"), None, None) for name in more]
    return create_schema(fields, [], ["id"], {"bucket": "1", **(options or {})}, None)


def at_once(acts: Sequence[Callable[[], Any]]) -> list[Any]:
    """Results (or exceptions) of `acts`, each in its own thread, all let go together."""
    start, out = threading.Barrier(len(acts)), [None] * len(acts)

    def run(i: int) -> None:
        start.wait()
        try:
            out[i] = acts[i]()
        except Exception as error:
            out[i] = error

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(acts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return out


def catalog_options(kind: str, folder: Path, request: pytest.FixtureRequest) -> dict[str, str]:
    """The options of CREATE CATALOG for an empty catalog of a kind."""
    from sql_servers import PASSWORD, USER

    warehouse = str(folder / "w")
    match kind:
        case "filesystem":
            return {"type": "paimon", "warehouse": warehouse}
        case "memory":
            return {"type": "paimon", "metastore": "memory", "warehouse": f"memory:/{folder.name}"}
        case "sqlite":
            return {"type": "paimon", "metastore": "jdbc", "uri": f"jdbc:sqlite:{folder}/c.db", "warehouse": warehouse}
        case "rest":
            from rest_server import RestServer

            server = RestServer(warehouse)
            server.__enter__()
            request.addfinalizer(server.__exit__)
            return server.options()
        case "s3":
            return {"type": "paimon", "warehouse": f"s3://lake/{uuid.uuid4().hex}", **request.getfixturevalue("s3")}
        case "sqlite on s3":
            return {**catalog_options("s3", folder, request), "metastore": "jdbc", "uri": f"jdbc:sqlite:{folder}/c.db"}
        case "hdfs":
            return {"type": "paimon", "warehouse": f"{request.getfixturevalue('hdfs')}/{uuid.uuid4().hex}"}
        case "hive" | "hive 4":
            from hive_server import emptied

            address = emptied(request.getfixturevalue(kind.replace(" ", "_")))  # all tests of a kind share one server
            return {"type": "paimon", "metastore": "hive", "uri": address, "warehouse": warehouse}
        case "postgresql" | "mariadb":
            server = request.getfixturevalue(kind)
            key = uuid.uuid4().hex  # many catalogs share one database, each under its own key
            return {
                "type": "paimon", "metastore": "jdbc", "uri": server, "jdbc.user": USER, "jdbc.password": PASSWORD,
                "catalog-key": key, "warehouse": warehouse,
            }  # fmt: skip
    raise ValueError(kind)
