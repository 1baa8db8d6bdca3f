"""The REST catalog against Paimon's own server, in Java."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from paimon_nb.base.errors import AlreadyExists, DatabaseNotFound, TableNotFound
from paimon_nb.base.identifier import Identifier
from paimon_nb.catalog import Catalog, open_catalog
from paimon_nb.catalog.api import StoredView
from paimon_nb.format.schema import create_schema
from paimon_nb.statements.ddl import AddColumn, AlterColumn, DropColumn, RenameColumn, SetComment, SetOptions
from paimon_nb.table.write.maintenance import branches, tags
from paimon_nb.table.write.maintenance.rollback import rollback_to_snapshot

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.nightly

T, B = Identifier("d", "t"), Identifier("d", "t", "b")


@pytest.fixture(scope="module")
def java_rest(tmp_path_factory) -> Iterator[dict[str, str]]:
    from paimon_rest_server import paimon_rest_server

    with paimon_rest_server(tmp_path_factory.mktemp("java") / "rest") as options:
        yield options


@pytest.fixture
def catalog(java_rest) -> Iterator[Catalog]:
    """Database `d` with table `t`, seven commits."""
    catalog = open_catalog("c", java_rest)
    catalog.create_database("d", properties={"comment": "x"})
    columns = [("id", "INT NOT NULL", None, None), ("v", "STRING", None, None), ("dt", "STRING NOT NULL", None, None)]
    catalog.create_table(T, create_schema(columns, ["dt"], ["id", "dt"], {"bucket": "1"}, "hello"))
    table = catalog.table(T)
    for i in range(7):
        table.upsert(rows(i))
    yield catalog
    catalog.drop_database("d", cascade=True)


def rows(*ids: int) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int32()), "v": [f"v{i}" for i in ids], "dt": ["x"] * len(ids)})


def ids(catalog: Catalog, name: Identifier = T) -> list[int]:
    return sorted(open_catalog("c", catalog.options).table(name).to_arrow().column("id").to_pylist())


def test_commits(catalog):
    assert ids(catalog) == list(range(7))
    assert [(p["spec"], p["recordCount"] >= 7) for p in catalog.partitions(T)] == [({"dt": "x"}, True)]


def test_names(catalog):
    with pytest.raises(AlreadyExists, match="'d'"):
        catalog.create_database("d")
    with pytest.raises(AlreadyExists, match=r"d\.t"):
        catalog.create_table(T, catalog.table(T).schema)
    with pytest.raises(TableNotFound) as caught:
        catalog.table(Identifier("d", "tt"))
    assert "'t'" in caught.value.hint
    with pytest.raises(DatabaseNotFound):
        catalog.table(Identifier("nowhere", "t"))
    catalog.alter_database("d", {"k": "v"})
    assert catalog.database_properties("d")["k"] == "v"


def test_schema_changes(catalog):
    catalog.alter_table(
        T,
        [
            AddColumn(("n",), "BIGINT", "num", first=True),
            AddColumn(("m",), "INT", default="5"),
            RenameColumn(("v",), "w"),
            SetOptions({"snapshot.num-retained.max": "50"}),
            SetComment("c2"),
            AlterColumn(("m",), comment="mm", type="BIGINT"),
            AlterColumn(("n",), after="w"),
        ],
    )
    changed = open_catalog("c", catalog.options).table(T).schema
    assert (changed.names, changed.id, changed.comment) == (("id", "w", "n", "dt", "m"), 1, "c2")
    m = changed.field("m")
    assert (str(m.type), m.description, m.default_value) == ("BIGINT", "mm", "5")
    assert changed.options["snapshot.num-retained.max"] == "50"
    assert catalog.alter_table(T, [DropColumn(("m",))]).names == ("id", "w", "n", "dt")
    assert ids(catalog) == list(range(7))


def test_tags_branches_and_rollback(catalog):
    store = catalog.table(T).store
    tags.create_tag(store, "two", 2)
    assert sorted(catalog.table(T).to_arrow(tag="two").column("id").to_pylist()) == [0, 1]
    tags.create_tag(store, "all")  # this server starts every branch at the latest snapshot
    branches.create_branch(store, "b", "all")
    catalog.table(B).upsert(rows(99))
    assert (ids(catalog, B), ids(catalog)) == ([*range(7), 99], list(range(7)))
    branches.delete_branch(store, "b")
    assert catalog.table(T).branches().num_rows == 0
    rollback_to_snapshot(store, 3)
    assert ids(catalog) == [0, 1, 2]


def test_views(catalog):
    name = Identifier("d", "one")
    catalog.create_view(name, StoredView("SELECT 1 AS one", catalog.table(T).schema.fields[:1]))
    assert (catalog.views("d"), catalog.view(name).query) == (["one"], "SELECT 1 AS one")
    assert (catalog.drop_view(name), catalog.drop_view(name), catalog.views("d")) == (True, False, [])


def test_many_pages(catalog):
    names = [f"page{i:03}" for i in range(120)]
    for name in names:
        catalog.create_database(name)
    assert set(names) <= set(catalog.databases())
    for name in names:
        catalog.drop_database(name)
