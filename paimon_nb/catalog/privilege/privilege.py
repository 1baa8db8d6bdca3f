"""Privileges, the objects they are granted on, and a user's rights. Pure.

Source: Paimon 1.3 `PrivilegeType.java`, `PrivilegeCheckerImpl.java`.
"""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING

from paimon_nb.base.errors import AccessDenied, BadOptionValue
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.registry import did_you_mean
from paimon_nb.fs import without_scheme
from paimon_nb.fs.api import DB_SUFFIX, TRASH

if TYPE_CHECKING:
    from collections.abc import Set

WHOLE_CATALOG = ""
"""The identifier of the catalog. A database's identifier is its name, a table's is `database.table`."""
ROOT = "root"
ANONYMOUS = "anonymous"
"""The user without the catalog option `user`; its password is the same word."""


class Privilege(StrEnum):
    """A privilege. Granted on an object, it applies to all objects below."""

    SELECT = "SELECT"
    INSERT = "INSERT"
    ALTER_TABLE = "ALTER_TABLE"
    DROP_TABLE = "DROP_TABLE"
    CREATE_TABLE = "CREATE_TABLE"
    DROP_DATABASE = "DROP_DATABASE"
    ALTER_DATABASE = "ALTER_DATABASE"
    CREATE_DATABASE = "CREATE_DATABASE"
    ADMIN = "ADMIN"
    """Creating and dropping users, granting and revoking privileges."""


_DEEPEST = {
    **dict.fromkeys((Privilege.CREATE_TABLE, Privilege.DROP_DATABASE, Privilege.ALTER_DATABASE), 1),
    **dict.fromkeys((Privilege.CREATE_DATABASE, Privilege.ADMIN), 0),
}
_LEVELS = ("the catalog", "a database", "a table")


def parse_privilege(text: str) -> Privilege:
    """The privilege of this name. Raises BadOptionValue with the nearest one."""
    if text in Privilege.__members__:
        return Privilege(text)
    raise BadOptionValue(
        f"unknown privilege {text!r}",
        hint=did_you_mean(text, [str(p) for p in Privilege]) or f"one of {', '.join(Privilege)}",
        value=text,
    )


def identifier_of(database: str | None, table: str | None) -> str:
    """The stored identifier of the catalog (both None), a database or a table. Raises BadOptionValue."""
    if table and not database:
        raise BadOptionValue(f"table {table!r} is named without its database", hint="also name the database")
    return ".".join(part for part in (database, table) if part)


def check_level(privilege: Privilege, database: str | None, table: str | None) -> None:
    """Raises BadOptionValue if a privilege cannot be granted on this kind of object."""
    level, deepest = (2 if table else 1 if database else 0), _DEEPEST.get(privilege, 2)
    if level > deepest:
        raise BadOptionValue(
            f"{privilege} cannot be granted on {_LEVELS[level]}",
            hint=f"grant it on {_LEVELS[deepest]}: omit {'the table' if deepest else 'database and table'}",
            value=str(privilege),
        )


def is_below(identifier: str, ancestor: str) -> bool:
    """Whether an object is `ancestor` or inside it."""
    return ancestor == WHOLE_CATALOG or identifier == ancestor or identifier.startswith(f"{ancestor}.")


@dataclass(frozen=True)
class Rights:
    """A user's rights at the time of the lookup. Used in Spark tasks, so it must pickle."""

    user: str
    all: bool = False
    """Whether the user is `root`, who has all rights."""
    grants: Set[tuple[str, str]] = field(default_factory=frozenset)
    """(identifier, privilege)."""

    def has(self, privilege: Privilege, identifier: str) -> bool:
        """Whether the privilege was granted on the object or on an object above it."""
        return self.all or any(p == privilege and is_below(identifier, granted) for granted, p in self.grants)

    def require(self, privilege: Privilege, identifier: str = WHOLE_CATALOG) -> None:
        """Raises AccessDenied unless the user has the privilege."""
        if self.has(privilege, identifier):
            return
        where = ", ".join(f"'{part}'" for part in identifier.split(".", 1) if part)
        raise AccessDenied(
            f"user {self.user!r} has no privilege {privilege} on {identifier or 'the catalog'}",
            hint=f"a user with ADMIN can CALL sys.grant_privilege_to_user('{self.user}', '{privilege}'"
            f"{', ' + where if where else ''})",
            user=self.user,
            privilege=str(privilege),
            identifier=identifier,
        )


SYSTEM_TABLES = ("user.sys", "privilege.sys")
"""The directories of the tables with users and privileges, in the warehouse's root directory."""


@dataclass(frozen=True)
class TableRights:
    """A user's rights on one table, as its file system and store check them."""

    rights: Rights
    identifier: str
    root: str
    """The table's directory."""
    warehouse: str

    def check_read(self) -> None:
        """Raises AccessDenied unless the user may read rows."""
        self.rights.require(Privilege.SELECT, self.identifier)

    def check_read_file(self, path: str) -> None:
        """Raises AccessDenied if a file is of another table whose rows the user may not read: a BLOB descriptor can name it."""
        if (other := self._other_table(path)) is not None:
            self.rights.require(Privilege.SELECT if other else Privilege.ADMIN, other)

    def check_write(self, path: str) -> None:
        """Raises AccessDenied unless the user may write files, and this is not another table's."""
        self.rights.require(Privilege.INSERT, self.identifier)
        if (other := self._other_table(path)) is not None:
            self.rights.require(Privilege.INSERT if other else Privilege.ADMIN, other)

    def _other_table(self, path: str) -> str | None:
        """The identifier of another table that a file belongs to by its location in the warehouse; "" for a system table."""
        location = without_scheme(path)
        if is_below_directory(location, self.root) or not is_below_directory(location, self.warehouse):
            return None
        names = location[len(self.warehouse) :].strip("/").split("/")
        if names[0] in SYSTEM_TABLES:
            return WHOLE_CATALOG
        if names[0] in (TRASH, _ICEBERG):
            names = names[1:]
        if len(names) < 3 or not (names[0].endswith(DB_SUFFIX) or location.startswith(f"{self.warehouse}/{_ICEBERG}/")):
            return None
        found = identifier_of(names[0].removesuffix(DB_SUFFIX), names[1].rpartition("@")[0] or names[1])
        return None if found == self.identifier else found


_ICEBERG = "iceberg"


def is_below_directory(path: str, directory: str) -> bool:
    """Whether a path is inside a directory."""
    return path.startswith(without_scheme(directory).rstrip("/") + "/")
