"""MERGE INTO: Spark joins target and source once; the first matching WHEN clause applies to each joined row."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.base.errors import ColumnNotFound, SchemaMismatch, WriteError
from paimon_nb.base.identifier import quote
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.registry import did_you_mean
from paimon_nb.session.core.result import Result, message_result
from paimon_nb.session.execute.dml_target import (
    RenderExpression,
    Target,
    open_target,
    with_nested_value,
    with_positional_names,
)
from paimon_nb.session.execute.schema_merging import SchemaMerging, is_case_sensitive, merging_of, with_merged_schema
from paimon_nb.session.execute.update_delete import KIND, render_or_default
from paimon_nb.session.query.projection import default_value_text
from paimon_nb.sql.grammar.query import is_metadata_column
from paimon_nb.table.write.dml_checks import check_merge, check_merge_update

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, DataFrame

    from paimon_nb.format.types import DataType
    from paimon_nb.session.core.statement_context import StatementContext
    from paimon_nb.spark.scan.located_rows import LocatedRows
    from paimon_nb.statements import Merge, MergeClause

_KINDS = {"insert": 0, "update": 2, "delete": 3}
_IN_TARGET, _IN_SOURCE, _WHICH = "__paimon_in_target", "__paimon_in_source", "__paimon_which"


@dataclass(frozen=True, slots=True)
class _Action:
    """A WHEN clause with resolved columns."""

    clause: MergeClause
    assigned: list[tuple[str, tuple[str, ...], str]]
    """(column, path inside it, SQL of the value)."""


def merge(context: StatementContext, statement: Merge) -> Result:
    """Run all clauses in one commit.

    Raises:
        UnsupportedOperation: the table type or merge engine does not support it, or a key column would change.
        WriteError: a target row matches several source rows.
    """
    target = open_target(context, statement)
    actions_by_match = {(c.on, c.action) for c in statement.clauses}
    check_merge(
        target.table.store,
        deletes=any(action == "delete" for _, action in actions_by_match),
    )
    assert statement.target is not None
    rules = merging_of(context.session, statement.target.options)
    if statement.evolve:
        rules = SchemaMerging(widen=True, case_sensitive=is_case_sensitive(context.session))
    if rules is not None:
        target = _with_new_columns(target, statement, rules)
        statement = replace(statement, evolve=True)
    rows, source = target.rows()
    joined, actions = _join_source(target, statement, rows)
    from paimon_nb.spark.errors import spark_errors
    from paimon_nb.spark.write.staged_rows import staged_rows

    with spark_errors(context.text, statement.span):
        position_columns = source.carried if source is not None else ()
        changes = _changed_rows(target, joined, actions, position_columns, evolve=statement.evolve)
        if statement.takes_any_match:
            changes = _with_one_match(target, changes, source is not None)
        with staged_rows(changes, target.table.store) as once:  # read several times below; rand() must not change
            if any(on == "matched" for on, _ in actions_by_match):
                _check_single_match(target, once, source is not None)
            once = once.where(f"{KIND} IS NOT NULL")
            counts = {r[0]: r[1] for r in once.groupBy(KIND).count().collect()}
            ids = _commit_changes(target, once, source, actions)
    counted = ", ".join(
        f"{counts.get(_KINDS[action], 0):,} {done}"
        for action, done in (("insert", "inserted"), ("update", "updated"), ("delete", "deleted"))
    )
    name = str(target.table.name)
    where = f" in snapshot {', '.join(map(str, ids))}" if ids else " (no new snapshot)"
    return message_result(f"{counted} rows in {name}{where}", snapshots=[(name, i) for i in ids])


def _with_new_columns(target: Target, statement: Merge, rules: SchemaMerging) -> Target:
    """The target with the clauses' new columns: all source columns for `*`, else the assigned ones."""
    from paimon_nb.spark.types import fields_of_spark

    assert statement.source is not None
    assert statement.target is not None
    source_span = statement.source
    source = target.run_sql([], lambda render, _: f"SELECT * FROM {render(source_span)}")
    fields = tuple(f for f in fields_of_spark(source.schema) if not is_metadata_column(f.name))
    if not any(c.star for c in statement.clauses):
        named = {rules.key(name[-1]) for c in statement.clauses for name, _ in c.assignments}
        if not statement.evolve:  # the setting, unlike the statement's own words, keeps the types of assigned columns
            named -= {rules.key(name) for name in target.table.schema.names}
        fields = tuple(f for f in fields if rules.key(f.name) in named)
    table = with_merged_schema(target.context.session, statement.target.parts, target.table, fields, rules)
    return replace(target, table=table)


def _join_source(target: Target, statement: Merge, rows: DataFrame) -> tuple[DataFrame, list[_Action]]:
    """The join, columns by position: clause number, a struct of values per clause, target and source flags, target columns.

    The join type keeps only rows that a clause handles.
    """
    clause_kinds = {c.on for c in statement.clauses}
    join = {
        (False, False): "INNER", (True, False): "RIGHT", (False, True): "LEFT", (True, True): "FULL",
    }["not matched" in clause_kinds, "not matched by source" in clause_kinds]  # fmt: skip
    actions: list[_Action] = []
    target_alias, source_alias = quote(target.alias), quote(statement.source_alias or "__paimon_source")

    def join_sql(render: RenderExpression, views: Sequence[str]) -> str:
        assert statement.source is not None
        assert statement.condition is not None
        source = f"SELECT *, true AS {_IN_SOURCE} FROM {render(statement.source)}"
        columns = [c for c in target.context.session.spark.sql(source, args=target.values()).columns if c != _IN_SOURCE]
        scopes = _name_scopes(target, statement, columns)
        actions.extend(
            _clause_action(target, statement, c, render, scopes[c.on], source_alias, columns) for c in statement.clauses
        )
        values = [
            f"CASE WHEN {_WHICH} = {n} THEN struct({', '.join(f'({v}) AS v{i}' for i, (_, _, v) in enumerate(a.assigned))}) END"
            for n, a in enumerate(actions)
            if a.assigned
        ]
        return (
            f"SELECT {_matching_clause_sql(statement, render, scopes, target_alias, source_alias)} AS {_WHICH}, {''.join(v + ', ' for v in values)}"
            f"{target_alias}.{_IN_TARGET}, {source_alias}.{_IN_SOURCE}, {target_alias}.* "
            f"FROM (SELECT *, true AS {_IN_TARGET} FROM {views[0]}) AS {target_alias} "
            f"{join} JOIN ({source}) AS {source_alias} ON ({render(statement.condition)})"
        )

    return with_positional_names(target.run_sql([rows], join_sql)), actions


Scope = tuple[frozenset[str], str]
"""Names that both sides have, and the side that they denote in a clause that sees only one side."""


def _name_scopes(target: Target, statement: Merge, source: Sequence[str]) -> dict[str, Scope]:
    shared_names = frozenset(n.lower() for n in target.table.schema.names) & frozenset(c.lower() for c in source)
    return {
        "matched": (frozenset(), ""),
        "not matched": (shared_names, statement.source_alias or "__paimon_source"),
        "not matched by source": (shared_names, target.alias),
    }


def _matching_clause_sql(
    statement: Merge, render: RenderExpression, scopes: dict[str, Scope], target_alias: str, source_alias: str
) -> str:
    """SQL for the number of the first matching clause; NULL if none matches."""
    match_conditions = {
        "matched": f"{target_alias}.{_IN_TARGET} IS NOT NULL AND {source_alias}.{_IN_SOURCE} IS NOT NULL",
        "not matched": f"{target_alias}.{_IN_TARGET} IS NULL",
        "not matched by source": f"{source_alias}.{_IN_SOURCE} IS NULL",
    }
    cases = [
        f"WHEN {match_conditions[c.on]}"
        + (f" AND ({render(c.condition, scopes[c.on])})" if c.condition is not None else "")
        + f" THEN {n}"
        for n, c in enumerate(statement.clauses)
    ]
    return f"CASE {' '.join(cases)} END"


def _clause_action(
    target: Target,
    statement: Merge,
    clause: MergeClause,
    render: RenderExpression,
    scope: Scope,
    other: str,
    source: Sequence[str],
) -> _Action:
    if clause.star:
        key = str if is_case_sensitive(target.context.session) else str.lower
        folded = {key(c): c for c in source}
        assigned: list[tuple[str, tuple[str, ...], str]] = []
        for name in target.table.schema.names:
            if key(name) not in folded and statement.evolve:
                continue  # an update keeps it, an insert uses its default
            if key(name) not in folded:
                raise ColumnNotFound(
                    f"the source of the MERGE has no column {name!r} for {clause.action.upper()} *",
                    hint=did_you_mean(name, source)
                    or f"source columns: {', '.join(source)}; or assign columns by name",
                    column=name,
                )
            assigned.append((name, (), f"{other}.{quote(folded[key(name)])}"))
    else:
        assigned = [
            (c, p, render_or_default(lambda span: render(span, scope), v, target, c))
            for c, p, v in target.resolved_assignments(clause.assignments)
        ]
    if clause.action == "insert" and any(path for _, path, _ in assigned):
        raise SchemaMismatch("INSERT cannot assign nested fields", hint="use named_struct(...) for a ROW column")
    if clause.action == "update":
        assigned = _without_own_keys(target, statement, render, assigned)
        check_merge_update(target.table.store, [c for c, _, _ in assigned])
    return _Action(clause, assigned)


def _without_own_keys(
    target: Target, statement: Merge, render: RenderExpression, assigned: list[tuple[str, tuple[str, ...], str]]
) -> list[tuple[str, tuple[str, ...], str]]:
    """The assignments without those that keep a key column's value: the column itself, or one that ON equates with it."""
    from paimon_nb.sql.pushdown import equal_columns

    keys = set(target.table.primary_keys)
    if not keys:
        return assigned
    assert statement.condition is not None
    own, condition = target.alias.lower(), render(statement.condition)
    other = (statement.source_alias or "__paimon_source").lower()

    def keeps_key_value(column: str, value: str) -> bool:
        equalities = equal_columns(f"{value} = {value}")
        if not equalities:
            return False
        side = next(iter(equalities))[0]
        own_names = {(own, column.lower()), ("", column.lower())}
        equal = equal_columns(condition, _wider_integer_types(target.table.schema.field(column).type))
        return side in own_names or any(
            (a in own_names and _is_same_column(b, side, other)) or (b in own_names and _is_same_column(a, side, other))
            for a, b in equal
        )

    return [(c, p, v) for c, p, v in assigned if c not in keys or p or not keeps_key_value(c, v)]


_INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")


def _wider_integer_types(type_: DataType) -> Sequence[str]:
    """Integer types that a comparison may cast to without changing the value."""
    name = getattr(type_, "root", "")
    return _INTEGERS[_INTEGERS.index(name) :] if name in _INTEGERS else ()


def _is_same_column(a: tuple[str, str], b: tuple[str, str], other: str) -> bool:
    """Whether two column names are the same; an unqualified name belongs to the source."""
    return (a[0] or other, a[1]) == (b[0] or other, b[1])


def _changed_rows(
    target: Target,
    joined: DataFrame,
    actions: Sequence[_Action],
    position_columns: Sequence[str],
    *,
    evolve: bool,
) -> DataFrame:
    """The table's columns with new values, KIND (NULL: no change), a match flag, and the target's row position columns.

    Args:
        position_columns: names of the columns after the table's own in the target's rows.
        evolve: nested fields that the source lacks are NULL; UPDATE * keeps their values.
    """
    from pyspark.sql import functions as F

    from paimon_nb.spark.types import spark_type

    names = joined.columns
    with_values = [a for a in actions if a.assigned]
    first = 1 + len(with_values) + 2
    current = [F.col(n) for n in names[first:]]  # the target's columns (and places), then _IN_TARGET again
    fields = target.table.schema.fields
    by_clause: list[list[Column]] = []
    for action in actions:
        struct = names[1 + with_values.index(action)] if action.assigned else None
        types = joined.select(f"{struct}.*").schema.fields if struct else []
        assigned: dict[tuple[str, tuple[str, ...]], Column] = {}
        keeps = evolve and action.clause.star and action.clause.action == "update"
        for i, (column, path, _) in enumerate(action.assigned):
            stored = current[list(target.table.schema.names).index(column)] if keeps else None
            value = F.col(f"{struct}.v{i}")
            assigned[column, path] = target.with_nested_fields_matched(
                value, types[i].dataType, (column, *path), fill=evolve, current=stored
            )
        by_clause.append(_row_of_clause(target, action.clause.action, assigned, current))
    which = F.col(names[0])
    kind = F.lit(None).cast("tinyint")
    out: list[Column] = []
    for i, field in enumerate(fields):
        value = current[i].cast(spark_type(field.type))
        for n, values in enumerate(by_clause):
            value = F.when(which == n, values[i].cast(spark_type(field.type))).otherwise(value)
        out.append(value.alias(field.name))
    for n, action in enumerate(actions):
        kind = F.when(which == n, F.lit(_KINDS[action.clause.action]).cast("tinyint")).otherwise(kind)
    out += [kind.alias(KIND), (F.col(names[first - 2]) & F.col(names[first - 1])).alias("__paimon_matched")]
    out += [current[len(fields) + i].alias(name) for i, name in enumerate(position_columns)]
    return joined.select(*out)


def _row_of_clause(
    target: Target, action: str, assigned: dict[tuple[str, tuple[str, ...]], Column], current: Sequence[Column]
) -> list[Column]:
    """The row that a clause produces."""
    from pyspark.sql import functions as F

    fields = target.table.schema.fields
    if action == "delete":
        return list(current[: len(fields)])
    new_values = {
        f.name: F.lit(default_value_text(f)) if action == "insert" else current[i] for i, f in enumerate(fields)
    }
    for (column, path), value in assigned.items():
        new_values[column] = with_nested_value(new_values[column], path, value)
    return [new_values[f.name] for f in fields]


def _with_one_match(target: Target, changes: DataFrame, has_positions: bool) -> DataFrame:
    """The changes with any one of the source rows that a target row matches."""
    row = [name.strip("`") for name in _row_columns(target, has_positions)]
    matched = changes.where("__paimon_matched").dropDuplicates(row)
    return matched.unionByName(changes.where("NOT coalesce(__paimon_matched, false)"))


def _row_columns(target: Target, has_positions: bool) -> list[str]:
    """The columns that tell a target row from others."""
    from paimon_nb.spark.scan.located_rows import FILE, ROW

    return [FILE, ROW] if has_positions else [quote(k) for k in target.table.primary_keys]


def _check_single_match(target: Target, changes: DataFrame, has_positions: bool) -> None:
    """Raises WriteError if a target row matches several source rows: Java rejects it for all clause conditions, too."""
    row = _row_columns(target, has_positions)
    duplicate = changes.where("__paimon_matched").groupBy(*row).count().where("count > 1").first()
    if duplicate is not None:
        key_values = {} if has_positions else {k: duplicate[i] for i, k in enumerate(target.table.primary_keys)}
        raise WriteError(
            f"{target.table.name}: a row matches {duplicate['count']} rows of the source"
            + (f": {key_values}" if key_values else ""),
            hint="make the source unique in the columns of ON, for example with GROUP BY or SELECT DISTINCT",
        )


def _commit_changes(
    target: Target, changed: DataFrame, source: LocatedRows | None, actions: Sequence[_Action]
) -> list[int]:
    from paimon_nb.spark.scan.located_rows import FILE, ROW
    from paimon_nb.spark.write.column_update import change_columns
    from paimon_nb.spark.write.row_level_write import change_rows
    from paimon_nb.spark.write.table_write import write

    names = [quote(n) for n in target.table.schema.names]
    if source is None:
        return list(write(changed.select(*names, KIND), target.table, kinds=KIND).snapshots)
    assigned = {column for a in actions if a.clause.action == "update" for column, _, _ in a.assigned}
    if target.table.store.evolves_data:
        updated, inserted = (changed.where(f"{KIND} = {_KINDS[what]}") for what in ("update", "insert"))
        removed = None
        if any(a.clause.action == "delete" for a in actions):
            removed = changed.where(f"{KIND} = {_KINDS['delete']}").select(FILE, ROW)
        return change_columns(target.table, source, updated, assigned, inserted.select(*names), removed)[0]
    deleted = changed.where(f"{KIND} <> {_KINDS['insert']}").select(FILE, ROW)
    added = changed.where(f"{KIND} <> {_KINDS['delete']}").select(*names, *source.carried)
    ids, _, _ = change_rows(target.table, source, deleted, added, assigned)
    return ids
