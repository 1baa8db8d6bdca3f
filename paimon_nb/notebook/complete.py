"""Completion in %paimon cells: catalogs, databases, tables, system tables, columns, procedures, arguments, options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from IPython.core.completer import SimpleCompletion, SimpleMatcherResult, context_matcher

from paimon_nb.base.errors import PaimonError
from paimon_nb.base.identifier import split_name
from paimon_nb.sql.functions import FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paimon_nb.sql.completion import Completion

Offer = tuple[str, str]
"""(text, kind)."""
KEYWORDS = (
    "SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "INSERT INTO", "INSERT OVERWRITE", "CREATE TABLE", "CREATE DATABASE",
    "CREATE CATALOG", "ALTER TABLE", "DROP TABLE", "UNDROP TABLE", "CALL sys.", "SHOW TABLES", "DESCRIBE", "EXPLAIN", "USE",
    "UPDATE", "DELETE FROM", "MERGE INTO", "COPY INTO", "VERSION AS OF", "TIMESTAMP AS OF", "PARTITIONED BY", "PRIMARY KEY", "HAVING", "LIMIT",
    "JOIN", "LEFT JOIN", "UNION ALL", "DISTINCT", "BETWEEN", "IS NULL", "IS NOT NULL", "LIKE", "CASE WHEN", "VALUES",
)  # fmt: skip
TYPES = (
    "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(10, 2)", "STRING", "VARCHAR(100)", "CHAR(10)", "BINARY(16)",
    "BYTES", "DATE", "TIME(0)", "TIMESTAMP(3)", "TIMESTAMP_LTZ(3)", "ARRAY<STRING>", "MAP<STRING, STRING>", "ROW<a INT>", "VARIANT",
    "GEOMETRY", "GEOGRAPHY",
)  # fmt: skip


@context_matcher()  # type: ignore[untyped-decorator]
def paimon_matcher(context: Any) -> SimpleMatcherResult:
    """IPython's matcher for cells that begin with %%paimon, and for %paimon lines."""
    text = context.full_text
    lines = text.split("\n")
    cursor = sum(len(line) + 1 for line in lines[: context.cursor_line]) + context.cursor_position
    if text.lstrip().startswith("%%paimon"):
        body_start = text.find("\n") + 1
    elif context.line_with_cursor.lstrip().startswith("%paimon"):
        body_start = cursor - context.cursor_position + context.line_with_cursor.index("%paimon") + len("%paimon")
    else:
        return SimpleMatcherResult(completions=[])
    if body_start <= 0 or cursor < body_start:
        return SimpleMatcherResult(completions=[])
    line = text[body_start:cursor]
    try:
        of_command = None if text.lstrip().startswith("%%paimon") else command_candidates(line)
        fragment, offers = of_command or candidates(text[body_start:], cursor - body_start)
    except PaimonError:
        return SimpleMatcherResult(completions=[])
    found = [SimpleCompletion(w, type=kind) for w, kind in offers if starts_with(w, fragment)]
    return SimpleMatcherResult(completions=found, suppress=True, matched_fragment=fragment, ordered=True)


def command_candidates(line: str) -> tuple[str, list[Offer]] | None:
    """Candidates for the text after %paimon, up to the cursor: a command or its table. None: the line is SQL."""
    from paimon_nb.notebook.magics.active import workbench
    from paimon_nb.notebook.magics.paimon import commands

    *before, fragment = line.lstrip().split(" ")
    if not before:
        return fragment, [*offers("command", commands()), *offers("keyword", KEYWORDS)]
    if before[0] not in commands() or len(before) > 1:
        return None
    return fragment, offers("table", _table_words(workbench().session, fragment))


def offers(kind: str, words: Iterable[str]) -> list[Offer]:
    """Words of one kind; front ends show the kind beside each."""
    return [(word, kind) for word in words]


def candidates(text: str, cursor: int) -> tuple[str, list[Offer]]:
    """The fragment before the cursor and every name that can complete it, with its kind: columns, aliases, keywords, functions."""
    from paimon_nb.notebook.magics.active import workbench
    from paimon_nb.sql import completion_context

    session = workbench().session
    at = completion_context(text, cursor)
    if at.kind == "column":
        columns = offers("column", _column_words(session, at.tables))
        if at.owner is not None:
            return at.prefix, columns
        functions = offers("function", (f"{name}(" for name in FUNCTIONS))
        return at.prefix, [*columns, *offers("alias", at.aliases), *offers("keyword", KEYWORDS), *functions]
    if at.kind == "keyword":
        functions = offers("function", (f"{name}(" for name in FUNCTIONS)) if at.prefix and at.start else []
        return at.prefix, [*offers("keyword", KEYWORDS), *functions]
    kind = {"option_value": "value", "version": "tag", "parameter": "variable", "system_table": "system table"}.get(
        at.kind, at.kind
    )
    return at.prefix, offers(kind, _words_of_context(session, at))


def _words_of_context(session: Any, at: Completion) -> Iterable[str]:
    """The words of a context that has only one kind of them."""
    from paimon_nb.sql import quote_if_needed

    match at.kind:
        case "system_table":
            from paimon_nb.table.tables.system import SYSTEM_TABLES

            return sorted(SYSTEM_TABLES)
        case "procedure":
            from paimon_nb.procedures import PROCEDURES

            return [f"sys.{p}" for p in sorted(PROCEDURES)]
        case "argument":
            return _argument_words(at.owner or "")
        case "option":
            from paimon_nb.options import TABLE_OPTIONS

            return sorted(TABLE_OPTIONS)
        case "option_value":
            return _option_values(at.owner or "")
        case "version":
            return _version_words(session, at)
        case "parameter":
            return _parameter_variables()
        case "type":
            return TYPES
        case "table":
            return [*_table_words(session, at.prefix), *([] if "." in at.prefix else _queryable_variables())]
        case "database":
            return map(quote_if_needed, [*session.catalog.databases(), *session.catalogs])
        case "catalog":
            return map(quote_if_needed, sorted(session.catalogs))
    return ()


def _option_values(key: str) -> Iterable[str]:
    """The values of an option that has a list of them."""
    from paimon_nb.options import find_option

    option = find_option(key)
    if option is None:
        return ()
    return ("true", "false") if isinstance(option.default, bool) else option.choices


def _version_words(session: Any, at: Completion) -> list[str]:
    """Tags and the latest snapshots of the table, quoted as the cursor needs it."""
    quote = "" if at.prefix.startswith("'") else "'"
    store = session.table(tuple(split_name(at.owner or ""))).store
    tags = [f"'{tag}{quote}" if quote else f"'{tag}" for tag in store.tags.names()]
    snapshots = [str(s) for s in sorted(store.snapshots.ids(), reverse=True)[:10]]
    return [*tags, *(snapshots if quote else [f"'{s}" for s in snapshots])]


def _parameter_variables() -> list[str]:
    """Python variables of the notebook that can be bound to a parameter."""
    from types import ModuleType

    from paimon_nb.notebook.magics.active import current

    shell = current.shell
    if shell is None:
        return []
    hidden = shell.user_ns_hidden
    return sorted(
        name
        for name, value in shell.user_ns.items()
        if not name.startswith("_") and name not in hidden and not callable(value) and not isinstance(value, ModuleType)
    )


def _queryable_variables() -> list[str]:
    """Python variables of the notebook that can be queried."""
    from paimon_nb.notebook.magics.active import current
    from paimon_nb.session.query.frames_and_files import is_frame

    return [name for name in _parameter_variables() if is_frame(current.shell.user_ns[name])]


def starts_with(word: str, fragment: str) -> bool:
    """Whether a word completes a fragment; backticks and case are ignored."""
    return word.replace("`", "").lower().startswith(fragment.replace("`", "").lower())


def _table_words(session: Any, prefix: str) -> list[str]:
    from paimon_nb.catalog.state_tables import visible_tables
    from paimon_nb.sql import quote_if_needed

    path = split_name(prefix.rpartition(".")[0])
    if not path:
        known = [*visible_tables(session.catalog, session.current_database), *session.temporary, *session.views]
        return [*map(quote_if_needed, known), *(quote_if_needed(d) + "." for d in session.catalog.databases())]
    catalog, database = session.find_database(path)
    return [".".join(map(quote_if_needed, (*path, t))) for t in visible_tables(catalog, database)]


def _column_words(session: Any, tables: Iterable[str]) -> list[str]:
    from paimon_nb.session.query.computed_columns import computed_columns
    from paimon_nb.sql import quote_if_needed

    names: dict[str, None] = {}
    for name in tables:
        try:
            *path, last = split_name(name)
            table = session.table((*path, last.split("$")[0]))
        except PaimonError:
            continue
        computed = [c.name for c in computed_columns(table.schema.options)]
        names.update(dict.fromkeys(map(quote_if_needed, [*table.schema.names, *computed])))
    return list(names)


def _argument_words(procedure: str) -> list[str]:
    from paimon_nb.procedures import PROCEDURES

    found = PROCEDURES.get(procedure)
    return [f"{a.name} => " for a in found.arguments] if found is not None else []
