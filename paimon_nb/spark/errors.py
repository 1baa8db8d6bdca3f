"""Spark's exceptions as ours: one sentence, the place in the user's text, the next step. Knows no table.

Errors of ours that are raised inside a Spark task cross the JVM as text; `crossing_tasks` packs them so that `translate`
gives them back with their class and facts.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterator, Sequence
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
from paimon_nb.base.registry import nearest
from paimon_nb.plan.metadata_columns import BUCKET, FILE_PATH, PARTITION, ROW_INDEX
from paimon_nb.spark.runtime.worker_pool import forget_dead_workers
from paimon_nb.spark.runtime.worker_setup import ready_for_the_next, small

if TYPE_CHECKING:
    from paimon_nb.plan import Span

_MARK = "PAIMON_ERROR"
_PACKED = re.compile(_MARK + r"(\{.*?\})" + _MARK, re.S)
_OUR_VIEW = re.compile(r"`?__paimon_\d+`?\.?")
_CONDITION = re.compile(r"^\s*\[([A-Z][A-Z0-9_.]*)\]\s*")
_SQL_STATE = re.compile(r"\s*SQLSTATE:\s*\w{5}.*", re.S)
_TRACE_END = re.compile(r"^Traceback \(most recent call last\):\n(?:[ \t].*\n|\n)*(\S.*)", re.M)
_LINE_AND_COLUMN = re.compile(r"\(line (\d+), pos (\d+)\)")
_NAME_PART = re.compile(r"`((?:[^`]|``)*)`")
_CANCELLED = re.compile(
    r"SPARK_JOB_CANCELLED|cancelled part of cancelled job group|OPERATION_CANCELED|Job \d+ cancelled"
)
_LOST = re.compile(
    r"SocketException: (?:Connection reset|Broken pipe)"
    r"|java\.io\.(?:EOFException|IOException: (?:Stream closed|Broken pipe|Connection reset))"
)

P = ParamSpec("P")
R = TypeVar("R")


@contextmanager
def spark_errors(
    text: str | None = None, span: Span | None = None, columns: Callable[[], Sequence[str]] = tuple
) -> Iterator[None]:
    """Inside the block, an exception of Spark's leaves as one of ours.

    Args:
        text: the user's whole text, to find the place in. span: the statement's part of it.
    """
    try:
        yield
    except PaimonError:
        raise
    except Exception as error:
        translated = translate(error, text, span, columns)
        if translated is None:
            raise
        raise translated from error


def translate(
    error: BaseException,
    text: str | None = None,
    span: Span | None = None,
    columns: Callable[[], Sequence[str]] = tuple,
) -> PaimonError | None:
    """The error of ours that an exception of Spark's means; None for an exception that is not Spark's."""
    if isinstance(error, PaimonError):
        return error
    if not _is_spark(error):
        return None
    whole = _whole_text(error)
    packed = _PACKED.search(whole)
    if packed:
        return _unpack(packed[1])
    condition = _call(error, "getCondition") or _found_condition(whole)
    if _CANCELLED.search(whole) or condition == "SPARK_JOB_CANCELLED":
        return Cancelled("the work was cancelled", hint="nothing was committed; run the statement again")
    lost = None if _TRACE_END.search(whole) else _lost_worker(whole)
    if lost is not None:
        forget_dead_workers()  # or the statement fails once for each of them
        return EngineError(
            lost, hint="run the statement again; a stream resumes from its checkpoint", condition=condition
        )
    parameters = _call(error, "getMessageParameters") or {}
    raised = _TRACE_END.findall(whole)
    message = (
        f"a Python function inside Spark failed: {raised[-1].strip()}"
        if raised
        else first_sentence(_call(error, "getMessage") or whole)
    )
    facts: dict[str, Any] = {"condition": condition, "sql_state": _call(error, "getSqlState")}
    start, stop = (None, None) if text is None else _position(error, whole, parameters, text, span)
    facts |= {"sql": text, "start": start, "stop": stop} if text is not None else {}
    return _kind(error)(message, hint=_hint(condition, parameters, columns), **facts)


def _lost_worker(whole: str) -> str | None:
    """What the end of one of Spark's Python processes looks like from outside."""
    if "Python worker failed to connect back" in whole:
        return "a Python worker of Spark did not start within ten seconds; the machine may be overloaded"
    if "Python worker exited unexpectedly" in whole:
        return "a Python worker of Spark exited: it was killed or ran out of memory"
    if _LOST.search(whole):
        return "Spark lost a connection to one of its processes, for example because a Python worker was killed"
    return None


def first_sentence(message: str) -> str:
    """A message of Spark's without condition, SQL state, hints and stack."""
    text = _SQL_STATE.sub("", _CONDITION.sub("", message)).strip()
    text = _OUR_VIEW.sub("", text)
    lines = [line for line in text.splitlines() if line.strip()]
    text = lines[0].strip() if lines else "Spark failed without a message"
    # A sentence ends at ". " followed by a capital; dots inside names and numbers do not end it.
    end = re.search(r"(?<=[^\s.])\. (?=[A-Z])", text)
    text = text[: end.start()] if end else text
    return text.rstrip(" .:") if len(text) < 500 else text[:497] + "..."


def crossing_tasks(function: Callable[P, Iterator[R]]) -> Callable[P, Iterator[R]]:
    """Decorate a generator function that runs inside Spark tasks: its errors of ours cross the JVM whole."""

    @functools.wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> Iterator[R]:
        small()
        with packed_errors():
            yield from function(*args, **kwargs)

    return wrapped


@contextmanager
def packed_errors() -> Iterator[None]:
    """Inside a task: an error of ours leaves as text that `translate` understands."""
    try:
        yield
    except PaimonError as error:
        raise RuntimeError(pack(error)) from error
    finally:
        ready_for_the_next()


def pack(error: PaimonError) -> str:
    """An error as text that survives Spark's wrapping."""
    facts = {k: v if isinstance(v, str | int | float | bool | type(None)) else str(v) for k, v in error.facts.items()}
    body = {"kind": type(error).__name__, "message": error.message, "hint": error.hint, "facts": facts}
    return f"{_MARK}{json.dumps(body)}{_MARK}"


def _unpack(text: str) -> PaimonError:
    body = json.loads(text)
    kind = getattr(tree, body["kind"], EngineError)
    if not (isinstance(kind, type) and issubclass(kind, PaimonError)):
        kind = EngineError
    error: PaimonError = kind.__new__(kind)
    PaimonError.__init__(error, body["message"], hint=body["hint"], **body["facts"])
    return error


def _is_spark(error: BaseException) -> bool:
    return type(error).__module__.startswith(("pyspark.", "py4j."))


def _kind(error: BaseException) -> type[PaimonError]:
    for kind in type(error).__mro__:
        if kind.__name__ == "ParseException":
            return SqlSyntaxError
        if kind.__name__ in ("AnalysisException", "TempTableAlreadyExistsException"):
            return SqlAnalysisError
    contexts = _call(error, "getQueryContext")
    return SqlError if contexts else EngineError


def _call(error: BaseException, method: str) -> Any:
    try:
        return getattr(error, method)()
    except Exception:  # a JVM that is gone cannot tell more
        return None


def _whole_text(error: BaseException) -> str:
    parts = [str(getattr(error, "_desc", "") or ""), str(error)]
    java = getattr(error, "java_exception", None)
    if java is not None:
        parts.insert(0, str(java.toString()))
    cause = getattr(error, "_cause", None)
    return "\n".join(parts) + (_whole_text(cause) if cause is not None and cause is not error else "")


def _found_condition(text: str) -> str | None:
    found = re.search(r"\[([A-Z][A-Z0-9_]{3,}(?:\.[A-Z0-9_]+)?)\]", text)
    return found[1] if found else None


def _hint(
    condition: str | None, parameters: dict[str, str], columns: Callable[[], Sequence[str]] = tuple
) -> str | None:
    if "__paimon_" in parameters.get("objectName", ""):
        places = f"{FILE_PATH}, {ROW_INDEX}, {PARTITION} and {BUCKET}"
        return f"tables have {places}; those with a primary key once their rows need no merging (CALL sys.compact)"
    if condition and condition.startswith("UNRESOLVED_COLUMN") and (known := columns()):
        # Spark saw only the columns that the query names, so its own suggestions are among those.
        unknown = _NAME_PART.findall(parameters.get("objectName", ""))[-1:]
        near = nearest(unknown[0].replace("``", "`"), known) if unknown else None
        return f"did you mean {quote(near)}?" if near else f"columns: {', '.join(known[:20])}"
    proposal = parameters.get("proposal") or parameters.get("suggestion")
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


def _position(
    error: BaseException, whole: str, parameters: dict[str, str], text: str, span: Span | None
) -> tuple[int | None, int | None]:
    """The offending characters in the user's text. Spark saw the text with table names replaced, so words are looked for."""
    low, high = (span.start, span.stop) if span is not None else (0, len(text))
    contexts = _call(error, "getQueryContext") or []
    if contexts:
        fragment = _OUR_VIEW.sub("", str(_call(contexts[0], "fragment") or ""))
        return _nearest(text, fragment, low, high, low + int(_call(contexts[0], "startIndex") or 0))
    location = _LINE_AND_COLUMN.search(whole)
    if location:
        lines = text[low:high].splitlines(keepends=True)
        before = sum(len(line) for line in lines[: int(location[1]) - 1])
        near = str(parameters.get("error", "")).strip("'")
        if near in ("end of input", "<EOF>", ""):
            return high, high
        return _nearest(text, near, low, high, low + before + int(location[2]))
    return None, None


def _nearest(text: str, word: str, low: int, high: int, target: int) -> tuple[int | None, int | None]:
    """The occurrence of `word` within [low, high) that starts closest to `wanted`."""
    if not word:
        return None, None
    starts = [m.start() for m in re.finditer(re.escape(word), text[low:high])]
    if not starts:
        return None, None
    best = min(starts, key=lambda start: abs(low + start - target)) + low
    return best, best + len(word)
