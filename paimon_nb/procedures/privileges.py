"""Who may do what in a warehouse: privileges switched on, users made and dropped, privileges granted and revoked."""

from __future__ import annotations

import pyarrow as pa

from paimon_nb.base.errors import AlreadyExists, UnsupportedOperation
from paimon_nb.catalog.privilege import PrivilegedCatalog, PrivilegeStore
from paimon_nb.catalog.warehouse import WarehouseCatalog
from paimon_nb.procedures.procedure import Argument, Context, Procedure, one_row


def _init(context: Context, root_password: str) -> pa.Table:
    catalog = context.catalog
    if isinstance(catalog, PrivilegedCatalog):
        raise AlreadyExists(f"catalog {catalog.name!r} has privileges already", hint="nothing is to be done")
    if not isinstance(catalog, WarehouseCatalog):
        raise UnsupportedOperation(f"catalog {catalog.name!r} cannot keep privileges", hint="use one with a warehouse")
    PrivilegeStore(catalog.fs, catalog.warehouse).create(root_password)
    return one_row(result="Privilege system is successfully enabled. Please drop and re-create the catalog.")


def _guarded(context: Context) -> PrivilegedCatalog:
    if not isinstance(context.catalog, PrivilegedCatalog):
        raise UnsupportedOperation(
            f"catalog {context.catalog.name!r} was opened without privileges",
            hint="CALL sys.init_file_based_privilege('root password') makes them; then CREATE CATALOG anew, "
            "WITH ('user' = 'root', 'password' = '...')",
        )
    return context.catalog


def _create_user(context: Context, username: str, password: str) -> pa.Table:
    _guarded(context).create_user(username, password)
    return one_row(result=f"User {username} is created without any privileges.")


def _drop_user(context: Context, username: str) -> pa.Table:
    _guarded(context).drop_user(username)
    return one_row(result=f"User {username} is dropped.")


def _grant(context: Context, username: str, privilege: str, database: str | None, table: str | None) -> pa.Table:
    _guarded(context).grant(username, privilege, database, table)
    return one_row(result=f"User {username} is granted with privilege {privilege} on {_object(database, table)}.")


def _revoke(context: Context, username: str, privilege: str, database: str | None, table: str | None) -> pa.Table:
    count = _guarded(context).revoke(username, privilege, database, table)
    said = f"User {username} is revoked with privilege {privilege} on {_object(database, table)}."
    return pa.table({"result": [said, f"Number of privileges revoked: {count}"]})


def _object(database: str | None, table: str | None) -> str:
    if database is None:
        return "the catalog"
    return f"database {database}" if table is None else f"table {database}.{table}"


_USER = Argument("username", required=True, doc="name of the user")
_WHAT = (
    _USER,
    Argument(
        "privilege",
        required=True,
        doc="`SELECT`, `INSERT`, `ALTER_TABLE`, `DROP_TABLE`; on a database also `CREATE_TABLE`, `DROP_DATABASE`, "
        "`ALTER_DATABASE`; on the catalog also `CREATE_DATABASE`, `ADMIN`",
    ),
    Argument("database", doc="left out: the whole catalog"),
    Argument("table", doc="left out: the whole database"),
)
INIT_FILE_BASED_PRIVILEGE = Procedure(
    "init_file_based_privilege",
    "Guard a warehouse: users and privileges, kept in two tables beside its databases. Makes the users `root` and `anonymous`.",
    (Argument("root_password", required=True, doc="of `root`, who may do everything"),),
    _init,
)
CREATE_PRIVILEGED_USER = Procedure(
    "create_privileged_user",
    "Make a user, who may do nothing yet.",
    (_USER, Argument("password", required=True, doc="kept as its SHA-256 digest")),
    _create_user,
)
DROP_PRIVILEGED_USER = Procedure(
    "drop_privileged_user", "Forget a user and all that was granted to him.", (_USER,), _drop_user
)
GRANT_PRIVILEGE_TO_USER = Procedure(
    "grant_privilege_to_user",
    "Let a user do something, with an object and all that lies in it.",
    _WHAT,
    _grant,
)
REVOKE_PRIVILEGE_FROM_USER = Procedure(
    "revoke_privilege_from_user",
    "Take a privilege away, with an object and all that lies in it. What was granted on something above it stays.",
    _WHAT,
    _revoke,
)
