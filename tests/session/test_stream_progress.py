"""What Spark tells of a stream's place, read calmly."""

from __future__ import annotations

import pytest

from paimon_nb.session.streaming.progress import parse_next_snapshot


@pytest.mark.parametrize(
    ("text", "following"),
    [('{"next": 7}', 7), ('{"next": 7, "full": true}', 7), (None, None), ("", None), ("null", None), ("None", None), ("7", None), ('{"at": 7}', None), ('{"next": "7"}', None)],
)  # fmt: skip
def test_only_an_offset_of_ours_tells_a_place(text: str | None, following: int | None) -> None:
    assert parse_next_snapshot(text) == following
