"""One catalog of each kind, opened as a user opens it. A fixture's value opens it anew: a second session sees the first."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from paimon_nb.catalog import Catalog, open_catalog

sys.path.insert(0, str(Path(__file__).parent))

KINDS = ("filesystem", "memory")


@pytest.fixture(params=KINDS)
def options(request, tmp_path) -> dict[str, str]:
    """The options of CREATE CATALOG, one kind after the other; each test has an empty catalog."""
    match request.param:
        case "filesystem":
            return {"type": "paimon", "warehouse": str(tmp_path / "w")}
        case "memory":
            return {"type": "paimon", "metastore": "memory", "warehouse": f"memory:/{tmp_path.name}"}
    raise ValueError(request.param)


@pytest.fixture
def session(options) -> Callable[[], Catalog]:
    """Opens the catalog: each call is a session of its own."""
    return lambda: open_catalog("c", options)


@pytest.fixture
def catalog(session) -> Catalog:
    return session()
