"""Flink's catalog `default_catalog`: its database `default_database` holds the session's connector tables and views."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from paimon_nb.session.core.session import Session

CATALOG, DATABASE = "default_catalog", "default_database"
T = TypeVar("T")


def without_default_catalog(session: Session, statement: T) -> T:
    """The statement with `default_catalog.default_database.t` as `t`: connector tables and temporary views have one name here.

    Unchanged if the session has a catalog of that name.
    """
    if CATALOG in session.catalogs:
        return statement
    shortened: T = _without_default_catalog_prefix(statement)
    return shortened


def _without_default_catalog_prefix(value: Any) -> Any:
    if isinstance(value, tuple):
        if len(value) == 3 and value[:2] == (CATALOG, DATABASE):
            return value[2:]
        changed = tuple(map(_without_default_catalog_prefix, value))
        return value if all(a is b for a, b in zip(value, changed, strict=True)) else changed
    if not is_dataclass(value) or isinstance(value, type):
        return value
    found = {
        f.name: (old, _without_default_catalog_prefix(old))
        for f in fields(value)
        if (old := getattr(value, f.name)) is not None
    }
    changes = {name: new for name, (old, new) in found.items() if new is not old}
    return replace(value, **changes) if changes else value
