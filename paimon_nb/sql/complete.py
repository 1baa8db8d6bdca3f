"""What kind of name the user is about to write."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FRAGMENT = re.compile(r"[\w$.`\-]*$")


@dataclass(frozen=True, slots=True)
class Completion:
    """`kind`: table, column, procedure, argument, option, system_table, keyword, database, catalog."""

    kind: str
    prefix: str
    start: int
    """Offset where the fragment begins."""
    owner: str | None = None
    """The table or procedure that the name belongs to, as written."""
    tables: tuple[str, ...] = ()
    """Tables named in the statement so far."""


def completion_context(text: str, cursor: int) -> Completion:
    """Where the cursor stands in a cell."""
    before = text[:cursor]
    fragment = _FRAGMENT.search(before)
    assert fragment is not None
    prefix, start = fragment[0], fragment.start()
    statement = before[:start].rsplit(";", 1)[-1]
    tables = tuple(re.findall(r"(?i)\b(?:FROM|JOIN|INTO|UPDATE|TABLE)\s+([\w$.`]+)", text))
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
    if re.search(r"(?i)\b(?:FROM|JOIN|INTO|TABLE|DESCRIBE|DESC|UPDATE|OVERWRITE|EXISTS)\s+$", statement):
        return Completion("table", prefix, start, None, tables)
    if re.search(r"(?i)\bUSE\s+CATALOG\s+$", statement):
        return Completion("catalog", prefix, start, None, tables)
    if re.search(r"(?i)\bUSE\s+$", statement):
        return Completion("database", prefix, start, None, tables)
    if "." in prefix and tables:
        owner, _, rest = prefix.rpartition(".")
        return Completion("column", rest, start + len(owner) + 1, owner, tables)
    if not statement.strip():
        return Completion("keyword", prefix, start, None, tables)
    return Completion("column" if tables else "keyword", prefix, start, None, tables)
