"""A draft of a new table for a file or a frame: its columns and types, and a key if one is likely."""

from __future__ import annotations

import re
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from paimon_nb.base.errors import AlreadyExists, UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.sql_quoting import text_literal
from paimon_nb.format.types import from_arrow_schema
from paimon_nb.notebook.create_model import Column, Draft, quoted_if_needed
from paimon_nb.notebook.grid.texts import display_texts

if TYPE_CHECKING:
    import pyarrow as pa

PREVIEW_ROWS = 5
MAX_UPLOAD_BYTES = 8_000_000
"""Largest file that a page sends: Jupyter servers refuse messages of more than 10 MB."""
_KEY_TYPES = ("INT", "BIGINT", "SMALLINT", "TINYINT", "VARCHAR", "STRING")


@dataclass(frozen=True, slots=True)
class LoadSource:
    """Data that fills a new table.

    Args:
        reference: as FROM names it: 'sales.csv' in quotes, or a variable. how: how it was read.
        names: its columns. rows: their number. preview: the first rows as texts.
    """

    reference: str
    how: str
    names: tuple[str, ...]
    rows: int
    preview: tuple[tuple[str | None, ...], ...] = ()

    def insert(self, draft: Draft) -> str:
        """The INSERT of its rows into a draft's table."""
        columns = [c for c in draft.columns if c.source in self.names]
        name = ".".join(map(quoted_if_needed, draft.name.split(".")))
        if [c.source for c in columns] == list(self.names) and len(columns) == len(draft.columns):
            return f"INSERT INTO {name} SELECT * FROM {self.reference}"
        targets = ", ".join(quoted_if_needed(c.name) for c in columns)
        sources = ", ".join(quoted_if_needed(c.source) for c in columns)
        return f"INSERT INTO {name} ({targets}) SELECT {sources} FROM {self.reference}"


def load_source(rows: pa.Table, reference: str, how: str) -> LoadSource:
    """What a form shows of the rows."""
    head = rows.slice(0, PREVIEW_ROWS)
    columns = [display_texts(c) for c in head.columns]
    return LoadSource(reference, how, tuple(rows.column_names), rows.num_rows, tuple(zip(*columns, strict=True)))


def draft_of_rows(rows: pa.Table, name: str) -> Draft:
    """A draft with the columns of the rows."""
    fields = from_arrow_schema(rows.schema)
    key = next((f.name for f in fields if _is_likely_key(rows, f.name, f.type.root)), None)
    columns = tuple(Column(f.name, str(f.type.bare()), key=f.name == key, source=f.name) for f in fields)
    return Draft(name, columns, rows=rows.num_rows)


def _is_likely_key(rows: pa.Table, name: str, root: str) -> bool:
    """A column called id, key or ..._id whose values are all different."""
    import pyarrow.compute as pc

    if root not in _KEY_TYPES or not re.fullmatch(r"(.*_)?(id|key)|.*Id", name, re.IGNORECASE):
        return False
    column = rows.column(name)
    return bool(rows.num_rows and not column.null_count and pc.count_distinct(column).as_py() == rows.num_rows)


def file_source(path: str, table: str = "") -> tuple[Draft, LoadSource]:
    """The draft of a table for a file, and what fills it. `table` is its name; '' makes one of the file's.

    Raises:
        SourceUnavailable: no such file, or it cannot be read. UnsupportedFormat: another or a damaged format.
    """
    from paimon_nb.files.open import open_data_file

    read = open_data_file(path)
    rows = read.rows()
    return draft_of_rows(rows, table or table_name_of(path)), load_source(
        rows, file_reference(path), "; ".join(filter(None, [f"{path}: {read.how}", read.changes()]))
    )


def check_upload_size(name: str, size: int) -> None:
    """Raises UnsupportedOperation: the file is too large for a message of the page."""
    if size > MAX_UPLOAD_BYTES:
        raise UnsupportedOperation(
            f"{name} has {size:,} bytes; a page can send {MAX_UPLOAD_BYTES:,}",
            hint="copy the file into the notebook's folder and run %paimon load FILE",
        )


def store_upload(name: str, data: bytes) -> bool:
    """Store a file that a page sent in the working directory. An equal file stays as it is.

    Returns: whether the file is new.

    Raises:
        AlreadyExists: the folder has another file of that name.
        UnsupportedOperation: the name is not that of a plain file, or the file is too large.
    """
    if (
        not name
        or name != PurePath(name).name
        or name.startswith((".", "~"))
        or re.search(r"[*?\[\]\\\x00-\x1f]", name)
    ):
        raise UnsupportedOperation(f"{name!r} is not the name of a plain file", hint="rename the file")
    check_upload_size(name, len(data))
    target = Path(name)
    try:
        with target.open("xb") as file:
            file.write(data)
    except FileExistsError as error:
        if target.is_file() and target.stat().st_size == len(data) and target.read_bytes() == data:
            return False
        raise AlreadyExists(f"the notebook's folder has another {name}", hint="rename one of the files") from error
    return True


def table_name_of(path: str) -> str:
    """A table name from a file's name: 'Sales 2026.csv' is sales_2026."""
    stem = re.sub(r"\W+", "_", PurePath(path).name.split(".")[0]).strip("_").lower()
    return stem if stem and not stem[0].isdigit() else f"t_{stem}".rstrip("_")


def file_reference(path: str) -> str:
    """A path as FROM names it."""
    return text_literal(path)
