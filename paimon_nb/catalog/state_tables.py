"""The state tables of incremental tables, `<target>__state_<number>_<what>`: not listed with others, dropped and renamed with their target."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING

from paimon_nb.base.errors import NameError_, PaimonError
from paimon_nb.base.identifier import Identifier

if TYPE_CHECKING:
    from paimon_nb.catalog.api import Catalog

log = logging.getLogger(__name__)

STATE_COMMENT = "incremental state of "
"""The comment of a state table begins with it."""
_STATE = "__state_"
_NAME = re.compile(r"(.+)__state_\d+_\w+")


def state_name(target: Identifier, suffix: str) -> Identifier:
    """The name of a state table. Not `target$...`: that names system tables, which no catalog can hold."""
    return Identifier(target.database, f"{target.table}{_STATE}{suffix}")


def suffix_of(name: str) -> str:
    """What follows `__state_` in the name of a state table."""
    return name.rpartition(_STATE)[2]


def visible_tables(catalog: Catalog, database: str) -> list[str]:
    """The tables of a database without the state tables of tables that exist.

    Args:
        catalog: of the database.
        database: its name.

    Returns:
        Their names, sorted.

    Raises:
        DatabaseNotFound: the database does not exist.
    """
    names = catalog.tables(database)
    known = set(names)
    return [n for n in names if not (_target_in(n, known) and _is_state(catalog, Identifier(database, n)))]


def _target_in(name: str, known: set[str]) -> bool:
    found = _NAME.fullmatch(name)
    return found is not None and found[1] in known


def _is_state(catalog: Catalog, name: Identifier) -> bool:
    try:
        return (catalog.table(name, {}).schema.comment or "").startswith(STATE_COMMENT)
    except PaimonError:
        return False


def state_tables_of(catalog: Catalog, target: Identifier) -> list[Identifier]:
    """The state tables of a target that exist."""
    names = [
        Identifier(target.database, n)
        for n in catalog.tables(target.database)
        if (found := _NAME.fullmatch(n)) is not None and found[1] == target.table
    ]
    return [n for n in names if _is_state(catalog, n)]


def drop_state_tables(catalog: Catalog, target: Identifier) -> list[Identifier]:
    """Drop all state tables of a target, with their files.

    Args:
        catalog: of the target.
        target: its name.

    Returns:
        The names of the dropped tables.
    """
    found = state_tables_of(catalog, target)
    for name in found:
        catalog.drop_table(name, if_exists=True, purge=True)
    return found


def drop_with_state(catalog: Catalog, target: Identifier, *, if_exists: bool = False, purge: bool = False) -> bool:
    """Drop a table and its state tables. Returns whether the table existed. Raises TableNotFound."""
    try:
        found = state_tables_of(catalog, target)  # before the drop: an error must not come after it
    except NameError_:
        found = []  # no such database: `drop_table` says it
    dropped = catalog.drop_table(target, if_exists=if_exists, purge=purge)
    for name in found if dropped else []:
        try:
            catalog.drop_table(name, if_exists=True, purge=True)
        except (OSError, PaimonError) as error:
            log.warning("%s is dropped; its state table %s remains: %s", target, name.table, error)
    return dropped


def rename_with_state(catalog: Catalog, source: Identifier, target: Identifier) -> None:
    """Rename a table, then its state tables. If the process ends in between, the next refresh builds the missing ones.

    Raises:
        TableNotFound, AlreadyExists, DatabaseNotFound: of the table.
    """
    found = state_tables_of(catalog, source)
    catalog.rename_table(source, target)
    for name in found:
        try:
            catalog.rename_table(name, state_name(target, suffix_of(name.table)))
        except PaimonError:
            catalog.drop_table(name, if_exists=True, purge=True)  # what it holds is computed again
