"""listagg: strings joined by a delimiter; with `distinct` each part once."""

from __future__ import annotations

from typing import Any

from paimon_nb.table.lsm.merge.aggregate.base import Aggregate


class ListAgg(Aggregate):
    """Joins everything that is not NULL, including empty strings.

    `distinct` is an option of Paimon after 1.3 (1.3 ignores it), implemented as there: existing parts, blank parts and
    blank strings are skipped.
    """

    name = "listagg"
    types = frozenset({"VARCHAR"})

    def add(self, accumulator: Any, value: Any) -> Any:
        if accumulator is None or value is None:
            return value if accumulator is None else accumulator
        delimiter = self.spec.options.get("list-agg-delimiter", ",")
        if self.spec.options.get("distinct", "false").lower() != "true":
            return accumulator + delimiter + value
        if not value.strip() or not accumulator.strip():
            return accumulator if not value.strip() else value
        seen = set(_split_parts(accumulator, delimiter))
        fresh = [part for part in dict.fromkeys(_split_parts(value, delimiter)) if part.strip() and part not in seen]
        return delimiter.join([accumulator, *fresh])


def _split_parts(text: str, delimiter: str) -> list[str]:
    return text.split(delimiter) if delimiter else text.split()
