import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(1, str(Path(__file__).parents[1] / "catalog"))  # catalog_kit


@pytest.fixture(scope="session")
def hive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Hive metastore."""
    from hive_server import hive_metastore

    with hive_metastore(tmp_path_factory.mktemp("hive")) as address:
        yield address


@pytest.fixture(scope="session")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an HDFS."""
    from hdfs_server import hdfs_server

    with hdfs_server(tmp_path_factory.mktemp("hdfs")) as address:
        yield address
