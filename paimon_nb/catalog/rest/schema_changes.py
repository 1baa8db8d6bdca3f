"""ALTER TABLE's changes as the REST protocol writes them. Source: Paimon `SchemaChange.java`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.catalog.alter import apply_changes
from paimon_nb.format.types import DataField, Map, Row, parse_type
from paimon_nb.format.types.types import Array, Multiset
from paimon_nb.statements.ddl import (
    AddColumn,
    AlterColumn,
    Change,
    DropColumn,
    RenameColumn,
    ResetOptions,
    SetComment,
    SetOptions,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from paimon_nb.format.schema import TableSchema

Node = dict[str, Any]


def change_nodes(schema: TableSchema, changes: Sequence[Change], *, has_data: bool) -> list[Node]:
    """The JSON of the changes; [] if they change nothing.

    They are applied to `schema` first, so that a wrong change has the same error as in other catalogs.

    Raises: SchemaChangeError, ColumnNotFound, FixedOption, BadOptionValue.
    """
    nodes: list[Node] = []
    for change in changes:
        changed = apply_changes(schema, [change], has_data=has_data, now_ms=schema.time_ms)
        if changed is not schema:  # IF EXISTS and IF NOT EXISTS are decided here
            nodes += _NODES[type(change)](schema, change)
        schema = changed
    return nodes


def _add_column(schema: TableSchema, change: AddColumn) -> Iterable[Node]:
    parsed = parse_type(change.type)
    node: Node = {"action": "addColumn", "fieldNames": list(change.path), "dataType": parsed.to_json()}
    if change.comment is not None:
        node["comment"] = change.comment
    if change.first or change.after is not None:
        node["move"] = _move_json(change.path[-1], change.first, change.after)
    yield node
    if change.default is not None:
        yield _set_default(change.path, change.default)


def _drop_column(schema: TableSchema, change: DropColumn) -> Iterable[Node]:
    yield {"action": "dropColumn", "fieldNames": list(change.path)}


def _rename_column(schema: TableSchema, change: RenameColumn) -> Iterable[Node]:
    yield {"action": "renameColumn", "fieldNames": list(change.path), "newName": change.new_name}


def _alter_column(schema: TableSchema, change: AlterColumn) -> Iterable[Node]:
    names = list(change.path)
    if change.type is not None:
        new, written = parse_type(change.type), change.type.upper()
        yield {
            "action": "updateColumnType",
            "fieldNames": names,
            "newDataType": new.to_json(),
            "keepNullability": change.nullable is None and "NOT NULL" not in written,
        }
    if change.nullable is not None and change.nullable != _field_at(schema, change.path).type.nullable:
        yield {"action": "updateColumnNullability", "fieldNames": names, "newNullability": change.nullable}
    if change.comment is not None:
        yield {"action": "updateColumnComment", "fieldNames": names, "newComment": change.comment or None}
    if change.drop_default:
        yield _set_default(change.path, None)
    elif change.default is not None:
        yield _set_default(change.path, change.default)
    if change.first or change.after is not None:
        yield {"action": "updateColumnPosition", "move": _move_json(change.path[-1], change.first, change.after)}


def _set_options(schema: TableSchema, change: SetOptions) -> Iterable[Node]:
    for key, value in change.options.items():
        yield {"action": "setOption", "key": key, "value": value}


def _reset_options(schema: TableSchema, change: ResetOptions) -> Iterable[Node]:
    for key in change.keys:
        yield {"action": "removeOption", "key": key}


def _set_comment(schema: TableSchema, change: SetComment) -> Iterable[Node]:
    yield {"action": "updateComment", "comment": change.comment}


_NODES: dict[type[Change], Callable[..., Iterable[Node]]] = {
    AddColumn: _add_column,
    DropColumn: _drop_column,
    RenameColumn: _rename_column,
    AlterColumn: _alter_column,
    SetOptions: _set_options,
    ResetOptions: _reset_options,
    SetComment: _set_comment,
}


def _set_default(path: Sequence[str], value: str | None) -> Node:
    return {"action": "updateColumnDefaultValue", "fieldNames": list(path), "newDefaultValue": value}


def _move_json(name: str, first: bool, after: str | None) -> Node:
    if first:
        return {"fieldName": name, "referenceFieldName": None, "type": "FIRST"}
    return {"fieldName": name, "referenceFieldName": after, "type": "AFTER"}


def _field_at(schema: TableSchema, path: Sequence[str]) -> DataField:
    """The field at a path that exists: it was changed before."""
    found = schema.field(path[0])
    for name in path[1:]:
        inner = found.type
        match inner:
            case Row():
                found = next(f for f in inner.fields if f.name == name)
            case Array() | Multiset():
                found = DataField(0, name, inner.element)
            case Map():
                found = DataField(0, name, inner.value)
    return found
