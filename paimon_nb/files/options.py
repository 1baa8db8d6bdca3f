"""What the user says about a file: DuckDB's names, in a hint, as arguments of read_csv, or in Python.

A value is the text of a SQL constant: `true`, `1`, `;`, `['NA', '-']`, `{'id': 'INT'}` or `id INT, name STRING`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from difflib import get_close_matches
from typing import Any

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.files import formats

TEXT, BOOL, INT, LIST, TYPES = "a text", "true or false", "a whole number", "a text or a list", "columns with types"
LINE_END = "the end of a line"


@dataclass(frozen=True, slots=True)
class FileOption:
    """An option of a file reader.

    Args:
        value: the kind of its value. kinds: the kinds of files that have it. doc: what it does.
    """

    value: str
    kinds: tuple[str, ...]
    doc: str


_CSV, _JSON = (formats.CSV,), (formats.JSON,)
_TEXTS = (formats.CSV, formats.JSON, formats.TEXT)
_TABLES = (formats.CSV, formats.EXCEL)
OPTIONS: dict[str, FileOption] = {
    "format": FileOption(TEXT, formats.KINDS, "the format: csv, json, parquet, orc, avro, arrow, xlsx or text; of JSON also array, newline_delimited or unstructured"),
    "header": FileOption(BOOL, _TABLES, "whether the first line has the names of the columns"),
    "delim": FileOption(TEXT, _CSV, "the separator of values (also sep, delimiter)"),
    "quote": FileOption(TEXT, _CSV, "the quotation mark; '' for none"),
    "escape": FileOption(TEXT, _CSV, "the character before a quotation mark in a value"),
    "comment": FileOption(TEXT, _CSV, "the character that begins a comment; '' for none"),
    "skip": FileOption(INT, _TABLES, "lines that are left out at the beginning"),
    "new_line": FileOption(LINE_END, _CSV, r"the end of lines: \n, \r or \r\n"),
    "encoding": FileOption(TEXT, _TEXTS, "the encoding, by Python's name: utf-8, latin-1, cp1252, utf-16, shift_jis"),
    "compression": FileOption(TEXT, _TEXTS, "gzip, zstd, bz2, lzma or none"),
    "nullstr": FileOption(LIST, _CSV, "the texts that are NULL"),
    "decimal_separator": FileOption(TEXT, _CSV, "the decimal sign"),
    "thousands": FileOption(TEXT, _CSV, "the separator of thousands"),
    "dateformat": FileOption(TEXT, (formats.CSV, formats.JSON), "the format of dates, as strptime writes it: %d.%m.%Y"),
    "timestampformat": FileOption(TEXT, (formats.CSV, formats.JSON), "the format of times: %d.%m.%Y %H:%M"),
    "all_varchar": FileOption(BOOL, (formats.CSV, formats.JSON, formats.EXCEL), "whether all values stay texts"),
    "columns": FileOption(TYPES, formats.KINDS, "the names and types of all columns"),
    "types": FileOption(TYPES, formats.KINDS, "the types of some columns (also dtypes)"),
    "names": FileOption(LIST, _CSV, "the names of the columns"),
    "null_padding": FileOption(BOOL, _CSV, "whether short lines are filled with NULL"),
    "strict_mode": FileOption(BOOL, _CSV, "false: also lines that break the rules of quotation"),
    "ignore_errors": FileOption(BOOL, _CSV + _JSON, "whether lines with errors are left out, and values that are not of their type are NULL"),
    "max_line_size": FileOption(INT, _CSV, "bytes of a line, at most"),
    "sample_size": FileOption(INT, _CSV + _JSON, "rows from which the dialect is guessed; types are checked in all rows; -1: all"),
    "multiline": FileOption(BOOL, _CSV + _JSON, "whether a value or an object may have several lines; true is the default"),
    "records": FileOption(TEXT, _JSON, "true: objects are rows with their keys as columns; false: one column json"),
    "maximum_depth": FileOption(INT, _JSON, "levels of nested objects that become ROW; deeper ones are texts; -1: all"),
    "maximum_object_size": FileOption(INT, _JSON, "bytes of an object, at most"),
    "map_inference_threshold": FileOption(INT, _JSON, "keys with values of one type from which on objects are MAP; 200 is the default; -1: never"),
    "sheet": FileOption(TEXT, (formats.EXCEL,), "the sheet; the first one is the default"),
    "filename": FileOption(BOOL, formats.KINDS, "whether a column filename has the path of each row's file"),
    "hive_partitioning": FileOption(BOOL, formats.KINDS, "whether folders a=1 of the path are columns; a guess is the default"),
    "union_by_name": FileOption(BOOL, formats.KINDS, "columns of several files are combined by name; true is the default"),
}  # fmt: skip
_OTHER_NAMES = {
    "sep": "delim", "delimiter": "delim", "dtypes": "types", "column_types": "types", "column_names": "names", "decimal": "decimal_separator",
    "date_format": "dateformat", "timestamp_format": "timestampformat", "nullvalue": "nullstr", "na_values": "nullstr", "charset": "encoding",
    "multi_line": "multiline", "auto_detect": "", "skiprows": "skip", "separator": "delim", "null": "nullstr",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class FileOptions:
    """The options of a reference to a file, checked."""

    values: Mapping[str, Any] = field(default_factory=dict)
    null_if_bad: bool = False
    """Whether a value that is not of the type that the user gave is NULL, and no error."""

    def get(self, name: str, default: Any = None) -> Any:
        """The value of an option."""
        return self.values.get(name, default)

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def key(self) -> str:
        """A text that is the same for the same options."""
        return repr(sorted(self.values.items()))

    def check_for(self, kind: str, name: str) -> None:
        """Raises BadOptionValue: an option that files of a kind do not have."""
        for option in self.values:
            if kind not in OPTIONS[option].kinds:
                raise BadOptionValue(
                    f"{name}: a file of the format {kind} has no option {option!r}",
                    hint=f"options of {kind}: {', '.join(k for k, o in OPTIONS.items() if kind in o.kinds)}", option=option, value="",
                )  # fmt: skip


def option_name(written: str) -> str:
    """The name of an option in DuckDB, for one of its other names; '': an option without effect here."""
    name = written.lower().replace("-", "_")
    return _OTHER_NAMES.get(name, name)


def file_options(written_options: Mapping[str, Any] | None) -> FileOptions:
    """The options by their names in DuckDB. Raises BadOptionValue: an unknown name, or a value of another kind."""
    values: dict[str, Any] = {}
    for written, value in (written_options or {}).items():
        name = option_name(written)
        if not name:
            continue
        if name not in OPTIONS:
            near = get_close_matches(name, [*OPTIONS, *_OTHER_NAMES], 1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(OPTIONS)}"
            raise BadOptionValue(f"a file has no option {written!r}", hint=hint, option=written, value=str(value))
        values[name] = _value(name, value)
    return FileOptions(values)


def _value(name: str, value: Any) -> Any:
    expected = OPTIONS[name].value
    try:
        return _PARSERS[expected](value)
    except (ValueError, TypeError):
        raise BadOptionValue(
            f"{name} is {expected}, not {value!r}", hint=OPTIONS[name].doc, option=name, value=str(value)
        ) from None


def _line_end(value: Any) -> str:
    """As the engine names it."""
    return _text(value).replace("\r", "\\r").replace("\n", "\\n")


def _bool(value: Any) -> bool:
    text = str(value).strip().lower()
    if text in ("true", "1", "yes", "on"):
        return True
    if text in ("false", "0", "no", "off"):
        return False
    raise ValueError(text)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value.replace("\\t", "\t") if value == "\\t" else value


def _list(value: Any) -> list[str]:
    if isinstance(value, str):
        text = value.strip()
        return [_unquoted(p) for p in _split(text[1:-1])] if text[:1] == "[" and text[-1:] == "]" else [value]
    if isinstance(value, Sequence):
        return [str(v) for v in value]
    raise TypeError


def _types(value: Any) -> dict[str, str]:
    """`{'id': 'INT'}`, `id INT, name STRING` or a mapping, as names and types."""
    if isinstance(value, Mapping):
        return {str(k): str(v) for k, v in value.items()}
    if not isinstance(value, str):
        raise TypeError
    text = value.strip()
    if text[:1] == "{" and text[-1:] == "}":
        pairs = [[part.strip() for part in _split(p.strip(), ":", 1)] for p in _split(text[1:-1])]
    else:
        pairs = [re.split(r"\s+", p.strip(), maxsplit=1) if p.strip()[:1] not in "`\"" else list(_quoted_pair(p.strip())) for p in _split(text)]  # fmt: skip
    if not pairs or any(len(p) != 2 or not p[0] or not p[1] for p in pairs):
        raise ValueError(text)
    return {_unquoted(name): _unquoted(type) for name, type in pairs}


def _quoted_pair(text: str) -> tuple[str, str]:
    end = text.index(text[0], 1)
    return text[: end + 1], text[end + 1 :].strip()


def _split(text: str, separator: str = ",", times: int = -1) -> list[str]:
    """The parts of a list, separated by commas outside of brackets and quotation marks. `times`: splits at most; -1: all."""
    parts: list[str] = []
    depth, quote, start = 0, "", 0
    for i, c in enumerate(text):
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"`":
            quote = c
        elif c in "([{<":
            depth += 1
        elif c in ")]}>":
            depth -= 1
        elif c == separator and not depth and len(parts) != times:
            parts.append(text[start:i])
            start = i + 1
    last = text[start:]
    return [*parts, last] if last.strip() or parts else []


def _unquoted(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"`":
        return text[1:-1].replace(text[0] * 2, text[0])
    return text


_PARSERS: dict[str, Any] = {
    TEXT: _text, LINE_END: _line_end, BOOL: _bool, INT: lambda v: int(str(v)), LIST: _list, TYPES: _types,
}  # fmt: skip
