"""theta_sketch and hll_sketch: sketches serialised by Apache DataSketches, joined."""

from __future__ import annotations

from typing import Any

from paimon_nb.base.errors import EnvironmentError_
from paimon_nb.table.merge.aggregate.base import Aggregate


def _library() -> Any:
    try:
        import _datasketches as library
    except ImportError:
        raise EnvironmentError_(
            "sketch aggregates need the package datasketches", hint="pip install 'paimon-nb[sketches]'"
        ) from None
    return library


class ThetaSketch(Aggregate):
    name = "theta_sketch"

    def add(self, accumulator: Any, value: Any) -> Any:
        if accumulator is None or value is None:
            return value if accumulator is None else accumulator
        library = _library()
        union = library.theta_union(12)
        for sketch in (accumulator, value):
            union.update(library.compact_theta_sketch.deserialize(sketch))
        return union.get_result().serialize()


class HllSketch(Aggregate):
    name = "hll_sketch"

    def add(self, accumulator: Any, value: Any) -> Any:
        if accumulator is None or value is None:
            return value if accumulator is None else accumulator
        library = _library()
        union = library.hll_union(12)
        for sketch in (accumulator, value):
            union.update(library.hll_sketch.deserialize(sketch))
        return union.get_result(library.tgt_hll_type.HLL_4).serialize_compact()
