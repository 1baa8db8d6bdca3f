"""Options that have no effect here, though they have in Java, are told when they are set."""

import paimon_nb
from paimon_nb.options import CONNECTOR_OPTIONS, TABLE_OPTIONS, validate_table_options
from paimon_nb.options.prefix_options import find_pattern
from paimon_nb.options.unsupported import ELSEWHERE


def test_they_are_options():
    assert [
        k for k in ELSEWHERE if k not in TABLE_OPTIONS and k not in CONNECTOR_OPTIONS and find_pattern(k) is None
    ] == []


def test_statements_tell_them():
    wb = paimon_nb.connect("memory:/elsewhere")
    made = wb.run("CREATE TABLE t (k INT) WITH ('bucket' = '-1', 'commit.callbacks' = 'org.example.Call')")
    changed = wb.run("ALTER TABLE t SET ('metadata.iceberg.storage' = 'table-location')")
    callback = "option 'commit.callbacks' is not supported, so writes and compactions are refused: a Java class would have to be called, which cannot be run here"
    iceberg = "option 'metadata.iceberg.storage' is not supported, so writes and compactions are refused: the table's Iceberg metadata would fall behind, and Iceberg readers would miss rows"
    assert [n for n in made.notes if "refused" in n] == [callback]
    assert [n for n in changed.notes if "refused" in n] == [callback, iceberg]


def test_what_asks_for_nothing_is_no_news():
    off = {"chain-table.enabled": "false", "metadata.iceberg.storage": "disabled", "streaming-read-mode": "file"}
    defaults = {"query-auth.enabled": "false", "scan.remove-normalize": "false"}
    assert validate_table_options(off | defaults) == []


def test_what_differs_from_the_default_is():
    given = {
        "query-auth.enabled": "true",
        "streaming-read-mode": "log",
        "lookup.refresh.async": "true",
    }
    assert sorted(n.split("'")[1] for n in validate_table_options(given)) == sorted(given)
