"""ALTER TABLE as a pure function: schema n and changes give schema n+1.

Source: Paimon `SchemaManager.java` (generateTableSchema); docs/spec/format.md section 4.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.base.errors import ColumnNotFound, FixedOption, SchemaChangeError
from paimon_nb.base.identifier import check_name
from paimon_nb.base.registry import did_you_mean
from paimon_nb.catalog.column_directives import column_of_directive, without_directive_options
from paimon_nb.catalog.key_index_rules import is_indexed
from paimon_nb.catalog.type_promotion import may_change_type
from paimon_nb.format.schema import FORMAT_TABLE, TableSchema, fields_with_keys, has_nullable_keys, with_new_ids
from paimon_nb.format.types import Array, DataField, DataType, Map, Multiset, Row, Vector, is_blob_type, parse_type
from paimon_nb.options import TABLE_OPTIONS, TableOptions, parse_names
from paimon_nb.statements.ddl import (
    AddColumn,
    AlterColumn,
    Change,
    DropColumn,
    DropPrimaryKey,
    RenameColumn,
    ResetOptions,
    SetComment,
    SetOptions,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_FILE_INDEX_OPTION = re.compile(r"file-index\.(?P<kind>[^.]+)\.(?P<column>[^.\[]+)(?P<rest>(\[.*\])?\..+)")
"""`file-index.bitmap.<column>.version`, also `...<column>[key].version`."""
_COLUMN_LIST_OPTIONS = (
    "bucket-key",
    "sequence.field",
    "rowkind.field",
    "record-level.time-field",
    "clustering.columns",
    "vector-field",
)


def apply_changes(schema: TableSchema, changes: Sequence[Change], *, has_data: bool, now_ms: int) -> TableSchema:
    """The next schema, as in Java also if it equals the latest one but for its id; `schema` itself without changes.

    Args:
        schema: the latest schema.
        changes: applied in order, all or none.
        has_data: whether a snapshot exists.

    Raises:
        SchemaChangeError, ColumnNotFound, FixedOption, BadOptionValue.
    """
    if not changes:
        return schema
    draft = _Draft(schema, has_data)
    for change in changes:
        _APPLY[type(change)](draft, change)
    return draft.finish(now_ms)


class _Draft:
    """A schema during changes."""

    def __init__(self, schema: TableSchema, has_data: bool) -> None:
        self.old, self.has_data = schema, has_data
        self.fields = list(schema.fields)
        self.options = dict(schema.options)
        self.primary_keys = list(schema.primary_keys)
        self.partition_keys = schema.partition_keys
        self.comment = schema.comment
        self.highest = schema.highest_field_id

    def next_id(self) -> int:
        self.highest += 1
        return self.highest

    def finish(self, now_ms: int) -> TableSchema:
        if has_nullable_keys(self.options) != has_nullable_keys(self.old.options):
            self.fields = fields_with_keys(self.fields, self.partition_keys, self.primary_keys, self.options)
        changed = replace(
            self.old,
            fields=tuple(self.fields),
            options=self.options,
            primary_keys=tuple(self.primary_keys),
            partition_keys=self.partition_keys,
            comment=self.comment,
            highest_field_id=self.highest,
        )
        if not self.fields:
            raise SchemaChangeError("a table needs at least one column", hint="DROP TABLE removes the table")
        from paimon_nb.catalog.schema_validation import check_schema, check_writable_types

        check_schema(changed)
        check_writable_types(changed, self.old)
        return replace(changed, id=self.old.id + 1, time_ms=now_ms)

    def edit(self, path: tuple[str, ...], edit: Callable[[list[DataField], int], None]) -> None:
        """Call `edit(siblings, index)` for the field at `path`, at any depth."""
        self.fields = _edit_field(self.fields, path, edit, path)

    def key_columns(self, path: tuple[str, ...]) -> tuple[bool, bool]:
        """Whether the path is a partition key, a primary key."""
        top = path[0] if len(path) == 1 else None
        return top in self.old.partition_keys, top in self.primary_keys


def _edit_field(
    fields: Sequence[DataField],
    path: tuple[str, ...],
    edit: Callable[[list[DataField], int], None],
    full_path: tuple[str, ...],
) -> list[DataField]:
    edited = list(fields)
    index = next((i for i, f in enumerate(edited) if f.name == path[0]), None)
    if index is None:
        raise ColumnNotFound(
            f"no column {'.'.join(full_path)!r}",
            hint=did_you_mean(path[0], [f.name for f in edited]),
            column=".".join(full_path),
        )
    if len(path) == 1:
        edit(edited, index)
    else:
        nested_type = _edit_field_inside_type(edited[index].type, path[1:], edit, full_path)
        edited[index] = replace(edited[index], type=nested_type)
    return edited


def _edit_field_inside_type(
    t: DataType, path: tuple[str, ...], edit: Callable[[list[DataField], int], None], full_path: tuple[str, ...]
) -> DataType:
    match t:
        case Row():
            return replace(t, fields=tuple(_edit_field(t.fields, path, edit, full_path)))
        case Array() | Multiset() if path[0] == "element" and not isinstance(t, Vector):
            return replace(t, element=_edit_nested(t.element, path[1:], edit, full_path))
        case Map() if path[0] == "value":
            return replace(t, value=_edit_nested(t.value, path[1:], edit, full_path))
    raise ColumnNotFound(
        f"no field {'.'.join(full_path)!r}",
        hint="use 'element' for array elements and 'value' for map values",
        column=".".join(full_path),
    )


def _edit_nested(
    t: DataType,
    remaining_path: tuple[str, ...],
    edit: Callable[[list[DataField], int], None],
    full_path: tuple[str, ...],
) -> DataType:
    if remaining_path:
        return _edit_field_inside_type(t, remaining_path, edit, full_path)
    element_field = [DataField(0, full_path[-1], t)]  # the element, edited like a column
    edit(element_field, 0)
    if element_field[0].default_value is not None:
        raise SchemaChangeError(
            f"{'.'.join(full_path)!r} cannot have a default: it is a value inside a column",
            hint=f"set the default of the whole column {full_path[0]!r}",
        )
    return element_field[0].type


# -- one function per kind of change


def _add_column(draft: _Draft, change: AddColumn) -> None:
    name = check_name(change.path[-1], "column")

    def insert_column(siblings: list[DataField]) -> list[DataField]:
        if any(f.name == name for f in siblings):
            if change.if_not_exists:
                return siblings
            raise SchemaChangeError(f"column {'.'.join(change.path)!r} exists already", hint="choose another name")
        top_level = len(change.path) == 1
        field_id = draft.next_id() if top_level else None
        field_type = parse_type(change.type, draft.next_id)
        if not field_type.nullable:
            raise SchemaChangeError(
                f"column {name!r} cannot be added as NOT NULL: rows written before have no value",
                hint="add it nullable, with a DEFAULT for new rows",
            )
        comment = change.comment
        if top_level and (converted := column_of_directive(name, field_type, comment)) is not None:
            field_type, comment = converted.type, converted.comment
            draft.options = converted.options(name, draft.options)
        field = DataField(draft.next_id() if field_id is None else field_id, name, field_type, comment, change.default)
        position = len(siblings)
        if change.first:
            position = 0
        elif change.after is not None:
            position = _index_of_field(siblings, change.after) + 1
        elif top_level and TableOptions(draft.options).raw.get("add-column-before-partition") == "true":
            keys = draft.old.partition_keys
            position = min((i for i, f in enumerate(siblings) if f.name in keys), default=position)
        return [*siblings[:position], field, *siblings[position:]]

    if len(change.path) == 1:
        draft.fields = insert_column(draft.fields)
        return

    def insert_into_parent(siblings: list[DataField], index: int) -> None:
        parent = siblings[index].type
        if not isinstance(parent, Row):
            raise SchemaChangeError(
                f"{'.'.join(change.path[:-1])!r} is {parent}, not a ROW",
                hint="only ROW columns can have nested columns",
            )
        siblings[index] = replace(
            siblings[index], type=replace(parent, fields=tuple(insert_column(list(parent.fields))))
        )

    draft.edit(change.path[:-1], insert_into_parent)


def _drop_column(draft: _Draft, change: DropColumn) -> None:
    is_partition_key, is_primary_key = draft.key_columns(change.path)
    if is_partition_key or is_primary_key:
        kind = "partition" if is_partition_key else "primary"
        raise SchemaChangeError(
            f"cannot drop {kind} key column {change.path[0]!r}", hint="keys are fixed; create a new table"
        )

    def remove_column(siblings: list[DataField], index: int) -> None:
        if len(siblings) == 1:
            raise SchemaChangeError("cannot drop the last column", hint="DROP TABLE removes the table")
        del siblings[index]

    if len(change.path) == 1 and any(f.name == change.path[0] for f in draft.fields):
        _refuse_indexed_column(draft, change.path, "drop")
        draft.options = without_directive_options(draft.options, change.path[0])
        _check_not_in_options(draft, change.path[0])
    try:
        draft.edit(change.path, remove_column)
    except ColumnNotFound:
        if not change.if_exists:
            raise


def _refuse_indexed_column(draft: _Draft, path: Sequence[str], operation: str) -> None:
    """Raises SchemaChangeError: the column has an index of the primary-key table."""
    if len(path) == 1 and is_indexed(draft.options, path[0]):
        raise SchemaChangeError(
            f"Cannot {operation} primary-key index column: [{path[0]}]",
            hint="its index would no longer fit; create a new table, or add a new column and copy the values",
        )


def _rename_column(draft: _Draft, change: RenameColumn) -> None:
    new = check_name(change.new_name, "column")
    if len(change.path) == 1 and any(f.name == change.path[0] and is_blob_type(f.type) for f in draft.fields):
        raise SchemaChangeError(
            f"Cannot rename BLOB column: [{change.path[0]}]", hint="its files and its options are found by its name"
        )
    _refuse_indexed_column(draft, change.path, "rename")
    if draft.key_columns(change.path)[0]:
        raise SchemaChangeError(
            f"cannot rename partition column {change.path[0]!r}", hint="partition directories contain its name"
        )

    def rename_column(siblings: list[DataField], index: int) -> None:
        if any(f.name == new for f in siblings):
            raise SchemaChangeError(f"column {new!r} exists already", hint="choose another name")
        siblings[index] = replace(siblings[index], name=new)

    draft.edit(change.path, rename_column)
    if len(change.path) == 1:
        old = change.path[0]
        draft.primary_keys = [new if k == old else k for k in draft.primary_keys]
        draft.options = _rename_in_options(draft.options, old, new)


def _rename_in_options(options: Mapping[str, str], old: str, new: str) -> dict[str, str]:
    """The options with a renamed column: bucket-key, sequence.field, fields.<old>.*, sequence groups, indexes."""

    def rename_in_list(names_text: str) -> str:
        return ",".join(new if part.strip() == old else part for part in names_text.split(","))

    renamed: dict[str, str] = {}
    for key, value in options.items():
        if key in _COLUMN_LIST_OPTIONS:
            value = rename_in_list(value)
        elif key.startswith("fields.") and key.count(".") >= 2:
            names, _, aspect = key.removeprefix("fields.").rpartition(".")
            key = f"fields.{rename_in_list(names)}.{aspect}"
            if aspect == "sequence-group":
                value = rename_in_list(value)
        elif key.startswith("file-index.") and key.endswith(".columns"):
            value = ",".join(_rename_indexed_column(part, old, new) for part in value.split(","))
        elif (index := _FILE_INDEX_OPTION.fullmatch(key)) and index["column"] == old:
            key = f"file-index.{index['kind']}.{new}{index['rest']}"
        renamed[key] = value
    return renamed


def _rename_indexed_column(indexed_column: str, old: str, new: str) -> str:
    """`c`, or `c[key]` for one key of a map."""
    column, bracket, map_key = indexed_column.strip().partition("[")
    return new + bracket + map_key if column == old else indexed_column


def _check_not_in_options(draft: _Draft, column: str) -> None:
    """Raises SchemaChangeError if an option uses the column: every later write would fail."""
    before = draft.options
    options_with_column = [k for k, v in before.items() if _rename_in_options({k: v}, column, column + "'") != {k: v}]
    if options_with_column:
        raise SchemaChangeError(
            f"cannot drop column {column!r}: option {options_with_column[0]!r} uses it",
            hint="RESET or change the option first, in the same ALTER TABLE or an earlier one",
            options=options_with_column,
        )


def _set_default_of_field(draft: _Draft, change: AlterColumn) -> None:
    def set_default(siblings: list[DataField], index: int) -> None:
        siblings[index] = replace(siblings[index], default_value=None if change.drop_default else change.default)

    draft.edit(_path_of_default(draft.fields, change.path), set_default)


def _path_of_default(fields: Sequence[DataField], path: tuple[str, ...]) -> tuple[str, ...]:
    """The field that has the default of a path: for an array's elements and a map's values the column itself.

    Their names in the path do not matter. Source: Paimon `SchemaManager.NestedColumnModifier`.
    """
    found: list[str] = []
    depth = 0
    while (field := next((f for f in fields if f.name == path[depth]), None)) is not None:
        found.append(field.name)
        steps, inner = _steps_into_collections(field.type)
        if depth == len(path) - 1 or (steps and depth + 1 + len(steps) >= len(path)):
            return tuple(found)
        if not isinstance(inner, Row):
            break
        found += steps
        depth += 1 + len(steps)
        fields = inner.fields
    return path


def _steps_into_collections(t: DataType) -> tuple[list[str], DataType]:
    """The names from a type to the elements of its arrays and the values of its maps, and their type."""
    steps = []
    while isinstance(t, Array | Map) and not isinstance(t, Vector):
        name, t = ("element", t.element) if isinstance(t, Array) else ("value", t.value)
        steps.append(name)
    return steps, t


def _alter_column(draft: _Draft, change: AlterColumn) -> None:
    if len(change.path) > 1 and (change.drop_default or change.default is not None):
        _set_default_of_field(draft, change)
        change = replace(change, default=None, drop_default=False)
        if change == AlterColumn(change.path):
            return
    is_partition_key, is_primary_key = draft.key_columns(change.path)
    options = TableOptions(draft.options)
    if is_primary_key and change.type is not None:
        # A key keeps being NOT NULL, or nullable, also where its type is written without it.
        change = replace(change, nullable=has_nullable_keys(draft.options))

    def change_column(siblings: list[DataField], index: int) -> None:
        field = siblings[index]
        if change.type is not None:
            field = replace(
                field, type=_changed_type(draft, field, change, is_partition_key or is_primary_key, options)
            )
        if change.nullable is not None and change.nullable != field.type.nullable:
            if is_primary_key or is_partition_key:
                raise SchemaChangeError(
                    f"cannot change nullability of key column {field.name!r}", hint="keys are fixed"
                )
            _check_may_become_not_null(field, change.nullable, options)
            field = replace(field, type=field.type.with_nullable(change.nullable))
        if change.comment is not None:
            field = replace(field, description=change.comment or None)
        if change.drop_default:
            field = replace(field, default_value=None)
        elif change.default is not None:
            field = replace(field, default_value=change.default)
        siblings[index] = field
        if change.first or change.after is not None:
            if change.after == field.name:
                raise SchemaChangeError(
                    f"column {field.name!r} cannot be placed after itself", hint="name another column"
                )
            if change.first and index == 0:
                raise SchemaChangeError(f"column {field.name!r} is the first already", hint="leave FIRST out")
            del siblings[index]
            siblings.insert(0 if change.first else _index_of_field(siblings, change.after or "") + 1, field)

    draft.edit(change.path, change_column)


def _check_may_become_not_null(field: DataField, nullable: bool, options: TableOptions) -> None:
    allowed = options.raw.get("alter-column-null-to-not-null.disabled", "true") == "false"
    if field.type.nullable and not nullable and not allowed:
        raise SchemaChangeError(
            f"column {field.name!r} cannot become NOT NULL: stored rows may contain NULL",
            hint="set 'alter-column-null-to-not-null.disabled' = 'false' if they do not",
        )


def _check_nested_nulls(name: str, old: DataType, new: DataType, options: TableOptions) -> None:
    """Raises SchemaChangeError if a value inside becomes NOT NULL. A field of a ROW that may be NULL itself always may."""
    match old, new:
        case (Row(), Row()):
            stored = {f.name: f for f in old.fields}
            pairs = [
                (f"{name}.{f.name}", stored[f.name].type, f.type, new.nullable) for f in new.fields if f.name in stored
            ]
        case (Array() | Multiset(), Array() | Multiset()):
            pairs = [(f"{name}.element", old.element, new.element, False)]
        case (Map(), Map()):
            pairs = [(f"{name}.value", old.value, new.value, False)]
        case _:
            return
    for path, before, after, never in pairs:
        if not never:
            _check_may_become_not_null(DataField(0, path, before), after.nullable, options)
        _check_nested_nulls(path, before, after, options)


def _changed_type(
    draft: _Draft, field: DataField, change: AlterColumn, is_key: bool, options: TableOptions
) -> DataType:
    new_type = parse_type(change.type or "")
    if change.nullable is not None:
        new_type = new_type.with_nullable(change.nullable)
    elif "NOT NULL" not in (change.type or "").upper():
        new_type = new_type.with_nullable(field.type.nullable)
    if new_type == field.type:
        return new_type
    if new_type.bare() != field.type.bare() and (is_blob_type(field.type) or is_blob_type(new_type)):
        raise SchemaChangeError(
            f"Cannot change column type involving BLOB: [{field.name}] {field.type} -> {new_type}",
            hint="add a new column and copy the values",
        )
    if new_type.bare() != field.type.bare():
        _refuse_indexed_column(draft, change.path, "update type of")
    _check_may_become_not_null(field, new_type.nullable, options)
    _check_nested_nulls(field.name, field.type, new_type, options)
    if is_key and new_type.bare() != field.type.bare():
        raise SchemaChangeError(
            f"cannot change the type of key column {field.name!r}",
            hint="rows would move to other buckets; create a new table",
        )
    explicit = options.raw.get("disable-explicit-type-casting", "false") != "true"
    if not may_change_type(field.type, new_type, allow_explicit=explicit):
        raise SchemaChangeError(
            f"column {field.name!r} cannot change from {field.type} to {new_type}",
            hint="add a new column and copy the values",
        )
    return _with_ids_of_stored_fields(field.type, new_type, draft.next_id)


def _with_ids_of_stored_fields(old: DataType, new: DataType, next_id: Callable[[], int]) -> DataType:
    """Keeps the ids of nested fields by name, so that old files stay readable; new fields get new ids."""
    match old, new:
        case (Row(), Row()):
            old_fields = {f.name: f for f in old.fields}

            def with_id_of_same_name(f: DataField) -> DataField:
                if (old_field := old_fields.get(f.name)) is not None:
                    return replace(f, id=old_field.id, type=_with_ids_of_stored_fields(old_field.type, f.type, next_id))
                return replace(f, id=next_id(), type=with_new_ids(f.type, next_id))

            return replace(new, fields=tuple(map(with_id_of_same_name, new.fields)))
        case (Array() | Multiset(), Array() | Multiset()) if old.root == new.root:
            return replace(new, element=_with_ids_of_stored_fields(old.element, new.element, next_id))
        case (Map(), Map()):
            return replace(new, value=_with_ids_of_stored_fields(old.value, new.value, next_id))
    return with_new_ids(new, next_id)


def _set_options(draft: _Draft, change: SetOptions) -> None:
    for key, value in change.options.items():
        if key == "comment":
            draft.comment = value
            continue
        if _is_unchanged(draft, key, value):
            continue
        if key in _KEYS and not draft.has_data:
            _set_keys(draft, key, value)
            continue
        _check_option(draft, key, draft.options.get(key), value)
        draft.options[key] = value


_KEYS = ("primary-key", "partition")


def _is_unchanged(draft: _Draft, key: str, value: str) -> bool:
    """Whether an option that can be fixed has this value already, in another form."""
    if key == "type":
        return value.lower() == draft.options.get(key, "table").lower()
    current = {"primary-key": tuple(draft.primary_keys), "partition": draft.partition_keys}.get(key)
    return bool(current) and parse_names(value) == current


def _drop_primary_key(draft: _Draft, _change: DropPrimaryKey) -> None:
    if draft.has_data:
        raise FixedOption(
            "the primary key of a table with data cannot be dropped",
            hint="CREATE TABLE ... AS SELECT copies the rows into a table without keys",
            option="primary-key",
        )
    draft.primary_keys = []


def _set_keys(draft: _Draft, key: str, value: str) -> None:
    """Keys of a table without keys and without snapshots. Raises FixedOption: it has some."""
    new_keys = parse_names(value)
    current_keys = tuple(draft.primary_keys) if key == "primary-key" else draft.partition_keys
    if current_keys and current_keys != new_keys:
        raise FixedOption(
            f"the {key.replace('-', ' ')} is ({', '.join(current_keys)})", hint="create a new table", option=key
        )
    if key == "primary-key":
        draft.primary_keys = list(new_keys)
    else:
        draft.partition_keys = new_keys
    draft.fields = fields_with_keys(draft.fields, draft.partition_keys, draft.primary_keys, draft.options)


def _reset_options(draft: _Draft, change: ResetOptions) -> None:
    for key in change.keys:
        if key == "comment":
            draft.comment = None
            continue
        if key == "primary-key":
            raise FixedOption("the primary key cannot be removed", hint="make a new table", option=key)
        if key == "bucket" and draft.has_data:
            raise FixedOption("option 'bucket' cannot be reset", hint="SET another number", option=key)
        _check_option(draft, key, draft.options.get(key), None)
        draft.options.pop(key, None)


def _check_option(draft: _Draft, key: str, old: str | None, new: str | None) -> None:
    if old == new:
        return
    if key in _KEYS:
        raise FixedOption(f"option {key!r} cannot be changed", hint="keys are fixed; create a new table", option=key)
    if key == "type" and FORMAT_TABLE in (old, new):
        raise FixedOption(
            "option 'type' cannot be changed: a table cannot become a format table, or the other way", hint="CREATE TABLE ... AS SELECT copies the rows",
            option=key,
        )  # fmt: skip
    if not draft.has_data:
        return
    option = TABLE_OPTIONS.get(key)
    if key == "bucket":
        before, after = old or "-1", new or "-1"
        if "-1" in (before, after):
            raise FixedOption(
                f"bucket cannot change from {before} to {after}: -1 uses another layout",
                hint="create a new table and INSERT INTO it", option=key,
            )  # fmt: skip
        return
    if key == "ignore-delete" and old == "true":
        raise FixedOption("ignore-delete cannot be disabled: deletes were already dropped", option=key)
    if key == "deletion-vectors.enabled":
        return  # the catalog checks the files: `deletion_vector_toggle`
    if option is not None and option.fixed_after_data:
        raise FixedOption(
            f"option {key!r} is fixed once the table has data", hint="create a new table and INSERT INTO it", option=key
        )


def _set_comment(draft: _Draft, change: SetComment) -> None:
    draft.comment = change.comment


def _index_of_field(siblings: Sequence[DataField], name: str) -> int:
    for i, field in enumerate(siblings):
        if field.name == name:
            return i
    raise ColumnNotFound(f"no column {name!r}", hint=did_you_mean(name, [f.name for f in siblings]), column=name)


_APPLY: Mapping[type[Change], Callable[..., None]] = {
    AddColumn: _add_column,
    DropColumn: _drop_column,
    RenameColumn: _rename_column,
    AlterColumn: _alter_column,
    SetOptions: _set_options,
    ResetOptions: _reset_options,
    DropPrimaryKey: _drop_primary_key,
    SetComment: _set_comment,
}


def is_schema_change(change: Change) -> bool:
    """Whether the change creates a new schema; other changes (tags, partitions, table rename) do not."""
    return type(change) in _APPLY
