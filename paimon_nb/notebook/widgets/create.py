"""The CREATE TABLE form: writes the DDL, reports errors and design warnings, and shows the expected layout."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import traitlets

from paimon_nb.base.errors import PaimonError
from paimon_nb.notebook.create_model import DIALECTS, Column, Draft, create_table_statement, try_create, warnings
from paimon_nb.notebook.create_svg import layout_svg
from paimon_nb.notebook.load_model import MAX_UPLOAD_BYTES, check_upload_size, file_source, read_again, store_upload
from paimon_nb.notebook.load_options import options_of_choices
from paimon_nb.notebook.widgets.base import DrawnPanel, report_errors, script
from paimon_nb.options import TABLE_OPTIONS
from paimon_nb.options.validation import find_option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.notebook.load_model import LoadSource

TYPES = (
    "INT", "BIGINT", "STRING", "DOUBLE", "DECIMAL(10, 2)", "BOOLEAN", "DATE", "TIMESTAMP(3)",
    "TIMESTAMP(3) WITH LOCAL TIME ZONE", "BYTES", "ARRAY<STRING>", "MAP<STRING, STRING>",
)  # fmt: skip
CHOICES = ("merge-engine", "changelog-producer", "file.format")
"""Options shown as a drop-down list."""
PREVIEW_COLUMNS = 50
MAX_COLUMNS = 1000
"""Maximum number of columns."""


class CreateForm(DrawnPanel):
    """`%paimon create db.t`: creates nothing; the statement is inserted as a cell for the user to run.

    Args:
        name: of the table. dialect: 'flink' or 'spark'.
        draft: what the form shows first. source: the data that fills the table (`%paimon load`).
    """

    _esm = script("panel.js", "create.js")
    dialect = traitlets.Enum(DIALECTS, "flink").tag(sync=True)

    def __init__(
        self,
        name: str = "my_table",
        dialect: str = "flink",
        draft: Draft | None = None,
        source: LoadSource | None = None,
    ) -> None:
        self.draft, self.source = draft or Draft(name), source
        self._loaded = 0
        """Number of files that the page sent; the page draws the form again when it grows."""
        super().__init__(view=self._view_data(), dialect=dialect)
        self.observe(lambda _: self._redraw(), "dialect")

    def take(self, draft: Draft) -> None:
        """Show another draft."""
        self.draft = draft
        self._redraw()

    def _redraw(self) -> None:
        self.view = self._view_data()

    def draw_pictures(self) -> dict[str, str]:
        return {"svg": layout_svg(self.draft, self.width)}

    def _view_data(self) -> dict[str, Any]:
        d = self.draft
        self.verdict = try_create(d)
        return {
            "name": d.name, "comment": d.comment, "rows": d.rows or "", "partitions": d.partitions or "",
            "columns": [{"name": c.name, "type": c.type, "key": c.key, "partition": c.partition, "nullable": c.nullable, "comment": c.comment, "source": c.source} for c in d.columns],
            "options": dict(d.options), "ddl": self.sql, "problems": list(self.verdict.problems), "warnings": self.notes(), **self.draw_pictures(),
            "types": list(TYPES), "choices": {k: _option_choices(k) for k in CHOICES}, "known": sorted(TABLE_OPTIONS),
            "source": self._source_data(), "loaded": self._loaded, "maxFileBytes": MAX_UPLOAD_BYTES,
            "help": {k: _option_help(k) for k in {*d.options, *CHOICES, "bucket"}},
        }  # fmt: skip

    def _source_data(self) -> dict[str, Any] | None:
        """The data that fills the table: how it was read, and its first rows."""
        if self.source is None:
            return None
        s = self.source
        rows = [list(row[:PREVIEW_COLUMNS]) for row in s.preview]
        return {
            "how": s.how,
            "names": list(s.names[:PREVIEW_COLUMNS]),
            "rows": rows,
            "count": s.rows,
            "columns": len(s.names),
            "options": [
                {"name": o.name, "guess": o.guess, "choice": o.choice, "values": list(o.values), "doc": o.doc}
                for o in s.options
            ],
        }

    @report_errors
    def _on_message(self, _: Any, content: Any, buffers: Any) -> None:
        match content:
            case {"file": str(name), "size": int(size)}:
                check_upload_size(name, size)  # of a larger file the page sends the name only
                if len(buffers) == 1:
                    self.load_file(name, bytes(buffers[0]))
            case {"read": dict(choices)}:
                self.read_file(choices)
            case _:
                self.on_message(content)

    def on_message(self, content: Any) -> None:
        # A draft that the page sent before it knew the loaded file is out of date.
        if "draft" in content and content.get("loaded", self._loaded) == self._loaded:
            self.take(_draft_of_message(content["draft"]))

    def load_file(self, name: str, data: bytes) -> None:
        """Store a file in the working directory and show the form of a table for it.

        Args:
            name: of the file, without a folder. data: its content, at most MAX_UPLOAD_BYTES.

        Raises:
            AlreadyExists: the folder has another file of that name. UnsupportedFormat: another or a damaged format.
            UnsupportedOperation: the name is not that of a plain file, or the file is too large.
        """
        new = store_upload(name, data)
        try:
            draft, self.source = file_source(name)
        except PaimonError:
            if new:
                Path(name).unlink()
            raise
        self._loaded += 1
        self.take(draft)

    def read_file(self, choices: Mapping[str, Any]) -> None:
        """Read the file again with the options that the user chose; blanks are the reader's guess.

        Raises:
            BadOptionValue: a wrong value. UnsupportedFormat, SchemaMismatch: the file cannot be read so; the form stays as it was.
        """
        if self.source is None or not self.source.path:
            return
        draft, self.source = read_again(self.draft, self.source, options_of_choices(choices))
        self._loaded += 1
        self.take(draft)

    def notes(self) -> list[str]:
        """Notes from CREATE TABLE and design warnings."""
        return [*self.verdict.notes, *warnings(self.draft)]

    @property
    def sql(self) -> str:
        """CREATE TABLE, and the INSERT of the data that fills the table."""
        create = create_table_statement(self.draft, self.dialect)
        return create if self.source is None else f"{create};\n\n{self.source.insert(self.draft)}"

    @property
    def code(self) -> str:
        """Python code that creates the table."""
        return f"wb.run({self.sql!r})"

    def still_text(self) -> str:
        remarks = [*(f"-- error: {p}" for p in self.verdict.problems), *(f"-- note: {w}" for w in self.notes())]
        return "\n".join([self.sql, *remarks])

    def still_svg(self) -> str:
        return layout_svg(self.draft)


def _draft_of_message(message: Any) -> Draft:
    """Convert any message from the page to a draft."""
    columns = tuple(
        Column(
            str(c.get("name", "")), str(c.get("type", "")), bool(c.get("key")), bool(c.get("partition")),
            bool(c.get("nullable", True)), str(c.get("comment", "")), str(c.get("source", "")),
        )
        for c in list(message.get("columns", []))[:MAX_COLUMNS]
    )  # fmt: skip
    options = {str(k): str(v) for k, v in dict(message.get("options", {})).items()}
    return Draft(
        str(message.get("name", "")), columns, options, str(message.get("comment", "")), _number_or_zero(message.get("rows")),
        _number_or_zero(message.get("partitions")),
    )  # fmt: skip


def _number_or_zero(text: Any) -> int:
    try:
        return max(0, int(str(text).replace(",", "").replace("_", "") or 0))
    except ValueError:
        return 0


def _option_choices(key: str) -> list[str]:
    option = TABLE_OPTIONS.find(key)
    return [str(c) for c in option.choices or ()]


def _option_help(key: str) -> str:
    option = find_option(key)
    return f"{option.doc} (default: {option.default_text})" if option is not None else ""
