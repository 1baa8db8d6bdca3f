"""Translates Spark's exceptions to `PaimonError`: one sentence, the position in the user's SQL, a hint.

A `PaimonError` that is raised inside a Spark task passes through the JVM as text. `encode_errors_of_task` serializes it, and
`paimon_error_of_spark` restores its class and facts.
"""

from __future__ import annotations

import functools
import json
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from paimon_nb.base import errors as tree
from paimon_nb.base.errors import (
    Cancelled,
    EngineError,
    PaimonError,
    SqlAnalysisError,
    SqlError,
    SqlSyntaxError,
)
from paimon_nb.base.identifier import quote
from paimon_nb.base.registry import nearest_known_name
from paimon_nb.spark.runtime.python_workers import forget_dead_workers, prepare_next_task, use_jemalloc
from paimon_nb.statements.query import BUCKET, FILE_PATH, PARTITION, ROW_INDEX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from paimon_nb.statements import Span

_MARK = "PAIMON_ERROR"
_PACKED = re.compile(_MARK + r"(\{.*?\})" + _MARK, re.S)
_OUR_VIEW = re.compile(r"`?__paimon_\d+`?\.?")
_CONDITION = re.compile(r"^\s*\[([A-Z][A-Z0-9_.]*)\]\s*")
_SQL_STATE = re.compile(r"\s*SQLSTATE:\s*\w{5}.*", re.S)
_TRACE_END = re.compile(r"^Traceback \(most recent call last\):\n(?:[ \t].*\n|\n)*(\S.*)", re.M)
_WAIT_FAILED = "Exception thrown in awaitResult"
_CAUSE = re.compile(r"^Caused by: (?:[\w$]+\.)*[\w$]+: (\S.*)$", re.M)
_LINE_AND_COLUMN = re.compile(r"\(line (\d+), pos (\d+)\)")
_NAME_PART = re.compile(r"`((?:[^`]|``)*)`")
_CANCELLED = re.compile(
    r"SPARK_JOB_CANCELLED|cancelled part of cancelled job group|OPERATION_CANCELED|Job \d+ cancelled"
)
_LOST = re.compile(
    r"SocketException: (?:Connection reset|Broken pipe)"
    r"|java\.io\.(?:EOFException|IOException: (?:Stream closed|Broken pipe|Connection reset))"
)
_RESULT_SIZE = re.compile(
    r"Total size of serialized results of .*? \([^)]*\) is bigger than spark\.driver\.maxResultSize \(([^)]*)\)"
)

P = ParamSpec("P")
R = TypeVar("R")


@contextmanager
def spark_errors(
    text: str | None = None, span: Span | None = None, columns: Callable[[], Sequence[str]] = tuple
) -> Iterator[None]:
    """Translate exceptions of Spark inside the block.

    Args:
        text: the user's SQL, for the position of the error.
        span: the statement's part of it.
        columns: the column names that an unknown column is compared with.
    """
    try:
        yield
    except PaimonError:
        raise
    except Exception as error:
        translated = paimon_error_of_spark(error, text, span, columns)
        if translated is None:
            raise
        raise translated from error


_CONCURRENT = re.compile(
    r"Multiple streaming jobs detected|CONCURRENT_STREAM_LOG_UPDATE|another query with same id is already active"
)


def paimon_error_of_spark(
    error: BaseException,
    text: str | None = None,
    span: Span | None = None,
    columns: Callable[[], Sequence[str]] = tuple,
) -> PaimonError | None:
    """The `PaimonError` for an exception of Spark; None for other exceptions."""
    if isinstance(error, PaimonError):
        return error
    known = vars(error).get("paimon_error")  # of a `ReadableStreamError`
    if isinstance(known, PaimonError):
        return known
    if not _is_spark(error):
        return None
    whole = _text_with_causes(error)
    packed = _PACKED.search(whole)
    if packed:
        return _decode_error(packed[1])
    condition = _call_or_none(error, "getCondition") or _found_condition(whole)
    if _CANCELLED.search(whole) or condition == "SPARK_JOB_CANCELLED":
        return Cancelled("the work was cancelled", hint="nothing was committed; run the statement again")
    if _CONCURRENT.search(whole):
        return EngineError(
            "another query has written to the checkpoint location of this one",
            hint="a checkpoint belongs to one running query: stop the other one, or start this one with another checkpointLocation "
            "(in SQL 'pipeline.name'). Nothing is lost or stored twice",
            condition=condition,
        )
    lost = None if _TRACE_END.search(whole) else _lost_worker_message(whole)
    if lost is not None:
        forget_dead_workers()  # otherwise the next statements fail once per dead worker
        return EngineError(
            lost, hint="run the statement again; a stream resumes from its checkpoint", condition=condition
        )
    if result_size := _RESULT_SIZE.search(whole):
        return EngineError(
            f"the driver would collect more than {result_size[1]} of rows ('spark.driver.maxResultSize')",
            hint="change fewer rows in one statement, or start Spark with a larger spark.driver.maxResultSize",
            condition=condition,
        )
    parameters = _call_or_none(error, "getMessageParameters") or {}
    raised = _TRACE_END.findall(whole)
    message = (
        f"a Python function inside Spark failed: {raised[-1].strip()}"
        if raised
        else first_sentence(_own_message(error) or _from_condition(whole, condition))
    )
    facts: dict[str, Any] = {
        "condition": condition,
        "sql_state": _call_or_none(error, "getSqlState"),
        "parameters": parameters,
    }
    start, stop = (None, None) if text is None else _error_position(error, whole, parameters, text, span)
    facts |= {"sql": text, "start": start, "stop": stop} if text is not None else {}
    return _error_class(error)(message, hint=_hint_for(condition, parameters, columns), **facts)


def _own_message(error: BaseException) -> str | None:
    """The message of an exception itself; None if it says only that another thread failed."""
    message = _call_or_none(error, "getMessage")
    return None if message is None or _WAIT_FAILED in message else str(message)


def _lost_worker_message(whole: str) -> str | None:
    """The message for an ended Python process of Spark; None for other errors."""
    if "Python worker failed to connect back" in whole:
        return "a Python worker of Spark did not start within ten seconds; the machine may be overloaded"
    if "Python worker exited unexpectedly" in whole:
        return "a Python worker of Spark exited: it was killed or ran out of memory"
    if _LOST.search(whole):
        return "Spark lost a connection to one of its processes, for example because a Python worker was killed"
    return None


def first_sentence(message: str) -> str:
    """The first sentence of a Spark message, without error condition, SQL state, hints and stack."""
    text = _SQL_STATE.sub("", _CONDITION.sub("", message)).strip()
    text = _OUR_VIEW.sub("", text)
    lines = [line for line in text.splitlines() if line.strip()]
    text = lines[0].strip() if lines else "Spark failed without a message"
    # A sentence ends at ". " followed by a capital; dots inside names and numbers do not end it.
    end = re.search(r"(?<=[^\s.])\. (?=[A-Z])", text)
    text = text[: end.start()] if end else text
    return text.rstrip(" .:") if len(text) < 500 else text[:497] + "..."


def encode_errors_of_task(function: Callable[P, Iterator[R]]) -> Callable[P, Iterator[R]]:
    """Decorates a generator function that runs inside Spark tasks: `paimon_error_of_spark` restores its errors in the driver."""

    @functools.wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> Iterator[R]:
        use_jemalloc()
        with encode_raised_errors():
            yield from function(*args, **kwargs)

    return wrapped


@contextmanager
def encode_raised_errors() -> Iterator[None]:
    """Inside a task: raise a `PaimonError` as text that `paimon_error_of_spark` restores."""
    try:
        yield
    except PaimonError as error:
        raise RuntimeError(encode_error(error)) from error
    finally:
        prepare_next_task()


def encode_error(error: PaimonError) -> str:
    """An error as text that stays intact inside Spark's messages."""
    facts = {k: v if isinstance(v, str | int | float | bool | type(None)) else str(v) for k, v in error.facts.items()}
    body = {"kind": type(error).__name__, "message": error.message, "hint": error.hint, "facts": facts}
    return f"{_MARK}{json.dumps(body)}{_MARK}"


def _decode_error(text: str) -> PaimonError:
    body = json.loads(text)
    kind = getattr(tree, body["kind"], EngineError)
    if not (isinstance(kind, type) and issubclass(kind, PaimonError)):
        kind = EngineError
    return tree.error_of_kind(kind, body["message"], body["hint"], body["facts"])


def _is_spark(error: BaseException) -> bool:
    return type(error).__module__.startswith(("pyspark.", "py4j."))


def _error_class(error: BaseException) -> type[PaimonError]:
    for kind in type(error).__mro__:
        if kind.__name__ == "ParseException":
            return SqlSyntaxError
        if kind.__name__ in ("AnalysisException", "TempTableAlreadyExistsException"):
            return SqlAnalysisError
    contexts = _call_or_none(error, "getQueryContext")
    return SqlError if contexts else EngineError


def _call_or_none(error: BaseException, method: str) -> Any:
    try:
        return getattr(error, method)()
    except Exception:  # the JVM has ended
        return None


def _text_with_causes(error: BaseException) -> str:
    parts = [str(getattr(error, "_desc", "") or ""), str(error)]
    java = getattr(error, "java_exception", None)
    if java is not None:
        parts.insert(0, str(java.toString()))
    cause = getattr(error, "_cause", None)
    return "\n".join(parts) + (_text_with_causes(cause) if cause is not None and cause is not error else "")


def _found_condition(text: str) -> str | None:
    found = re.search(r"\[([A-Z][A-Z0-9_]{3,}(?:\.[A-Z0-9_]+)?)\]", text)
    return found[1] if found else None


def _from_condition(text: str, condition: str | None) -> str:
    """What a text says about its condition: before it may be what Python and Java say about each other.

    Without a condition, what failed while Spark waited for another thread is said by the innermost cause.
    """
    if condition is None and _WAIT_FAILED in text and (causes := _CAUSE.findall(text)):
        return str(causes[-1])
    return text[max(text.find(f"[{condition}]"), 0) :]


def _hint_for(
    condition: str | None, parameters: dict[str, str], columns: Callable[[], Sequence[str]] = tuple
) -> str | None:
    if "__paimon_" in parameters.get("objectName", ""):
        known_columns = f"{FILE_PATH}, {ROW_INDEX}, {PARTITION} and {BUCKET}"
        return f"metadata columns are {known_columns}; a table with primary keys has them after CALL sys.compact"
    if condition and condition.startswith("UNRESOLVED_COLUMN") and (known := columns()):
        # Spark knows only the columns that the query names, so its suggestions are among those.
        unknown = _NAME_PART.findall(parameters.get("objectName", ""))[-1:]
        near = nearest_known_name(unknown[0].replace("``", "`"), known) if unknown else None
        return f"did you mean {quote(near)}?" if near else f"columns: {', '.join(known[:20])}"
    proposal = parameters.get("proposal") or parameters.get("suggestion")
    if condition == "MISSING_GROUP_BY":
        return "add GROUP BY with the columns outside aggregate functions"
    if condition and condition.startswith("INVALID_INLINE_TABLE.NUM_COLUMNS") and "rowIndex" in parameters:
        counts = f"{parameters.get('actualNumCols')} values, the first row {parameters.get('expectedNumCols')}"
        return f"row {int(parameters['rowIndex']) + 1} has {counts}"
    if proposal:
        names = [_OUR_VIEW.sub("", name.strip()) for name in proposal.split(",")]
        return "did you mean " + " or ".join(n for n in names[:3] if n) + "?"
    if condition and condition.startswith("TABLE_OR_VIEW_NOT_FOUND"):
        return "SHOW TABLES lists the tables"
    if condition and condition.startswith(("CAST_INVALID_INPUT", "CAST_OVERFLOW", "NUMERIC_VALUE_OUT_OF_RANGE")):
        return "try_cast returns NULL for invalid values"
    if condition and condition.startswith("DIVIDE_BY_ZERO"):
        return "try_divide returns NULL"
    if condition and condition.startswith("UNRESOLVED_ROUTINE"):
        return "SHOW FUNCTIONS lists the functions"
    return None


def _error_position(
    error: BaseException, whole: str, parameters: dict[str, str], text: str, span: Span | None
) -> tuple[int | None, int | None]:
    """The position of the error in the user's SQL. Spark got the SQL with other table names, so the text is searched."""
    low, high = (span.start, span.stop) if span is not None else (0, len(text))
    contexts = _call_or_none(error, "getQueryContext") or []
    if contexts:
        fragment = _OUR_VIEW.sub("", str(_call_or_none(contexts[0], "fragment") or ""))
        return _nearest_occurrence(text, fragment, low, high, low + int(_call_or_none(contexts[0], "startIndex") or 0))
    location = _LINE_AND_COLUMN.search(whole)
    if location:
        lines = text[low:high].splitlines(keepends=True)
        before = sum(len(line) for line in lines[: int(location[1]) - 1])
        near = str(parameters.get("error", "")).strip("'")
        if near in ("end of input", "<EOF>", ""):
            return high, high
        return _nearest_occurrence(text, near, low, high, low + before + int(location[2]))
    return None, None


def _nearest_occurrence(text: str, word: str, low: int, high: int, target: int) -> tuple[int | None, int | None]:
    """The occurrence of `word` within [low, high) that starts closest to `target`."""
    if not word:
        return None, None
    starts = [m.start() for m in re.finditer(re.escape(word), text[low:high])]
    if not starts:
        return None, None
    best = min(starts, key=lambda start: abs(low + start - target)) + low
    return best, best + len(word)
