"""JSON files: one object a line, an array of objects, or objects one after the other. DuckDB finds the structure in all of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from paimon_nb.base.errors import BadOptionValue, PaimonError, SchemaMismatch, UnsupportedFormat
from paimon_nb.files import formats
from paimon_nb.files.column_types import Decision, TextColumn, decide_types
from paimon_nb.files.csv_files import constants_sql
from paimon_nb.files.engine import call, sql_name, sql_text
from paimon_nb.files.engine_reader import EngineReader
from paimon_nb.files.nearest_types import renamed
from paimon_nb.files.nested_types import leaves, with_leaves
from paimon_nb.files.text_encoding import Utf8Copies, open_stream
from paimon_nb.files.user_types import engine_type_of, exact_cast

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paimon_nb.files.engine import Engine
    from paimon_nb.files.locations import Found
    from paimon_nb.files.options import FileOptions

_FORMATS = ("auto", "array", "newline_delimited", "nd", "unstructured")
_MAX_OBJECT = 1 << 28
_TIMES = frozenset({"DATE", "TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "UUID"})
_EMPTY = '"NULL"'
_LARGE = {"HUGEINT": "DECIMAL(38,0)", "UHUGEINT": "DECIMAL(38,0)", "UBIGINT": "DECIMAL(20,0)"}
_LONG = r"(^|[^0-9.])[0-9]{16,}([^0-9.eE]|$)"
"""A whole number that DOUBLE may round."""
_LONG_FRACTION = re.compile(rb"[\[:,\s]-?(?:0\.0*[1-9][0-9]{17,}|(?=[0-9]+\.)[1-9][0-9.]{18,})[\]},\seE]")
_SCANNED_BYTES, _LONGEST = 1 << 20, 400
"""Bytes of a file that are searched at a time, and of a number at the end of them."""
_NORMAL = r"'([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2}:[0-9]{2})([.][0-9]*[1-9])?[.]?0*(?:Z|[+]00(?::?00)?)?\b', '\1 \2\3', 'g'"
_END_BYTES = 1 << 12
_NOT_CLOSED = "the array is not closed", "copy it again if it is incomplete; ignore_errors = true reads what is there"
_MAP_THRESHOLD = "map_inference_threshold"
_ATTEMPTS: tuple[dict[str, object], ...] = (
    {}, {"format": "unstructured"}, {"format": "newline_delimited"}, {"maximum_depth": 1}, {"records": False, "maximum_depth": 0},
)  # fmt: skip
"""What is tried in order if the structure is not found."""


class JsonReader(EngineReader):
    """Reads JSON files of one reference, combined by the keys of their objects."""

    def __init__(self, files: Sequence[Found], options: FileOptions) -> None:
        super().__init__()
        self._options, self._copies = options, Utf8Copies()
        self._files = files
        self._no_structure = "its values have several types"
        """Why a column has no other type."""
        self._paths = [self._utf8(f) for f in files]
        with self._engine() as engine:
            self._check_ends()
            columns = self._structure(engine)
            self._constants = [
                (n, t) for n, t, _ in files[0].constants if n.lower() not in {c.lower() for c, _ in columns}
            ]
            self._decide(engine, columns)
            self.schema = self._schema_of_columns(engine)
        self.notes += [f"{n}: {d.note}" for n, d in zip(self._names, self._decisions, strict=True) if d.note]
        if any("DOUBLE" in d.type for d in self._decisions) and not any("digits than DOUBLE" in n for n in self.notes):
            self.notes += ["numbers have more digits than DOUBLE keeps"] if any(map(self._has_long_fractions, self._paths)) else []  # fmt: skip
        self.how = self._described()
        array = "array" in self.how
        self.guess = {"format": "array" if array else "newline_delimited", "encoding": "utf-8", "maximum_depth": "-1", _MAP_THRESHOLD: "200", "all_varchar": "false", "ignore_errors": "false", "multiline": "true"}  # fmt: skip

    def _utf8(self, file: Found) -> str:
        compression = self._options.get("compression") or formats.compression_of(file.name)
        known = None if compression in ("none", "auto", "uncompressed") else compression
        return self._copies.utf8(file.path, known, self._options.get("encoding"), may_have_mark=False).path

    def _check_ends(self) -> None:
        """Raises UnsupportedFormat: an array that ends with a comma, which the engine takes for a whole one."""
        for file, path in zip(self._files, self._paths, strict=True):
            if formats.compression_of(path) or self._options.get("compression") or self._options.get("ignore_errors"):
                continue
            with Path(path).open("rb") as stream:
                stream.seek(max(0, stream.seek(0, 2) - _END_BYTES))
                if stream.read().rstrip().endswith(b","):
                    raise UnsupportedFormat(f"{file.name} cannot be read as JSON: {_NOT_CLOSED[0]}", hint=_NOT_CLOSED[1], feature="file")  # fmt: skip

    def _has_long_fractions(self, path: str) -> bool:
        """Whether a file has a number of at least 18 digits with a fraction, whose last digits the engine does not give us."""
        compression = self._options.get("compression") or formats.compression_of(path)
        with open_stream(Path(path), None if compression == "none" else compression) as stream:
            end = b" "
            while chunk := stream.read(_SCANNED_BYTES):
                if _LONG_FRACTION.search(end + chunk + b" "):
                    return True
                end = chunk[-_LONGEST:]
        return False

    # -- structure

    def _arguments(self) -> dict[str, object]:
        arguments: dict[str, object] = {"sample_size": -1, "maximum_object_size": _MAX_OBJECT}
        format = self._options.get("format", "auto")
        if format != formats.JSON:
            if format not in _FORMATS:
                raise BadOptionValue(f"format of JSON is not {format!r}", hint=", ".join(_FORMATS), option="format", value=format)  # fmt: skip
            arguments["format"] = format
        if not self._options.get("multiline", True):
            arguments["format"] = "newline_delimited"
        for option in (
            "records",
            "maximum_depth",
            "ignore_errors",
            "maximum_object_size",
            "dateformat",
            "timestampformat",
            _MAP_THRESHOLD,
        ):
            if option in self._options:
                arguments[option] = self._options.get(option)
        return arguments

    def _structure(self, engine: Engine) -> list[tuple[str, str]]:
        """Names and types of the columns."""
        import duckdb

        first: duckdb.Error | None = None
        for attempt in _ATTEMPTS:
            if any(k in self._options for k in attempt):
                continue
            self._read_arguments = self._arguments() | attempt
            try:
                found = self._described_by(engine)
                if len(found) == 1 and found[0][1].startswith("MAP(") and self._have_columns(engine):
                    self._read_arguments[_MAP_THRESHOLD] = -1
                    found = self._described_by(engine)
                if first is not None and len(found) == 1 and attempt == _ATTEMPTS[-1]:
                    self._no_structure = json_error(first, "").message.split(": ", 1)[-1]
                return found
            except duckdb.Error as error:
                first = first or error
        assert first is not None
        raise first

    def _described_by(self, engine: Engine) -> list[tuple[str, str]]:
        """The columns as the engine guesses them. Raises duckdb.Error: an object cannot be read so."""
        source = call("read_json", self._paths, {**self._read_arguments, "union_by_name": True})
        found = engine.rows(f"DESCRIBE FROM {source}")
        engine.rows(f"SELECT count(COLUMNS(*)) FROM {source}")
        return [(name, type) for name, type, *_ in found]

    def _have_columns(self, engine: Engine) -> bool:
        """Whether objects of which the engine makes a MAP each are rows of many columns: most of them have most of the keys."""
        if _MAP_THRESHOLD in self._options or "records" in self._options:
            return False
        objects = call("read_json", self._paths, {**self._read_arguments, "columns": {"json": "JSON"}, "records": False})  # fmt: skip
        ((count, used, keys),) = engine.rows(
            f"SELECT count(*), sum(len(json_keys(json))), len(list_distinct(flatten(list(json_keys(json))))) FROM {objects}"
        )
        return bool(count > 1 and keys > 1 and used > count * keys / 2)

    # -- types

    def _decide(self, engine: Engine, columns: Sequence[tuple[str, str]]) -> None:
        self._names = [n for n, _ in columns]
        user_types = {n.lower(): t for n, t in {**(self._options.get("columns") or {}), **(self._options.get("types") or {})}.items()}  # fmt: skip
        unknown = next((n for n in user_types if n not in {c.lower() for c in self._names}), None)
        if unknown is not None:
            raise BadOptionValue(
                f"types names {unknown!r}, and no object has this key", hint=f"keys are {', '.join(self._names[:20])}", option="types", value=unknown,
            )  # fmt: skip
        all_texts = self._options.get("all_varchar")
        self._typed: dict[str, str] = {}
        self._keys = self._keys_if_cases_differ(engine, self._names)
        for i, (key, name) in enumerate(zip(self._keys or (), self._names, strict=False)):
            if key != name:
                self.notes.append(renamed(i, key, name))
        raw = {n: self._raw_type(n, t, user_types) for n, t in columns}
        self._relation = self._relation_of(raw)
        texts = [
            TextColumn(n, "VARCHAR" if n.lower() in user_types else t, f"({sql_name(n)}->>'$')", self._format(t), may_have_words=False)
            for n, t in columns if raw[n] == "JSON" and not _is_nested(t) and t not in ("JSON", "UUID", "BIGINT", "BOOLEAN") and not all_texts
        ]  # fmt: skip
        types = decide_types(engine, self._relation, texts, sum(f.size for f in self._files))
        decided = dict(zip([c.name for c in texts], types, strict=True))
        nested = [(n, t) for n, t in columns if raw[n] == "JSON" and _is_nested(t)]
        facts = self._facts_of_nested(engine, nested)
        mixed = [n for n, t in columns if t == "JSON" and raw[n] == "JSON"]
        scalars = self._only_scalars(engine, mixed)
        self._empty_keys = self._with_empty_keys(engine, [n for n, t in columns if _map_note(t)])
        self._decisions = []
        for name, type in columns:
            column = sql_name(name)
            if name.lower() in user_types:
                decision = self._as_user_wants(engine, name, user_types[name.lower()])
            elif all_texts:
                decision = Decision("VARCHAR", f"({column}->>'$')")
            elif name in decided:
                decision = decided[name]
            elif raw[name] == "JSON" and _is_nested(type):
                decision = self._nested(name, type, facts[name])
            elif type == "UUID":
                decision = Decision("VARCHAR", f"({column}->>'$')")
            elif type == "JSON" and scalars.get(name):
                decision = Decision(
                    "VARCHAR", f"({column}->>'$')", "texts, because its values are texts, numbers and booleans"
                )
            elif type == "JSON":
                decision = Decision(
                    "VARCHAR", f"CAST({column} AS VARCHAR)", f"JSON texts, because {self._no_structure}"
                )
            else:
                decision = _plain(column, type, name in self._empty_keys)
            self._decisions.append(decision)
        if self._typed:
            self._relation = self._relation_of(raw | self._typed)
        if selected := self._options.get("columns"):
            by_name = {n.lower(): i for i, n in enumerate(self._names)}
            order = [by_name[n.lower()] for n in selected]
            self._names, self._decisions = [self._names[i] for i in order], [self._decisions[i] for i in order]
        self._names += [n for n, _ in self._constants]
        self._decisions += [Decision(t, sql_name(n)) for n, t in self._constants]

    def _raw_type(self, name: str, type: str, user_types: dict[str, str]) -> str:
        """The type as which the engine reads a column: JSON if its texts decide the type."""
        if (
            name.lower() in user_types
            or type in ("JSON", "UUID", "DOUBLE", _EMPTY, *_LARGE)
            or self._options.get("all_varchar")
        ):
            return "JSON"
        if _is_nested(type):
            if self._keys is not None and "STRUCT(" in type:
                return "JSON"
            return "JSON" if leaves(type) & {*_TIMES, "DOUBLE", _EMPTY, "JSON"} else type
        return "JSON" if type in _TIMES else type

    def _format(self, type: str) -> str:
        """The format that the user gave to dates or times."""
        option = "dateformat" if type == "DATE" else "timestampformat"
        return str(self._options.get(option, "")) if type in ("DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE") else ""

    def _have_formats(self, type: str) -> bool:
        """Whether the user gave a format to all dates and times in a nested type."""
        return all(map(self._format, leaves(type) & _TIMES))

    def _relation_of(self, raw: dict[str, str]) -> str:
        arguments = {
            k: v for k, v in self._read_arguments.items() if k not in ("sample_size", "maximum_depth", _MAP_THRESHOLD)
        }
        arguments |= {"columns": raw} if self._keys is None else {"columns": {"json": "JSON"}, "records": False}
        if "format" not in arguments:
            arguments["format"] = "auto"
        groups: dict[tuple[object, ...], list[str]] = {}
        for file, path in zip(self._files, self._paths, strict=True):
            groups.setdefault(file.constants, []).append(path)
        names = {n for n, _ in self._constants}
        parts = [
            f"SELECT {self._items(raw)}{constants_sql([c for c in constants if c[0] in names])} FROM {call('read_json', paths, arguments)}"  # type: ignore[index,misc]
            for constants, paths in groups.items()
        ]
        return f"({' UNION ALL BY NAME '.join(parts)})"

    def _items(self, raw: dict[str, str]) -> str:
        """The columns of a file; from the whole objects if keys differ only in case, which the engine takes for one key."""
        if self._keys is None:
            return "*"
        values = {n: f"json_extract(json, {sql_text(_pointer(k))})" for n, k in zip(raw, self._keys, strict=True)}
        return ", ".join(f"{_as_type(v, raw[n])} AS {sql_name(n)}" for n, v in values.items())

    def _keys_if_cases_differ(self, engine: Engine, names: Sequence[str]) -> list[str] | None:
        """The keys of the objects in the order of the columns, if some differ only in case."""
        known = {n.lower() for n in names}
        if not any((m := re.fullmatch(r"(.*)_\d+", n)) and m[1].lower() in known for n in names):
            return None
        objects = call(
            "read_json", self._paths, {**self._read_arguments, "columns": {"json": "JSON"}, "records": False}
        )
        rows = engine.rows(
            "SELECT key FROM (SELECT unnest(json_keys(json)) AS key, generate_subscripts(json_keys(json), 1) AS place, row "
            f"FROM (SELECT json, row_number() OVER () AS row FROM {objects})) GROUP BY key ORDER BY min((row, place))"
        )
        keys = [k for (k,) in rows]
        if keys == list(names):
            return None
        # The engine names the keys in the order in which they appear, each with a number if its name is taken.
        fits = len(keys) == len(names) and all(
            re.fullmatch(rf"{re.escape(k)}(_\d+)*", n) for k, n in zip(keys, names, strict=True)
        )
        return keys if fits else None

    def _facts_of_nested(self, engine: Engine, columns: Sequence[tuple[str, str]]) -> dict[str, tuple[bool, bool]]:
        """For each column: whether a number has more digits than DOUBLE keeps, and whether times keep their texts."""
        if not columns:
            return {}
        parts = []
        for name, type in columns:
            c = sql_name(name)
            digits = f"coalesce(bool_or(regexp_matches(regexp_replace(CAST({c} AS VARCHAR), '\"([^\"\\\\]|\\\\.)*\"', '', 'g'), {sql_text(_LONG)})), false)" if "DOUBLE" in leaves(type) else "coalesce(bool_or(false), false)"  # fmt: skip
            parts.append(digits)
        (row,) = engine.rows(f"SELECT {', '.join(parts)} FROM {self._relation}")
        times = {n: t for n, t in columns if leaves(t) & _TIMES}
        same = self._times_that_keep_their_texts(engine, {n: t for n, t in times.items() if not self._have_formats(t)})
        same |= {n: True for n in times if n not in same}
        return {n: (bool(d), n not in times or same[n]) for (n, _), d in zip(columns, row, strict=True)}

    def _times_that_keep_their_texts(self, engine: Engine, columns: Mapping[str, str]) -> dict[str, bool]:
        """For nested columns: whether all their dates and times are ISO, so that they can be written back as the same texts."""
        import duckdb

        if not columns or self._keys is not None:
            return dict.fromkeys(columns, False)
        typed = self._relation_of({n: _readable(t) for n, t in columns.items()})
        texts = self._relation_of({n: _readable(_as_texts(t)) for n, t in columns.items()})
        parts = []
        for i, type in enumerate(columns.values()):
            value = f"CAST(a.c{i} AS {_readable(_as_texts(type))})"
            parts.append(f"coalesce(bool_and(regexp_replace(CAST({value} AS VARCHAR), {_NORMAL}) = regexp_replace(CAST(b.c{i} AS VARCHAR), {_NORMAL})), false)")  # fmt: skip
        names = ", ".join(f"c{i}" for i in range(len(columns)))
        own = ", ".join(map(sql_name, columns))
        try:
            (row,) = engine.rows(
                f"SELECT {', '.join(parts)} FROM (SELECT {own} FROM {typed}) AS a({names}) POSITIONAL JOIN (SELECT {own} FROM {texts}) AS b({names})"
            )
        except duckdb.Error:  # a time is not in the format that the engine guessed
            if len(columns) == 1:
                return dict.fromkeys(columns, False)
            return {n: self._times_that_keep_their_texts(engine, {n: t})[n] for n, t in columns.items()}
        return dict(zip(columns, row, strict=True))

    def _nested(self, name: str, type: str, facts: tuple[bool, bool]) -> Decision:
        column = sql_name(name)
        long, same = facts
        if long:
            return Decision("VARCHAR", f"CAST({column} AS VARCHAR)", "JSON texts, because a number has more digits than DOUBLE keeps")  # fmt: skip
        if self._keys is not None and "STRUCT(" in type:  # a cast refuses objects that lack keys
            return Decision("VARCHAR", f"CAST({column} AS VARCHAR)", "JSON texts, because other keys differ from each other only in case")  # fmt: skip
        if not same:
            type = _as_texts(type)
        note = (
            "parts that are empty or have several types are texts, those of objects and lists in JSON"
            if leaves(type) & {_EMPTY, "JSON"}
            else ""
        )
        note = "; ".join(filter(None, [note, _map_note(type, name in self._empty_keys)]))
        if self._keys is not None:
            return Decision(type, f"CAST({column} AS {_readable(type)})", note)
        self._typed[name] = _readable(type)  # the reader converts objects that lack keys
        return Decision(type, column, note)

    def _with_empty_keys(self, engine: Engine, names: Sequence[str]) -> set[str]:
        """The columns with an object that has an empty key."""
        if not names or self._keys is not None:
            return set()
        parts = [
            f"coalesce(bool_or(regexp_matches(CAST({sql_name(n)} AS VARCHAR), '\"\"\\s*:')), false)" for n in names
        ]
        (row,) = engine.rows(f"SELECT {', '.join(parts)} FROM {self._relation_of(dict.fromkeys(names, 'JSON'))}")
        return {n for n, found in zip(names, row, strict=True) if found}

    def _only_scalars(self, engine: Engine, names: Sequence[str]) -> dict[str, bool]:
        if not names:
            return {}
        parts = [f"coalesce(bool_and(json_type({sql_name(n)}) NOT IN ('ARRAY', 'OBJECT')), false)" for n in names]
        (row,) = engine.rows(f"SELECT {', '.join(parts)} FROM {self._relation}")
        return dict(zip(names, row, strict=True))

    def _as_user_wants(self, engine: Engine, name: str, written: str) -> Decision:
        type, text = engine_type_of(written), f"({sql_name(name)}->>'$')"
        format = self._options.get("dateformat" if type == "DATE" else "timestampformat", "")
        sql = f"CAST(try_strptime({text}, {sql_text(format)}) AS {type})" if format and type in ("DATE", "TIMESTAMP") else exact_cast(text, type)  # fmt: skip
        if type == "VARCHAR":
            return Decision(type, text)
        (found,) = engine.rows(
            f"SELECT min_by({text}, row) FILTER (WHERE {text} IS NOT NULL AND {sql} IS NULL), min(row) FILTER (WHERE {text} IS NOT NULL AND {sql} IS NULL) "
            f"FROM (SELECT *, row_number() OVER () AS row FROM {self._relation})"
        )
        if found[1] is not None and not self._options.get("ignore_errors") and not self._options.null_if_bad:
            file = self._files[0].name
            raise SchemaMismatch(
                f"{file}, row {found[1]:,}, column {name!r}: {found[0]!r} is not a {type}",
                hint=f"types = {{'{name}': 'STRING'}} keeps the texts, ignore_errors = true makes such values NULL", file=file, row=found[1], column=name, value=found[0],
            )  # fmt: skip
        return Decision(type, sql)

    def _error(self, error: Exception) -> PaimonError:
        return json_error(error, self._files[0].name)

    def _described(self) -> str:
        compression = self._options.get("compression") or formats.compression_of(self._paths[0])
        with open_stream(Path(self._paths[0]), None if compression == "none" else compression) as stream:
            start = stream.read(1 << 12).lstrip()
        count = f"{len(self._files)} files, " if len(self._files) > 1 else ""
        return f"{count}JSON, {'an array of objects' if start.startswith(b'[') else 'one object a line'}"


def _as_type(value: str, type: str) -> str:
    """The SQL of a JSON value in a type; the text of a string is without quotation marks."""
    if type == "JSON":
        return value
    return f"({value}->>'$')" if type == "VARCHAR" else f"CAST({value} AS {type})"


def _pointer(key: str) -> str:
    """The JSON pointer of a key of an object."""
    return "/" + key.replace("~", "~0").replace("/", "~1")


def _is_nested(type: str) -> bool:
    return type.endswith("]") or type.startswith(("STRUCT(", "MAP("))


def _as_texts(type: str) -> str:
    """A type with texts in place of dates and times."""
    return with_leaves(type, lambda leaf: "VARCHAR" if leaf in _TIMES else leaf)


def _readable(type: str) -> str:
    """A type of the structure without the types NULL, JSON and UUID, whose values become texts."""
    return with_leaves(type, lambda leaf: "VARCHAR" if leaf in (_EMPTY, "JSON", "UUID") else leaf)


def _plain(column: str, type: str, has_empty_key: bool) -> Decision:
    """A column that the engine reads itself: whole numbers, booleans, texts and lists of them."""
    if leaves(type) & set(_LARGE):
        target = with_leaves(type, lambda leaf: _LARGE.get(leaf, leaf))
        return Decision(target, f"CAST({column} AS {target})")
    return Decision(type, column, "BYTES of WKB" if "GEOMETRY" in leaves(type) else _map_note(type, has_empty_key))


def _map_note(type: str, has_empty_key: bool = False) -> str:
    """What is said about objects that the engine makes a MAP of; that of an empty object is not of this kind."""
    if "MAP(VARCHAR, " not in type.replace("MAP(VARCHAR, JSON)", ""):
        return ""
    if has_empty_key:
        return "MAP, because an object has an empty key, which cannot be the name of a field"
    return (
        f"MAP of objects that have many keys with values of one type; {_MAP_THRESHOLD} = -1 makes a field of each key"
    )


def json_error(error: Exception, name: str) -> PaimonError:
    """An error of the engine's reader, with the line and the options that help."""
    text = str(error).replace("\n", " ")
    line = re.search(r"in line (\d+)", text)
    # The engine counts the lines of broken objects from 2.
    where = f"{name}, line {int(line[1]) - ('Malformed' in text):,}" if line else name
    if "duplicate key" in text:
        key = re.search(r'duplicate key "([^"]*)"', text)
        what, hint = (
            f"an object has the key {key[1] if key else ''!r} twice",
            "ignore_errors = true leaves such objects out",
        )
    elif "Malformed" in text or "malformed" in text:
        what, hint = text.split(": ")[-1].strip(" .")[:200], "ignore_errors = true leaves out lines that are not JSON"
    elif "Missing closing brace" in text:
        what, hint = _NOT_CLOSED
    elif "maximum_object_size" in text:
        what, hint = "an object is too large", "maximum_object_size = 1000000000"
    elif "nvalid unicode" in text or "UTF-8" in text:
        what, hint = "bytes that are not UTF-8", "name the encoding: encoding = 'latin-1'"
    else:
        what, hint = "its objects have no structure that fits all of them", "maximum_depth = 1 keeps nested values as texts, columns = {...} names the types"  # fmt: skip
    return UnsupportedFormat(f"{where} cannot be read as JSON: {what}", hint=hint, feature="file")
