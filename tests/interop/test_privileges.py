"""Privileges that Java made are obeyed here, and those made here are obeyed by Java, each with the users that the other made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from flink_session import Refused

import paimon_nb
from paimon_nb.base.errors import AccessDenied

if TYPE_CHECKING:
    from pathlib import Path

    from flink_session import FlinkSession

pytestmark = pytest.mark.java
TABLE = "CREATE TABLE {} (k INT, v STRING, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1')"
GRANTS = [
    "CALL sys.create_privileged_user('reader', 'r')",
    "CALL sys.create_privileged_user('writer', 'w')",
    "CALL sys.create_privileged_user('gone', 'g')",
    "CALL sys.grant_privilege_to_user('reader', 'SELECT', 'default', 't')",
    "CALL sys.grant_privilege_to_user('reader', 'SELECT', 'default', 'renamed')",
    "CALL sys.grant_privilege_to_user('reader', 'INSERT', 'default')",
    "CALL sys.grant_privilege_to_user('writer', 'INSERT', 'default')",
    "CALL sys.revoke_privilege_from_user('reader', 'INSERT', 'default')",
    "ALTER TABLE renamed RENAME TO moved",
    "CALL sys.drop_privileged_user('gone')",
]
PASSWORDS = {"reader": "r", "writer": "w", "gone": "g", "anonymous": "anonymous", "root": "secret"}
ASKED = {
    "read t": "SELECT * FROM t",
    "read moved": "SELECT * FROM moved",
    "read hidden": "SELECT * FROM hidden",
    "write t": "INSERT INTO t VALUES (2, 'b')",
    "alter t": "ALTER TABLE t SET ('snapshot.num-retained.min' = '3')",
    "create": "CREATE DATABASE IF NOT EXISTS d",
}
EXPECTED = {
    "reader": {"read t", "read moved"},
    "writer": {"write t"},
    "gone": set(),
    "anonymous": set(),
    "root": set(ASKED),
}


def ran(flink: FlinkSession, warehouse: Path, statements: list[str]) -> list[bool]:
    """Whether each statement ran on real Flink; the catalogs `<user>` are there."""
    catalogs = [
        f"CREATE CATALOG `{user}` WITH ('type' = 'paimon', 'warehouse' = '{warehouse}', 'user' = '{user}', 'password' = '{password}')"
        for user, password in PASSWORDS.items()
    ]
    flink.ask("!new")
    verdicts = []
    for statement in [*catalogs, *statements]:
        try:
            flink.ask(statement)
            verdicts.append(True)
        except Refused:
            verdicts.append(False)
    return verdicts[len(catalogs) :]


def asked_of_flink(flink: FlinkSession, warehouse: Path) -> dict[str, set[str]]:
    """What each user may do, as Java sees it."""
    statements = [s for user in PASSWORDS for s in (f"USE CATALOG `{user}`", *ASKED.values())]
    done, width = ran(flink, warehouse, statements), len(ASKED) + 1
    return {
        user: {name for name, ran in zip(ASKED, done[i * width + 1 : (i + 1) * width], strict=True) if ran}
        for i, user in enumerate(PASSWORDS)
    }


def asked_here(warehouse: Path) -> dict[str, set[str]]:
    """What each user may do, as we see it."""
    out: dict[str, set[str]] = {}
    for user, password in PASSWORDS.items():
        out[user] = set()
        for name, text in ASKED.items():
            try:
                paimon_nb.connect(str(warehouse), options={"user": user, "password": password}).run(text)
                out[user].add(name)
            except AccessDenied:
                continue
    return out


@pytest.mark.nightly
def test_java_obeys_what_we_granted_and_we_what_java_granted(flink, tmp_path):
    ours, javas = tmp_path / "ours", tmp_path / "javas"
    made = [*(TABLE.format(t) for t in ("t", "renamed", "hidden")), "CALL sys.init_file_based_privilege('secret')"]
    paimon_nb.connect(str(ours)).run(";".join(made))
    paimon_nb.connect(str(ours), options={"user": "root", "password": "secret"}).run(";".join(GRANTS))
    assert asked_of_flink(flink, ours) == EXPECTED

    java = ["USE CATALOG `gone`", *made]  # opened before there were privileges, so it still stands open
    again = (
        f"CREATE CATALOG r WITH ('type' = 'paimon', 'warehouse' = '{javas}', 'user' = 'root', 'password' = 'secret')"
    )
    assert all(ran(flink, javas, [*java, again, "USE CATALOG r", *GRANTS]))
    assert asked_here(javas) == EXPECTED
