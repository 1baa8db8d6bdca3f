"""Flink's JSON functions for any path: as real Flink 1.20.1 answered for random paths, and through SQL."""

import json
import re
from pathlib import Path

import pytest

import paimon_nb
from paimon_nb.spark.runtime import flink_json as of_spark
from paimon_nb.spark.runtime.flink_json import flink_json
from paimon_nb.sql.flink import json_functions as of_sql

RECORDED = json.loads((Path(__file__).parent / "flink_json_paths.json").read_text())
"""Per path and document: JSON_EXISTS; JSON_VALUE with DEFAULT 'E' ON EMPTY DEFAULT 'R' ON ERROR; JSON_QUERY, WITH ARRAY WRAPPER, WITH CONDITIONAL ARRAY
WRAPPER, EMPTY ARRAY ON EMPTY EMPTY OBJECT ON ERROR; JSON_EXISTS UNKNOWN ON ERROR. Two paths are left out whose answers in Flink depend on the calls before."""


def answers(document: str, path: str) -> list[object]:
    found = re.match(r"(?is)\s*(strict|lax)\s+(.+)$", path)
    mode, path = (found[1].lower(), found[2]) if found else ("strict", path)

    def call(what: str, wrapper: str = "none") -> str:
        result = flink_json(document, path, f"{what} {mode} {wrapper}")
        assert result is not None
        return result

    def value(result: str, empty: str | None = None, error: str | None = None) -> str | None:
        return {"v": result[1:], "e": empty, "x": error}[result[0]]

    exists = call("exists")
    return [
        exists == "vtrue", value(call("value"), "E", "R"), value(call("query")), value(call("query", "always")),
        value(call("query", "conditional")), value(call("query"), "[]", "{}"), None if exists == "x" else exists == "vtrue",
    ]  # fmt: skip


@pytest.mark.parametrize("part", range(6))
def test_random_paths_have_flinks_answers(part):
    assert len(RECORDED["answers"]) > 500
    different = {}
    for path, rows in RECORDED["answers"][part::6]:
        for number, expected in rows.items():
            found = answers(RECORDED["documents"][int(number)], path)
            if found != expected:
                different[path, number] = found, expected
    assert different == {}


def test_values_are_written_as_jackson_writes_them():
    document = (
        '{"a":[1e3,1.10,0.00000001,123456789.0],"z":{"b":1,"a":2,"é":"é\\u0001\\/\\"\\n"},"d":{"b":1,"b":2}} and more'
    )
    assert flink_json(document, "$.a", "query strict none") == "v[1000.0,1.1,1.0E-8,1.23456789E8]"
    assert flink_json(document, "$.z", "query strict none") == 'v{"b":1,"a":2,"é":"é\\u0001/\\"\\n"}'
    assert flink_json(document, "$.d", "query strict none") == 'v{"b":2}'
    assert flink_json('{"a":NaN}', "$.a", "value strict none") == "x"
    assert flink_json(None, "$.a", "value strict none") is None


def test_sql_and_spark_name_the_function_alike():
    assert of_sql.FLINK_JSON == of_spark.FLINK_JSON


@pytest.mark.spark
def test_paths_in_statements(tmp_path):
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run("SET 'execution.runtime-mode' = 'batch'")
    wb.run("CREATE TABLE t (id INT, j STRING)")
    wb.run(
        """INSERT INTO t VALUES (1, '{"a":[{"b":1,"c":"x"},{"b":2}],"n":null,"s":"t"}'), (2, 'no json'), (3, NULL)"""
    )
    found = wb.run("""
        SELECT id, JSON_QUERY(j, '$.a[?(@.b > 1)].b') AS f, JSON_QUERY(j, 'lax $..b') AS d, JSON_VALUE(j, '$.a[-1].b' RETURNING INT) AS l,
               JSON_EXISTS(j, '$.n') AS n, JSON_EXISTS(j, '$.a[0:1].c') AS s, JSON_VALUE(j, '$.a.length()' DEFAULT '?' ON ERROR) AS c,
               JSON_QUERY(j, '$["s"]' WITH ARRAY WRAPPER) AS w, JSON_VALUE(j, '$.a[*].c') AS m, JSON_QUERY(j, '$.a[*].b' WITH ARRAY WRAPPER) AS v
        FROM t WHERE id < 3 OR JSON_EXISTS(j, '$..b') IS NULL ORDER BY id
    """).to_arrow()
    assert [tuple(row.values())[1:] for row in found.to_pylist()] == [
        ("[2]", "[1,2]", 2, False, True, "2", '["t"]', None, "[[1,2]]"),
        (None, None, None, False, False, "?", None, None, None),
        (None, None, None, None, None, None, None, None, None),
    ]
    wb.run("UPDATE t SET j = JSON_VALUE(j, '$.a[-1].b') WHERE JSON_EXISTS(j, '$.a[?(@.c == ''x'')]')")
    assert wb.table("t").to_arrow(where="id = 1")["j"].to_pylist() == ["2"]
