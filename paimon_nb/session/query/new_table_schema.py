"""The schema of a new table, from its definition in CREATE TABLE."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import BadOptionValue, ColumnNotFound, SchemaMismatch
from paimon_nb.base.registry import did_you_mean
from paimon_nb.format.schema import TableSchema, create_schema
from paimon_nb.options import parse_names
from paimon_nb.session.query.watermark import watermark_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.statements import TableDef


def new_table_schema(definition: TableDef, fields: tuple[object, ...] | None = None) -> TableSchema:
    """Schema 0 of CREATE TABLE. Keys may be in clauses or in options, as in Paimon."""
    from paimon_nb.catalog.schema_validation import check_table_kind  # here, because queries do not need it

    check_table_kind(definition.options)
    # `type` is a kind of table, as in format-table; 'paimon' is Flink's name of the connector.
    options = {k: v for k, v in definition.options.items() if k != "connector" and (k, v) != ("type", "paimon")}
    primary = _keys_from_clause_or_option("primary-key", definition.primary_keys, options)
    partition = _keys_from_clause_or_option("partition", definition.partition_keys, options)
    if definition.location is not None:
        options["path"] = definition.location
    if definition.external:
        options["external"] = "true"
    takes_existing_columns = "path" in options and not definition.columns and not primary and not partition
    columns: Sequence[Any] = fields if fields is not None else ()
    if fields is None and not takes_existing_columns:
        columns = stored_columns(definition)
    names = [getattr(c, "name", None) or c[0] for c in columns]
    for what, keys in (("primary", primary), ("partition", partition)):
        for key in keys:
            if key not in names:
                is_computed = any(c.name == key and c.computed is not None for c in definition.columns)
                hint = (
                    "a computed column is not stored; use a stored column" if is_computed else did_you_mean(key, names)
                )
                raise ColumnNotFound(f"{what} key column {key!r} does not exist", hint=hint, column=key)
    _check_write_mode(options.get("write-mode"), primary)
    made = create_schema(columns, partition, primary, options, definition.comment)
    if definition.watermark is None:
        return made
    types = {f.name: str(f.type) for f in made.fields}
    if any(c.computed is not None and c.name == definition.watermark.column for c in definition.columns):
        return made  # Spark infers its type: see `_computed`
    return replace(made, options={**made.options, **watermark_options(definition.watermark, types)})


def _check_write_mode(mode: str | None, primary: tuple[str, ...]) -> None:
    """Check `write-mode`, an option of early releases that must agree with the primary key."""
    if (mode == "change-log" and not primary) or (mode == "append-only" and primary):
        raise BadOptionValue(
            f"'write-mode' of a table {'with' if primary else 'without'} a primary key cannot be {mode!r}",
            hint=f"leave 'write-mode' out, or {'leave PRIMARY KEY out' if primary else 'name a PRIMARY KEY'}",
            option="write-mode", value=mode,
        )  # fmt: skip


def stored_columns(definition: TableDef) -> tuple[tuple[str, Any, str | None, str | None], ...]:
    """Name, type, comment and default of each stored column. Raises SchemaMismatch: there is none."""
    stored = [c for c in definition.columns if c.is_physical]
    if not stored:
        raise SchemaMismatch("the table has no columns", hint="name at least one column and its type")
    return tuple((c.name, c.type, c.comment, c.default) for c in stored)


def _keys_from_clause_or_option(option: str, in_clause: tuple[str, ...], options: dict[str, str]) -> tuple[str, ...]:
    in_option = parse_names(options.pop(option, ""))
    if in_clause and in_option:
        raise BadOptionValue(
            f"option {option!r} and its clause are both set",
            hint="keep one of the two",
            option=option,
            value=",".join(in_option),
        )
    return in_clause or in_option
