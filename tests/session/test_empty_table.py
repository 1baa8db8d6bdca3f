"""A table that has no snapshot yet: every statement, system table and read answers with no rows and the right columns, or with our error."""

from __future__ import annotations

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import SnapshotNotFound, TimeTravelError, UnsupportedOperation
from paimon_nb.table.tables.system import SYSTEM_TABLES

KINDS = {
    "append": ("k INT, v STRING, dt STRING", "", {"bucket": "-1"}),
    "partitioned": ("k INT, v STRING, dt STRING, PRIMARY KEY (k, dt) NOT ENFORCED", "dt", {"bucket": "2"}),
    "dynamic": ("k INT, v STRING, dt STRING, PRIMARY KEY (k) NOT ENFORCED", "", {"bucket": "-1"}),
    "vectors": ("k INT, v STRING, dt STRING, PRIMARY KEY (k) NOT ENFORCED", "", {"bucket": "1", "deletion-vectors.enabled": "true"}),
    "first-row": ("k INT, v STRING, dt STRING, PRIMARY KEY (k) NOT ENFORCED", "", {"bucket": "1", "merge-engine": "first-row"}),
    "tracked": ("k INT, v STRING, dt STRING", "", {"bucket": "-1", "row-tracking.enabled": "true"}),
}  # fmt: skip
STATEMENTS = (
    "DESCRIBE t", "DESCRIBE EXTENDED t", "SHOW CREATE TABLE t", "SHOW COLUMNS IN t", "SHOW TBLPROPERTIES t", "SHOW TAGS t", "SHOW BRANCHES t",
    "TRUNCATE TABLE t", "DELETE FROM t", "ANALYZE TABLE t COMPUTE STATISTICS", "ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS v",
    "ALTER TABLE t ADD COLUMN w INT", "ALTER TABLE t DROP COLUMN w", "ALTER TABLE t RENAME COLUMN v TO u", "ALTER TABLE t RENAME COLUMN u TO v",
    "ALTER TABLE t SET ('snapshot.time-retained' = '2 h')", "CALL sys.compact(`table` => 't')", "CALL sys.expire_snapshots(`table` => 't', retain_max => 1)",
    "CALL sys.remove_orphan_files(`table` => 't', dry_run => true)", "ALTER TABLE t RENAME TO s", "ALTER TABLE s RENAME TO t", "DROP TABLE t", "UNDROP TABLE t",
)  # fmt: skip
NO_MOMENT = (
    "ALTER TABLE t CREATE TAG x", "CALL sys.create_tag('t', 'x')", "CALL sys.create_tag('t', 'x', 1)", "CALL sys.rollback('t', '1')",
)  # fmt: skip
ALWAYS_TOLD = {"schemas", "options", "aggregation_fields"}
"""System tables about the definition, which an empty table has too."""


@pytest.fixture(params=KINDS)
def wb(request: pytest.FixtureRequest, tmp_path, monkeypatch) -> paimon_nb.Workbench:
    columns, by, options = KINDS[request.param]
    opened = paimon_nb.connect(str(tmp_path / "w"))
    monkeypatch.setattr(type(opened.session), "spark", property(lambda _self: pytest.fail("Spark was started")))
    given = ", ".join(f"'{k}' = '{v}'" for k, v in options.items())
    opened.run(f"CREATE TABLE t ({columns}){f' PARTITIONED BY ({by})' * bool(by)} WITH ({given})")
    return opened


def test_statements(wb):
    for statement in STATEMENTS:
        wb.run(statement)
    for statement in NO_MOMENT:
        with pytest.raises((SnapshotNotFound, TimeTravelError)) as told:
            wb.run(statement)
        assert told.value.hint or "no snapshot" in told.value.message, statement
    table = wb.table("t")
    assert (table.schema.names, table.to_arrow().num_rows, table.latest_snapshot()) == (("k", "v", "dt"), 0, None)


def test_system_tables(wb):
    table = wb.table("t")
    for name in SYSTEM_TABLES:
        if name == "row_tracking" and "row-tracking.enabled" not in table.options.raw:
            with pytest.raises(UnsupportedOperation, match="has no row tracking"):
                table.system(name)
            continue
        found = table.system(name)
        assert found.num_columns > 0, name
        assert bool(found.num_rows) <= (name in ALWAYS_TOLD), name


def test_reads_and_writes_from_python(wb):
    table = wb.table("t")
    columns = ["k", "v", "dt"]
    for found in (table.to_arrow(), table.to_arrow(where="k > 1"), table.to_arrow(where="v IS NULL AND dt = 'x'")):
        assert (found.column_names, found.num_rows) == (columns, 0)
    assert table.to_arrow(["v"]).column_names == ["v"]
    assert table.scan().plan.splits == ()
    assert table.compact() == []
    empty = pa.table({c: pa.array([], pa.int32() if c == "k" else pa.string()) for c in columns})
    assert table.append(empty) == []
    if table.primary_keys and table.options.merge_engine == "deduplicate":
        assert table.delete("k = 1") == []
        assert table.upsert(empty) == []
    assert table.latest_snapshot() is None
    with pytest.raises(TimeTravelError):
        table.to_arrow(snapshot=1)
