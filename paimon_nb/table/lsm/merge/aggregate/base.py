"""Interface of aggregate functions. Accumulators and inputs are plain Python values; times are counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.base.override import override

if TYPE_CHECKING:
    from paimon_nb.format.types import DataField
    from paimon_nb.table.lsm.merge.groups import Aggregator, Groups


class Aggregate(ABC):
    """One column's function. `add(None, x)` starts a key; every method returns the new accumulator."""

    name: str
    types: frozenset[str] | None = None
    """Roots of the supported types, None for all."""

    def __init__(self, field: DataField, spec: Aggregator) -> None:
        """Raises `UnsupportedOperation` for a column of an unsupported type."""
        self.field, self.spec = field, spec
        self.begun = False
        if self.types is not None and field.type.root not in self.types:
            raise UnsupportedOperation(
                f"aggregate function {self.name} does not support column {field.name!r} of type {field.type}",
                hint=f"supported types: {', '.join(sorted(self.types))}", function=self.name,
            )  # fmt: skip

    def begin(self) -> None:  # noqa: B027  only functions with a state of their own care
        """Start a new key."""

    @abstractmethod
    def add(self, accumulator: Any, value: Any) -> Any:
        """Add a newer value."""

    def add_reversed(self, accumulator: Any, value: Any) -> Any:
        """Add a value that is older than all values so far."""
        return self.add(value, accumulator)

    def retract(self, accumulator: Any, value: Any) -> Any:
        """Retract a value."""
        raise UnsupportedOperation(
            f"aggregate function {self.name} of column {self.field.name!r} does not support retraction",
            hint=f"set 'fields.{self.field.name}.ignore-retract' = 'true' to ignore -U and -D there", function=self.name,
        )  # fmt: skip

    def aggregate_groups(self, groups: Groups, column: str) -> pa.Array | None:
        """All groups at once, without retractions; None if only `add` is implemented."""
        return None


class IgnoringRetract(Aggregate):
    """`fields.<c>.ignore-retract` = true: retractions change nothing."""

    def __init__(self, inner: Aggregate) -> None:
        super().__init__(inner.field, inner.spec)
        # Java calls the inner function's `add` for older values too, with swapped arguments: see `add_reversed`.
        self.inner, self.name = inner, inner.name

    def begin(self) -> None:
        self.inner.begin()

    def add(self, accumulator: Any, value: Any) -> Any:
        return self.inner.add(accumulator, value)

    @override
    def retract(self, accumulator: Any, value: Any) -> Any:
        return accumulator

    def aggregate_groups(self, groups: Groups, column: str) -> pa.Array | None:
        return self.inner.aggregate_groups(groups, column)


def arrow_aggregate_of_groups(groups: Groups, column: str, function: str) -> pa.Array:
    """Arrow's own aggregate over the groups, nulls skipped, in group order."""
    table = pa.table({"g": groups.group_of, "v": groups.sorted.column(column)})
    out = table.group_by("g", use_threads=False).aggregate([("v", function)])
    return out.column(f"v_{function}").combine_chunks()
