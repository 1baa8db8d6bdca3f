"""The engines of queries, in the order in which they are tried: this process, the embedded DuckDB, Spark.

Each engine either plans a query or says why it cannot: `facts_of` is the table of these reasons, which EXPLAIN prints. The scans
that one engine has planned are handed on to the next (`table/read/plan/shared_plans.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from paimon_nb.base.errors import PaimonError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.session.core.result import Result, result_of_frame, result_of_rows
from paimon_nb.session.query.engine_choice import ENGINE, SPARK, first_answer
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local_select import plan_select
from paimon_nb.syntax.tree import Select

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from paimon_nb.session.core.session import Session
    from paimon_nb.statements import Query
    from paimon_nb.syntax.tree import Node


@dataclass(frozen=True, slots=True)
class Question:
    """A query and where it is asked."""

    session: Session
    query: Query
    text: str
    """What the query's spans point into."""
    parameters: Mapping[str, Any]
    displayed: bool
    """Whether its rows are only shown; else they are a DataFrame of Spark, which only simple queries have without Spark."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A query that an engine can answer."""

    how: str
    """What it reads, in a line."""
    run: Callable[[], Result]
    """The result. Raises NotLocal: the engine found while it ran that another one must answer."""
    plan: tuple[str, ...] = ()
    """Its steps, a line each."""


def clause_lines(query: Query, text: str) -> tuple[str, ...]:
    """The steps of a query in the order in which they are done, in the words of its text."""
    tree = query.tree
    if not isinstance(tree, Select):
        return ()

    def written(nodes: Iterable[Node | None]) -> str:
        return ", ".join(" ".join(text[n.span.start : n.span.stop].split()) for n in nodes if n is not None)

    tail = tree.tail
    steps = {
        "join": written(tree.joins),
        "rows of elements": written(tree.lateral_views),
        "filter": written([tree.where]),
        "group by": written(tree.group.keys) if tree.group is not None else "",
        "having": written([tree.having]),
        "select distinct" if tree.distinct else "select": written(tree.items),
        "order by": written(tail.order),
        "limit": written([tail.limit]),
        "offset": written([tail.offset]),
    }
    return tuple(f"{step}: {words}" for step, words in steps.items() if words)


class Engine(Protocol):
    """Answers queries."""

    name: str

    def plan(self, question: Question) -> Planned:
        """How the query is answered; reads metadata only. Raises NotLocal: it cannot be, and why."""
        ...


class Inline:
    """This process: some rows and columns of one small table, file or frame."""

    name = "inline"

    def plan(self, question: Question) -> Planned:
        session, query = question.session, question.query
        if session.setting(ENGINE) == SPARK:
            raise NotLocal(f"'{ENGINE}' is 'spark'")
        if query.parameters:
            raise NotLocal("the query has parameters")
        read = plan_select(session, query)
        steps = clause_lines(query, question.text)
        how = "rows and columns of one table, read by this process"
        return Planned(how, lambda: result_of_rows(session, *read()), steps)


class Embedded:
    """DuckDB in this process: displayed queries whose answer is Spark's."""

    name = "embedded"

    def plan(self, question: Question) -> Planned:
        from paimon_nb.session.query.local.answer import prepare_for_embedded_engine, run_in_embedded_engine

        session = question.session
        if not question.displayed:
            raise NotLocal("the result is a DataFrame of Spark")
        prepared = prepare_for_embedded_engine(session, question.query, question.text, question.parameters)
        steps = (*prepared.scan_lines(), *clause_lines(question.query, question.text))
        return Planned(prepared.describe(), lambda: result_of_rows(session, *run_in_embedded_engine(prepared)), steps)


class Spark:
    """Spark: everything else. It starts when its plan runs."""

    name = "spark"

    def plan(self, question: Question) -> Planned:
        return Planned("Spark runs the query", lambda: _run_by_spark(question))


def _run_by_spark(question: Question) -> Result:
    from paimon_nb.session.execute.known_errors import raise_known_error
    from paimon_nb.session.query.plain_columns import fields_of_plain_columns
    from paimon_nb.session.query.run_query import run_query

    session, query = question.session, question.query
    raise_known_error(session, question.text, query)
    frame = run_query(session, query, question.text, question.parameters)
    fields = fields_of_plain_columns(session, query) if question.displayed else ()
    return result_of_frame(frame, question.text, query.span, fields)


ENGINES: tuple[Engine, ...] = (Inline(), Embedded(), Spark())
"""In the order in which they are tried."""


@dataclass(frozen=True, slots=True)
class Fact:
    """What one engine says to a query."""

    engine: str
    answers: bool
    why: str
    """How it answers, or why it cannot."""
    plan: tuple[str, ...] = ()
    """The steps of the answer."""


def answer(question: Question) -> Result:
    """The result of the first engine that can answer.

    Raises:
        BadOptionValue: 'paimon-nb.engine' is 'local', and only Spark can; the message says why.
    """

    def answer_of(engine: Engine) -> Callable[[], Result]:
        return lambda: engine.plan(question).run()

    engines = ((e.name, answer_of(e)) for e in ENGINES)
    return first_answer(question.session, engines, checked=question.displayed)


def facts_of(question: Question) -> Iterator[Fact]:
    """What each engine says, up to the first that answers. Reads metadata only, and starts no engine."""
    for engine in ENGINES:
        try:
            planned = engine.plan(question)
        except (NotLocal, PaimonError) as refused:
            yield Fact(engine.name, False, str(refused).partition("\n")[0])
            continue
        yield Fact(engine.name, True, planned.how, planned.plan)
        return
