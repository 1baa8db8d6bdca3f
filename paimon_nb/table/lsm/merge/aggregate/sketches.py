"""theta_sketch and hll_sketch: unions of sketches serialised by Apache DataSketches."""

from __future__ import annotations

import struct
from typing import Any

from paimon_nb.base.errors import EnvironmentError_
from paimon_nb.table.lsm.merge.aggregate.base import Aggregate


def _import_datasketches() -> Any:
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
        library = _import_datasketches()
        union = library.theta_union(12)
        for sketch in (accumulator, value):
            union.update(library.compact_theta_sketch.deserialize(sketch))
        return _java_theta(union.get_result().serialize())


def _java_theta(sketch: bytes) -> bytes:
    """Java writes the sampling probability 1.0 (bytes 12 to 16), which C++ leaves out; no reader uses it."""
    longs_before_hashes = sketch[0] & 0x3F
    return sketch[:12] + struct.pack("<f", 1.0) + sketch[16:] if longs_before_hashes > 1 else sketch


class HllSketch(Aggregate):
    name = "hll_sketch"

    def add(self, accumulator: Any, value: Any) -> Any:
        if accumulator is None or value is None:
            return value if accumulator is None else accumulator
        library = _import_datasketches()
        # As in Java: the union starts as the newer sketch, with its size, and the older one is merged into it.
        newer, older = (library.hll_sketch.deserialize(sketch) for sketch in (value, accumulator))
        union = library.hll_union(newer.lg_config_k)
        union.update(newer)
        union.update(older)
        return union.get_result(library.tgt_hll_type.HLL_4).serialize_compact()
