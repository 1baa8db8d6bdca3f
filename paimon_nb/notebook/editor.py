"""What the editor of a %%paimon cell shows while the user types: problems, documentation, completions, and the formatted text.

Nothing is executed and no Spark starts. Offsets in requests and answers are those of the page, in UTF-16 units of the whole cell.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import PaimonError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.redact import redact_text
from paimon_nb.notebook.magics.active import current
from paimon_nb.session.execute.static_checks import NamedThing, check_text
from paimon_nb.session.query.engine_choice import DUCKDB
from paimon_nb.sql import tokens
from paimon_nb.sql.formatting import format_sql
from paimon_nb.sql.functions import FUNCTIONS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping

    from paimon_nb.format.types import DataField
    from paimon_nb.notebook.overview import Bounds
    from paimon_nb.session.core.session import Session
    from paimon_nb.sql.completion import Completion
    from paimon_nb.syntax.lexer import Token
    from paimon_nb.table.tables.table import Table

Answer = dict[str, Any]
MAX_CELL = 200_000
MAX_PROBLEMS = 100
MAX_COMPLETIONS = 2_000
_HEAD = re.compile(r"(?:[^\S\n]*\n|[^\S\n]*%(?!%?paimon\b)[^\n]*\n)*[^\S\n]*%%paimon\b([^\n]*)\n")
"""Empty lines and other magics, then the line of %%paimon."""
_ASSIGN = re.compile(r"\s*[A-Za-z_]\w*\s*<<\s*")
_CACHED_TABLES = 32


@dataclass(frozen=True, slots=True)
class Cell:
    """A %%paimon cell."""

    text: str
    start: int
    """Where its SQL starts, in characters."""
    arguments: argparse.Namespace

    @property
    def sql(self) -> str:
        return self.text[self.start :]


def read_cell(text: str) -> Cell | None:
    """The cell of a text; None: it is not a %%paimon cell, its arguments are wrong, or its SQL is DuckDB's."""
    from IPython.core.error import UsageError

    from paimon_nb.notebook.magics.arguments import split_arguments
    from paimon_nb.notebook.magics.paimon import cell_arguments

    head = _HEAD.match(text)
    if head is None or len(text) > MAX_CELL:
        return None
    try:
        arguments = cell_arguments().parse_args(split_arguments(head[1]))
    except (UsageError, PaimonError, SystemExit):
        return None
    if arguments.engine == DUCKDB:
        return None
    assign = _ASSIGN.match(text, head.end())
    return Cell(text, assign.end() if assign else head.end(), arguments)


def answer(request: Mapping[str, Any]) -> Answer | None:
    """The answer to a request of an editor; None for an unexpected one."""
    match request:
        case {"do": "check", "cell": str(text)}:
            return problems(text)
        case {"do": "describe", "cell": str(text), "at": int(at)}:
            return documentation(text, at)
        case {"do": "format", "cell": str(text)}:
            return formatted(text)
        case {"do": "complete", "cell": str(text), "at": int(at)}:
            return completions(text, at)
    return None


# -- problems


def problems(text: str) -> Answer:
    """Problems of a cell with their positions, and the spans of the names that were found."""
    cell = read_cell(text)
    if cell is None:
        return {"problems": [], "names": []}
    checked = _check(cell)
    units = _Units(text)
    found = [_problem(error, cell, units) for error in checked.problems[:MAX_PROBLEMS]]
    names = [[units.of(cell.start + n.span.start), units.of(cell.start + n.span.stop), n.kind] for n in checked.names]
    return {"problems": found, "names": sorted(names)}


def _check(cell: Cell) -> Any:
    session = _session()
    return check_text(session, cell.sql, catalog=cell.arguments.catalog, known=cell.arguments.snippets)


def _session() -> Session | None:
    """The session of this kernel, with the variables of the notebook; None: not connected yet."""
    if current.workbench is None:
        return None
    session = current.workbench.session
    if current.shell is not None:
        variables = current.shell.user_ns
        session.variables = lambda name: None if name in ("In", "Out") else variables.get(name)
    return session


def _problem(error: PaimonError, cell: Cell, units: _Units) -> Answer:
    start, stop = error.facts.get("start"), error.facts.get("stop")
    low = cell.start + (start if isinstance(start, int) else 0)
    high = cell.start + (stop if isinstance(stop, int) else len(cell.sql))
    low = min(low, len(cell.text))
    return {
        "start": units.of(low), "stop": units.of(max(low, min(high, len(cell.text)))), "kind": type(error).__name__,
        "message": redact_text(error.message), "hint": redact_text(error.hint or ""),
    }  # fmt: skip


class _Units:
    """Offsets in characters as offsets in UTF-16 units, and back."""

    def __init__(self, text: str) -> None:
        self.text, self.same = text, text.isascii() or max(text) <= "\uffff"

    def of(self, characters: int) -> int:
        """UTF-16 units in front of a character."""
        return characters if self.same else characters + sum(c > "\uffff" for c in self.text[:characters])

    def characters(self, units: int) -> int:
        """Characters in front of a UTF-16 unit."""
        units = max(0, units)
        if self.same:
            return min(units, len(self.text))
        left = units
        for i, c in enumerate(self.text):
            if left <= 0:
                return i
            left -= 1 + (c > "\uffff")
        return len(self.text)


# -- documentation


def documentation(text: str, at: int) -> Answer:
    """Documentation of the name at an offset: `title`, `lines` and its span; without `title`: nothing is known."""
    cell, units = read_cell(text), _Units(text)
    if cell is None:
        return {}
    offset = units.characters(at) - cell.start
    for thing in _check(cell).names:
        if thing.span.start <= offset <= thing.span.stop:
            title, lines = _describe(thing)
            span = thing.span.start, thing.span.stop
            break
    else:
        found = _described_token(cell.sql, offset)
        if found is None:
            return {}
        title, lines, span = found
    return {
        "title": redact_text(title), "lines": [redact_text(line) for line in lines if line],
        "start": units.of(cell.start + span[0]), "stop": units.of(cell.start + span[1]),
    }  # fmt: skip


def _describe(thing: NamedThing) -> tuple[str, list[str]]:
    try:
        if thing.kind == "procedure":
            return _describe_procedure(thing.name)
        assert thing.table is not None
        if thing.kind == "column":
            return describe_column(thing.table, thing.name)
        return describe_table(thing.table, thing.name)
    except (PaimonError, OSError) as error:  # the table may be damaged
        return thing.name or str(thing.table and thing.table.name), [
            error.message if isinstance(error, PaimonError) else str(error)
        ]


def describe_table(table: Table, system: str = "") -> tuple[str, list[str]]:
    """Title and lines of a table: kind, comment, rows, size, last commit. Reads metadata only."""
    import time

    from paimon_nb.notebook.overview import overview_tiles, read_stored_files, table_kind_labels

    store = table.store
    if system:
        return f"{table.name}${system}", ["system table of " + str(table.name)]
    lines = [" · ".join(table_kind_labels(store)), store.schema.comment or ""]
    if not store.is_format_table:
        latest = store.latest()
        tiles = overview_tiles(
            store, latest, read_stored_files(store, latest) if latest else None, int(time.time() * 1000)
        )
        texts = [f"last commit {t.value}" if t.label == "last commit" else f"{t.value} {t.label}" for t in tiles]
        lines.append(" · ".join(text for text in texts if not text.endswith("snapshots")))
    if table.primary_keys:
        lines.append("primary key " + ", ".join(table.primary_keys))
    lines.append(f"{len(store.schema.fields)} columns: " + ", ".join(f"{f.name} {f.type}" for f in store.schema.fields[:8]) + (", …" if len(store.schema.fields) > 8 else ""))  # fmt: skip
    return str(table.name), lines


def describe_column(table: Table, name: str) -> tuple[str, list[str]]:
    """Title and lines of a column: type, key, default, comment, least and greatest value. Reads metadata only."""
    schema = table.schema
    found = next((f for f in schema.fields if f.name == name), None)
    if found is None:
        return name, [f"computed column of {table.name}"]
    lines = [_role(table, found), found.description or ""]
    bounds = column_bounds(table).get(name)
    if bounds is not None:
        from paimon_nb.notebook.grid.texts import value_text

        if bounds.low is not None:
            lines.append(f"min {_short(value_text(bounds.low) or '')} · max {_short(value_text(bounds.high) or '')}")
        lines.append(f"{bounds.nulls:,} NULL; from the statistics of the files")
    return f"{name} {found.type}", lines


def _role(table: Table, column: DataField) -> str:
    role = "primary key of " if column.name in table.primary_keys else "partition key of " if column.name in table.partition_keys else "column of "  # fmt: skip
    default = f" · default {column.default_value}" if column.default_value is not None else ""
    return f"{role}{table.name}{default}"


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"


_bounds: dict[tuple[str, int, int], dict[str, Bounds]] = {}
"""The statistics of tables, by path, snapshot and schema."""


def column_bounds(table: Table) -> dict[str, Bounds]:
    """Least and greatest value of each column in the latest snapshot, from the manifests; {} if there are too many files."""
    from paimon_nb.notebook.overview import column_bounds_of_files, read_stored_files

    store = table.store
    latest = None if store.is_format_table else store.latest()
    if latest is None:
        return {}
    key = (table.path, latest.id, store.schema.id)
    if key not in _bounds:
        while len(_bounds) >= _CACHED_TABLES:
            _bounds.pop(next(iter(_bounds)))
        _bounds[key] = column_bounds_of_files(store, read_stored_files(store, latest).known)
    return _bounds[key]


def _describe_procedure(name: str) -> tuple[str, list[str]]:
    from paimon_nb.procedures import PROCEDURES

    procedure = PROCEDURES.find(name)
    return procedure.usage, [procedure.doc]


def _described_token(sql: str, offset: int) -> tuple[str, list[str], tuple[int, int]] | None:
    """Documentation of a function or an option, which no table has."""
    try:
        found = tokens(sql)
    except PaimonError:
        return None
    at = next((i for i, t in enumerate(found) if t.start <= offset <= t.stop and t.kind in ("word", "string")), None)
    if at is None:
        return None
    token = found[at]
    described = _describe_token(token, called=at + 1 < len(found) and found[at + 1].text == "(")
    return None if described is None else (*described, (token.start, token.stop))


def _describe_token(token: Token, *, called: bool) -> tuple[str, list[str]] | None:
    if token.kind == "string":
        return describe_option(token.value)
    function = FUNCTIONS.get(token.text.lower())
    return (function.signature, [function.doc]) if function is not None and called else None


def describe_option(key: str) -> tuple[str, list[str]] | None:
    """Title and lines of a table option; None: no option has this key."""
    from paimon_nb.options import find_option

    option = find_option(key)
    if option is None or option.key != key:
        return None
    default = "" if option.default is None else f"default {option.default_text}"
    choices = "one of " + ", ".join(option.choices) if option.choices else ""
    return key, [option.doc, " · ".join(filter(None, (default, choices)))]


# -- format


def formatted(text: str) -> Answer:
    """The cell with its SQL formatted: `cell`; or `refused`, why it stays as it is; or `problems`."""
    cell = read_cell(text)
    if cell is None:
        return {"refused": "this is not a %%paimon cell with SQL of Paimon"}
    try:
        made = format_sql(cell.sql)
    except PaimonError as error:
        return {"problems": [_problem(error, cell, _Units(text))], "refused": f"the text has an error: {error.message}"}
    if made.refused:
        return {"refused": made.refused}
    return {"cell": text[: cell.start] + made.text}


# -- completion


def completions(text: str, at: int) -> Answer:
    """What can be written at an offset: `start`, `stop` and `items` of text, kind, detail and one line of documentation."""
    from paimon_nb.notebook.complete import candidates, starts_with
    from paimon_nb.sql import completion_context

    cell, units = read_cell(text), _Units(text)
    offset = units.characters(at)
    session = _session()
    if cell is None or session is None or offset < cell.start:
        return {"items": []}
    fragment, offers = candidates(cell.sql, offset - cell.start)
    matching = [(word, kind) for word, kind in offers if starts_with(word, fragment)][:MAX_COMPLETIONS]
    known = _details(session, completion_context(cell.sql, offset - cell.start), {kind for _, kind in matching})
    items = [[word, kind, *map(redact_text, known.get((kind, word), ("", "")))] for word, kind in matching]
    return {"start": units.of(offset - len(fragment)), "stop": units.of(offset), "items": items}


def _details(session: Session, at: Completion, kinds: Iterable[str]) -> dict[tuple[str, str], tuple[str, str]]:
    """Detail and documentation by kind and word."""
    found: dict[tuple[str, str], tuple[str, str]] = {}
    if "column" in kinds:
        found |= _column_details(session, at)
    if "function" in kinds:
        found |= {("function", f"{f.name}("): (f.signature, f.doc) for f in FUNCTIONS.values()}
    if "option" in kinds:
        from paimon_nb.options import TABLE_OPTIONS

        found |= {("option", key): (option.default_text, option.doc) for key, option in TABLE_OPTIONS.items()}
    if {"procedure", "argument"} & set(kinds):
        from paimon_nb.procedures import PROCEDURES

        found |= {
            ("procedure", f"sys.{p.name}"): (p.usage.removeprefix("CALL sys."), p.doc) for p in PROCEDURES.values()
        }
        procedure = PROCEDURES.get(at.owner or "")
        for argument in procedure.arguments if procedure else ():
            found["argument", f"{argument.name} => "] = (
                argument.kind + ("" if argument.required else ", optional"),
                "",
            )
    return found


def _column_details(session: Session, at: Completion) -> dict[tuple[str, str], tuple[str, str]]:
    from paimon_nb.base.identifier import split_name
    from paimon_nb.sql import quote_if_needed

    found: dict[tuple[str, str], tuple[str, str]] = {}
    for name in at.tables:
        try:
            *path, last = split_name(name)
            table = session.table((*path, last.split("$")[0]))
        except PaimonError:
            continue
        for column in table.schema.fields:
            role = " · key" if column.name in table.primary_keys else ""
            found.setdefault(
                ("column", quote_if_needed(column.name)), (f"{column.type}{role}", column.description or "")
            )
    return found
