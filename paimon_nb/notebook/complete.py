"""Completion in %paimon cells: catalogs, databases, tables, system tables, columns, procedures, arguments, options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from IPython.core.completer import SimpleCompletion, SimpleMatcherResult, context_matcher

from paimon_nb.base.errors import PaimonError
from paimon_nb.base.identifier import split_name

if TYPE_CHECKING:
    from collections.abc import Iterable

_KEYWORDS = (
    "SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "INSERT INTO", "INSERT OVERWRITE", "CREATE TABLE", "CREATE DATABASE",
    "CREATE CATALOG", "ALTER TABLE", "DROP TABLE", "UNDROP TABLE", "CALL sys.", "SHOW TABLES", "DESCRIBE", "EXPLAIN", "USE",
    "UPDATE", "DELETE FROM", "MERGE INTO", "VERSION AS OF", "TIMESTAMP AS OF", "PARTITIONED BY", "PRIMARY KEY",
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
        fragment, words = of_command or candidates(text[body_start:], cursor - body_start)
    except PaimonError:
        return SimpleMatcherResult(completions=[])
    folded = _without_backticks(fragment)
    found = [SimpleCompletion(w, type="paimon") for w in words if _without_backticks(w).startswith(folded)]
    return SimpleMatcherResult(completions=found, suppress=True, matched_fragment=fragment)


def command_candidates(line: str) -> tuple[str, list[str]] | None:
    """Candidates for the text after %paimon, up to the cursor: a command or its table. None: the line is SQL."""
    from paimon_nb.notebook.magics.active import workbench
    from paimon_nb.notebook.magics.paimon import commands

    *before, fragment = line.lstrip().split(" ")
    if not before:
        return fragment, [*commands(), *_KEYWORDS]
    if before[0] not in commands() or len(before) > 1:
        return None
    return fragment, _table_words(workbench().session, fragment)


def candidates(text: str, cursor: int) -> tuple[str, list[str]]:
    """Returns the fragment before the cursor and every name that can complete it."""
    from paimon_nb.notebook.magics.active import workbench
    from paimon_nb.sql import completion_context, written

    session = workbench().session
    at = completion_context(text, cursor)
    words: Iterable[str]
    match at.kind:
        case "system_table":
            from paimon_nb.table.system import SYSTEM_TABLES

            words = sorted(SYSTEM_TABLES)
        case "procedure":
            from paimon_nb.procedures import PROCEDURES

            words = [f"sys.{p}" for p in sorted(PROCEDURES)]
        case "argument":
            words = _argument_words(at.owner or "")
        case "option":
            from paimon_nb.options import TABLE_OPTIONS

            words = sorted(TABLE_OPTIONS)
        case "table":
            words = _table_words(session, at.prefix)
        case "database":
            words = map(written, [*session.catalog.databases(), *session.catalogs])
        case "catalog":
            words = map(written, sorted(session.catalogs))
        case "column":
            words = [*_column_words(session, at.tables), *_KEYWORDS]
        case _:
            words = _KEYWORDS
    return at.prefix, list(words)


def _without_backticks(text: str) -> str:
    """Matching ignores backticks and case."""
    return text.replace("`", "").lower()


def _table_words(session: Any, prefix: str) -> list[str]:
    from paimon_nb.sql import written

    path = split_name(prefix.rpartition(".")[0])
    if not path:
        known = [*session.catalog.tables(session.current_database), *session.temporary, *session.views]
        return [*map(written, known), *(written(d) + "." for d in session.catalog.databases())]
    catalog, database = session.find_database(path)
    return [".".join(map(written, (*path, t))) for t in catalog.tables(database)]


def _column_words(session: Any, tables: Iterable[str]) -> list[str]:
    from paimon_nb.session.query.computed_columns import computed_columns
    from paimon_nb.sql import written

    names: dict[str, None] = {}
    for name in tables:
        try:
            *path, last = split_name(name)
            table = session.table((*path, last.split("$")[0]))
        except PaimonError:
            continue
        computed = [c.name for c in computed_columns(table.schema.options)]
        names.update(dict.fromkeys(map(written, [*table.schema.names, *computed])))
    return list(names)


def _argument_words(procedure: str) -> list[str]:
    from paimon_nb.procedures import PROCEDURES

    found = PROCEDURES.get(procedure)
    return [f"{a.name} => " for a in found.arguments] if found is not None else []
