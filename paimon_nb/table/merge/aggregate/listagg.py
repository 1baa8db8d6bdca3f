"""listagg: texts joined by a delimiter; with `distinct` each part once."""

from __future__ import annotations

from typing import Any

from paimon_nb.table.merge.aggregate.base import Aggregate


class ListAgg(Aggregate):
    name = "listagg"

    def add(self, accumulator: Any, value: Any) -> Any:
        if accumulator is None or value is None:
            return value if accumulator is None else accumulator
        if value == "":
            return accumulator
        if accumulator == "":
            return value
        delimiter = self.spec.options.get("list-agg-delimiter", ",")
        if self.spec.options.get("distinct", "false").lower() != "true":
            return accumulator + delimiter + value
        seen = dict.fromkeys(accumulator.split(delimiter))
        fresh = [part for part in dict.fromkeys(value.split(delimiter)) if part and part not in seen]
        return delimiter.join([accumulator, *fresh])
