"""One catalog of each kind, opened as a user opens it. `session()` opens it anew: a second session sees what the first did."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from paimon_nb.catalog import Catalog, open_catalog

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "servers")]

KINDS = (
    "filesystem",
    "memory",
    "sqlite",
    "s3",
    *(pytest.param(kind, marks=pytest.mark.nightly) for kind in ("sqlite on s3", "postgresql", "mariadb")),
)
"""Those of the nightly run share their code with one that is always run; `test_jdbc.py` meets each server every time."""


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    from sql_servers import postgresql

    with postgresql() as address:
        yield address


@pytest.fixture(scope="session")
def mariadb() -> Iterator[str]:
    from sql_servers import mariadb

    with mariadb() as address:
        yield address


@pytest.fixture(scope="session")
def s3(tmp_path_factory) -> Iterator[dict[str, str]]:
    from s3_server import s3_server

    with s3_server(tmp_path_factory.mktemp("s3")) as options:
        yield options


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
        case "s3":
            return {"type": "paimon", "warehouse": f"s3://lake/{uuid.uuid4().hex}", **request.getfixturevalue("s3")}
        case "sqlite on s3":
            return {**catalog_options("s3", folder, request), "metastore": "jdbc", "uri": f"jdbc:sqlite:{folder}/c.db"}
        case "postgresql" | "mariadb":
            server = request.getfixturevalue(kind)
            key = uuid.uuid4().hex  # many catalogs share one database, each under its own key
            return {
                "type": "paimon", "metastore": "jdbc", "uri": server, "jdbc.user": USER, "jdbc.password": PASSWORD,
                "catalog-key": key, "warehouse": warehouse,
            }  # fmt: skip
    raise ValueError(kind)


@pytest.fixture(params=KINDS)
def options(request, tmp_path) -> dict[str, str]:
    """One kind after the other; each test has an empty catalog."""
    return catalog_options(request.param, tmp_path, request)


@pytest.fixture
def session(options) -> Callable[[], Catalog]:
    """Opens the catalog: each call is a session of its own."""
    return lambda: open_catalog("c", options)


@pytest.fixture
def catalog(session) -> Catalog:
    return session()
