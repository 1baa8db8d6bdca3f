"""Checks the text of a cell without running it: syntax, tables, columns, options, procedures. Starts no Spark.

The errors are those that the run raises. A name is reported only if the run cannot find it either: tables that an earlier statement
of the text creates are known, and after a statement whose effect is not known here, missing tables are not reported.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import field
from typing import TYPE_CHECKING

from paimon_nb.base.errors import (
    CatalogNotFound,
    DatabaseNotFound,
    PaimonError,
    SchemaMismatch,
    SqlAnalysisError,
    SqlSyntaxError,
    TableNotFound,
)
from paimon_nb.base.identifier import quote
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.registry import nearest_known_name
from paimon_nb.options import validate_table_options
from paimon_nb.options.spelling import check_no_misspelled_options
from paimon_nb.session.query.computed_columns import computed_columns
from paimon_nb.session.query.error_location import span_named_by_error
from paimon_nb.session.query.frames_and_files import frame_variable, missing_file
from paimon_nb.session.query.new_table_schema import new_table_schema
from paimon_nb.session.query.projection import column_named
from paimon_nb.session.query.run_query import known_to_spark, with_position
from paimon_nb.session.query.stored_views import find_view
from paimon_nb.sql.column_scopes import FoundColumn, ScopeReader, Source
from paimon_nb.sql.parse import parse, parse_statement, split_statements
from paimon_nb.statements import (
    AlterTable,
    AlterView,
    Analyze,
    Call,
    CreateCatalog,
    CreateDatabase,
    CreateFunction,
    CreateTable,
    CreateView,
    Delete,
    Describe,
    DropCatalog,
    DropDatabase,
    DropFunction,
    DropTable,
    DropView,
    Explain,
    Insert,
    Merge,
    Query,
    RowChange,
    Show,
    ShowCreate,
    Span,
    SparkCommand,
    Statement,
    StatementSet,
    Truncate,
    Undrop,
    Update,
    Use,
    VersionAsOf,
)
from paimon_nb.syntax.lexer import tokens
from paimon_nb.syntax.queries import expression_tree
from paimon_nb.syntax.tree import Call as FunctionCall
from paimon_nb.syntax.tree import Composite, Select, Star, Values

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from paimon_nb.session.core.session import Session
    from paimon_nb.statements import TableRef
    from paimon_nb.syntax.lexer import Token
    from paimon_nb.syntax.tree import Node
    from paimon_nb.table.tables.table import Table

Names = tuple[str, ...]
MAX_LENGTH = 100_000
"""Longer texts are mostly data."""
_FULL_NAME = 3


@dataclass(frozen=True, slots=True)
class NamedThing:
    """A name in the text that was found."""

    span: Span
    kind: str
    """table, column, procedure."""
    table: Table | None = None
    name: str = ""
    """The column, in the table's spelling, or the procedure."""


@dataclass(slots=True)
class Checked:
    """What a text means, as far as it is known before it runs."""

    problems: list[PaimonError] = field(default_factory=list)
    """The facts `start` and `stop` locate each in the text."""
    names: list[NamedThing] = field(default_factory=list)


def check_text(session: Session | None, text: str, *, catalog: str | None = None, known: Iterable[str] = ()) -> Checked:
    """Check all statements of a text. Nothing is executed.

    Args:
        session: None checks the syntax only.
        text: statements of both dialects, as `run_text` takes them.
        catalog: the catalog in which the text will run; None is the current one.
        known: names of queries that will be put in front of the text.
    """
    checked = Checked()
    if len(text) > MAX_LENGTH:
        return checked
    try:
        all_tokens = tokens(text)
        parts = split_statements(all_tokens)
    except SqlSyntaxError as error:
        checked.problems.append(error)
        return checked
    checker = None if session is None else _Checker(session, text, all_tokens, checked, catalog, known)
    for part in parts:
        try:
            parsed = parse_statement(text, part)
        except SqlSyntaxError as error:
            checked.problems.append(error)
        except RecursionError:
            checked.problems.append(_nested_too_deeply(text, part))
        else:
            if checker is not None:
                checker.statement(parsed)
    return checked


def check_statement(session: Session, text: str, statement: Statement) -> Checked:
    """Check one statement of a text. Nothing is executed.

    Args:
        statement: an element of `parse(text)`.
    """
    checked = Checked()
    if statement.span.stop - statement.span.start <= MAX_LENGTH:
        _Checker(session, text, tokens(text), checked, None, ()).statement(statement)
    return checked


def _nested_too_deeply(text: str, part: list[Token]) -> PaimonError:
    """The error of `parse` for a statement with too many brackets, at the statement."""
    try:
        parse(text[part[0].start : part[-1].stop])
    except SqlSyntaxError as error:
        error.facts |= {"sql": text, "start": part[0].start, "stop": part[0].stop}
        return error
    return SqlSyntaxError("the statement is nested too deeply", sql=text, start=part[0].start, stop=part[0].stop)


class _Checker:
    """The state of the session as the statements of the text would leave it."""

    def __init__(
        self,
        session: Session,
        text: str,
        found: list[Token],
        checked: Checked,
        catalog: str | None,
        known: Iterable[str],
    ) -> None:
        """`found`: the tokens of the text."""
        self.session, self.text, self.tokens, self.checked = session, text, found, checked
        self.catalog, self.database = session.current_catalog, session.current_database
        if catalog is not None and catalog in session.catalogs:
            self.catalog, self.database = catalog, session.catalogs[catalog].default_database
        self.created_or_altered: dict[Names, Names | None] = {self._full((name,)): None for name in known}
        """Tables and views that earlier statements create or change: their columns, None: not known."""
        self.is_certain = True
        """Whether the tables of the catalogs are known: no earlier statement may have created or altered others."""

    def _tokens_in(self, span: Span) -> list[Token]:
        return [t for t in self.tokens if span.start <= t.start and t.stop <= span.stop]

    def statement(self, parsed: Statement) -> None:
        """Check one statement, then note what it changes."""
        try:
            self._check(parsed)
        except PaimonError as error:
            self._report(error, parsed.span)
        self._record_definition(parsed)

    def _report(self, error: PaimonError, span: Span) -> None:
        if "start" not in error.facts:
            with_position(error, self.text, span_named_by_error(error, self.text, span))
        self.checked.problems.append(error)

    def _check(self, parsed: Statement) -> None:
        match parsed:
            case Query():
                self._check_query(parsed)
            case Insert():
                self._check_insert(parsed)
            case StatementSet():
                for insert in parsed.inserts:
                    self.statement(insert)
            case RowChange():
                self._check_row_change(parsed)
            case CreateTable(query=Query() as query) | CreateView(query=Query() as query):
                self._check_query(query)
            case CreateTable(like=None, query=None, temporary=False):
                self._check_definition(parsed)
            case Call():
                self._check_call(parsed)
            case Explain(statement=Statement() as explained):
                self.statement(explained)
            case (
                AlterTable(if_exists=False) | Describe(what="table") | ShowCreate(what="table") | Truncate() | Analyze()
            ):
                self._whole_table(parsed.name, parsed.span)
            case DropTable(if_exists=False, temporary=False):
                self._whole_table(parsed.name, parsed.span)
            case Show(name=(_, *_) as name, what="partitions" | "tags" | "branches" | "columns"):
                self._whole_table(tuple(name), parsed.span)

    # -- names of tables

    def _full(self, parts: Names) -> Names:
        """[catalog.]database.table with the catalog and database at this place of the text."""
        return (self.catalog, self.database)[: _FULL_NAME - len(parts)] + parts

    def _columns_of(self, ref: TableRef) -> Names | None:
        """The columns of a table reference; None: not known.

        Raises:
            PaimonError: the table does not exist, or cannot be read; as the run raises it.
        """
        if ref.function is not None or ref.file:
            return None
        check_no_misspelled_options(ref.options)
        parts = ref.parts
        last = parts[-1]
        if len(parts) == 1 and (last in self.session.views or last in self.session.temporary):
            return None
        if len(parts) == 2 and parts[0].lower() == "global_temp":
            return None
        return self._table_columns(ref)

    def _table_columns(self, ref: TableRef) -> Names | None:
        parts = self._full(ref.parts)
        base = (*parts[:-1], parts[-1].split("$")[0])
        if base in self.created_or_altered or self.session.temporary_name(ref.parts) is not None:
            return self.created_or_altered.get(base) if parts == base else None
        if parts[1] == "sys":
            return None
        try:
            table = self.session.table(parts)
        except (TableNotFound, DatabaseNotFound, CatalogNotFound) as error:
            if not self.is_certain or self._is_elsewhere(ref, parts):
                return None
            missing = missing_file(ref) if isinstance(error, DatabaseNotFound) else None
            raise with_position(missing or error, self.text, ref.span) from None
        system = self.session.find(parts).name.system
        if system is not None:
            self._check_system_table(table, system, ref)
            return None
        self.checked.names.append(NamedThing(self._name_span(ref), "table", table))
        if isinstance(ref.travel, VersionAsOf):
            self._check_version(table, ref, ref.travel.version)
        columns = tuple(table.schema.names)
        return (*columns, *(c.name for c in computed_columns(table.schema.options)))

    def _check_version(self, table: Table, ref: TableRef, version: str) -> None:
        """Raises the error of the run: no snapshot and no tag has this name."""
        from paimon_nb.table.read.plan.time_travel import resolve_time_travel, time_travel_of_version

        try:
            resolve_time_travel(table.store, time_travel_of_version(table.store, version))
        except PaimonError as error:
            start = self._name_span(ref).stop
            start += len(self.text[start : ref.span.stop]) - len(self.text[start : ref.span.stop].lstrip())
            raise with_position(error, self.text, Span(start, ref.span.stop)) from None

    def _is_elsewhere(self, ref: TableRef, parts: Names) -> bool:
        """Whether a name without a table is a stored view, a variable of the notebook or a table of Spark."""
        if find_view(self.session, ref) is not None or frame_variable(self.session, ref) is not None:
            return True
        return known_to_spark(self.session, ref.parts) or known_to_spark(self.session, parts)

    def _check_system_table(self, table: Table, system: str, ref: TableRef) -> None:
        from paimon_nb.table.tables.system import SYSTEM_TABLES

        if system.lower() not in SYSTEM_TABLES:
            try:
                table.system(system)  # raises the error of the run
            except TableNotFound as error:
                raise with_position(error, self.text, self._name_span(ref)) from None
        table.store.check_has_snapshots("system tables")
        self.checked.names.append(NamedThing(self._name_span(ref), "table", table, system))

    def _name_span(self, ref: TableRef) -> Span:
        """The span of the name, without time travel and hint."""
        for token in self._tokens_in(ref.span):
            if not (token.is_name or token.text == ".") or token.upper in ("FOR", "VERSION", "TIMESTAMP"):
                return Span(ref.span.start, len(self.text[: token.start].rstrip()))
        return ref.span

    def _whole_table(self, name: Names, span: Span) -> None:
        """The table of a statement that names no columns."""
        from paimon_nb.statements import TableRef

        words = self._tokens_in(span)
        for i, word in enumerate(words):
            if word.is_name and word.name == name[0] and i:
                last = min(i + 2 * (len(name) - 1), len(words) - 1)
                with self._reported(span):
                    self._columns_of(TableRef(name, Span(word.start, words[last].stop)))
                return

    @contextmanager
    def _reported(self, span: Span) -> Iterator[None]:
        """Reports the error of a block, which ends there."""
        try:
            yield
        except PaimonError as error:
            self._report(error, span)

    # -- statements

    def _check_query(self, query: Query) -> None:
        columns = self._columns_of_all(query.tables, query.span)
        if query.tree is not None:
            reader = ScopeReader(self.text, columns.get)
            reader.query(query.tree)
            self._record_columns(reader.found, query.tables)

    def _columns_of_all(self, refs: tuple[TableRef, ...], span: Span) -> dict[int, Names | None]:
        """The columns of table references by number; a missing table is reported."""
        found: dict[int, Names | None] = {}
        for number, ref in enumerate(refs):
            found[number] = None
            with self._reported(span):
                found[number] = self._columns_of(ref)
        return found

    def _record_columns(self, found: list[FoundColumn], refs: tuple[TableRef, ...]) -> None:
        tables = {n.span.start: n.table for n in self.checked.names if n.kind == "table" and not n.name}
        for column in found:
            span = column.node.span
            if column.is_unknown:
                self.checked.problems.append(_unknown_column(column, self.text))
            elif column.table is not None and (table := tables.get(refs[column.table].span.start)) is not None:
                self.checked.names.append(NamedThing(span, "column", table, column.column))

    def _check_insert(self, insert: Insert) -> None:
        if insert.target is not None:
            with self._reported(insert.span):
                columns, full_name = self._columns_of(insert.target), self._full(insert.target.parts)
                if columns is not None and full_name not in self.created_or_altered:
                    table = self.session.table(full_name)
                    for name in (*(insert.columns or ()), *insert.partition):
                        column_named(name, list(columns), table)
                    self._check_number_of_values(insert, table)
        if insert.query is not None:
            self._check_query(insert.query)

    def _check_number_of_values(self, insert: Insert, table: Table) -> None:
        """Each row of VALUES, and the columns of a SELECT without `*`, match the columns of the INSERT in number."""
        tree = None if insert.query is None else insert.query.tree
        static = {name.lower() for name, value in insert.partition.items() if value is not None}
        expected = insert.columns or tuple(n for n in table.schema.names if n.lower() not in static)
        if insert.by_name or computed_columns(table.schema.options):
            return
        rows: Sequence[tuple[int, Span]] = ()
        if insert.rows is not None:  # literals: the whole source is their place
            rows = [(len(row), insert.source) for row in insert.rows]
        match tree:
            case Values(rows=tuples):
                rows = [(_width(row), row.span) for row in tuples]
            case Select(items=items) if not any(isinstance(i, Star) for i in items):
                rows = [(len(items), Span(items[0].span.start, items[-1].span.stop))]
        for width, span in rows:
            if width != len(expected):
                raise SchemaMismatch(
                    f"{table.name}: {width} value{'s' * (width != 1)} for {len(expected)} column{'s' * (len(expected) != 1)}",
                    hint=f"the columns are {', '.join(expected[:8])}{', ...' if len(expected) > 8 else ''}",
                    sql=self.text, start=span.start, stop=span.stop,
                )  # fmt: skip

    def _check_row_change(self, change: RowChange) -> None:
        assert change.target is not None
        known: dict[int, Names | None] = {}
        with self._reported(change.span):
            known[-1] = self._columns_of(change.target)
        known |= self._columns_of_all(change.tables, change.span)
        if (
            isinstance(change, Merge)
            or known.get(-1) is None
            or self._full(change.target.parts) in self.created_or_altered
        ):
            return
        table = self.session.table(self._full(change.target.parts))
        if isinstance(change, Update):
            with self._reported(change.span):
                for parts, _ in change.assignments:
                    if len(parts) == 1:  # others may name a table or a field of a column
                        column_named(parts[0], list(known[-1] or ()), table)
        if isinstance(change, Update | Delete) and change.where is not None and not change.tables:
            tree = expression_tree(self._tokens_in(change.where))
            if tree is not None:
                reader = ScopeReader(self.text, known.get)
                qualifier = (change.target.alias or change.target.parts[-1]).lower()
                reader.expression(tree, [Source(qualifier, known[-1], 0)])
                self._record_columns(reader.found, (change.target,))

    @staticmethod
    def _check_definition(create: CreateTable) -> None:
        """The columns, keys and options of a new table, except those that only Spark or a connector knows."""
        definition = create.definition
        is_paimon = definition.provider in (None, "paimon") and "connector" not in definition.options
        if not is_paimon or definition.location is not None or not all(c.is_physical for c in definition.columns):
            return
        schema = new_table_schema(definition)
        validate_table_options(schema.options)
        check_no_misspelled_options(schema.options)  # the run only warns of them
        from paimon_nb.catalog.schema_validation import check_schema  # loads the rules of writing

        check_schema(schema)

    def _check_call(self, call: Call) -> None:
        from paimon_nb.procedures import find_procedure

        procedure = find_procedure(call.procedure)
        words = self._tokens_in(call.span)
        at = next((t for t in words if t.is_name and t.name.lower() == procedure.name), None)
        if at is not None:
            self.checked.names.append(NamedThing(Span(at.start, at.stop), "procedure", name=procedure.name))
        if not call.parameters:
            procedure.bind(call.positional, call.named)

    # -- what a statement changes

    def _record_definition(self, parsed: Statement) -> None:
        match parsed:
            case CreateTable(definition=definition, like=None, query=None):
                self.created_or_altered[self._full(parsed.name)] = tuple(c.name for c in definition.columns) or None
            case CreateTable() | CreateView():
                self.created_or_altered[self._full(parsed.name)] = None
            case AlterTable() | AlterView():
                self.created_or_altered[self._full(parsed.name)] = None
                self.is_certain = False  # it may rename the table
            case Use():
                self._set_current_names(parsed)
            case Call() | CreateCatalog() | CreateDatabase() | DropCatalog() | DropDatabase() | SparkCommand():
                self.is_certain = False
            case CreateFunction() | DropFunction():
                self.is_certain = False
            case Undrop() | DropTable() | DropView():
                self.created_or_altered[self._full(parsed.name)] = None

    def _set_current_names(self, use: Use) -> None:
        """Names without a database mean those of another one."""
        is_catalog = use.kind == "catalog" or (use.kind == "either" and use.name[0] in self.session.catalogs)
        if len(use.name) == 2:
            self.catalog, self.database = use.name
        elif is_catalog and use.name[0] in self.session.catalogs:
            self.catalog, self.database = use.name[0], self.session.catalogs[use.name[0]].default_database
        elif is_catalog:
            self.is_certain = False
        else:
            self.database = use.name[0]


def _width(row: Node) -> int:
    """How many values a row of VALUES has."""
    match row:
        case Composite(kind="row", parts=parts):
            return len(parts)
        case FunctionCall(name=("ROW" | "row" | "struct" | "STRUCT",), arguments=arguments):
            return len(arguments)
    return 1


def _unknown_column(column: FoundColumn, text: str) -> SqlAnalysisError:
    """The error of a query with a column that none of its tables has, in Spark's words."""
    if column.is_unknown_source:
        source = column.node.parts[0]
        return SqlAnalysisError(
            f"{'.'.join(map(quote, column.node.parts))} cannot be resolved: no table in FROM has the name {quote(source)}",
            hint=f"FROM has {', '.join(map(quote, column.candidates))}",
            sql=text, start=column.node.span.start, stop=column.node.span.start + len(source),
        )  # fmt: skip
    near = nearest_known_name(column.column, column.candidates)
    written = ".".join(map(quote, column.node.parts))
    return SqlAnalysisError(
        f"A column, variable, or function parameter with name {written} cannot be resolved",
        hint=f"did you mean {quote(near)}?" if near else f"columns: {', '.join(column.candidates[:20])}",
        sql=text, start=column.node.span.start, stop=column.node.span.stop,
    )  # fmt: skip
