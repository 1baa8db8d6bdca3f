"""Setting an option that has no effect here, but has one in Java, gives a warning."""

import paimon_nb
from paimon_nb.options import CONNECTOR_OPTIONS, TABLE_OPTIONS, validate_table_options
from paimon_nb.options.prefix_options import find_pattern
from paimon_nb.options.unsupported import WITHOUT_EFFECT


def test_every_key_is_an_option():
    assert [
        k for k in WITHOUT_EFFECT if k not in TABLE_OPTIONS and k not in CONNECTOR_OPTIONS and find_pattern(k) is None
    ] == []


def test_statements_warn():
    wb = paimon_nb.connect("memory:/elsewhere")
    made = wb.run("CREATE TABLE t (k INT) WITH ('bucket' = '-1', 'commit.callbacks' = 'org.example.Call')")
    changed = wb.run("ALTER TABLE t SET ('tag.callbacks' = 'org.example.Tag')")
    callback = "option 'commit.callbacks' is not supported, so writes and compactions are rejected: Java classes cannot be called"
    tag = next(n for n in changed.notes if "tag.callbacks" in n)
    assert [n for n in made.notes if "rejected" in n] == [callback]
    assert [n for n in changed.notes if "rejected" in n] == [callback, tag]


def test_disabled_features_and_defaults_give_no_warning():
    off = {"chain-table.enabled": "false", "streaming-read-mode": "file"}
    defaults = {"query-auth.enabled": "false", "scan.remove-normalize": "false"}
    assert validate_table_options(off | defaults) == []


def test_values_other_than_the_default_give_a_warning():
    options = {
        "query-auth.enabled": "true",
        "streaming-read-mode": "log",
        "lookup.refresh.async": "true",
    }
    assert sorted(n.split("'")[1] for n in validate_table_options(options)) == sorted(options)
