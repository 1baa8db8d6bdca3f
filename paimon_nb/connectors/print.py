"""`print`: writes each row as one line of text, for example `+I[1, a]`, as Flink's connector does."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from paimon_nb.base.override import override
from paimon_nb.connectors.api import ConnectorTable, Sink
from paimon_nb.options import parse_bool

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_KINDS = "rowkind"


class Print(Sink):
    """Writes to standard output, or to standard error if `standard-error` is true. Lines start with `print-identifier`."""

    def __init__(self, definition: ConnectorTable) -> None:
        definition.check_options("print-identifier", "standard-error", "sink.parallelism")
        self.columns = [f.name for f in definition.fields]
        prefix = definition.options.get("print-identifier")
        self.prefix = f"{prefix}> " if prefix else ""
        self.to_error = definition.convert_option("standard-error", False, parse_bool)

    @override
    def store(self, batch: DataFrame, number: int | None = None) -> int:
        rows = batch.collect()
        out = sys.stderr if self.to_error else sys.stdout
        for row in rows:
            values = row.asDict()
            kind = values.pop(_KINDS, "+I") if _KINDS not in self.columns else "+I"
            out.write(f"{self.prefix}{kind}[{', '.join(map(_printed_text, values.values()))}]\n")
        out.flush()
        return len(rows)


def _printed_text(value: Any) -> str:
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)
