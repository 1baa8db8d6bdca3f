"""Functions that select one of the versions: the first or last, with or without NULL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paimon_nb.base.override import override
from paimon_nb.table.lsm.merge.aggregate.base import Aggregate

if TYPE_CHECKING:
    import pyarrow as pa

    from paimon_nb.table.lsm.merge.groups import Groups


class LastValue(Aggregate):
    """The newest value, even NULL."""

    name = "last_value"

    @override
    def add(self, accumulator: Any, value: Any) -> Any:
        return value

    @override
    def retract(self, accumulator: Any, value: Any) -> Any:
        return None

    def aggregate_groups(self, groups: Groups, column: str) -> pa.Array | None:
        return groups.take_column(column, groups.ends)


class PrimaryKey(LastValue):
    """Key columns are equal in all versions."""

    name = "primary-key"

    @override
    def retract(self, accumulator: Any, value: Any) -> Any:
        return value


class LastNonNullValue(Aggregate):
    """The newest value that is not NULL: the default."""

    name = "last_non_null_value"

    def add(self, accumulator: Any, value: Any) -> Any:
        return accumulator if value is None else value

    def retract(self, accumulator: Any, value: Any) -> Any:
        return accumulator if value is None else None

    def aggregate_groups(self, groups: Groups, column: str) -> pa.Array | None:
        position, none = groups.last_true(groups.valid(column))
        return groups.take_column(column, position, none if none.any() else None)


class FirstValue(Aggregate):
    """The oldest value, even NULL."""

    name = "first_value"

    def add(self, accumulator: Any, value: Any) -> Any:
        # The accumulator cannot distinguish a NULL that came first from the initial state; `begun` can.
        if not self.begun:
            self.begun = True
            return value
        return accumulator

    def begin(self) -> None:
        self.begun = False

    def aggregate_groups(self, groups: Groups, column: str) -> pa.Array | None:
        return groups.take_column(column, groups.starts)


class FirstNonNullValue(Aggregate):
    """The oldest value that is not NULL."""

    name = "first_non_null_value"

    def add(self, accumulator: Any, value: Any) -> Any:
        # As in Java, a record that was removed in between does not restore the initial state.
        if self.begun or value is None:
            return accumulator
        self.begun = True
        return value

    def begin(self) -> None:
        self.begun = False

    def aggregate_groups(self, groups: Groups, column: str) -> pa.Array | None:
        position, none = groups.first_true(groups.valid(column))
        return groups.take_column(column, position, none if bool(np.any(none)) else None)
