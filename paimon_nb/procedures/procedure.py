"""The model of a procedure: declared arguments, and binding of a CALL's values."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from paimon_nb.base.errors import BadOptionValue, SqlAnalysisError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.registry import did_you_mean
from paimon_nb.options.option import parse_duration_ms
from paimon_nb.table.read.partition_spec import in_row_spec
from paimon_nb.table.read.predicate.partition_filter import partition_filter
from paimon_nb.table.write.publish.overwrite import partition_matcher

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from pyspark.sql import SparkSession

    from paimon_nb.base.identifier import Identifier
    from paimon_nb.catalog.api import Catalog
    from paimon_nb.table.tables.table import Table


_KINDS = {
    "int": "a whole number",
    "bool": "true or false",
    "time": "epoch milliseconds or 'yyyy-MM-dd HH:mm:ss'",
    "span": "a time span such as '7 d'",
    "regex": "a regular expression",
}
"""Descriptions of argument kinds, for error messages."""


class Context(Protocol):
    """The session as procedures see it."""

    catalog: Catalog
    notes: list[str]
    snapshots: list[tuple[str, int]]

    @property
    def current_database(self) -> str: ...

    @property
    def is_streaming(self) -> bool:
        """Whether the session is in Flink's streaming mode."""

    @property
    def starts_endless_jobs(self) -> bool:
        """Whether a compaction continues after the CALL: in streaming mode with 'table.dml-sync' = 'false'."""

    @property
    def dialect(self) -> str:
        """'flink' if the session has Flink's semantics, else 'spark'."""

    @property
    def spark(self) -> SparkSession | None:
        """The running Spark, for large work; None if Spark is not running."""

    def table(self, text: str, options: dict[str, str] | None = None) -> Table: ...
    def resolve(self, text: str) -> tuple[Catalog, Identifier]:
        """Catalog and identifier of a table name; the table need not exist."""

    def sql(self, text: str, *, takes_any_match: bool = False) -> Any: ...
    def own_views(self) -> AbstractContextManager[None]:
        """Temporary views and tables that are created inside the block end with it."""

    def add_job(self, name: str, running: Any, rows: Callable[[], int]) -> str:
        """Register a running job in the session. Returns the job's id."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument. `kind`: text, int, bool, time (epoch milliseconds or 'yyyy-MM-dd HH:mm:ss'), span ('1 h') or regex."""

    name: str
    kind: str = "text"
    required: bool = False
    doc: str = ""
    also: tuple[str, ...] = ()
    """Other spellings."""
    many: bool = False
    """Whether the command line accepts it several times: 'k=v' each, or one text each."""
    may_be_empty: bool = False
    """Whether an empty text is a value; else it stands for an argument that is left out."""


@dataclass(frozen=True, slots=True)
class Procedure:
    """A stored procedure of the `sys` namespace. `arguments` are in Flink's positional order."""

    name: str
    doc: str
    arguments: tuple[Argument, ...]
    run: Callable[..., pa.Table]
    """Called with the context and every argument by name; absent ones are None."""
    positional: Callable[[Sequence[Any]], dict[str, Any]] | None = None
    """Binds positional arguments of overloads."""
    repeats_last: bool = False
    """Whether the last positional argument may be repeated; the values are joined with ';'."""
    positional_in_spark: bool = False
    """Whether Paimon documents positional arguments for Spark, too. Then they say nothing about the dialect."""

    def bind(self, positional: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """Values by argument name.

        Raises:
            SqlAnalysisError: unknown, missing or too many arguments.
            BadOptionValue: a value of the wrong kind.
        """
        values: dict[str, Any] = dict.fromkeys((a.name for a in self.arguments), None)
        spellings = {s.lower(): a for a in self.arguments for s in (a.name, a.name.replace("_", ""), *a.also)}
        if self.repeats_last and len(positional) > len(self.arguments):
            fixed = len(self.arguments) - 1
            positional = [*positional[:fixed], ";".join(map(str, positional[fixed:]))]
        if len(positional) > len(self.arguments):
            raise SqlAnalysisError(
                f"{self.name} takes at most {len(self.arguments)} arguments, not {len(positional)}",
                hint=self.usage,
            )
        if positional and self.positional is not None:
            values.update(self.positional(positional))
        else:
            for argument, value in zip(self.arguments, positional, strict=False):
                values[argument.name] = value
        for key, value in named.items():
            argument = spellings.get(key.lower()) or spellings.get(key.lower().replace("_", ""))  # type: ignore[assignment]
            if argument is None:
                raise SqlAnalysisError(
                    f"{self.name} has no argument {key!r}",
                    hint=did_you_mean(key, [a.name for a in self.arguments]) or self.usage,
                    argument=key,
                )
            values[argument.name] = value
        for argument in self.arguments:
            value = values[argument.name]
            if value is None or (
                value == "" and not argument.may_be_empty
            ):  # '' is a placeholder in Flink's positional calls
                if argument.required:
                    raise SqlAnalysisError(
                        f"{self.name}: argument {argument.name} is missing", hint=self.usage, argument=argument.name
                    )
                values[argument.name] = None
            else:
                values[argument.name] = _convert_argument(value, argument, self)
        return values

    @property
    def usage(self) -> str:
        """The syntax of a call."""
        arguments_text = ", ".join(a.name if a.required else f"[{a.name}]" for a in self.arguments)
        return f"CALL sys.{self.name}({arguments_text})"


def _convert_argument(value: Any, argument: Argument, procedure: Procedure) -> Any:
    try:
        match argument.kind:
            case "int":
                if isinstance(value, bool) or (isinstance(value, float) and not value.is_integer()):
                    raise ValueError("not a whole number")
                return int(value)
            case "bool":
                if isinstance(value, bool):
                    return value
                return {"true": True, "false": False}[str(value).strip().lower()]
            case "time":
                return epoch_ms_of_argument(value)
            case "span":
                return parse_duration_ms(str(value))
            case "regex":
                return re.compile(str(value)).pattern
    except (ValueError, KeyError, TypeError, re.error):
        raise BadOptionValue(
            f"{procedure.name}: {argument.name} cannot be {value!r}", hint=f"use {_KINDS[argument.kind]}; {procedure.usage}",
            argument=argument.name,
        ) from None  # fmt: skip
    if isinstance(value, dict) and argument.name.endswith(("options", "_conf")):
        return value  # map('k', 'v'), Spark's form; `parse_options` accepts both
    if isinstance(value, dict | list):
        raise BadOptionValue(
            f"{procedure.name}: {argument.name} cannot be {value!r}", hint=f"write it as text; {procedure.usage}",
            argument=argument.name,
        )  # fmt: skip
    return str(value)


def epoch_ms_of_argument(value: Any) -> int:
    """Epoch milliseconds from a number or a local time text. Raises `ValueError`."""
    if isinstance(value, int):
        return value
    text = str(value).strip()
    if text.isdecimal():
        return int(text)
    return int(dt.datetime.fromisoformat(text).timestamp() * 1000)


def table_argument() -> Argument:
    """The first argument of most procedures: the table."""
    return Argument("table", required=True, doc="[database.]table")


def one_row(**columns: Any) -> pa.Table:
    """A result of one row."""
    return pa.table({k: [v] for k, v in columns.items()})


def success() -> pa.Table:
    """Spark's result of procedures without an output."""
    return one_row(result=True)


_PARTS = re.compile(r"""(?:=\s*"[^"]*"|=\s*'[^']*'|[^;])+""")
_PAIRS = re.compile(r"""(?:=\s*"[^"]*"|=\s*'[^']*'|[^,])+""")
"""Separators count outside of quoted values."""


def _without_quotes(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


def parse_partitions(text: str | None) -> list[dict[str, str]] | None:
    """'a=1,b=2;a=3' -> [{a: 1, b: 2}, {a: 3}]; a value may have quotes, as in Spark. Raises `BadOptionValue`."""
    if not text:
        return None
    out = []
    for part in _PARTS.findall(text):
        if not part.strip():
            continue
        spec = {}
        for pair in _PAIRS.findall(part):
            key, equals, value = pair.partition("=")
            if not equals:
                raise BadOptionValue(
                    f"partition {text!r} has no '=' in {pair!r}", hint="write 'dt=2024-01-01,hh=1;dt=2024-01-02'"
                )
            spec[key.strip()] = _without_quotes(value.strip())
        out.append(spec)
    return out


def named_partitions(context: Context, table: Table, text: str) -> list[dict[str, str]]:
    """The partitions of 'a=1,b=2;a=3' as texts by column. One that does not exist is noted.

    Raises: BadOptionValue, ColumnNotFound.
    """
    from paimon_nb.table.write.maintenance import missing_partitions

    specs = parse_partitions(text) or []
    if missing := missing_partitions(table.store, [in_row_spec(table.schema, spec) for spec in specs]):
        context.notes.append(f"{table.name} has no partition {'; '.join(missing)}; SHOW PARTITIONS lists them")
    return specs


def selected_partitions(
    context: Context, table: Table, partitions: str | None, where: str | None = None
) -> Callable[[bytes], bool] | None:
    """A test for the partitions selected by two arguments; None: all.

    Raises:
        SqlAnalysisError: both are set.
        BadOptionValue, ColumnNotFound, UnsupportedOperation: see the parsers.
    """
    if partitions and where:
        raise SqlAnalysisError("partitions and where cannot be combined", hint="use where only")
    if where:
        return partition_filter(table.store, where)
    if not partitions:
        return None
    specs = [in_row_spec(table.schema, spec) for spec in named_partitions(context, table, partitions)]
    matchers = [partition_matcher(table.store, spec) for spec in specs]
    return lambda partition: any(matches_spec(partition) for matches_spec in matchers)


def parse_options(text: str | Mapping[str, object] | None) -> dict[str, str]:
    """'k=v,k2=v2', 'k=v;k2=v2' whose values may contain commas, or Spark's map('k', 'v'), as a mapping.

    Raises: BadOptionValue: a part without '='.
    """
    if not text:
        return {}
    if isinstance(text, Mapping):
        return {k: str(v) for k, v in text.items()}
    pairs = [p.partition("=") for p in text.split(";" if ";" in text else ",") if p.strip()]
    if keys_without_value := [k.strip() for k, equals, _ in pairs if not equals]:
        raise BadOptionValue(f"{keys_without_value[0]!r} has no '='", hint="write options as 'k=v,k2=v2'", value=text)
    return {k.strip(): v.strip() for k, _, v in pairs}


def commit_note(context: Context, table: Table, ids: Sequence[int]) -> None:
    """Record the snapshots of a procedure, for undo."""
    context.snapshots += [(str(table.name), i) for i in ids]
