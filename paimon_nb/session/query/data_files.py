"""Data files named in FROM 'sales.csv': their format, header and types are guessed, and the guess is reported.

Reads with Arrow, without Spark. A file is data of the user, not of a table.
"""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import SourceUnavailable, UnsupportedFormat
from paimon_nb.base.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

MAX_BYTES = 2 << 30
"""Bytes of files that one reference reads into this process."""
_SAMPLE_BYTES = 1 << 16
_DELIMITERS = ",;\t|"
_NUMBER_OR_DATE = re.compile(r"[-+]?[\d.,]+%?|\d{4}-\d\d?-\d\d?.*")


@dataclass(frozen=True, slots=True)
class FileRows:
    """The rows of a file, and how it was read."""

    rows: pa.Table
    how: str
    """'CSV, delimiter ;, header in line 1'."""


def read_data_file(path: str) -> FileRows:
    """The rows of a Parquet, ORC, CSV, TSV, JSON or Arrow file, or of several that a pattern names.

    Args:
        path: absolute, or relative to the working directory; the file's name may be a pattern with `*` and `?`; `~` is the home
            directory.

    Raises:
        SourceUnavailable: no such file, or it cannot be read. UnsupportedFormat: another or a damaged format.
    """
    import pyarrow as pa

    files = _files_matching_pattern(path)
    read = [_read_one_file(file) for file in files]
    if len(read) == 1:
        return read[0]
    try:
        rows = pa.concat_tables([r.rows for r in read], promote_options="permissive")
    except pa.ArrowException as error:
        raise UnsupportedFormat(
            f"the files of {path!r} have columns of different types: {_first_line(error)}",
            hint="read them one by one",
            feature="files",
        ) from None
    return FileRows(rows, f"{len(read)} files, {read[0].how}")


def _files_matching_pattern(path: str) -> list[Path]:
    whole = Path(path).expanduser()
    is_pattern = any(c in whole.name for c in "*?[") and not whole.exists()
    files = sorted(whole.parent.glob(whole.name)) if is_pattern else [whole]
    if not files:
        raise SourceUnavailable(f"no file matches {path!r}", hint=f"the working directory is {Path.cwd()}", path=path)
    for file in files:
        if "://" in path:
            raise SourceUnavailable(
                f"{path!r} is not a local file", hint="download it, or read it with wb.spark.read", path=path
            )
        if not file.is_file():
            what = f"{path!r} is a directory" if file.is_dir() else f"no file {path!r}"
            hint = f"name its files: '{path}/*.parquet'" if file.is_dir() else f"the working directory is {Path.cwd()}"
            raise SourceUnavailable(what, hint=hint, path=path)
    size = sum(file.stat().st_size for file in files)
    if size > MAX_BYTES:
        raise UnsupportedFormat(
            f"{path!r} has {size:,} bytes; at most {MAX_BYTES:,} are read into this process",
            hint=f"let Spark read it: SELECT * FROM {_format_by_suffix(files[0])}.`{path}`",
            feature="large file",
        )
    return files


def _format_by_suffix(file: Path) -> str:
    suffixes = [s.lower() for s in file.suffixes]
    last = suffixes[-2] if len(suffixes) > 1 and suffixes[-1] in (".gz", ".bz2", ".zst") else (suffixes or [""])[-1]
    return _KINDS.get(last, "")


def _read_one_file(file: Path) -> FileRows:
    import pyarrow as pa

    kind = _format_by_suffix(file)
    if kind not in _READERS:
        raise UnsupportedFormat(
            f"{file.name!r}: the format is not known from its name",
            hint="names end in .parquet, .csv, .tsv, .json, .jsonl, .orc, .arrow or .feather",
            feature="file",
        )
    if file.stat().st_size == 0:
        raise UnsupportedFormat(f"{file.name!r} is empty", feature="file")
    try:
        return _READERS[kind](file)
    except (pa.ArrowException, csv.Error, ValueError, TypeError) as error:
        raise UnsupportedFormat(
            f"{file.name!r} cannot be read as {kind.upper()}: {_first_line(error)}", feature="file"
        ) from None
    except OSError as error:
        raise SourceUnavailable(f"{file.name!r} cannot be read: {_first_line(error)}", path=str(file)) from None


def _first_line(error: BaseException) -> str:
    return str(error).split("\n", 1)[0][:200]


def _read_parquet(file: Path) -> FileRows:
    import pyarrow.parquet as parquet

    return FileRows(parquet.ParquetFile(file, memory_map=True).read(), "Parquet")


def _read_orc(file: Path) -> FileRows:
    from pyarrow import orc

    return FileRows(orc.ORCFile(file).read(), "ORC")


def _read_arrow(file: Path) -> FileRows:
    from pyarrow import feather

    from paimon_nb.format.types.arrow_from_outside import checked_table

    return FileRows(checked_table(feather.read_table(file)), "Arrow")


def _read_json(file: Path) -> FileRows:
    """One object a line, or one array of objects."""
    import pyarrow as pa
    from pyarrow import json as arrow_json

    with pa.input_stream(str(file)) as stream:
        start = stream.read(_SAMPLE_BYTES).lstrip(b"\xef\xbb\xbf \t\r\n")
    if not start.startswith(b"["):
        options = arrow_json.ParseOptions(newlines_in_values=True)
        return FileRows(arrow_json.read_json(str(file), parse_options=options), "JSON, one object a line")
    with pa.input_stream(str(file)) as stream:
        objects = json.loads(stream.read().decode("utf-8-sig"))
    if not all(isinstance(o, dict) for o in objects):
        raise ValueError("the array has elements that are not objects")
    return FileRows(pa.Table.from_pylist(objects), "JSON, an array of objects")


def _read_csv(file: Path) -> FileRows:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    with pa.input_stream(str(file)) as stream:
        sample = stream.read(_SAMPLE_BYTES)
    encoding = _guess_text_encoding(sample)
    text = sample.decode(encoding, "replace")
    if len(sample) == _SAMPLE_BYTES:
        text = text[: text.rfind("\n") + 1] or text
    delimiter = "\t" if file.name.lower().split(".")[-1] == "tsv" else _guess_csv_delimiter(text)
    lines = list(csv.reader(io.StringIO(text), delimiter=delimiter))[:1000]
    lines = [line for line in lines if line]
    header = _has_csv_header(lines)
    read_options = arrow_csv.ReadOptions(
        encoding=encoding,
        column_names=_csv_column_names(lines[0] if lines else [], header=header),
        skip_rows_after_names=1 if header else 0,
    )
    rows = arrow_csv.read_csv(
        str(file), read_options, arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        arrow_csv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=False),
    )  # fmt: skip
    name = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "|"}[delimiter]
    how = f"CSV, delimiter {name}, {'header in line 1' if header else 'no header'}"
    return FileRows(rows, how if encoding != "cp1252" else f"{how}, Windows-1252")


def _guess_text_encoding(sample: bytes) -> str:
    if sample.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    try:
        sample[: sample.rfind(b"\n") + 1 or None].decode()
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8-sig" if sample.startswith(b"\xef\xbb\xbf") else "utf-8"


def _guess_csv_delimiter(text: str) -> str:
    """The delimiter that splits the first lines into the same number of columns, the most of them."""
    head = text.split("\n")[:50]
    head = head[:-1] if len(head) > 1 and not head[-1] else head

    def quality(delimiter: str) -> tuple[bool, int]:
        widths = [len(line) for line in csv.reader(head, delimiter=delimiter) if line]
        return (len(set(widths)) == 1, min(widths, default=1))

    best = max(_DELIMITERS, key=lambda d: (quality(d)[1] > 1, *quality(d)))
    return best if quality(best)[1] > 1 else ","


def _has_csv_header(lines: Sequence[Sequence[str]]) -> bool:
    """Whether line 1 has names: words above numbers or dates, or only different words; a number in it is a value."""
    if not lines:
        return False
    first = [cell.strip() for cell in lines[0]]
    if any(_NUMBER_OR_DATE.fullmatch(cell) for cell in first):
        return False
    below = list(zip(*(line for line in lines[1:] if len(line) == len(first)), strict=True))
    typed = [bool(column) and all(_NUMBER_OR_DATE.fullmatch(c.strip()) for c in column if c) for column in below]
    return any(typed) or (all(first) and len({c.lower() for c in first}) == len(first))


def _csv_column_names(first: Sequence[str], *, header: bool) -> list[str]:
    """The names of line 1; empty and repeated ones get the column's number."""
    names: list[str] = []
    seen: set[str] = set()
    for i, cell in enumerate(first, 1):
        name = cell.strip() or f"column_{i}" if header else f"column_{i}"
        names.append(f"{name}_{i}" if name.lower() in seen else name)
        seen.add(names[-1].lower())
    return names


_KINDS = {
    ".parquet": "parquet", ".pq": "parquet", ".orc": "orc", ".csv": "csv", ".tsv": "csv", ".json": "json", ".jsonl": "json",
    ".ndjson": "json", ".arrow": "arrow", ".feather": "arrow",
}  # fmt: skip
"""Format by the ending of a file's name."""
_READERS: dict[str, Callable[[Path], FileRows]] = {
    "parquet": _read_parquet, "orc": _read_orc, "csv": _read_csv, "json": _read_json, "arrow": _read_arrow,
}  # fmt: skip


def is_data_file(text: Any) -> bool:
    """Whether a text names a file whose format is known."""
    return isinstance(text, str) and bool(_format_by_suffix(Path(text)))
