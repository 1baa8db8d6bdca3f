"""Query results as output cells: text and escaped HTML, with limits on rows, columns, characters and bytes."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.notebook.grid.texts import display_texts, value_text
from paimon_nb.notebook.grid.types import is_number

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from paimon_nb.session import Result

TIP_FROM = 44
"""Texts up to this length always fit into a 420-pixel cell."""
MAX_ROWS, MAX_COLUMNS = 1000, 200
HTML_BYTES, TEXT_BYTES = 750_000, 200_000
"""Text and HTML of one result both go to the browser and into the notebook file: together under 1 MB."""
_SPARK_TEXTS = ("createtab_stmt", "plan")
"""Columns of SHOW CREATE and EXPLAIN when Spark answers them."""
STREAM_SECONDS = 10.0
"""How long a cell reads a streaming query."""

STYLE = """
.pnb-t{font:12px/1.4 var(--jp-ui-font-family,system-ui,sans-serif);color:var(--jp-ui-font-color1,inherit)}
.pnb-t table{display:block;overflow:auto;max-height:540px;border-collapse:collapse;margin:0;font-variant-numeric:tabular-nums}
.pnb-t.pnb-t th{position:sticky;top:0;background:var(--jp-layout-color0,Canvas);text-align:left;font-weight:600;padding:4px 12px 4px 0;border-bottom:1px solid var(--jp-border-color1,#8886);white-space:nowrap}
.pnb-t.pnb-t td{text-align:left;padding:3px 12px 3px 0;border-bottom:1px solid var(--jp-border-color3,#8882);white-space:pre;max-width:420px;overflow:hidden;text-overflow:ellipsis}
.pnb-t pre{margin:0;font:12px/1.45 var(--jp-code-font-family,monospace);color:inherit}
.pnb-t.pnb-t .n{text-align:right}.pnb-t .null{opacity:.68;font-style:italic}.pnb-t .more{opacity:.75;padding:5px 0}
"""


class Rows:
    """The displayed result of a statement, with access to all rows. IPython's `_` refers to it after the cell."""

    interactive: ClassVar[Callable[[Rows], Any] | None] = None
    """Makes the widget that a connected front end shows; it may return None."""

    def __init__(
        self, result: Result, limit: int, ahead: int = 0, how_to_see_more: str = "show more with --limit"
    ) -> None:
        self.result, self.limit = result, min(limit, MAX_ROWS)
        self._how_to_see_more = how_to_see_more
        self.notes = result.notes
        self.facts: tuple[str, ...] = ()
        """What the read took, for the footer: time, snapshot, files, engine."""
        self.statement = ""
        """The query as a cell, for a cell that reads the same rows; '' if it is not known."""
        self.footer = ""
        """What a statement took, below its result in a notebook that runs; '' in stored ones, which do not depend on timing."""
        self.as_table = False
        """Show a table of `limit` rows, where a notebook would show the grid of all rows."""
        self._ahead = ahead
        self._preview: Preview | None = None
        self._fetched: pa.Table | None = None

    @property
    def df(self) -> DataFrame:
        """The whole result as a Spark DataFrame."""
        if self.result.frame is None:
            raise AttributeError("this result was computed without Spark; use .to_arrow()")
        return self.result.frame

    def to_arrow(self) -> pa.Table:
        """All rows."""
        return self.result.to_arrow()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> Any:
        """All rows as a pandas DataFrame."""
        return self.result.to_pandas()

    def load(self) -> None:
        """Fetch the rows to display, plus one to detect that there are more. Never runs a count query."""
        if self._preview is not None:
            return
        if self.result.live is not None and self.result.arrow is None:
            self.result.arrow = self.result.live.collect(self.limit + 1, STREAM_SECONDS)
            self.notes.append(f"streaming query: rows of the first {STREAM_SECONDS:g} s; wb.stream(sql) reads on")
        if self.result.arrow is not None:
            table = self.result.arrow
            columns = table.num_columns
        else:
            from paimon_nb.spark.errors import spark_errors
            from paimon_nb.spark.runtime.arrow_interop import as_arrow

            frame = self.df
            columns = len(frame.columns)
            if columns > MAX_COLUMNS and not self._ahead:
                frame = frame.select(*[frame[c] for c in frame.columns[:MAX_COLUMNS]])
            with spark_errors(*self.result.query):
                table = as_arrow(frame.limit(max(self.limit, self._ahead) + 1))
        from paimon_nb.format.data.variant_json import with_variants_as_json

        table = with_variants_as_json(table)
        self._fetched = table
        self._preview = Preview(
            table.slice(0, self.limit).select(range(min(table.num_columns, MAX_COLUMNS))), table.num_rows > self.limit, max(0, columns - MAX_COLUMNS), tuple(self.notes),
            is_query=self.result.is_query, how_to_see_more=self._how_to_see_more,
        )  # fmt: skip

    @property
    def preview(self) -> Preview:
        """The displayed part."""
        self.load()
        assert self._preview is not None
        return self._preview

    @property
    def fetched(self) -> tuple[pa.Table, bool]:
        """The rows that are in this process, and whether these are all."""
        self.load()
        assert self._fetched is not None
        if self.result.arrow is not None:
            return self._fetched, True
        row_limit = max(self.limit, self._ahead)
        return self._fetched.slice(0, row_limit), self._fetched.num_rows <= row_limit

    def __repr__(self) -> str:
        return text_table(self.preview)

    def _repr_html_(self) -> str:
        """A table for programs that show HTML and no widgets, such as marimo."""
        return html_table(self.preview)

    def _repr_mimebundle_(self, **_: Any) -> Any:
        widget = Rows.interactive(self) if Rows.interactive is not None and not self.as_table else None
        if widget is not None:
            return widget._repr_mimebundle_()
        html = html_table(self.preview)
        if self.footer:
            html += f'<div class="pnb-t"><div class="more">{escape(self.footer)}</div></div>'
        return {"text/plain": text_table(self.preview), "text/html": html}


@dataclass(frozen=True, slots=True)
class Preview:
    """The displayed part of a result."""

    table: pa.Table
    more_rows: bool
    more_columns: int = 0
    notes: tuple[str, ...] = ()
    is_query: bool = False
    """Rows of a SELECT, which always have a header; other results may be a single text."""
    how_to_see_more: str = ""
    """Where the number of rows is a choice."""

    @property
    def plain_text(self) -> str | None:
        """The text of a result that is a single text, such as a summary or a CREATE statement."""
        if self.table.num_rows != 1 or self.table.num_columns != 1:
            return None
        if self.is_query and self.table.column_names[0] not in _SPARK_TEXTS:
            return None
        value = self.table.column(0)[0].as_py()
        if isinstance(value, str) and "\n" in value:
            return value[:TEXT_BYTES]
        return (value_text(value) or "") if self.table.column_names == ["result"] else None

    def notes_on_left_out(self, rows: int) -> list[str]:
        """Notes about rows and columns that are not displayed; `rows` is the number of displayed rows."""
        out = []
        if self.table.num_columns and (self.more_rows or rows < self.table.num_rows):
            out.append(f"Showing the first {rows:,} rows{self._row_limit_reason(rows)}")
        if self.more_columns:
            out.append(f"{self.more_columns:,} column{'s' * (self.more_columns != 1)} not shown; select by name")
        return out

    def _row_limit_reason(self, rows: int) -> str:
        """Which limit cut the rows, and how to get the others."""
        if rows == self.table.num_rows < MAX_ROWS:
            return f"; {self.how_to_see_more}"
        limit = "maximum" if rows == MAX_ROWS else "output size limit"
        return f" ({limit}); to_pandas() returns all rows"


def display_cells(table: pa.Table) -> tuple[list[str], list[list[str | None]]]:
    """Column names and cell texts, truncated for display."""
    names = table.column_names[:MAX_COLUMNS]
    columns = [display_texts(table.column(i)) for i in range(len(names))]
    return names, [list(row) for row in zip(*columns, strict=True)]


def text_table(preview: Preview) -> str:
    """Plain text; deterministic for the same rows."""
    if preview.plain_text is not None:
        return "\n".join([preview.plain_text, *(f"  {n}" for n in preview.notes)])
    names, rows = display_cells(preview.table)
    texts, size = [], 0
    for row in rows:
        texts.append([_escaped_and_cut(v) for v in row])
        size += sum(len(v.encode("utf-8", "replace")) + 2 for v in texts[-1])
        if size > TEXT_BYTES:
            texts.pop()
            break
    widths = [max([len(n), *(len(r[i]) for r in texts)]) for i, n in enumerate(names)]
    numeric = [is_number(preview.table.schema.field(i).type) for i in range(len(names))]

    def line(values: list[str]) -> str:
        return "  ".join(
            v.rjust(w) if r else v.ljust(w) for v, w, r in zip(values, widths, numeric, strict=True)
        ).rstrip()

    out = [line(list(names)), "  ".join("-" * w for w in widths), *map(line, texts)]
    if not rows:
        out.append("(no rows)")
    out += [f"... {what}" for what in preview.notes_on_left_out(len(texts))]
    return "\n".join([*out, *(f"note: {n}" for n in preview.notes)])


def _escaped_and_cut(value: str | None) -> str:
    if value is None:
        return "NULL"
    flat = value.replace("\r", "\\r").replace("\n", "\\n").replace("\t", "\\t")
    return flat if len(flat) <= 60 else flat[:59] + "…"


def tip(text: str) -> str:
    """A title attribute with the full text, for texts that may be truncated."""
    return f' title="{escape(text, quote=True)}"' if len(text) > TIP_FROM else ""


def html_table(preview: Preview) -> str:
    """HTML; every text is escaped, nothing is fetched."""
    notes = "".join(f'<div class="more">{escape(n)}</div>' for n in preview.notes)
    if preview.plain_text is not None:
        text = escape(preview.plain_text)
        body = f"<pre>{text}</pre>" if "\n" in text else f"<div>{text}</div>"
        return f'<div class="pnb-t"><style>{STYLE}</style>{body}{notes}</div>'
    names, rows = display_cells(preview.table)
    numeric = [' class="n"' if is_number(preview.table.schema.field(i).type) else "" for i in range(len(names))]
    head = "".join(f"<th{c}>{escape(n)}</th>" for n, c in zip(names, numeric, strict=True))
    body_lines: list[str] = []
    size = len(head.encode("utf-8", "replace"))
    for row in rows:
        line = "".join(
            f"<td{c}><i class='null'>NULL</i></td>" if v is None else f"<td{c}{tip(v)}>{escape(v)}</td>"
            for v, c in zip(row, numeric, strict=True)
        )
        size += len(line.encode("utf-8", "replace"))
        if size > HTML_BYTES:
            break
        body_lines.append(f"<tr>{line}</tr>")
    tail = "".join(f'<div class="more">{escape(what)}</div>' for what in preview.notes_on_left_out(len(body_lines)))
    empty = "" if rows else '<div class="more">no rows</div>'
    return (
        f'<div class="pnb-t"><style>{STYLE}</style><table><thead><tr>{head}</tr></thead><tbody>{"".join(body_lines)}</tbody></table>'
        f"{empty}{tail}{notes}</div>"
    )
