"""Definitions of stored views as JSON, as REST servers send them and JDBC catalogs store them. Source: Paimon 2.1 `ViewSchema`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import FormatError, StoreError
from paimon_nb.catalog.api import StoredView
from paimon_nb.format.types.parse import parse_field_json

if TYPE_CHECKING:
    from paimon_nb.base.identifier import Identifier
    from paimon_nb.format.metadata_json import JsonObject


def view_as_json(view: StoredView) -> dict[str, Any]:
    """The definition of a view."""
    return {
        "fields": [f.to_json() for f in view.fields],
        "query": view.query,
        "dialects": dict(view.dialects),
        "comment": view.comment,
        "options": dict(view.options),
    }


def view_of_json(name: Identifier, node: JsonObject, location: str) -> StoredView:
    """The view of a definition. Raises StoreError: it is invalid.

    Args:
        location: what stores it, for the message.
    """
    try:
        fields = tuple(parse_field_json(f, "column") for f in node.get("fields", list))
        query, comment = node.get("query", str), node.get("comment", str, None)
        return StoredView(query, fields, comment, node.texts("options"), node.texts("dialects"))
    except FormatError as error:
        raise StoreError(
            f"view {name}: {location} has an invalid definition: {error.message}",
            hint="drop the view and create it again",
            name=str(name),
        ) from None
