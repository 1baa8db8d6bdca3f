"""Values of a table's key that the user types as text, in a command or in a field of a panel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import PaimonError

if TYPE_CHECKING:
    from paimon_nb.format.types import DataField


class InvalidKeyValue(ValueError):
    """The text is not a value of the column's type."""


def key_value(field: DataField, text: str) -> Any:
    """The text converted to the column's type. Raises: InvalidKeyValue."""
    from paimon_nb.format.data import cast_text

    try:
        return text if field.type.root in ("CHAR", "VARCHAR") else cast_text(text, field.type).as_py()
    except PaimonError:
        raise InvalidKeyValue(f"{text!r} is not a valid {field.type} value for column {field.name}") from None
