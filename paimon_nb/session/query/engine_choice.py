"""The settings that choose the engine of displayed queries."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from paimon_nb.base.errors import BadOptionValue, CorruptFile, ForeignFile, MissingFile, NewerFormat, PaimonError
from paimon_nb.options.option import parse_memory
from paimon_nb.session.query.local.not_local import NotLocal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from paimon_nb.session.core.session import Session

T = TypeVar("T")
ENGINE, MAX_BYTES = "paimon-nb.engine", "paimon-nb.engine.max-bytes"
AUTO, LOCAL, SPARK = "auto", "local", "spark"
ENGINES = (AUTO, LOCAL, SPARK)
DUCKDB = "duckdb"
"""Not an engine of Paimon's SQL: the text is in DuckDB's dialect."""
_DEFAULT_MAX_BYTES = "2 gb"
ENGINE_SETTINGS = {
    ENGINE: "engine of queries that are only displayed: 'auto', 'local' (an error if Spark is needed) or 'spark'",
    MAX_BYTES: f"bytes of table files that the local engine reads for a query, at most; default '{_DEFAULT_MAX_BYTES}'",
}
"""Setting -> its effect."""


def check_engine_setting(key: str, value: str) -> None:
    """Raises BadOptionValue: not a value of the setting."""
    if key == ENGINE and value not in ENGINES:
        raise BadOptionValue(f"{key} cannot be {value!r}", hint="'auto', 'local' or 'spark'", option=key, value=value)
    if key == MAX_BYTES:
        try:
            parse_memory(value)
        except ValueError as error:
            raise BadOptionValue(
                f"{key} cannot be {value!r}: {error}", hint="'2 gb'", option=key, value=value
            ) from None


def check_spark_is_allowed(session: Session, reason: str) -> None:
    """Raises BadOptionValue: the setting is 'local'; `reason` says why only Spark can answer."""
    if session.setting(ENGINE) == LOCAL:
        raise BadOptionValue(
            f"this query cannot be answered without Spark: {reason}",
            hint=f"RESET '{ENGINE}'", option=ENGINE, value=LOCAL,
        )  # fmt: skip


def first_answer(session: Session, engines: Iterable[tuple[str, Callable[[], T]]], *, checked: bool = True) -> T:
    """The answer of the first engine that has one; Spark, which is the last one, has one or raises the error of the query.

    Args:
        session: of the query.
        engines: the name of each, and what makes its answer; it raises NotLocal if it cannot.
        checked: whether the setting may forbid Spark.

    Raises:
        BadOptionValue: 'paimon-nb.engine' is 'local', and only Spark can answer; the message says why.
    """
    reason = ""
    for name, answer in engines:
        if name == SPARK and checked:
            check_spark_is_allowed(session, reason)
        try:
            return answer()
        except NotLocal as refused:
            reason = str(refused)
        except (MissingFile, CorruptFile, ForeignFile, NewerFormat):
            raise  # the same for any engine, and without a position
        except PaimonError as error:
            if name == SPARK:
                raise
            reason = str(error)  # Spark's path raises it again, with its position
    raise AssertionError("Spark answers every query")


@contextmanager
def with_engine(session: Session, engine: str | None) -> Iterator[None]:
    """Answers the queries inside the block with one of ENGINES; None: with the one that is set."""
    before = session.settings.get(ENGINE)
    if engine is not None and engine != DUCKDB:
        session.settings[ENGINE] = engine
    try:
        yield
    finally:
        if engine is not None and engine != DUCKDB:
            session.settings.pop(ENGINE, None)
            if before is not None:
                session.settings[ENGINE] = before


def max_bytes(session: Session) -> int:
    """Bytes of files that the local engine reads for a query, at most."""
    return parse_memory(str(session.setting(MAX_BYTES, _DEFAULT_MAX_BYTES)))
