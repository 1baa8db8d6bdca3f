"""A guarded warehouse: what each privilege allows, how it is inherited, and that passwords are never shown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from sampling import sampled

import paimon_nb
from paimon_nb.base.errors import (
    AccessDenied,
    AlreadyExists,
    BadOptionValue,
    DatabaseNotFound,
    TableNotFound,
    UnknownName,
    UnsupportedOperation,
)
from paimon_nb.notebook.errors import short_error_text

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = {"user": "root", "password": "root's canary"}
KEYED = "(k INT, v STRING, PRIMARY KEY (k) NOT ENFORCED)"


class Warehouse:
    """A guarded warehouse with the tables `default.t` and `other.t`, of a row each; `root` stands in it."""

    def __init__(self, path: Path, options: str = "'bucket' = '1'") -> None:
        self.path = str(path / "w")
        with paimon_nb.connect(self.path) as wb:
            wb.run(f"CREATE DATABASE other; CREATE TABLE t {KEYED} WITH ({options}); CREATE TABLE other.t {KEYED}")
            wb.run("INSERT INTO t VALUES (1, 'a'); INSERT INTO other.t VALUES (1, 'a')")
            wb.run("CALL sys.create_tag('t', 'first'); INSERT INTO t VALUES (1, 'a')")
            wb.run("""CALL sys.init_file_based_privilege('root''s canary')""")
        self.root = paimon_nb.connect(self.path, options=ROOT)

    def call(self, text: str) -> list[str]:
        """What a procedure answers to root."""
        arrow = self.root.run(f"CALL sys.{text}").arrow
        return [] if arrow is None else arrow.column(0).to_pylist()

    def user(self, name: str, *granted: str) -> paimon_nb.Workbench:
        """A new user's session. granted: `"SELECT"`, `"SELECT', 'default', 't"`."""
        self.call(f"create_privileged_user('{name}', 'canary')")
        for privilege in granted:
            self.call(f"grant_privilege_to_user('{name}', '{privilege}')")
        return self.opened(name)

    def opened(self, name: str) -> paimon_nb.Workbench:
        return paimon_nb.connect(self.path, options={"user": name, "password": "canary"})


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse(tmp_path)


def allowed(wb: paimon_nb.Workbench, statements: dict[str, str]) -> set[str]:
    """Which of the statements run; the others must be refused for want of a privilege."""
    done = set()
    for name, text in statements.items():
        try:
            wb.run(text)
        except AccessDenied:
            continue
        done.add(name)
    return done


OF_ROWS = {
    "read": "SELECT * FROM t",
    "changes": "SELECT * FROM `t$audit_log`",
    "write": "INSERT INTO t VALUES (2, 'b')",
    "overwrite": "INSERT OVERWRITE t VALUES (1, 'c')",
    "tag": "CALL sys.create_tag('t', 'x')",
    "branch": "CALL sys.create_branch('t', 'b')",
    "expire": "CALL sys.expire_snapshots(`table` => 't', retain_max => 1, retain_min => 1)",
    "rollback": "CALL sys.rollback_to('t', 'first')",
    "compact": "CALL sys.compact('t')",
    "schema": "DESCRIBE t",
    "snapshots": "SELECT snapshot_id FROM `t$snapshots`",
    "names": "SHOW TABLES",
}
SEEN = {"schema", "snapshots", "names"}
"""Open to everybody, as in Java."""
OF_NAMES = {
    "alter": "ALTER TABLE t SET ('snapshot.num-retained.min' = '3')",
    "add column": "ALTER TABLE t ADD COLUMN e INT",
    "create": "CREATE TABLE made (a INT)",
    "rename": "ALTER TABLE other.t RENAME TO other.moved",
    "drop": "DROP TABLE IF EXISTS other.moved",
    "create database": "CREATE DATABASE made",
    "drop database": "DROP DATABASE IF EXISTS made",
    "user": "CALL sys.create_privileged_user('friend', 'canary')",
    "grant": "CALL sys.grant_privilege_to_user('friend', 'SELECT')",
    "revoke": "CALL sys.revoke_privilege_from_user('friend', 'SELECT')",
}


@pytest.mark.parametrize(
    ("granted", "expected"),
    [
        ((), SEEN),
        (("SELECT",), SEEN | {"read", "changes"}),
        (("INSERT",), SEEN | {"write", "overwrite", "tag", "branch", "rollback", "expire"}),
        (("SELECT", "INSERT"), set(OF_ROWS)),
        (("ALTER_TABLE", "DROP_TABLE", "CREATE_TABLE", "CREATE_DATABASE", "DROP_DATABASE", "ADMIN"), SEEN),
    ],
)
@pytest.mark.spark
def test_what_may_be_done_with_rows(warehouse, granted, expected):
    assert allowed(warehouse.user("u", *granted), OF_ROWS) == expected


@pytest.mark.parametrize(
    ("granted", "expected"),
    sampled(
        [
            (("SELECT", "INSERT"), set()),
            (("ALTER_TABLE",), {"alter", "add column", "rename"}),
            (("CREATE_TABLE",), {"create"}),
            (("DROP_TABLE",), {"drop"}),
            (("CREATE_DATABASE",), {"create database"}),
            (("DROP_DATABASE",), {"drop database"}),
            (("ADMIN",), {"user", "grant", "revoke"}),
        ],
        3,
    ),
)
def test_what_may_be_done_with_names(warehouse, granted, expected):
    assert allowed(warehouse.user("u", *granted), OF_NAMES) == expected


@pytest.mark.parametrize(
    "options",
    ["'bucket' = '-1'", "'bucket' = '1', 'changelog-producer' = 'lookup'", "'bucket' = '1', 'merge-engine' = 'first-row'",
     "'bucket' = '1', 'deletion-vectors.enabled' = 'true'"],
)  # fmt: skip
def test_insert_alone_writes_tables_whose_writer_reads(tmp_path, options):
    """Hash indexes, lookups and compactions read old files; the user's rows stay unseen all the same."""
    warehouse = Warehouse(tmp_path, options)
    wb = warehouse.user("u", "INSERT")
    wb.run("INSERT INTO t VALUES (1, 'b'), (2, 'c')")
    assert [r["k"] for r in warehouse.root.table("t").to_arrow().to_pylist()] == [1, 2]
    with pytest.raises(AccessDenied, match=r"SELECT on default\.t"):
        wb.table("t").to_arrow()


@pytest.mark.parametrize("granted", ["SELECT", "SELECT', 'default", "SELECT', 'default', 't"])
@pytest.mark.spark
def test_a_grant_holds_for_what_lies_below(warehouse, granted):
    wb = warehouse.user("u", granted)
    tables = {"t": "SELECT * FROM t", "other": "SELECT * FROM other.t"}
    assert allowed(wb, tables) == ({"t", "other"} if granted == "SELECT" else {"t"})


def test_every_way_to_the_rows_is_guarded(warehouse):
    table = warehouse.user("u", "INSERT").table("t")
    for way in (
        lambda: table.to_arrow(), lambda: table.lookup(k=1), lambda: table.why(k=1), lambda: table.stream(),
        lambda: table.diff(1, 1), lambda: table.files(), lambda: table.copy({"scan.mode": "latest"}).to_arrow(),
    ):  # fmt: skip
        with pytest.raises(AccessDenied, match=r"'u' has no privilege SELECT on default\.t"):
            way()
    with pytest.raises(AccessDenied, match=r"INSERT on default\.t"):
        warehouse.user("v", "SELECT").table("t").upsert(pa.table({"k": pa.array([2], pa.int32()), "v": ["b"]}))


@pytest.mark.spark
def test_spark_is_guarded_as_well(warehouse, spark):
    """The same session meets the table as two users: what one read is no help to the other."""
    statement = "SELECT count(*) AS n FROM {}.`default`.t"
    options = f"'type' = 'paimon', 'warehouse' = '{warehouse.path}'"
    wb = paimon_nb.connect(warehouse.path, options=ROOT, spark=spark)
    warehouse.user("u", "INSERT")
    wb.run(f"CREATE CATALOG mine WITH ({options}, 'user' = 'u', 'password' = 'canary')")
    assert wb.sql(statement.format("paimon")).collect()[0].n == 1
    with pytest.raises(AccessDenied, match="SELECT"):
        wb.sql(statement.format("mine")).collect()
    wb.sql("INSERT INTO mine.`default`.t SELECT id + 10, 'b' FROM range(3)")
    assert wb.sql(statement.format("paimon")).collect()[0].n == 4


@pytest.mark.spark
def test_who_names_no_user_is_anonymous(warehouse):
    with paimon_nb.connect(warehouse.path) as wb, pytest.raises(AccessDenied, match="'anonymous' has no privilege"):
        wb.run("SELECT * FROM t")
    warehouse.call("grant_privilege_to_user('anonymous', 'SELECT', 'default', 't')")
    assert paimon_nb.connect(warehouse.path).table("t").to_arrow().num_rows == 1


@pytest.mark.parametrize("options", [{"user": "root"}, {"user": "root", "password": "canary"}, {"user": "nobody"}])
def test_wrong_passwords_and_unknown_users_are_not_let_in(warehouse, options):
    with pytest.raises(AccessDenied, match="or wrong password") as caught:
        paimon_nb.connect(warehouse.path, options=options)
    assert "canary" not in str(caught.value)


@pytest.mark.spark
def test_what_is_granted_and_revoked_counts_at_once(warehouse):
    wb = warehouse.user("u")
    look: Callable[[], set[str]] = lambda: allowed(wb, {"t": "SELECT * FROM t"})  # noqa: E731
    seen = [look()]
    for call in (
        "grant_privilege_to_user('u', 'SELECT', 'default', 't')",
        "revoke_privilege_from_user('u', 'SELECT', 'default', 't')",
    ):
        warehouse.call(call)
        seen.append(look())
    assert seen == [set(), {"t"}, set()]
    warehouse.call("drop_privileged_user('u')")
    with pytest.raises(AccessDenied, match="unknown user"):
        wb.run("SELECT * FROM t")


@pytest.mark.spark
def test_revoking_takes_what_lies_below_and_not_what_is_alike(warehouse):
    warehouse.root.run("CREATE DATABASE default2; CREATE TABLE default2.t (a INT)")
    wb = warehouse.user("u", "SELECT', 'default", "SELECT', 'default', 't", "SELECT', 'default2")
    answer = warehouse.call("revoke_privilege_from_user('u', 'SELECT', 'default')")
    assert answer == [
        "User u is revoked with privilege SELECT on database default.",
        "Number of privileges revoked: 2",
    ]
    assert allowed(wb, {"default": "SELECT * FROM t", "default2": "SELECT * FROM default2.t"}) == {"default2"}
    assert warehouse.call("revoke_privilege_from_user('u', 'SELECT')")[1] == "Number of privileges revoked: 1"


@pytest.mark.spark
def test_privileges_follow_a_renamed_table_and_go_with_a_dropped_one(warehouse):
    warehouse.root.run(f"CREATE TABLE t2 {KEYED}")
    wb = warehouse.user("u", "SELECT', 'default', 't", "SELECT', 'default', 't2", "SELECT', 'other")
    warehouse.root.run(f"ALTER TABLE t RENAME TO moved; CREATE TABLE t {KEYED}")
    names = {"moved": "SELECT * FROM moved", "t": "SELECT * FROM t", "t2": "SELECT * FROM t2"}
    assert allowed(wb, names) == {"moved", "t2"}
    warehouse.root.run(f"DROP TABLE moved; CREATE TABLE moved {KEYED}")
    assert allowed(wb, names) == {"t2"}
    warehouse.root.run(f"DROP DATABASE other CASCADE; CREATE DATABASE other; CREATE TABLE other.t {KEYED}")
    assert allowed(wb, {"other": "SELECT * FROM other.t"}) == set()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    sampled([
        ("init_file_based_privilege('again')", AlreadyExists, "has privileges already"),
        ("create_privileged_user('root', 'x')", AlreadyExists, "'root' exists already"),
        ("drop_privileged_user('root')", UnsupportedOperation, "cannot be dropped"),
        ("drop_privileged_user('anonymous')", UnsupportedOperation, "cannot be dropped"),
        ("drop_privileged_user('anonymus')", UnknownName, "did you mean 'anonymous'"),
        ("grant_privilege_to_user('root', 'SELECT')", UnsupportedOperation, "has every privilege"),
        ("grant_privilege_to_user('nobody', 'SELECT')", UnknownName, "create_privileged_user"),
        ("grant_privilege_to_user('anonymous', 'select')", BadOptionValue, "did you mean 'SELECT'"),
        ("grant_privilege_to_user('anonymous', 'ADMIN', 'default')", BadOptionValue, "omit database and table"),
        ("grant_privilege_to_user('anonymous', 'CREATE_TABLE', 'default', 't')", BadOptionValue, "omit the table"),
        ("grant_privilege_to_user('anonymous', 'SELECT', '', 't')", BadOptionValue, "name the database"),
        ("grant_privilege_to_user('anonymous', 'SELECT', 'defalt')", DatabaseNotFound, "did you mean 'default'"),
        ("grant_privilege_to_user('anonymous', 'SELECT', 'default', 'tt')", TableNotFound, "did you mean 't'"),
        ("revoke_privilege_from_user('anonymous', 'SELECT')", UnknownName, "there is nothing to revoke"),
        ("revoke_privilege_from_user('anonymous', 'INSERT', 'default', 't')", UnknownName, "granted on default"),
    ], 3),
)  # fmt: skip
def test_what_cannot_be_is_refused_with_the_next_step(warehouse, call, error, message):
    warehouse.call("grant_privilege_to_user('anonymous', 'INSERT', 'default')")
    with pytest.raises(error, match=message):
        warehouse.call(call)


def test_an_open_warehouse_has_no_users(tmp_path):
    wb = paimon_nb.connect(str(tmp_path / "w"))
    with pytest.raises(UnsupportedOperation, match="without privileges") as caught:
        wb.run("CALL sys.create_privileged_user('u', 'canary')")
    assert "init_file_based_privilege" in str(caught.value)


def test_passwords_are_never_shown(warehouse):
    """In the options of a catalog, in errors with the user's own line, and in the files."""
    wb = warehouse.user("u")
    requested = ["SHOW CREATE CATALOG paimon", "DESCRIBE CATALOG EXTENDED paimon"]
    told = [str(wb.run(text).arrow.to_pylist()) for text in requested]
    text = "CALL sys.create_privileged_user('v', 'canary')"
    with pytest.raises(AccessDenied) as caught:
        wb.run(text)
    told.append(short_error_text(caught.value))
    told.append(repr(wb.session.catalog))
    assert "canary" not in "".join(told)
    assert "***" in told[0]
    assert not [p for p in Path(warehouse.path).rglob("*") if p.is_file() and b"canary" in p.read_bytes()]


def test_a_crash_between_the_two_tables_leaves_an_open_warehouse(tmp_path):
    """Privileges count from the moment that the second table is there; switching them on again then works."""
    import shutil

    warehouse = Warehouse(tmp_path)
    shutil.rmtree(tmp_path / "w" / "privilege.sys")
    wb = paimon_nb.connect(warehouse.path)
    assert wb.table("t").to_arrow().num_rows == 1
    wb.run("CALL sys.init_file_based_privilege('new')")
    with pytest.raises(AccessDenied):
        paimon_nb.connect(warehouse.path, options=ROOT)
    assert paimon_nb.connect(warehouse.path, options={"user": "root", "password": "new"}).table("t") is not None
