"""Every option with one letter left out: it is told, with the option that was meant."""

from __future__ import annotations

import pytest

import paimon_nb
from paimon_nb.base.errors import FixedOption, UnknownOption
from paimon_nb.options import TABLE_OPTIONS, validate_table_options

PASSED_ON = ("parquet.", "orc.", "avro.")
"""Families whose keys belong to the file formats; what they know is not ours to say."""


def misspelt(key: str) -> str:
    """The key without the letter in its middle."""
    at = next(i for i in range(len(key) // 2, len(key)) if key[i].isalpha() and key[i] != key[i - 1])
    return key[:at] + key[at + 1 :]


@pytest.mark.parametrize("keys", [sorted(TABLE_OPTIONS)[::7], pytest.param(sorted(TABLE_OPTIONS), marks=pytest.mark.nightly)], ids=["some", "all"])  # fmt: skip
def test_each_option_misspelt_once(keys: list[str]):
    silent = {
        key: told
        for key in keys
        if (told := validate_table_options({misspelt(key): "x"}))
        != [f"unknown option {misspelt(key)!r} is stored but has no effect; did you mean {key!r}?"]
    }
    assert len(keys) > 40
    assert [key for key in silent if not key.startswith(PASSED_ON)] == []
    assert len(silent) < 10


def test_statements_tell_it_too():
    wb = paimon_nb.connect("memory:/misspelt")
    made = wb.run(
        "CREATE TABLE t (k INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1', 'merge-engin' = 'aggregation')"
    )
    assert any("did you mean 'merge-engine'?" in note for note in made.notes)
    changed = wb.run("ALTER TABLE t SET ('changelog-producr' = 'input')")
    assert any("did you mean 'changelog-producer'?" in note for note in changed.notes)


def test_what_may_not_change_under_data_does_not():
    import pyarrow as pa

    wb = paimon_nb.connect("memory:/fixed")
    wb.run("CREATE TABLE t (k INT, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1')")
    wb.table("t").upsert(pa.table({"k": pa.array([1], pa.int32()), "v": pa.array([2], pa.int32())}))
    fixed = {"merge-engine": "aggregation", "type": "format-table", "rowkind.field": "v", "bucket": "-1"}
    for key, value in fixed.items():
        before = wb.table("t").schema
        with pytest.raises(FixedOption, match=key):
            wb.run(f"ALTER TABLE t SET ('{key}' = '{value}')")
        assert wb.table("t").schema == before


def test_a_catalog_is_not_opened_elsewhere_for_a_slip():
    with pytest.raises(UnknownOption, match="did you mean 'metastore'"):
        paimon_nb.connect("memory:/misspelt", options={"metastor": "jdbc"})
    wb = paimon_nb.connect("memory:/misspelt", options={"catalog-type": "x", "owner": "me", "fs.s3a.acces.key": "k"})
    made = wb.run("CREATE CATALOG c WITH ('type' = 'generic_in_memory', 'warehous' = '/x')")
    assert made.notes == ["unknown catalog option 'warehous'; did you mean 'warehouse'?"]
