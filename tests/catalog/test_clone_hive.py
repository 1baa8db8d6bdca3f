"""Tables of Hive cloned into a Paimon warehouse: the same rows, in files of their own; the Hive tables stay as they are."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from test_migrate import catalog as catalog
from test_migrate import hive_table, rows, storage, told, ttypes, write
from test_migrate import options as options

import paimon_nb
from paimon_nb.base.errors import CorruptFile, TableNotFound, UnsupportedFormat, UnsupportedOperation


def conf(options) -> str:
    return ",".join(f"{k}={v}" for k, v in options.items())


@pytest.fixture
def wb(tmp_path):
    with paimon_nb.connect(str(tmp_path / "paimon")) as made:
        yield made


def seen(table: pa.Table) -> pa.Table:
    return table.set_column(3, "seen", table["seen"].cast(pa.timestamp("ms")))


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["parquet", pytest.param("orc", marks=pytest.mark.nightly)])
def test_a_table_and_its_partitions(catalog, options, wb, tmp_path, kind):
    where = tmp_path / "hive/sales"
    hive_table(catalog, "sales", kind, where, {"dt": "string", "h": "int"})
    partitions = {("2024-01-01", "1"): (1, 2), ("2024-01-01", "__HIVE_DEFAULT_PARTITION__"): (7,), ("a b", "7"): (4, 5)}
    for (day, hour), ids in partitions.items():
        place = where / f"dt={day}/h={hour}"
        write(place / "part-0", kind, rows(*ids))
        catalog.metastore.client.execute("add_partition", ttypes.Partition(
            values=[day, hour], dbName="d", tableName="sales", createTime=1, lastAccessTime=1, sd=storage(kind, place), parameters={},
        ))  # fmt: skip
    before = {p: p.read_bytes() for p in where.rglob("*") if p.is_file()}
    call = f"CALL sys.clone('d', 'sales', '{conf(options)}', 'lake', 'sold'"
    result = wb.run(f"{call}, '', 2, 'dt = ''a b''')")
    assert (result.arrow.to_pylist(), result.notes) == (
        [{"result": "Success"}],
        ["2 rows of d.sales were cloned to lake.sold"],
    )
    sold = wb.table("lake.sold")
    assert [(r["id"], r["dt"], r["h"]) for r in told(sold.to_arrow())] == [(4, "a b", 7), (5, "a b", 7)]
    assert (sold.schema.comment, sold.partition_keys, sold.primary_keys) == ("of Hive", ("dt", "h"), ())
    assert {k: sold.schema.options[k] for k in ("bucket", "file.format")} == {"bucket": "-1", "file.format": kind}
    for _ in range(2):  # the second time takes the place of the first
        wb.run(f"""CALL sys.clone(database => 'd', `table` => 'sales', catalog_conf => '{conf(options)}', target_database => 'lake',
            target_table => 'sold', clone_from => 'hive', clone_if_exists => true)""")
        got = [(r["id"], r["dt"], r["h"]) for r in told(wb.table("lake.sold").to_arrow())]
        assert got == [
            (1, "2024-01-01", 1),
            (2, "2024-01-01", 1),
            (4, "a b", 7),
            (5, "a b", 7),
            (7, "2024-01-01", None),
        ]
    want = seen(rows(1, 2, 4, 5, 7))
    assert told(wb.table("lake.sold").to_arrow(columns=want.column_names)) == told(want)
    assert {p: p.read_bytes() for p in where.rglob("*") if p.is_file()} == before
    wb.table("lake.sold").compact(full=True)
    assert [(r["id"], r["dt"], r["h"]) for r in told(wb.table("lake.sold").to_arrow())] == got


@pytest.mark.nightly
def test_a_database_and_what_is_refused(catalog, options, wb, tmp_path):
    for name in ("a", "b"):
        write(tmp_path / name / "f", "parquet", rows(1, 2))
        hive_table(catalog, name, "parquet", tmp_path / name)
    hive_table(catalog, "words", "text", tmp_path / "words")
    one = f"database => 'd', catalog_conf => '{conf(options)}', target_database => 'lake'"
    with pytest.raises(UnsupportedFormat, match="csv"):
        wb.run(f"CALL sys.clone({one})")
    with pytest.raises(UnsupportedOperation, match="target_table_conf"):
        wb.run(f"CALL sys.clone({one}, included_tables => 'd.a', target_table_conf => 'a.b=c')")
    with pytest.raises(UnsupportedOperation, match="parquet"):
        wb.run(f"CALL sys.clone({one}, included_tables => 'd.a', prefer_file_format => 'orc')")
    with pytest.raises(TableNotFound):
        wb.run(f"CALL sys.clone({one}, `table` => 'nope', target_table => 'x')")
    (tmp_path / "b/f").write_bytes(b"no parquet at all")
    with pytest.raises(CorruptFile):
        wb.run(f"CALL sys.clone({one}, `table` => 'b', target_table => 'x')")
    assert not Path(tmp_path / "paimon/lake.db").exists()
    wb.run(f"CALL sys.clone({one}, excluded_tables => 'd.words,d.b')")
    assert wb.session.catalog.tables("lake") == ["a"]
    assert told(wb.table("lake.a").to_arrow()) == told(seen(rows(1, 2)))
