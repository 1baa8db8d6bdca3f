"""The system tables with users and privileges: `user.sys` and `privilege.sys` in the warehouse's root directory.

Source: Paimon 1.3 `FileBasedPrivilegeManager.java`. Difference: names are matched as a whole on drop, revoke and rename.
Java also removes the rights on `db.t2` when `db.t` is dropped, and keeps those on a renamed table's old name.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.errors import AccessDenied, AlreadyExists, UnknownName, UnsupportedOperation
from paimon_nb.base.registry import did_you_mean
from paimon_nb.catalog.privilege.privilege import ANONYMOUS, ROOT, Privilege, Rights, is_below
from paimon_nb.format.schema import SchemaDirectory, create_schema
from paimon_nb.format.types import parse_type
from paimon_nb.table.read import Compare, conjunction_of
from paimon_nb.table.read.store import TableStore
from paimon_nb.table.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from paimon_nb.fs import FileIO

USERS, PRIVILEGES = "user.sys", "privilege.sys"
_USER = "USER"
"""The entity type of users; the format also has roles, which nothing creates."""
_KEY = ("name", "entity_type", "privilege", "identifier")


class PrivilegeStore:
    """Users and privileges of one warehouse. Checks no rights: `PrivilegedCatalog` does."""

    def __init__(self, fs: FileIO, warehouse: str) -> None:
        self._fs, self.warehouse = fs, warehouse

    @property
    def exists(self) -> bool:
        """Whether the warehouse has privileges."""
        paths = [self._system_table_path(name) for name in (PRIVILEGES, USERS)]
        if self._fs.is_object_store:  # directories are prefixes there, which only a listing finds
            return None not in self._fs.read_each([SchemaDirectory(self._fs, path).path(0) for path in paths])
        return all(map(self._fs.exists, paths))

    def create(self, root_password: str) -> None:
        """Create both tables, with the users `root` and `anonymous`. Raises AlreadyExists."""
        if self.exists:
            raise AlreadyExists(
                f"{self.warehouse} has privileges already", hint="open the catalog as 'root' to change them"
            )
        self._create_table(USERS, {"user": "STRING NOT NULL", "sha256": "BYTES"}, ["user"], {"file.format": "avro"})
        self._store_users({ROOT: root_password, ANONYMOUS: ANONYMOUS})
        # Created last: it activates access control.
        columns = dict.fromkeys(("name", "entity_type", "identifier", "privilege"), "STRING NOT NULL")
        self._create_table(PRIVILEGES, columns, list(_KEY), {})

    def rights(self, user: str, password: str) -> Rights:
        """A user's current rights. Raises AccessDenied: unknown user or wrong password."""
        user_rows = self._system_table(USERS).lookup(user=user).to_pylist()
        if not user_rows or not hmac.compare_digest(user_rows[0]["sha256"] or b"", _sha256(password)):
            raise AccessDenied(
                f"unknown user {user!r} in {self.warehouse}, or wrong password",
                hint="CREATE CATALOG ... WITH ('user' = '...', 'password' = '...')",
                user=user,
            )
        grants = frozenset((r["identifier"], r["privilege"]) for r in self._grants_where(name=user, entity_type=_USER))
        return Rights(user, all=user == ROOT, grants=grants)

    def users(self) -> list[str]:
        """Sorted names."""
        return sorted(self._system_table(USERS).to_arrow(["user"]).column("user").to_pylist())

    def add_user(self, user: str, password: str) -> None:
        """Raises AlreadyExists."""
        if user in self.users():
            raise AlreadyExists(f"user {user!r} exists already", hint="drop_privileged_user first", name=user)
        self._store_users({user: password})

    def remove_user(self, user: str) -> None:
        """Remove a user and all its privileges. Raises UnknownName; UnsupportedOperation for `root` and `anonymous`."""
        if user in (ROOT, ANONYMOUS):
            raise UnsupportedOperation(
                f"user {user!r} cannot be dropped", hint="every warehouse with privileges has it"
            )
        self._check_known(user)
        self._remove_grants(self._grants_where(name=user, entity_type=_USER))
        self._system_table(USERS).delete(pa.table({"user": [user]}))

    def grant(self, user: str, privilege: Privilege, identifier: str) -> None:
        """Raises UnknownName; UnsupportedOperation for `root`, who has all privileges."""
        self._check_changeable(user)
        self._add_grants([{"name": user, "entity_type": _USER, "identifier": identifier, "privilege": str(privilege)}])

    def revoke(self, user: str, privilege: Privilege, identifier: str) -> int:
        """Revoke a privilege on an object and all objects below. Returns the number of removed grants, at least one.

        Raises: UnknownName: no such user, or no such entry. UnsupportedOperation for `root`.
        """
        self._check_changeable(user)
        user_grants = self._grants_where(name=user, entity_type=_USER, privilege=str(privilege))
        revoked = [e for e in user_grants if is_below(e["identifier"], identifier)]
        if not revoked:
            above = [e["identifier"] or "the catalog" for e in user_grants if is_below(identifier, e["identifier"])]
            raise UnknownName(
                f"user {user!r} was not granted {privilege} on {identifier or 'the catalog'}",
                hint=f"it is granted on {' and '.join(above)}" if above else "there is nothing to revoke",
                name=user,
            )
        self._remove_grants(revoked)
        return len(revoked)

    def on_renamed(self, old: str, new: str) -> None:
        """Move privileges to a renamed table."""
        entries = self._grants_where(identifier=old)
        self._add_grants([{**e, "identifier": new} for e in entries])
        self._remove_grants(entries)

    def on_dropped(self, identifier: str) -> None:
        """Remove the privileges on a dropped database or table and on objects below."""
        self._remove_grants([e for e in self._grants_where() if is_below(e["identifier"], identifier)])

    # -- the tables

    def _system_table_path(self, name: str) -> str:
        return f"{self.warehouse.rstrip('/')}/{name}"

    def _system_table(self, name: str) -> Table:
        return Table(TableStore.open(self._fs, self._system_table_path(name)))

    def _create_table(self, name: str, columns: Mapping[str, str], keys: list[str], options: Mapping[str, str]) -> None:
        fields = [(column, parse_type(kind), None, None) for column, kind in columns.items()]
        schema = create_schema(fields, [], keys, {"bucket": "1", **options}, "")
        SchemaDirectory(self._fs, self._system_table_path(name)).create(schema)  # it may exist after a crash

    def _store_users(self, passwords: Mapping[str, str]) -> None:
        rows = {"user": list(passwords), "sha256": [_sha256(p) for p in passwords.values()]}
        self._system_table(USERS).upsert(pa.table(rows))

    def _grants_where(self, **conditions: str) -> list[dict[str, Any]]:
        where = (
            conjunction_of([Compare(column, "=", value) for column, value in conditions.items()])
            if conditions
            else None
        )
        found: list[dict[str, Any]] = self._system_table(PRIVILEGES).to_arrow(where=where).to_pylist()
        return found

    def _add_grants(self, entries: Iterable[Mapping[str, Any]]) -> None:
        if entries := list(entries):
            self._system_table(PRIVILEGES).upsert(pa.Table.from_pylist(list(entries)))

    def _remove_grants(self, entries: Iterable[Mapping[str, Any]]) -> None:
        if entries := list(entries):
            self._system_table(PRIVILEGES).delete(pa.Table.from_pylist(list(entries)))

    def _check_known(self, user: str) -> None:
        users = self.users()
        if user not in users:
            raise UnknownName(
                f"no user {user!r} in {self.warehouse}",
                hint=did_you_mean(user, users) or "create the user with CALL sys.create_privileged_user('...', '...')",
                name=user,
            )

    def _check_changeable(self, user: str) -> None:
        if user == ROOT:
            raise UnsupportedOperation("user 'root' always has every privilege", hint="name another user")
        self._check_known(user)


def _sha256(password: str) -> bytes:
    return hashlib.sha256(password.encode()).digest()
