"""Targets of incremental queries, and their comparison with the batch answer."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from random_changes import TABLES, Changes, Questions

from paimon_nb import incremental
from paimon_nb.base import clock
from paimon_nb.base.identifier import Identifier
from paimon_nb.format.schema import TableSchema
from paimon_nb.session.query.local.answer import prepare_for_embedded_engine, run_in_embedded_engine
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.table.read.split.snapshot_diff import rows_as_text

if TYPE_CHECKING:
    import pyarrow as pa

    import paimon_nb
    from paimon_nb.incremental import IncrementalPlan, RefreshResult


def create_target(wb: paimon_nb.Workbench, name: str, plan: IncrementalPlan, key: tuple[str, ...] = ()) -> None:
    """A table with the columns of a query."""
    fields = tuple(replace(f, type=f.type.with_nullable(f.name not in key)) for f in plan.fields)
    options = {"bucket": "1"} if key else {}
    schema = TableSchema(0, fields, len(fields) - 1, primary_keys=key, options=options, time_ms=clock.now_ms())
    wb.session.catalog.create_table(Identifier("default", name), schema)


def batch_answer(wb: paimon_nb.Workbench, text: str) -> pa.Table | None:
    """The rows of a query; None: it needs Spark."""
    plan = incremental.analyse(wb.session, text)
    try:
        return run_in_embedded_engine(prepare_for_embedded_engine(wb.session, plan.query, text))[0]
    except NotLocal:
        return None


def change(wb: paimon_nb.Workbench, text: str) -> None:
    """Run statements. DELETE without Spark."""
    for statement in text.split(";"):
        words = statement.split(maxsplit=4)
        if words[:2] == ["DELETE", "FROM"]:
            wb.table(words[2]).delete(where=words[4])
        elif words[:1] == ["UPDATE"]:
            wb.table(words[1]).update({"v": 7}, where=statement.partition("WHERE")[2])
        else:
            wb.run(statement)


def counted(rows: pa.Table) -> Counter[str]:
    return Counter(rows_as_text(rows.rename_columns([str(i) for i in range(rows.num_columns)])))


def difference_from_batch(wb: paimon_nb.Workbench, target: str, text: str) -> str:
    """How the target differs from the batch answer; empty: it does not. Where only Spark has that answer: from a target that is built now."""
    expected = batch_answer(wb, text)
    if expected is None:
        other = f"built_{target}"
        wb.run(f"DROP TABLE IF EXISTS {other}")
        create_target(wb, other, incremental.analyse(wb.session, text))
        refreshed(wb, other, text)
        expected = wb.table(other).to_arrow()
    found = wb.table(target).to_arrow()
    a, b = counted(found), counted(expected.cast(found.schema))
    return "" if a == b else f"too many: {sorted((a - b).elements())}, missing: {sorted((b - a).elements())}"


def refreshed(wb: paimon_nb.Workbench, target: str, text: str, **options: bool) -> RefreshResult:
    """Refresh in a new analysis, as another process would."""
    return incremental.analyse(wb.session, text).refresh(target, **options)


@dataclass
class Story:
    """Random queries over random changes, from a seed."""

    wb: paimon_nb.Workbench
    seed: int

    def run(self, queries: int, rounds: int) -> list[str]:
        """What is wrong: nothing. Each query is refreshed after each round, and compared with the batch answer."""
        wb, wrong = self.wb, []
        wb.run(TABLES)
        changes, questions = Changes(self.seed), Questions(self.seed)
        changes.apply(wb)
        texts: dict[str, str] = {}
        self.computed = self.compared = 0
        while len(texts) < queries:
            text, name = questions.next(), f"t{len(texts)}"
            plan = incremental.analyse(wb.session, text)
            if plan.built is None:
                self.computed += 1
                continue
            key = plan.key if plan.key is not None and questions.random.random() < 0.7 else ()
            create_target(wb, name, plan, key)
            texts[name] = text
        for number in range(rounds):
            for name, text in texts.items():
                try:
                    result = refreshed(wb, name, text)
                    found = difference_from_batch(wb, name, text)
                    self.compared += 1
                    if result.action == "recomputed" or (result.action == "built" and number):
                        found = found or f"{result.action}: {result.reason}"
                except Exception as error:  # a fault of any kind is a finding
                    found = f"{type(error).__name__}: {error}"
                if found:
                    wrong.append(f"seed {self.seed}, round {number}, {name}: {text}\n    {found}")
                    texts = {n: t for n, t in texts.items() if n != name}
                    break
            changes.apply(wb)
        return wrong
