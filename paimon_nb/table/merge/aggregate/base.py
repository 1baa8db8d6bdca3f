"""What an aggregate function must do. Accumulators and inputs are plain Python values; times are counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import pyarrow as pa

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.format.types import DataField
from paimon_nb.table.merge.groups import Groups
from paimon_nb.table.merge.spec import Aggregator


class Aggregate(ABC):
    """One column's function. `add(None, x)` begins a key; every method returns the new accumulator."""

    name: str
    types: frozenset[str] | None = None
    """Roots of the types it takes, None for all."""

    def __init__(self, field: DataField, spec: Aggregator) -> None:
        """Raises `UnsupportedOperation` for a column of a type that the function does not take."""
        self.field, self.spec = field, spec
        self.begun = False
        if self.types is not None and field.type.root not in self.types:
            raise UnsupportedOperation(
                f"aggregate function {self.name} does not take column {field.name!r} of type {field.type}",
                hint=f"it takes {', '.join(sorted(self.types))}", function=self.name,
            )  # fmt: skip

    def begin(self) -> None:  # noqa: B027  only functions with a state of their own care
        """A new key begins."""

    @abstractmethod
    def add(self, accumulator: Any, value: Any) -> Any:
        """Take a newer value."""

    def add_reversed(self, accumulator: Any, value: Any) -> Any:
        """Take a value that is older than what was taken before."""
        return self.add(value, accumulator)

    def retract(self, accumulator: Any, value: Any) -> Any:
        """Take a value back."""
        raise UnsupportedOperation(
            f"aggregate function {self.name} of column {self.field.name!r} cannot take a value back",
            hint=f"set 'fields.{self.field.name}.ignore-retract' = 'true' to ignore -U and -D there", function=self.name,
        )  # fmt: skip

    def reduce(self, groups: Groups, column: str) -> pa.Array | None:
        """All groups at once, without retractions; None when only `add` knows how."""
        return None


class IgnoringRetract(Aggregate):
    """`fields.<c>.ignore-retract` = true: retractions change nothing."""

    def __init__(self, inner: Aggregate) -> None:
        super().__init__(inner.field, inner.spec)
        # Java asks the inner function's `add` for older values too, with the two values exchanged: see `add_reversed`.
        self.inner, self.name = inner, inner.name

    def begin(self) -> None:
        self.inner.begin()

    def add(self, accumulator: Any, value: Any) -> Any:
        return self.inner.add(accumulator, value)

    def retract(self, accumulator: Any, value: Any) -> Any:
        return accumulator

    def reduce(self, groups: Groups, column: str) -> pa.Array | None:
        return self.inner.reduce(groups, column)


def grouped(groups: Groups, column: str, function: str) -> pa.Array:
    """Arrow's own aggregate over the groups, nulls skipped, in group order."""
    table = pa.table({"g": groups.group_of, "v": groups.sorted.column(column)})
    out = table.group_by("g", use_threads=False).aggregate([("v", function)])
    return out.column(f"v_{function}").combine_chunks()
