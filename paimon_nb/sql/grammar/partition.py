"""PARTITION (dt = 'x', hh): column -> literal text; None for a dynamic partition column."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paimon_nb.syntax.lexer import Cursor


def partition_spec(cursor: Cursor) -> dict[str, str | None]:
    """Read `(k = literal, k, ...)`."""

    def parse_partition_item() -> tuple[str, str | None]:
        key = cursor.name("partition column")
        if not cursor.take_one("=", "=="):
            return key, None
        value = cursor.balanced(",")
        if value.start == value.stop:
            cursor.fail("expected a value")
        return key, cursor.text_of(value)

    return dict(cursor.listed(parse_partition_item))
