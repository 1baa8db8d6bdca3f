"""Reading a table: plan which files hold the requested rows of a snapshot, then read and merge them."""

from typing import TYPE_CHECKING

from paimon_nb.base.lazy_imports import lazy_getattr

if TYPE_CHECKING:
    from paimon_nb.table.read.plan.incremental import plan_changes_of_snapshots, plan_incremental
    from paimon_nb.table.read.plan.planner import plan_scan
    from paimon_nb.table.read.plan.scan_report import ScanReport, Skip, Stage
    from paimon_nb.table.read.plan.snapshot_scan import DvRef, ScanPlan, Split, all_levels, plan_snapshot
    from paimon_nb.table.read.plan.time_travel import (
        OWN_SCHEMA,
        AtSnapshot,
        AtTag,
        AtTime,
        AtVersion,
        AtWatermark,
        Between,
        BetweenTimes,
        Increment,
        Latest,
        TimeTravel,
        ToAutoTag,
        parse_incremental,
        parse_travel,
        resolve_time_travel,
        travels,
    )
    from paimon_nb.table.read.point_lookup import PointLookup
    from paimon_nb.table.read.predicate.evaluate import filter_rows
    from paimon_nb.table.read.predicate.model import (
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
        conjunction_of,
        conjuncts,
    )
    from paimon_nb.table.read.predicate.parser import parse_predicate
    from paimon_nb.table.read.split.split_reader import (
        iter_plan,
        iter_split,
        load_deletion_vector,
        read_plan,
        read_split,
        read_split_kinds,
    )
else:
    __getattr__ = lazy_getattr(
        __name__,
        {
            "plan.scan_report": "ScanReport Skip Stage",
            "plan.incremental": "plan_changes_of_snapshots plan_incremental",
            "plan.planner": "plan_scan", "plan.snapshot_scan": "DvRef ScanPlan Split all_levels plan_snapshot",
            "point_lookup": "PointLookup",
            "predicate.evaluate": "filter_rows", "predicate.model": "And Compare Constant In IsNotNull IsNull Like Not Or Predicate StartsWith conjunction_of conjuncts",
            "split.split_reader": "iter_plan iter_split load_deletion_vector read_plan read_split read_split_kinds",
            "plan.time_travel": "OWN_SCHEMA AtSnapshot AtTag AtTime AtVersion AtWatermark Between BetweenTimes Increment Latest TimeTravel ToAutoTag parse_incremental parse_travel resolve_time_travel travels",
            "predicate.parser": "parse_predicate",
        },
    )  # fmt: skip

__all__ = [
    "OWN_SCHEMA", "And", "AtSnapshot", "AtTag", "AtTime", "AtVersion", "AtWatermark", "Between", "BetweenTimes", "Compare",
    "Constant", "DvRef", "ScanReport", "In", "Increment", "IsNotNull", "IsNull", "PointLookup", "Latest", "Like", "Not", "Or",
    "Predicate", "ScanPlan", "Skip", "Split", "Stage", "StartsWith", "ToAutoTag", "TimeTravel", "conjunction_of", "conjuncts",
    "all_levels", "iter_plan", "iter_split", "filter_rows", "load_deletion_vector", "parse_incremental", "parse_predicate", "parse_travel",
    "plan_changes_of_snapshots", "plan_incremental", "plan_scan", "plan_snapshot", "read_plan", "read_split", "read_split_kinds",
    "resolve_time_travel", "travels",
]  # fmt: skip
