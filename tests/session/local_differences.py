"""Asks the embedded engine and Spark the same random queries, and tells where their answers differ."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from random_queries import Question, Questions

from paimon_nb.base.errors import PaimonError
from paimon_nb.session.query.local.answer import answer, prepare
from paimon_nb.session.query.run_query import run_query
from paimon_nb.spark.types import to_spark_arrow
from paimon_nb.sql import parse
from paimon_nb.sql.select_tree import NotLocal

if TYPE_CHECKING:
    import pyarrow as pa

    import paimon_nb


@dataclass
class Differences:
    """What came out of many queries."""

    asked: int = 0
    local: int = 0
    found: list[str] = field(default_factory=list)
    reasons: dict[str, int] = field(default_factory=dict)
    """Why queries were left to Spark, and how many."""


def ask(wb: paimon_nb.Workbench, seed: int, count: int) -> Differences:
    """Ask `count` random queries, in the dialect that the session has."""
    questions, out = Questions(seed), Differences()
    for _ in range(count):
        question = questions.next()
        out.asked += 1
        try:
            ours = _asked_here(wb, question.text)
        except NotLocal as reason:
            out.reasons[str(reason)] = out.reasons.get(str(reason), 0) + 1
            continue
        out.local += 1
        try:
            theirs = asked_of_spark(wb, question.text)
        except Exception as error:  # Spark's errors in the middle of reading have many types
            out.found.append(f"{question.text}\n  Spark: {str(error)[:200]}\n  here: {ours.num_rows} rows")
            continue
        difference = difference_of(question, ours, theirs)
        if difference:
            out.found.append(f"{question.text}\n  {difference}")
    return out


def _asked_here(wb: paimon_nb.Workbench, text: str) -> pa.Table:
    (query,) = parse(text)
    try:
        return to_spark_arrow(*answer(prepare(wb.session, query, text)))
    except PaimonError as error:
        raise NotLocal(str(error)) from error


def asked_of_spark(wb: paimon_nb.Workbench, text: str) -> pa.Table:
    """Spark's answer."""
    (query,) = parse(text)
    return run_query(wb.session, query, text, {}).toArrow()


def difference_of(question: Question, ours: pa.Table, theirs: pa.Table) -> str | None:
    """In what two answers differ; None: in nothing."""
    shapes = [[(f.name, str(f.type)) for f in rows.schema] for rows in (ours, theirs)]
    if shapes[0] != shapes[1]:
        return f"columns: Spark {shapes[1]}, here {shapes[0]}"
    limited = " LIMIT " in question.text
    rows = [[tuple(map(lambda v: _text(v, limited), row)) for row in _tuples(t)] for t in (ours, theirs)]  # noqa: C417
    if sorted(rows[0]) != sorted(rows[1]):
        extra = [sorted(set(a) - set(b))[:3] for a, b in ((rows[1], rows[0]), (rows[0], rows[1]))]
        return f"rows: Spark {len(rows[1])} {extra[0]}, here {len(rows[0])} {extra[1]}"
    keys = [[tuple(_text(row[p], zeros=True) for p in question.ordered) for row in _tuples(t)] for t in (ours, theirs)]
    return None if keys[0] == keys[1] else f"order: Spark {keys[1][:5]}, here {keys[0][:5]}"


def _tuples(rows: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in rows.columns), strict=True))


def _text(value: Any, zeros: bool = False) -> str:
    """A value as text that tells -0.0 from 0.0 (unless `zeros`), and a NaN from nothing."""
    if isinstance(value, float) and (math.isnan(value) or (zeros and value == 0)):
        return "nan" if math.isnan(value) else "0.0"
    return repr(value)
