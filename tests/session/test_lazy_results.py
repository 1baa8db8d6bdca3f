"""Results that Spark has not read yet: our errors with their place, and values that Arrow does not have."""

import datetime as dt

import pytest

import paimon_nb
from paimon_nb.base.errors import SqlError
from paimon_nb.notebook.display import Rows

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def wb(tmp_path_factory):
    return paimon_nb.connect(str(tmp_path_factory.mktemp("lazy")))


@pytest.mark.parametrize(
    "read",
    [lambda r: r.to_arrow(), lambda r: r.to_pandas(), lambda r: r.__arrow_c_stream__(), lambda r: repr(Rows(r, 5))],
)
def test_an_error_of_a_value_is_ours_and_has_its_place(wb, read):
    text = "SELECT id, 10 / (id - 1) AS x FROM range(3)"
    result = wb.run(text)
    with pytest.raises(SqlError, match="Division by zero") as caught:
        read(result)
    assert text[caught.value.facts["start"] : caught.value.facts["stop"]] == "10 / (id - 1)"


def test_null_variants_and_intervals_are_read_and_shown(wb):
    result = wb.run(
        """SELECT parse_json('{"a":[1,2.5]}') AS v, try_parse_json('{') AS w, INTERVAL '1-3' YEAR TO MONTH AS m, INTERVAL '1 02:03:04' DAY TO SECOND AS d"""
    )
    row = result.to_arrow().to_pylist()[0]
    assert (row["w"], row["m"], row["d"]) == (None, "INTERVAL '1-3' YEAR TO MONTH", dt.timedelta(days=1, seconds=7384))
    shown = repr(Rows(result, 5))
    assert '{"a":[1,2.5]}' in shown
    assert "INTERVAL '1-3' YEAR TO MONTH" in shown
    assert "2:03:04" in shown
