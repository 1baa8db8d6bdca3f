"""Opens the files that a path names, with the options that the user gave."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import BadOptionValue, PaimonError, UnsupportedFormat
from paimon_nb.files import formats
from paimon_nb.files.data_file import DataFile
from paimon_nb.files.library_errors import library_errors
from paimon_nb.files.locations import find_files, unused_partitions
from paimon_nb.files.options import FileOptions, file_options

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from paimon_nb.files.data_file import Reader
    from paimon_nb.files.locations import Found

_OF_FORMAT = {"array": formats.JSON, "newline_delimited": formats.JSON, "nd": formats.JSON, "unstructured": formats.JSON, "ndjson": formats.JSON, "excel": formats.EXCEL, "feather": formats.ARROW, "ipc": formats.ARROW}  # fmt: skip


def open_data_file(
    path: str | Sequence[str],
    options: Mapping[str, Any] | None = None,
    *,
    path_column: str = "",
    download: Callable[[str], Path] | None = None,
    literal: bool = False,
    null_if_bad: bool = False,
) -> DataFile:
    """The columns of the files that a path names; rows are read later.

    Args:
        path: as `find_files` takes it, or several.
        options: DuckDB's options by name, see `files/options.py`.
        path_column: the name of a column with the URL of each row's file; '': none.
        download: makes a local copy of a file in an object store.
        literal: the path is that of one file, also if its name looks like a pattern or a folder's partition.
        null_if_bad: a value that is not of the type that `types` gives is NULL, and no error.

    Raises:
        SourceUnavailable: no such file. UnsupportedFormat: a damaged file, or a format that is not known.
        BadOptionValue: an option that this format does not have, or a wrong value.

    Examples:
        >>> open_data_file("sales.csv").names
        ['id', 'name', 'amount', 'day']
    """
    checked = replace(file_options(options), null_if_bad=null_if_bad)
    paths = [path] if isinstance(path, str) else list(path)
    path = ", ".join(paths)
    found = find_files(
        paths,
        partitions=False if literal else checked.get("hive_partitioning"),
        filename=bool(checked.get("filename")),
        path_column=path_column,
        download=download,
    )
    kind = _kind(found[0], checked)
    others = sorted({_kind(f, checked) for f in found} - {kind})
    if others:
        raise UnsupportedFormat(f"{path!r} has files of several formats: {kind}, {', '.join(others)}", hint=f"name one: '*.{kind}'", feature="files")  # fmt: skip
    checked.check_for(kind, path)
    reader = _opened(kind, path, found, checked)
    if not literal and checked.get("hive_partitioning") is not False and (note := unused_partitions(found)):
        reader.notes.append(note)
    return DataFile(reader, path, sum(f.size for f in found), kind)


def _kind(file: Found, options: FileOptions) -> str:
    written = options.get("format")
    if written is not None:
        kind: str = _OF_FORMAT.get(written.lower(), written.lower())
        if kind not in formats.KINDS:
            raise BadOptionValue(
                f"no format {written!r}", hint=f"known: {', '.join(formats.KINDS)}", option="format", value=written
            )
        return kind
    kind_by_name = formats.kind_of_name(file.name)
    with file.path.open("rb") as stream:
        by_bytes = formats.kind_of_bytes(stream.read(8))
    if kind_by_name is None and by_bytes is None:
        endings = ", ".join(sorted(formats.KIND_OF_ENDING))
        raise UnsupportedFormat(
            f"{file.name!r}: the format is not known from its name", hint=f"format = 'csv' names it; known endings are {endings}", feature="file"
        )  # fmt: skip
    if kind_by_name in (formats.CSV, formats.JSON, None) and by_bytes is not None:
        return by_bytes
    return kind_by_name or formats.CSV


def _opened(kind: str, path: str, found: Sequence[Found], options: FileOptions) -> Reader:
    """The reader of the files. Errors of libraries are ours."""
    empty = next((f for f in found if f.size == 0), None)
    if empty is not None and kind != formats.TEXT:
        raise UnsupportedFormat(f"{empty.name!r} is empty", hint="it has neither a header nor a row", feature="file")
    with library_errors(repr(path), _NAMES.get(kind, kind)):
        return _reader(kind, found, options)


def _reader(kind: str, found: Sequence[Found], options: FileOptions) -> Reader:
    if kind == formats.CSV:
        from paimon_nb.files.csv_files import CsvReader

        return CsvReader(found, options)
    if kind == formats.JSON:
        from paimon_nb.files.json_files import JsonReader

        return JsonReader(found, options)
    from paimon_nb.files.arrow_files import ManyReader

    return ManyReader([_columnar(kind, f, options) for f in found], found)


def _columnar(kind: str, file: Found, options: FileOptions) -> Reader:
    reader = _with_own_types(kind, file, options)
    if "types" not in options and "columns" not in options:
        return reader
    from paimon_nb.files.typed_columns import TypedReader

    return TypedReader(reader, options, file.name)


def _with_own_types(kind: str, file: Found, options: FileOptions) -> Reader:
    from paimon_nb.files import arrow_files

    if kind == formats.AVRO:
        from paimon_nb.files.avro_files import AvroReader

        return AvroReader(file)
    if kind == formats.EXCEL:
        from paimon_nb.files.excel_files import ExcelReader

        return ExcelReader(file, options)
    if kind == formats.TEXT:
        from paimon_nb.files.whole_texts import TextReader

        return TextReader(file, options)
    if kind == formats.PARQUET:
        return arrow_files.ParquetReader(file)
    return arrow_files.OrcReader(file) if kind == formats.ORC else arrow_files.ArrowReader(file)


_NAMES = {
    "csv": "CSV",
    "json": "JSON",
    "parquet": "Parquet",
    "orc": "ORC",
    "avro": "Avro",
    "arrow": "Arrow",
    "xlsx": "Excel",
}


class OpenedFiles:
    """The files that a session opened lately: a file that did not change is not guessed again."""

    _MAX = 16
    _SETTLED_S = 2.0
    """A file that changed less than this ago may change again without another time."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[Any, ...], DataFile] = OrderedDict()

    def open(
        self,
        paths: Sequence[str],
        options: Mapping[str, Any],
        path_column: str = "",
        download: Callable[[str], Path] | None = None,
    ) -> DataFile:
        """As `open_data_file`; the same object while no file of the paths changes."""
        if any("://" in p and not p.startswith("file:") for p in paths):
            return open_data_file(paths, options, path_column=path_column, download=download)
        state = _state(paths)
        key = (tuple(paths), file_options(options).key(), path_column, state)
        known = self._known.get(key)
        if known is not None:
            self._known.move_to_end(key)
            return known
        opened = open_data_file(paths, options, path_column=path_column)
        if state and time.time() - max(s[1] for s in state) / 1e9 > self._SETTLED_S:
            self._known[key] = opened
            if len(self._known) > self._MAX:
                self._known.popitem(last=False)
        return opened


def _state(paths: Sequence[str]) -> tuple[tuple[str, int, int], ...]:
    """Names, times of change in nanoseconds and sizes of the files of a path; () if there are none."""
    try:
        found = find_files(paths)
        stats = [(str(f.path.absolute()), f.path.stat()) for f in found]
    except (PaimonError, OSError):
        return ()
    return tuple((p, s.st_mtime_ns, s.st_size) for p, s in stats)
