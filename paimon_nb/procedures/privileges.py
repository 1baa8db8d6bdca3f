"""Access control of a warehouse: enabling it, users, privileges."""

from __future__ import annotations

import pyarrow as pa

from paimon_nb.base.errors import AlreadyExists, UnsupportedOperation
from paimon_nb.catalog.privilege import PrivilegedCatalog, PrivilegeStore
from paimon_nb.catalog.warehouse import WarehouseCatalog
from paimon_nb.procedures.procedure import Argument, Context, Procedure, one_row


def _enable_privileges(context: Context, root_password: str) -> pa.Table:
    catalog = context.catalog
    if isinstance(catalog, PrivilegedCatalog):
        raise AlreadyExists(f"catalog {catalog.name!r} has privileges already", hint="there is nothing to do")
    if not isinstance(catalog, WarehouseCatalog):
        raise UnsupportedOperation(
            f"catalog {catalog.name!r} cannot store privileges", hint="use a catalog with a warehouse"
        )
    PrivilegeStore(catalog.fs, catalog.warehouse).create(root_password)
    return one_row(result="Privilege system is successfully enabled. Please drop and re-create the catalog.")


def _privileged_catalog(context: Context) -> PrivilegedCatalog:
    if not isinstance(context.catalog, PrivilegedCatalog):
        raise UnsupportedOperation(
            f"catalog {context.catalog.name!r} was opened without privileges",
            hint="run CALL sys.init_file_based_privilege('root password'), then CREATE CATALOG again "
            "WITH ('user' = 'root', 'password' = '...')",
        )
    return context.catalog


def _create_user(context: Context, username: str, password: str) -> pa.Table:
    _privileged_catalog(context).create_user(username, password)
    return one_row(result=f"User {username} is created without any privileges.")


def _drop_user(context: Context, username: str) -> pa.Table:
    _privileged_catalog(context).drop_user(username)
    return one_row(result=f"User {username} is dropped.")


def _grant_privilege(
    context: Context, username: str, privilege: str, database: str | None, table: str | None
) -> pa.Table:
    _privileged_catalog(context).grant(username, privilege, database, table)
    return one_row(
        result=f"User {username} is granted with privilege {privilege} on {_privileged_object_text(database, table)}."
    )


def _revoke_privilege(
    context: Context, username: str, privilege: str, database: str | None, table: str | None
) -> pa.Table:
    count = _privileged_catalog(context).revoke(username, privilege, database, table)
    message = f"User {username} is revoked with privilege {privilege} on {_privileged_object_text(database, table)}."
    return pa.table({"result": [message, f"Number of privileges revoked: {count}"]})


def _privileged_object_text(database: str | None, table: str | None) -> str:
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
    Argument("database", doc="the whole catalog if absent"),
    Argument("table", doc="the whole database if absent"),
)
INIT_FILE_BASED_PRIVILEGE = Procedure(
    "init_file_based_privilege",
    "Enable access control for a warehouse, stored in two system tables. Creates the users `root` and `anonymous`.",
    (Argument("root_password", required=True, doc="of `root`, who has all privileges"),),
    _enable_privileges,
)
CREATE_PRIVILEGED_USER = Procedure(
    "create_privileged_user",
    "Create a user without privileges.",
    (_USER, Argument("password", required=True, doc="stored as a SHA-256 digest")),
    _create_user,
)
DROP_PRIVILEGED_USER = Procedure("drop_privileged_user", "Drop a user and all of its grants.", (_USER,), _drop_user)
GRANT_PRIVILEGE_TO_USER = Procedure(
    "grant_privilege_to_user",
    "Grant a privilege on an object and all objects below.",
    _WHAT,
    _grant_privilege,
)
REVOKE_PRIVILEGE_FROM_USER = Procedure(
    "revoke_privilege_from_user",
    "Revoke a privilege on an object and all objects below. Grants on objects above stay.",
    _WHAT,
    _revoke_privilege,
)
