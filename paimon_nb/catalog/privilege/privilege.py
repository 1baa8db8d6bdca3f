"""What can be granted, on what, and what a user holds. Touches no file.

Source: Paimon 1.3 `PrivilegeType.java`, `PrivilegeCheckerImpl.java`.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field
from enum import StrEnum

from paimon_nb.base.errors import AccessDenied, BadOptionValue
from paimon_nb.base.registry import did_you_mean

WHOLE_CATALOG = ""
"""The identifier that every other one descends from; a database's is its name, a table's is `database.table`."""
ROOT = "root"
ANONYMOUS = "anonymous"
"""Who asks when the catalog's options name no user; the password is the same word."""


class Privilege(StrEnum):
    """One right. Granted on an object, it holds for all that lies below it."""

    SELECT = "SELECT"
    INSERT = "INSERT"
    ALTER_TABLE = "ALTER_TABLE"
    DROP_TABLE = "DROP_TABLE"
    CREATE_TABLE = "CREATE_TABLE"
    DROP_DATABASE = "DROP_DATABASE"
    ALTER_DATABASE = "ALTER_DATABASE"
    CREATE_DATABASE = "CREATE_DATABASE"
    ADMIN = "ADMIN"
    """Making and dropping users, granting and revoking."""


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
        f"{text!r} is no privilege",
        hint=did_you_mean(text, [str(p) for p in Privilege]) or f"one of {', '.join(Privilege)}",
        value=text,
    )


def identifier_of(database: str | None, table: str | None) -> str:
    """How the tables of users name a catalog (both None), a database or a table. Raises BadOptionValue."""
    if table and not database:
        raise BadOptionValue(f"table {table!r} is named without its database", hint="give the database, too")
    return ".".join(part for part in (database, table) if part)


def check_level(privilege: Privilege, database: str | None, table: str | None) -> None:
    """Raise BadOptionValue when a privilege means nothing on such an object."""
    level, deepest = (2 if table else 1 if database else 0), _DEEPEST.get(privilege, 2)
    if level > deepest:
        raise BadOptionValue(
            f"{privilege} cannot be granted on {_LEVELS[level]}",
            hint=f"grant it on {_LEVELS[deepest]}: leave out {'the table' if deepest else 'database and table'}",
            value=str(privilege),
        )


def is_below(identifier: str, ancestor: str) -> bool:
    """Whether an object is the other one or lies inside it."""
    return ancestor == WHOLE_CATALOG or identifier == ancestor or identifier.startswith(f"{ancestor}.")


@dataclass(frozen=True)
class Rights:
    """What one user may do, as it stood when it was looked up. Goes to Spark tasks, so it must pickle."""

    user: str
    all: bool = False
    """For `root`."""
    held: Set[tuple[str, str]] = field(default_factory=frozenset)
    """(identifier, privilege)."""

    def has(self, privilege: Privilege, identifier: str) -> bool:
        """Whether the privilege was granted on the object or on anything that it lies in."""
        return self.all or any(p == privilege and is_below(identifier, granted) for granted, p in self.held)

    def demand(self, privilege: Privilege, identifier: str = WHOLE_CATALOG) -> None:
        """Raise AccessDenied unless the user has the privilege."""
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


@dataclass(frozen=True)
class TableRights:
    """The rights of a user in one table, as its files and its store ask for them."""

    rights: Rights
    identifier: str

    def check_read(self) -> None:
        """Raise AccessDenied unless the user may see rows."""
        self.rights.demand(Privilege.SELECT, self.identifier)

    def check_write(self) -> None:
        """Raise AccessDenied unless the user may write files."""
        self.rights.demand(Privilege.INSERT, self.identifier)
