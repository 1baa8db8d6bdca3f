"""Every value of every type names its partition, whichever way it is written."""

import partition_doors as doors
import pytest
from sampling import sampled

import paimon_nb

BLANKS_ARE_CUT = {
    (repr(value), way, value): found
    for way in ("scan.partitions", "CALL")
    for value, found in ((" lead", "[]"), ("trail ", "[]"))
}
EMPTY = {
    ("''", way, "__DEFAULT_PARTITION__"): "[None]"
    for way in ("scan.partitions", "CALL", "ALTER", "TRUNCATE", "Python text")
}
"""The directory of empty text is that of NULL, as in Java: its name means NULL."""


@pytest.fixture
def wb(tmp_path):
    return paimon_nb.connect(str(tmp_path / "w"))


@pytest.mark.parametrize("legacy", sampled([True, False], 2))
@pytest.mark.parametrize(
    "sql_type",
    [
        pytest.param(t, marks=[] if t in ("DATE", "DECIMAL(10, 2)", "TIMESTAMP_LTZ(3)") else pytest.mark.nightly)
        for t in doors.VALUES
    ],
)
def test_every_way_names_the_same_partition(wb, sql_type, legacy):
    expected = {**BLANKS_ARE_CUT, **EMPTY} if sql_type == "STRING" else {}
    assert doors.misread(wb, sql_type, legacy=legacy) == expected


def test_the_page_is_what_is_printed(wb):
    assert doors.PAGE.read_text() == doors.page(wb), "run: python tests/table/tables/partition_doors.py"
