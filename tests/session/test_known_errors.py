"""Errors of queries that are known without Spark: they come at once, with their place in the text, and no JVM starts."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import CorruptFile, ForeignFile, PaimonError, SqlAnalysisError, TableNotFound

pytestmark = pytest.mark.unit

ERRORS = {
    "SELECT amuont, stddev(id) AS s FROM orders GROUP BY amuont": ("with name `amuont` cannot be resolved", "did you mean `amount`?", "amuont"),
    "SELECT stddev(o.amuont) AS s FROM orders o JOIN orders p ON o.id = p.id": ("`o`.`amuont` cannot be resolved", "did you mean `amount`?", "o.amuont"),
    "SELECT stddev(id) AS s FROM ordres": ("ordres", "orders", "ordres"),
    "SELECT zzz(id) AS s FROM orders": ("Cannot resolve routine `zzz`", "SHOW FUNCTIONS lists the functions", "zzz"),
    "SELECT uper(state) AS s FROM orders": ("Cannot resolve routine `uper`", "did you mean upper?", "uper"),
    "SELECT upper(state, 'x') AS s FROM orders": ("The `upper` requires 1 parameters but the actual number is 2", "", "upper(state, 'x')"),
    "SELECT id, stddev(id) AS s, count(*) AS n FROM orders": ("does not include a GROUP BY clause", "add GROUP BY", "id"),
    "SELECT state, id, stddev(id) AS s FROM orders GROUP BY state": ('expression "id" is based on columns which are not participating', "any_value(id)", "id"),
    "SELECT id FROM (SELECT amuont FROM orders) AS q": ("`amuont` cannot be resolved", "", "amuont"),
}  # fmt: skip


@pytest.fixture
def wb(tmp_path):
    with paimon_nb.connect(tmp_path) as wb:
        wb.run("CREATE TABLE orders (id INT, state STRING, amount DECIMAL(8, 2))")
        wb.table("orders").append(pa.table({"id": pa.array([1], pa.int32()), "state": ["new"]}))
        yield wb


@pytest.mark.parametrize("text", ERRORS)
@pytest.mark.parametrize("run", ["run", "sql"])
def test_errors_come_without_spark(wb, text, run):
    message, hint, place = ERRORS[text]
    with pytest.raises(PaimonError) as raised:
        getattr(wb, run)(f"  {text}")
    error = raised.value
    assert message in error.message
    assert hint in f"{error.hint} {error.message}"
    assert isinstance(error, SqlAnalysisError | TableNotFound)
    assert f"  {text}"[error.facts["start"] : error.facts["stop"]] == place
    assert not wb.session.spark_started


@pytest.mark.parametrize(("at", "error"), [(0, ForeignFile), (60, CorruptFile)])
def test_a_broken_file_of_a_format_table_is_named_without_spark(tmp_path, at: int, error: type[Exception]):
    """Not a file of the format, and a page with a wrong checksum, which was said to be a column of another type."""
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run("CREATE TABLE f (id INT, v STRING) WITH ('type' = 'format-table', 'file.format' = 'parquet')")
    wb.table("f").append(pa.table({"id": pa.array(range(60), pa.int32()), "v": [f"v{i}" for i in range(60)]}))
    (file,) = Path(wb.table("f").path).glob("*.parquet")
    data = bytearray(file.read_bytes())
    data[at] ^= 1
    file.write_bytes(data if at else b"<html>not found</html>")

    with pytest.raises(error, match=f"(?s){file.name}(?!.*change the type)"):
        wb.run("SELECT * FROM f WHERE id = 5").to_arrow()
    assert not wb.session.spark_started


def start_spark(_session):
    raise RuntimeError("Spark starts")


KNOWN_TO_SPARK = (
    "SELECT state AS s, stddev(id) AS x FROM orders GROUP BY s",
    "SELECT any_value(state), stddev(id) FROM orders",
    "SELECT a.id, b.col FROM orders a LATERAL VIEW explode(array(1, 2)) b AS col",
    "SELECT transform(array(1, 2), x -> x + 1) AS t, current_date FROM orders",
    "SELECT id, sum(id) OVER (ORDER BY id RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM orders",
    "SELECT substring(state FROM 2 FOR 1), stddev(1) OVER () FROM orders",
    "SELECT count(DISTINCT id, state) FROM orders",
    "SELECT upper(lower(state)), if(id > 1, 'a', 'b'), trim(BOTH 'x' FROM state), named_struct('a', 1).a FROM orders",
)


@pytest.mark.parametrize("text", KNOWN_TO_SPARK)
def test_what_spark_may_know_is_left_to_spark(wb, text, monkeypatch):
    monkeypatch.setattr(type(wb.session), "spark", property(start_spark))
    with pytest.raises(RuntimeError, match="Spark starts"):
        wb.sql(text)


@pytest.mark.parametrize("query", ["SELECT * FROM orders", "SELECT state, count(*) AS n FROM orders GROUP BY state"])
def test_a_broken_file_is_named_without_spark(wb, query):
    """Spark reads the same bytes, and would start to say the same."""
    (file,) = wb.table("orders").files().column("file_path").to_pylist()
    path = Path(wb.table("orders").path) / file
    path.write_bytes(b"PAR1" + b"\0" * 40 + b"PAR1")
    with pytest.raises(CorruptFile, match=path.name):
        wb.run(query)
    assert not wb.session.spark_started
