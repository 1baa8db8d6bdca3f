"""Completion context: the kind of name at the cursor."""

from __future__ import annotations

import re

from paimon_nb.base.lazy_dataclass import dataclass

_PATH = re.compile(r"(?:`(?:[^`]|``)*`(?!`)|[\w$.\-])*$")
"""The name before the cursor: letters, dots and closed quoted parts."""
_NAME = r"((?:`(?:[^`]|``)*`(?!`)|[\w$.])+)"
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED = frozenset(
    """ALL AND ANY AS AT BETWEEN BOTH BY CASE CAST CHECK COLLATE COLUMN CREATE CROSS CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP
    CURRENT_USER DATE DAY DELETE DESC DESCRIBE DISTINCT DROP ELSE END ESCAPE EXCEPT EXISTS FALSE FETCH FILTER FOR FOREIGN FROM FULL
    GRANT GROUP HAVING HOUR IN INNER INSERT INTERSECT INTERVAL INTO IS JOIN LATERAL LEADING LEFT LIKE LIMIT MERGE MINUTE MONTH NATURAL
    NOT NULL OF OFFSET ON ONLY OR ORDER OUTER OVERLAPS PARTITION PERCENT PRIMARY RANGE REFERENCES RIGHT ROW ROWS SECOND SELECT SET SOME
    TABLE THEN TIME TIMESTAMP TO TRAILING TRUE UNION UNIQUE UNKNOWN UPDATE USER USING VALUE VALUES VIEW WHEN WHERE WINDOW WITH YEAR
    """.split()  # noqa: SIM905 - a hundred quotes would be harder to read
)
"""Words that at least one dialect accepts as a name only in quotes."""
_AFTER_A_TABLE = frozenset(
    "VERSION SYSTEM_VERSION TABLESAMPLE PIVOT UNPIVOT CLUSTER DISTRIBUTE SORT MINUS ANTI SEMI ADD RENAME UNSET".split()  # noqa: SIM905
)
"""Words after the name of a table that are no alias, beside the reserved ones."""

_TABLE = r"(?i)\b(?:FROM|JOIN|INTO|UPDATE|TABLE|USING)\s+" + _NAME
_ALIAS = r"(`(?:[^`]|``)*`(?!`)|[^\W\d]\w*)"
_TABLE_AND_ALIAS = _TABLE + r"(?:\s+(?:AS\s+)?" + _ALIAS + ")?"
_COLUMN_ALIAS = r"(?i)\bAS\s+" + _ALIAS + r"(?=\s*(?:,|\bFROM\b))"
_OPTION_VALUE = re.compile(r"(?is)(?:WITH|TBLPROPERTIES|OPTIONS|SET)\s*\([^)]*?'([\w.\-]+)'\s*=\s*'([^']*)$")
_VERSION = re.compile(r"(?is)" + _NAME + r"\s+(?:FOR\s+)?(?:SYSTEM_)?VERSION\s+AS\s+OF\s+('?[^'\s]*)$")
_TYPE = re.compile(
    r"(?is)(?:CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?[\w.`$]+\s*\((?:.*,)?|ADD\s+COLUMNS?\s*\(?(?:.*,)?)\s*(?:`[^`]+`|\w+)\s+$"
    r"|\bCAST\s*\([^()]*\sAS\s+$"
)


@dataclass(frozen=True, slots=True)
class Completion:
    """`kind`: table, column, procedure, argument, option, option_value, system_table, keyword, database, catalog, parameter, type,
    version."""

    kind: str
    prefix: str
    start: int
    """Offset of the fragment's start."""
    owner: str | None = None
    """The table or procedure of the name, as written."""
    tables: tuple[str, ...] = ()
    """Tables named in the statement."""
    aliases: tuple[str, ...] = ()
    """Aliases of tables and of selected expressions in the statement, as written. Only for a column without a qualifier."""


def completion_context(text: str, cursor: int) -> Completion:
    """The completion context at a cursor position in a cell."""
    before = text[:cursor]
    start = _fragment_start(before)
    prefix = before[start:]
    statement = before[:start].rsplit(";", 1)[-1]
    whole = f"{statement} {text[cursor:].split(';', 1)[0]}"
    tables = tuple(re.findall(_TABLE, whole))
    if statement.endswith(":") and not statement.endswith("::"):
        return Completion("parameter", prefix, start, None, tables)
    value = _OPTION_VALUE.search(before)
    if value:
        return Completion("option_value", value[2], value.start(2), value[1], tables)
    version = _VERSION.search(before)
    if version:
        return Completion("version", version[2], version.start(2), version[1], tables)
    if "$" in prefix:
        owner, _, rest = prefix.rpartition("$")
        return Completion("system_table", rest, start + len(owner) + 1, owner, tables)
    if re.search(r"(?i)\bCALL\s+$", statement):
        return Completion("procedure", prefix, start, None, tables)
    called = re.search(r"(?is)\bCALL\s+([\w.`]+)\s*\([^)]*$", statement)
    if called:
        return Completion("argument", prefix, start, called[1].split(".")[-1].strip("`"), tables)
    if re.search(r"(?is)(?:WITH|TBLPROPERTIES|OPTIONS|SET)\s*\(([^)]*,)?\s*'?$", statement):
        return Completion("option", prefix, start, None, tables)
    if re.search(r"(?i)\b(?:FROM|JOIN|INTO|TABLE|DESCRIBE|DESC|UPDATE|OVERWRITE|EXISTS|USING)\s+$", statement):
        return Completion("table", prefix, start, None, tables)
    if re.search(r"(?i)\bUSE\s+CATALOG\s+$", statement):
        return Completion("catalog", prefix, start, None, tables)
    if re.search(r"(?i)\bUSE\s+$", statement):
        return Completion("database", prefix, start, None, tables)
    if "." in prefix and tables:
        owner, _, rest = prefix.rpartition(".")
        named = tables_by_qualifier(whole).get(owner.strip("`").lower())
        return Completion("column", rest, start + len(owner) + 1, owner, (named,) if named else tables)
    if _TYPE.search(statement):
        return Completion("type", prefix, start, None, tables)
    if not statement.strip():
        return Completion("keyword", prefix, start, None, tables)
    if not tables:
        return Completion("keyword", prefix, start)
    return Completion("column", prefix, start, None, tables, _aliases(whole))


def tables_by_qualifier(text: str) -> dict[str, str]:
    """Name that columns are written with, in lower case -> the table: aliases, and tables by their last part."""
    found: dict[str, str] = {}
    for name, alias in re.findall(_TABLE_AND_ALIAS, text):
        found[name.rpartition(".")[2].strip("`").lower()] = name
        if alias and alias.upper() not in _RESERVED:
            found[alias.strip("`").lower()] = name
    return found


def _aliases(statement: str) -> tuple[str, ...]:
    """Aliases of tables, then of selected expressions, each once and as written."""
    of_tables = [alias for _, alias in re.findall(_TABLE_AND_ALIAS, statement) if alias]
    words = dict.fromkeys((*of_tables, *re.findall(_COLUMN_ALIAS, statement)))
    return tuple(word for word in words if word.upper() not in _RESERVED | _AFTER_A_TABLE)


def _fragment_start(before: str) -> int:
    """The start of the name at the cursor, including an open quote."""
    statement = before.rfind(";") + 1
    quote = before.rfind("`")
    if before.count("`", statement) % 2:  # inside a quoted name
        before = before[:quote]
    found = _PATH.search(before)
    assert found is not None
    return found.start()


def quote_if_needed(name: str) -> str:
    """A name as SQL text: in backticks unless it is a plain word."""
    if _PLAIN.fullmatch(name) and name.upper() not in _RESERVED:
        return name
    return "`" + name.replace("`", "``") + "`"
