"""Changes of a schema as table handles describe them, applied by a catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.statements.ddl import (
    AddColumn,
    AlterColumn,
    DropColumn,
    RenameColumn,
    ResetOptions,
    SetComment,
    SetOptions,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paimon_nb.base.identifier import Identifier
    from paimon_nb.catalog.api import Catalog
    from paimon_nb.format.schema import TableSchema

_CHANGES = {
    "add_column": AddColumn, "alter_column": AlterColumn, "drop_column": DropColumn, "rename_column": RenameColumn,
    "reset_options": ResetOptions, "set_comment": SetComment, "set_options": SetOptions,
}  # fmt: skip


def change_schema(catalog: Catalog, name: Identifier, steps: Sequence[tuple[str, Mapping[str, Any]]]) -> TableSchema:
    """The table's next schema, after all steps.

    Args:
        steps: (kind of change, arguments of the change).

    Raises: as `Catalog.alter_table`.
    """
    return catalog.alter_table(name, [_CHANGES[kind](**arguments) for kind, arguments in steps])
