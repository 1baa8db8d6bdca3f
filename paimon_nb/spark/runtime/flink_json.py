"""JSON_VALUE, JSON_QUERY and JSON_EXISTS of Flink for any path, as one function of Spark. Source: Flink 1.20 `SqlJsonUtils`."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from paimon_nb.format.row.java_float import double_text
from paimon_nb.spark.runtime.json_path import compile_path
from paimon_nb.spark.runtime.json_steps import JsonPathError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FLINK_JSON = "paimon_flink_json"
"""Arguments: the document, the path without its mode, and `what mode wrapper`. The result is NULL for a NULL document, else `v` and the
value's text, `e`: empty, or `x`: an error."""


def register_flink_json(spark: SparkSession, sql: str) -> None:
    """Make the function known to a session, if a text of SQL calls it."""
    if FLINK_JSON not in sql:
        return
    from pyspark.sql.functions import udf

    spark.udf.register(FLINK_JSON, udf(flink_json, "string"))


def flink_json(document: str | None, path: str, form: str) -> str | None:
    """One call. `form`: `exists | value | query`, `lax | strict`, `none | always | conditional`."""
    if document is None:
        return None
    what, mode, wrapper = form.split(" ")
    lax = mode == "lax"
    try:
        value = _read(document, path, lax=lax)
    except JsonPathError:
        return "x"
    except RecursionError:
        return "x"
    match what:
        case "exists":
            return "vtrue" if value is not None else "vfalse"
        case "value":
            if value is None or (lax and isinstance(value, list | dict)):
                return "e"
            return "x" if isinstance(value, list | dict) else "v" + _scalar_text(value)
    if value is not None and (wrapper == "always" or (wrapper == "conditional" and not isinstance(value, list))):
        value = [value]
    if value is None or (lax and not isinstance(value, list | dict)):
        return "e"
    return "v" + _json_text(value) if isinstance(value, list | dict) else "x"


def _read(document: str, path: str, *, lax: bool) -> Any:
    """The value at the path; None: none, or JSON null. Raises JsonPathError."""
    try:
        value = _parse(document)
    except ValueError:
        if lax:
            return None
        raise JsonPathError("no JSON") from None
    if value is None:
        raise JsonPathError("JSON null has no paths")
    return compile_path(path).read(value, lax=lax)


_DECODER = json.JSONDecoder(strict=True, parse_constant=lambda text: _refuse(text))


def _refuse(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")


@lru_cache(maxsize=64)
def _parse(document: str) -> Any:
    """The first JSON value of a text; what follows it is not read, as in Jackson. Raises ValueError."""
    value, _ = _DECODER.raw_decode(document.lstrip(" \t\r\n"))
    return value


def _scalar_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return double_text(value) if isinstance(value, float) else str(value)


def _json_text(value: Any) -> str:
    """JSON as Jackson writes it: without spaces, numbers as Java's DOUBLE, control characters escaped."""
    match value:
        case None:
            return "null"
        case dict():
            return "{" + ",".join(f"{_json_text(k)}:{_json_text(v)}" for k, v in value.items()) + "}"
        case list():
            return "[" + ",".join(map(_json_text, value)) + "]"
        case str():
            return json.dumps(value, ensure_ascii=False)
    return _scalar_text(value)
