"""listagg: strings joined by a delimiter; with `distinct` each part once."""

from __future__ import annotations

from typing import Any

from paimon_nb.table.lsm.merge.aggregate.base import Aggregate


class ListAgg(Aggregate):
    """Joins what is neither NULL nor blank. With `distinct`, parts that are there and blank parts are skipped.

    Source: Paimon 2.1 `FieldListaggAgg`; 1.3 joins blank strings, too, and ignores `distinct`.
    """

    name = "listagg"
    types = frozenset({"VARCHAR"})

    def add(self, accumulator: Any, value: Any) -> Any:
        if value is None or not value.strip():
            return accumulator
        if accumulator is None or not accumulator.strip():
            return value
        delimiter = self.spec.options.get("list-agg-delimiter", ",")
        if self.spec.options.get("distinct", "false").lower() != "true":
            return accumulator + delimiter + value
        seen = set(_split_parts(accumulator, delimiter))
        fresh = [part for part in dict.fromkeys(_split_parts(value, delimiter)) if part.strip() and part not in seen]
        return delimiter.join([accumulator, *fresh])


def _split_parts(text: str, delimiter: str) -> list[str]:
    return text.split(delimiter) if delimiter else text.split()
