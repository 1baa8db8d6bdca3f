"""A misspelled column gets the closest column of the table, not the first one that the query names."""

import pytest

from paimon_nb.base.errors import SqlAnalysisError

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    ("query", "hint"),
    [
        ("SELECT amout FROM sales", "did you mean `amount`?"),
        ("SELECT amout FROM sales WHERE customer = 'a'", "did you mean `amount`?"),
        ("SELECT s.amout FROM sales s JOIN sales t ON s.a = t.a", "did you mean `amount`?"),
        ("SELECT `ordr id` FROM sales GROUP BY customer", "did you mean `order id`?"),
        ("SELECT zzz FROM sales", "columns: order id, customer, amount, a"),
    ],
)
def test_the_closest_column_is_suggested(swb, query: str, hint: str) -> None:
    swb.run("CREATE TABLE sales (`order id` INT, customer STRING, amount DOUBLE, a INT)")
    swb.run("INSERT INTO sales VALUES (1, 'a', 2.0, 1)")
    with pytest.raises(SqlAnalysisError) as raised:
        swb.sql(query)
    assert raised.value.hint == hint
