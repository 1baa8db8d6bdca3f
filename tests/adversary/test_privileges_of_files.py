"""Ways around the privileges of a warehouse that use a table of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import AccessDenied, BadOptionValue
from paimon_nb.format.data.blob import BlobDescriptor

if TYPE_CHECKING:
    from pathlib import Path

BLOBS = "WITH ('row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true', 'bucket' = '-1'"


class Warehouse:
    """A warehouse with `hidden.victim`, and a user who has all privileges on database `own`, which has table `t`."""

    def __init__(self, path: Path) -> None:
        self.path = path / "w"
        with paimon_nb.connect(str(self.path)) as wb:
            wb.run("CREATE DATABASE own; CREATE DATABASE hidden; CREATE TABLE hidden.victim (id INT, v STRING)")
            wb.run("INSERT INTO hidden.victim VALUES (1, 'secret'); CREATE TABLE own.t (id INT)")
            wb.run("CALL sys.init_file_based_privilege('root pw')")
        self.root = paimon_nb.connect(str(self.path), options={"user": "root", "password": "root pw"})
        self.root.run("CALL sys.create_privileged_user('u', 'pw')")
        for privilege in ("SELECT", "INSERT", "ALTER_TABLE", "CREATE_TABLE", "DROP_TABLE"):
            self.root.run(f"CALL sys.grant_privilege_to_user('u', '{privilege}', 'own')")
        self.user = paimon_nb.connect(str(self.path), options={"user": "u", "password": "pw"})

    @property
    def secret_file(self) -> Path:
        return next((self.path / "hidden.db" / "victim").rglob("*.parquet"))


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse(tmp_path)


def test_data_files_are_not_placed_in_another_table(warehouse):
    root = f"'data-file.external-paths' = 'file://{warehouse.secret_file.parent}', 'data-file.external-paths.strategy' = 'round-robin'"
    with pytest.raises(BadOptionValue, match="victim"):
        warehouse.user.run(f"CREATE TABLE own.u (id INT) WITH ({root})")
    with pytest.raises(BadOptionValue, match="victim"):
        warehouse.user.run(f"ALTER TABLE own.t SET ({root})")


@pytest.mark.spark
@pytest.mark.parametrize("place", ["data file", "users"])
def test_a_descriptor_of_another_table_needs_select_there(warehouse, place):
    user, root = warehouse.user, warehouse.root
    file = warehouse.secret_file if place == "data file" else next(warehouse.path.glob("user.sys/bucket-0/*"))
    user.run(f"CREATE TABLE own.b (id INT, b BLOB) {BLOBS}, 'blob-descriptor-field' = 'b')")
    descriptor = BlobDescriptor(f"file://{file}", 0, file.stat().st_size).to_bytes()
    user.table("own.b").append(pa.table({"id": pa.array([1], pa.int32()), "b": [descriptor]}))
    with pytest.raises(AccessDenied):
        user.table("own.b").to_arrow()
    with pytest.raises(AccessDenied):
        user.run("SELECT * FROM own.b").to_arrow()
    assert root.table("own.b").to_arrow()["b"].to_pylist() == [file.read_bytes()]
    if place == "data file":
        root.run("CALL sys.grant_privilege_to_user('u', 'SELECT', 'hidden', 'victim')")
        assert user.table("own.b").to_arrow()["b"].to_pylist() == [file.read_bytes()]


def test_a_descriptor_of_a_file_of_the_table_itself_is_read(warehouse):
    user = warehouse.user
    user.run(f"CREATE TABLE own.b (id INT, b BLOB) {BLOBS})")
    user.table("own.b").append(pa.table({"id": pa.array([1], pa.int32()), "b": [b"value"]}))
    assert user.table("own.b").to_arrow().to_pylist() == [{"id": 1, "b": b"value"}]


def test_rename_into_a_database_needs_create_table_there(warehouse):
    with pytest.raises(AccessDenied, match="CREATE_TABLE on hidden"):
        warehouse.user.run("ALTER TABLE own.t RENAME TO hidden.t")
    assert (warehouse.root.session.catalog.tables("own"), warehouse.root.session.catalog.tables("hidden")) == (
        ["t"],
        ["victim"],
    )
    warehouse.user.run("ALTER TABLE own.t RENAME TO own.t2")
    warehouse.root.run("CALL sys.grant_privilege_to_user('u', 'CREATE_TABLE', 'hidden')")
    warehouse.user.run("ALTER TABLE own.t2 RENAME TO hidden.t")
    assert warehouse.root.session.catalog.tables("hidden") == ["t", "victim"]
