"""Texts that the user of the session did not write: stored views, functions and computed columns, and the statements of assistants.

What they may do is decided before Spark analyses them, see `spark/plan_check.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.options import READ_OPTIONS, find_option
from paimon_nb.options import table as opt
from paimon_nb.session.query.stored_views import is_inside_view, name_of_open_view

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from pyspark.sql import DataFrame

    from paimon_nb.session.core.session import Session
    from paimon_nb.statements import TableRef

_READING_OPTIONS = frozenset(
    o.key
    for o in (
        opt.BRANCH, opt.INCREMENTAL_BETWEEN, opt.INCREMENTAL_BETWEEN_SCAN_MODE, opt.INCREMENTAL_BETWEEN_TAG_TO_SNAPSHOT,
        opt.INCREMENTAL_BETWEEN_TIMESTAMP, opt.INCREMENTAL_TO_AUTO_TAG, opt.SCAN_BUCKET, opt.SCAN_CREATION_TIME_MILLIS,
        opt.SCAN_FALLBACK_BRANCH, opt.SCAN_FILE_CREATION_TIME_MILLIS, opt.SCAN_IGNORE_CORRUPT_FILES, opt.SCAN_IGNORE_LOST_FILES,
        opt.SCAN_MODE, opt.SCAN_PLAN_SORT_PARTITION, opt.SCAN_SNAPSHOT_ID, opt.SCAN_TAG_NAME, opt.SCAN_TIMESTAMP,
        opt.SCAN_TIMESTAMP_MILLIS, opt.SCAN_VERSION, opt.SCAN_WATERMARK,
    )
)  # fmt: skip
"""Options that choose what is read of a table. Others could name files and servers, or be recorded: `consumer-id`."""


def must_be_checked(session: Session) -> bool:
    """Whether the text that is being read now is not the user's own."""
    return session.only_reads or is_inside_view()


def analyse(
    session: Session,
    text: str,
    args: Mapping[str, Any] | None = None,
    functions: Collection[str] = (),
    relation: Callable[[tuple[str, ...]], bool] = lambda _parts: False,
) -> DataFrame:
    """Spark's analysis of a query, whose tables are views. Checks a text that is not the user's own.

    Args:
        functions: names of functions that this package made for the query.
        relation: whether a stored view may read the table of Spark's own catalog with this name; an assistant may read none.

    Raises: UnsupportedOperation: the text may do more than read tables. Spark's errors.
    """
    if must_be_checked(session):
        from paimon_nb.spark.plan_check import check_query

        check_query(
            session.spark,
            text,
            name_of_open_view() or "the statement",
            functions=functions,
            relation=lambda parts: not session.only_reads and relation(parts),
        )
    return session.spark.sql(text, args=dict(args) if args else None)


def check_reading_options(tables: Iterable[TableRef], what: str) -> None:
    """Raise UnsupportedOperation for an option in a hint that does more than choose what is read."""
    for ref in tables:
        for key in ref.options:
            option = find_option(key) or READ_OPTIONS.get(key)
            if (option.key if option is not None else key) not in (*_READING_OPTIONS, "scan.partitions"):
                raise UnsupportedOperation(
                    f"{what}: the option {key!r} is refused in a hint", hint="options of time travel are allowed", option=key
                )  # fmt: skip
