"""One catalog of each kind, opened as a user opens it. `session()` opens it anew: a second session sees what the first did."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from paimon_nb.catalog import Catalog, open_catalog

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

sys.path.insert(0, str(Path(__file__).parent))

from catalog_kit import KINDS, catalog_options


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
def hive(tmp_path_factory) -> Iterator[str]:
    from hive_server import hive_metastore

    with hive_metastore(tmp_path_factory.mktemp("hive")) as address:
        yield address


@pytest.fixture(scope="session")
def hive_4(tmp_path_factory) -> Iterator[str]:
    from hive_server import NEWEST, hive_metastore

    with hive_metastore(tmp_path_factory.mktemp("hive4"), NEWEST) as address:
        yield address


@pytest.fixture(scope="session")
def hdfs(tmp_path_factory) -> Iterator[str]:
    from hdfs_server import hdfs_server

    with hdfs_server(tmp_path_factory.mktemp("hdfs")) as address:
        yield address


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
