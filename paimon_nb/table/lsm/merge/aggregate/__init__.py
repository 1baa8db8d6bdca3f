"""Aggregate functions, one class each, with a registry."""

from paimon_nb.base.plugins import PluginGroup
from paimon_nb.base.registry import Registry
from paimon_nb.format.types import DataField
from paimon_nb.table.lsm.merge.aggregate.arithmetic import Product, Sum
from paimon_nb.table.lsm.merge.aggregate.base import Aggregate, IgnoringRetract
from paimon_nb.table.lsm.merge.aggregate.bitmaps import Rbm32, Rbm64
from paimon_nb.table.lsm.merge.aggregate.boolean import BoolAnd, BoolOr
from paimon_nb.table.lsm.merge.aggregate.collections import Collect, MergeMap, MergeMapWithKeyTime
from paimon_nb.table.lsm.merge.aggregate.first_last import (
    FirstNonNullValue,
    FirstValue,
    LastNonNullValue,
    LastValue,
    PrimaryKey,
)
from paimon_nb.table.lsm.merge.aggregate.listagg import ListAgg
from paimon_nb.table.lsm.merge.aggregate.min_max import Max, Min
from paimon_nb.table.lsm.merge.aggregate.nested import NestedPartialUpdate, NestedUpdate
from paimon_nb.table.lsm.merge.aggregate.sketches import HllSketch, ThetaSketch
from paimon_nb.table.lsm.merge.groups import Aggregator

AGGREGATES: Registry[type[Aggregate]] = Registry(
    "aggregate function",
    {
        "sum": Sum,
        "product": Product,
        "max": Max,
        "min": Min,
        "last_value": LastValue,
        "last_non_null_value": LastNonNullValue,
        "first_value": FirstValue,
        "first_non_null_value": FirstNonNullValue,
        "first_not_null_value": FirstNonNullValue,
        "listagg": ListAgg,
        "bool_and": BoolAnd,
        "bool_or": BoolOr,
        "collect": Collect,
        "merge_map": MergeMap,
        "merge_map_with_keytime": MergeMapWithKeyTime,
        "nested_update": NestedUpdate,
        "nested_partial_update": NestedPartialUpdate,
        "theta_sketch": ThetaSketch,
        "hll_sketch": HllSketch,
        "rbm32": Rbm32,
        "rbm64": Rbm64,
        "primary-key": PrimaryKey,
    },
    plugins=PluginGroup(
        "aggregates",
        "a subclass of Aggregate",
        lambda plugin: isinstance(plugin, type) and issubclass(plugin, Aggregate),
    ),
)


def aggregate_of(field: DataField, spec: Aggregator) -> Aggregate:
    """The function of a column. Raises `UnknownName` with the nearest name."""
    function = AGGREGATES.find(spec.function)(field, spec)
    return IgnoringRetract(function) if spec.ignore_retract else function


__all__ = ["AGGREGATES", "Aggregate", "aggregate_of"]
