"""What time a partition's values tell: the answers of Java's extractor, whose default form is a lenient one."""

from datetime import datetime

import pytest

from paimon_nb.table.write.maintenance.partition_time import parse_time


@pytest.mark.parametrize(
    ("text", "formatter", "time"),
    [
        ("2024-01-31", None, datetime(2024, 1, 31)),
        ("2024-1-3 5:07:09", None, datetime(2024, 1, 3, 5, 7, 9)),
        ("2024-01-31 05:00:00.123", None, datetime(2024, 1, 31, 5)),
        ("2024-01-32", None, datetime(2024, 2, 1)),
        ("2024-13-01 25:00:00", None, datetime(2025, 1, 2, 1)),
        ("2024-01-31 05:00", None, None),
        ("2024-01-31 ", None, None),
        ("20240131", None, None),
        ("20240131", "yyyyMMdd", datetime(2024, 1, 31)),
        ("20240131 07", "yyyyMMdd HH", datetime(2024, 1, 31, 7)),
        ("20240131 7", "yyyyMMdd HH", None),
        ("202401", "yyyyMM", None),
        ("07", "HH", None),
    ],
)  # fmt: skip
def test_the_time_of_a_text(text, formatter, time):
    assert parse_time(text, formatter) == time
