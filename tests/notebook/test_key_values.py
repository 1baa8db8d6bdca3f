"""Timestamps of a key, as users type them in a command or a field."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from paimon_nb.notebook.widgets.why import WhyView

if TYPE_CHECKING:
    from shell_kit import Shell

EVENING = dt.datetime(2013, 7, 4, 18)


@pytest.fixture
def sales(shell: Shell) -> Shell:
    """One row at 18:00 of a July day, under a key without and a key with local time zone."""
    for name, column in (("sales", "TIMESTAMP(3)"), ("zoned", "TIMESTAMP_LTZ(6)")):
        shell.value(f"%paimon CREATE TABLE {name} (ts {column}, n INT, PRIMARY KEY (ts) NOT ENFORCED)")
    wb = shell.value("%paimon workbench")
    for name, zone in (("sales", None), ("zoned", dt.UTC)):
        table = wb.table(name)
        table.upsert(pa.table({"ts": [EVENING.replace(tzinfo=zone)], "n": [1]}).cast(table.schema.arrow))
    return shell


@pytest.mark.parametrize(
    "text",
    ["2013-07-04 18:00:00", "2013-07-04T18:00:00", "2013-07-04T18:00", "2013-07-04T18:00:00Z", "2013-07-04T18:00:00.000Z",
     "2013-07-04T20:00:00+02:00", "2013-07-04T14:00:00-0400"],
)  # fmt: skip
def test_a_timestamp_is_written_as_in_sql_or_iso_8601(sales: Shell, text: str) -> None:
    view = sales.value(f"%paimon why sales `ts`='{text}'")
    assert isinstance(view, WhyView)
    assert len(view.answer.versions) == 1


@pytest.mark.parametrize("text", ["2013-07-04T18:00:00Z", "2013-07-05T00:00:00+06:00"])
def test_an_offset_names_the_instant_of_a_zoned_key(sales: Shell, text: str) -> None:
    assert len(sales.value(f"%paimon why zoned ts={text}").answer.versions) == 1


@pytest.mark.parametrize(
    "text", ["2013-07-04T25:00:00Z", "2013-13-04T18:00:00", "18:00:00Z", "2013-07-04T18:00:00+99:00"]
)
def test_what_is_not_a_time_is_named(sales: Shell, text: str) -> None:
    error = sales.run(f"%paimon why sales ts={text}").error_in_exec
    assert str(error).startswith(f"%paimon why: '{text}' is not a valid TIMESTAMP(3)")
