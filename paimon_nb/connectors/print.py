"""`print`: each row as one line of text, `+I[1, a]`, as Flink's connector writes it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from paimon_nb.connectors.api import Declared, Sink
from paimon_nb.options import parse_bool

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_KINDS = "rowkind"


class Print(Sink):
    """To standard output (`standard-error` = true: the other one), each line behind `print-identifier`."""

    def __init__(self, declared: Declared) -> None:
        declared.only("print-identifier", "standard-error", "sink.parallelism")
        self.columns = [f.name for f in declared.fields]
        mark = declared.options.get("print-identifier")
        self.mark = f"{mark}> " if mark else ""
        self.to_error = declared.parsed("standard-error", False, parse_bool)

    def store(self, batch: DataFrame, number: int | None = None) -> int:
        rows = batch.collect()
        out = sys.stderr if self.to_error else sys.stdout
        for row in rows:
            values = row.asDict()
            kind = values.pop(_KINDS, "+I") if _KINDS not in self.columns else "+I"
            out.write(f"{self.mark}{kind}[{', '.join(map(_text, values.values()))}]\n")
        out.flush()
        return len(rows)


def _text(value: Any) -> str:
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)
