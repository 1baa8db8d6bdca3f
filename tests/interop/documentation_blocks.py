"""The examples in Java Paimon's documentation: fenced blocks of its Markdown, and the examples in its tables of procedures.

No text of that documentation is stored in this repository: a block is known by its page, its number there and a hash.
"""

from __future__ import annotations

import hashlib
import html
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paimon_nb.base.errors import PaimonError
from paimon_nb.sql.parse import split_statements
from paimon_nb.syntax.lexer import tokens

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CONTENT = "docs/content"
"""Where a checkout of Java Paimon has the pages."""
FENCE = re.compile(
    r'^[ >]*```(?P<language>\w*)[^\n]*\n(?P<text>.*?)^[ >]*```|^#+ +(?P<heading>[^\n]+)$|(?P<tab>\{\{< *tab +"(?P<name>[^"]+)")|(?P<end>\{\{< */tab *>)'
    r"|<tr>(?P<row>.*?)(?=</?tr>)",
    re.MULTILINE | re.DOTALL,
)
CELL = re.compile(r"<td>(.*?)</td>", re.DOTALL)
OTHER_ENGINES = re.compile(r"\b(hive|trino|doris|starrocks)\b", re.IGNORECASE)
SHOWN_ROWS = re.compile(r"^ *(\+-+|\|).*$", re.MULTILINE)
REMARK = re.compile(r"^- (?=[A-Z])", re.MULTILINE)
UNSEPARATED = re.compile(
    r"(?<=[^;\s])(?=(?:[ \t]*\n|[ \t]*--[^\n]*\n)+[ \t]*(?:CALL|ALTER TABLE|CREATE|INSERT (?:INTO|OVERWRITE))\b)"
)


@dataclass(frozen=True)
class Block:
    """One example. `engine` is "flink", "spark", or the name of another language or engine."""

    page: str
    at: int
    """Its number among the SQL blocks of its page, from 1; 0: not SQL."""
    heading: str
    engine: str
    text: str

    @property
    def hash(self) -> str:
        """A short hash of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:8]


def blocks(checkout: Path) -> Iterator[Block]:
    """All examples of a checkout, page by page, in order."""
    content = checkout / CONTENT
    for path in sorted(content.rglob("*.md")):
        yield from blocks_of_page(path.relative_to(content).as_posix(), path.read_text())


def blocks_of_page(page: str, text: str) -> Iterator[Block]:
    """The examples of one page. An example outside of any tab has the engine of its page or of its own comments."""
    heading = tab = ""
    at = 0
    for found in FENCE.finditer(text):
        if found["heading"]:
            heading = found["heading"].strip()
        elif found["tab"]:
            tab = found["name"]
        elif found["end"]:
            tab = ""
        elif found["row"] is not None:
            cells = CELL.findall(found["row"])
            if cells and "CALL " in cells[-1]:
                at += 1
                yield Block(page, at, cells[0].strip(), _engine(page, tab, ""), _text_of_cell(cells[-1]))
        elif found["language"] in ("sql", ""):
            engine = _engine(page, tab, found["text"]) if found["language"] else "text"
            at += engine in ("flink", "spark")
            yield Block(page, at if engine in ("flink", "spark") else 0, heading, engine, found["text"])
        else:
            yield Block(page, 0, heading, found["language"], found["text"])


def _engine(page: str, tab: str, text: str) -> str:
    """The engine whose SQL a block is."""
    if other := OTHER_ENGINES.search(tab) or OTHER_ENGINES.search(page.partition("ecosystem/")[2]):
        return other[1].lower()
    for place in (tab.lower(), page.partition("/")[0]):
        for engine in ("flink", "spark"):
            if place.startswith(engine):
                return engine
    return "spark" if re.search(r"TBLPROPERTIES|spark\.sql|^MERGE INTO", text, re.MULTILINE) else "flink"


def _text_of_cell(cell: str) -> str:
    return html.unescape(re.sub(r"<br */?>", "\n", cell))


def statements(text: str) -> list[str]:
    """The statements of a block. Rows that it shows are left out; a missing `;` before CALL, ALTER, CREATE and INSERT is added.

    A text that has no tokens of SQL is one statement.
    """
    text = UNSEPARATED.sub(";", REMARK.sub("-- ", SHOWN_ROWS.sub("", text)))
    try:
        return [text[part[0].start : part[-1].stop] for part in split_statements(tokens(text))]
    except PaimonError:
        return [text]
