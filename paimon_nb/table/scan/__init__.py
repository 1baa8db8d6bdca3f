"""Reading a table: which files hold the wanted rows of which moment, and how their rows become the result."""

from typing import TYPE_CHECKING

from paimon_nb.base.door import door

if TYPE_CHECKING:
    from paimon_nb.table.scan.evaluate import keep
    from paimon_nb.table.scan.funnel import Funnel, Skip, Stage
    from paimon_nb.table.scan.incremental import (
        Between,
        BetweenTimes,
        Increment,
        ToAutoTag,
        parse_incremental,
        plan_changes,
        plan_incremental,
    )
    from paimon_nb.table.scan.plan import ScanPlan, every_level, plan_scan, plan_snapshot
    from paimon_nb.table.scan.point import KeyFinder
    from paimon_nb.table.scan.predicate import (
        And,
        Compare,
        Constant,
        In,
        IsNotNull,
        IsNull,
        Like,
        Not,
        Or,
        Predicate,
        StartsWith,
        all_of,
        conjuncts,
    )
    from paimon_nb.table.scan.read import iter_plan, load_vector, read_plan, read_split, read_split_kinds
    from paimon_nb.table.scan.splits import DvRef, Split
    from paimon_nb.table.scan.travel import (
        OWN_SCHEMA,
        AtSnapshot,
        AtTag,
        AtTime,
        AtVersion,
        AtWatermark,
        Latest,
        Travel,
        parse_travel,
        resolve,
    )
    from paimon_nb.table.scan.where import parse_predicate
else:
    __getattr__ = door(
        __name__,
        {
            "evaluate": "keep",
            "funnel": "Funnel Skip Stage",
            "incremental": "Between BetweenTimes Increment ToAutoTag parse_incremental plan_changes plan_incremental",
            "plan": "ScanPlan every_level plan_scan plan_snapshot",
            "point": "KeyFinder",
            "predicate": "And Compare Constant In IsNotNull IsNull Like Not Or Predicate StartsWith all_of conjuncts",
            "read": "iter_plan load_vector read_plan read_split read_split_kinds",
            "splits": "DvRef Split",
            "travel": "OWN_SCHEMA AtSnapshot AtTag AtTime AtVersion AtWatermark Latest Travel parse_travel resolve",
            "where": "parse_predicate",
        },
    )  # fmt: skip

__all__ = [
    "OWN_SCHEMA", "And", "AtSnapshot", "AtTag", "AtTime", "AtVersion", "AtWatermark", "Between", "BetweenTimes", "Compare",
    "Constant", "DvRef", "Funnel", "In", "Increment", "IsNotNull", "IsNull", "KeyFinder", "Latest", "Like", "Not", "Or",
    "Predicate", "ScanPlan", "Skip", "Split", "Stage", "StartsWith", "ToAutoTag", "Travel", "all_of", "conjuncts",
    "every_level", "iter_plan", "keep", "load_vector", "parse_incremental", "parse_predicate", "parse_travel",
    "plan_changes", "plan_incremental", "plan_scan", "plan_snapshot", "read_plan", "read_split", "read_split_kinds",
    "resolve",
]  # fmt: skip
