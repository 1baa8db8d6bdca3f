"""A draft of a new table for a file or a frame: its columns and types, and a key if one is likely."""

from __future__ import annotations

import re
from dataclasses import field, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from paimon_nb.base.errors import AlreadyExists, UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.types import from_arrow_schema
from paimon_nb.notebook.create_model import Column, Draft, quoted_if_needed
from paimon_nb.notebook.grid.texts import display_texts
from paimon_nb.notebook.load_options import FORM_OPTIONS, OptionLine, option_lines, reference, types_option

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    types: Mapping[str, str] = field(default_factory=dict)
    """The type of each column, as it was read."""
    path: str = ""
    """Of the file; '': a variable."""
    kind: str = ""
    """Of the file: 'csv'."""
    guess: Mapping[str, str] = field(default_factory=dict)
    """What the reader guessed, by the names of options."""
    choices: Mapping[str, str] = field(default_factory=dict)
    """The options that the user chose."""

    @property
    def options(self) -> list[OptionLine]:
        """The options of the file, with guess and choice."""
        return option_lines(self.kind, self.guess, self.choices)

    def insert(self, draft: Draft) -> str:
        """The INSERT of its rows into a draft's table. Columns whose type the user changed are converted while they are read."""
        columns = [c for c in draft.columns if c.source in self.names]
        name = ".".join(map(quoted_if_needed, draft.name.split(".")))
        changed = {c.source: c.type for c in columns if _differs(c.type, self.types.get(c.source, c.type))}
        options, casts = self._with_types(changed)
        data = reference(self.path, self.kind, options) if options else self.reference
        if [c.source for c in columns] == list(self.names) and len(columns) == len(draft.columns) and not casts:
            return f"INSERT INTO {name} SELECT * FROM {data}"
        targets = ", ".join(quoted_if_needed(c.name) for c in columns)
        sources = ", ".join(_read(c.source, casts.get(c.source)) for c in columns)
        return f"INSERT INTO {name} ({targets}) SELECT {sources} FROM {data}"

    def _with_types(self, changed: Mapping[str, str]) -> tuple[dict[str, str], Mapping[str, str]]:
        """The options of the file with the changed types, and the columns that need a CAST."""
        options = dict(self.choices)
        if "types" not in FORM_OPTIONS.get(self.kind, ()):
            return options, changed
        types, casts = types_option(changed, options.get("types", ""))
        return ({**options, "types": types} if types else options), casts


def _differs(written: str, read: str) -> bool:
    """Whether two texts are different types."""
    from paimon_nb.base.errors import FormatError
    from paimon_nb.format.types import parse_type

    try:
        return parse_type(written).bare() != parse_type(read).bare()
    except FormatError:
        return False  # the form says that it is not a type


def _read(column: str, type: str | None) -> str:
    name = quoted_if_needed(column)
    return name if type is None else f"CAST({name} AS {type})"


def load_source(rows: pa.Table, written: str, how: str) -> LoadSource:
    """What a form shows of the rows. `written`: as FROM names them."""
    head = rows.slice(0, PREVIEW_ROWS)
    columns = [display_texts(c) for c in head.columns]
    types = {f.name: str(f.type.bare()) for f in from_arrow_schema(rows.schema)}
    return LoadSource(written, how, tuple(rows.column_names), rows.num_rows, tuple(zip(*columns, strict=True)), types)


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


def file_source(path: str, table: str = "", options: Mapping[str, str] | None = None) -> tuple[Draft, LoadSource]:
    """The draft of a table for a file, and what fills it.

    Args:
        table: its name; '' makes one of the file's. options: of the file, by DuckDB's names.

    Raises:
        SourceUnavailable: no such file, or it cannot be read. UnsupportedFormat: another or a damaged format.
        BadOptionValue: an option that the file does not have, or a wrong value. SchemaMismatch: a value is not of its type.
    """
    from paimon_nb.files.open import open_data_file

    options = dict(options or {})
    read = open_data_file(path, options)
    rows = read.rows()
    how = "; ".join(filter(None, [f"{path}: {read.how}", read.changes()]))
    source = load_source(rows, reference(path, read.kind, options), how)
    source = replace(source, path=path, kind=read.kind, guess=read.guess, choices=options)
    return draft_of_rows(rows, table or table_name_of(path)), source


def read_again(draft: Draft, source: LoadSource, options: Mapping[str, str]) -> tuple[Draft, LoadSource]:
    """The draft and the source of a file with other options. What the user wrote about columns that are still there stays.

    Raises what `file_source` raises.
    """
    fresh, again = file_source(source.path, draft.name, options)
    again = replace(again, guess={**again.guess, **source.guess})
    edited = {c.source: c for c in draft.columns if c.source}

    def merged(column: Column) -> Column:
        before = edited.get(column.source)
        if before is None:
            return column
        own_type = _differs(before.type, source.types.get(column.source, before.type))
        return replace(before, type=before.type if own_type else column.type)

    columns = [merged(c) for c in fresh.columns if c.source in edited or c.source not in source.names]
    columns += [c for c in draft.columns if not c.source]
    return replace(draft, columns=tuple(columns), rows=fresh.rows), again


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
