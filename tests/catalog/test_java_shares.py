"""One JDBC or Hive catalog, two hands: real Flink with Java Paimon and we make, fill, change and rename each other's tables."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pyarrow as pa
import pytest
from catalog_kit import schema
from hive_server import emptied
from requirements import program
from sql_servers import PASSWORD, USER, rows_of

import paimon_nb
from paimon_nb.base.errors import TableNotFound
from paimon_nb.base.identifier import Identifier
from paimon_nb.catalog import open_catalog

DRIVERS = {
    "sqlite": "org.xerial:sqlite-jdbc:3.46.1.3",
    "postgresql": "org.postgresql:postgresql:42.7.4",
    "mariadb": "org.mariadb.jdbc:mariadb-java-client:3.4.1",
    "hive": "org.apache.hive:hive-exec:2.3.10",
}


@pytest.fixture(params=list(DRIVERS))
def place(request, tmp_path, shared) -> tuple[dict[str, str], Path]:
    """Catalog options, and the folder of jars that Flink runs with: the oracle's and a JDBC driver."""
    kind = request.param
    options = {"type": "paimon", "metastore": "jdbc", "warehouse": str(tmp_path / "w"), "catalog-key": f"java-{kind}"}
    if kind == "hive":
        options |= {"metastore": "hive", "uri": emptied(request.getfixturevalue("hive"))}
    elif kind == "sqlite":
        options["uri"] = f"jdbc:sqlite:{tmp_path}/c.db"
    else:
        uri = request.getfixturevalue(kind).replace("jdbc:mysql:", "jdbc:mariadb:")
        options |= {"uri": uri, "jdbc.user": USER, "jdbc.password": PASSWORD}
    if kind in ("postgresql", "hive"):  # Java has no lock over its MariaDB driver, and blocks itself on SQLite
        options["lock.enabled"] = "true"
    return options, _jars(DRIVERS[kind], shared, tmp_path)


def _jars(driver: str, shared: Path, folder: Path) -> Path:
    group, artifact, version = driver.split(":")
    jar = Path.home() / ".m2/repository" / group.replace(".", "/") / artifact / version / f"{artifact}-{version}.jar"
    if not jar.exists() and (maven := program("maven", "mvn")):
        subprocess.run(
            [maven, "-q", "dependency:get", f"-Dartifact={driver}", "-Dtransitive=false"], check=False, timeout=200
        )
    if not jar.exists():
        pytest.skip(f"no Java driver {driver} (mvn dependency:get -Dartifact={driver})")
    told = subprocess.run(
        ["bash", "-c", f'. "{shared}/oracle/env.sh" && echo "$FLINK_DEPS"'], capture_output=True, text=True, check=True
    )
    home = Path(told.stdout.strip()) / "lib"
    (folder / "deps/lib").mkdir(parents=True)
    for source in (*home.glob("*.jar"), jar):
        (folder / "deps/lib" / source.name).symlink_to(source)
    return folder / "deps"


def flink(shared: Path, options: dict[str, str], jars: Path, lines: list[str], out: Path) -> None:
    with_ = ", ".join(f"'{k}' = '{v}'" for k, v in options.items())
    sql = out.with_suffix(".sql")
    sql.write_text("\n".join([f"CREATE CATALOG p WITH ({with_});", "USE CATALOG p;", *lines]))
    done = subprocess.run(
        [str(shared / "oracle" / "run_flink_sql.sh"), "--stop-on-error", "--out", str(out), str(sql)],
        capture_output=True, text=True, timeout=580, check=False, env={**os.environ, "FLINK_DEPS": str(jars)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def answers(out: Path, name: str) -> list[dict]:
    return sorted(map(json.loads, (out / f"{name}.jsonl").read_text().splitlines()), key=str)


@pytest.mark.java
@pytest.mark.nightly
def test_java_and_we_share_a_catalog(place, shared, tmp_path):
    options, jars = place
    with paimon_nb.connect(options["warehouse"], catalog="p", options=options) as wb:
        wb.run("CREATE DATABASE ours")
        wb.run("CREATE TABLE ours.t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')")
        wb.run("INSERT INTO ours.t VALUES (1, 'we'), (2, 'we')")
        wb.run("CREATE TABLE ours.gone (id INT)")
        wb.run("DROP TABLE ours.gone")
        wb.run("CREATE TABLE ours.old_name (id INT)")
        wb.run("ALTER TABLE ours.old_name RENAME TO ours.new_name")

    flink(shared, options, jars, [
        "INSERT INTO ours.t VALUES (2, 'java'), (3, 'java');",
        "ALTER TABLE ours.t ADD (n BIGINT);",
        "-- @q t", "SELECT * FROM ours.t;",
        "CREATE DATABASE javas;",
        "CREATE TABLE javas.u (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1');",
        "INSERT INTO javas.u VALUES (7, 'java');",
        "CREATE TABLE javas.w (id INT);",
        "DROP TABLE ours.new_name;",
    ], tmp_path / "first")  # fmt: skip

    want = [{"id": i, "v": v, "n": None} for i, v in ((1, "we"), (2, "java"), (3, "java"))]
    assert answers(tmp_path / "first", "t") == sorted(want, key=str)
    with paimon_nb.connect(options["warehouse"], catalog="p", options=options) as wb:
        catalog = wb.session.catalog
        assert catalog.databases() == ["default", "javas", "ours"]
        assert (catalog.tables("ours"), catalog.tables("javas")) == (["t"], ["u", "w"])
        assert wb.table("ours.t").to_arrow().sort_by("id").to_pylist() == want
        with pytest.raises(TableNotFound):
            wb.table("ours.new_name")
        wb.table("javas.u").upsert(pa.table({"id": pa.array([7, 8], pa.int32()), "v": ["we", "we"]}))
        wb.run("ALTER TABLE javas.u RENAME TO javas.x")
        wb.run("DROP TABLE javas.w")

    flink(shared, options, jars, ["-- @q x", "SELECT * FROM javas.x;", "INSERT INTO javas.x VALUES (9, 'java');"], tmp_path / "second")  # fmt: skip

    assert answers(tmp_path / "second", "x") == [{"id": i, "v": "we"} for i in (7, 8)]
    with paimon_nb.connect(options["warehouse"], catalog="p", options=options) as wb:
        assert [r["id"] for r in wb.table("javas.x").to_arrow().sort_by("id").to_pylist()] == [7, 8, 9]
    if options["metastore"] == "hive":
        entries = [_form(options, name) for name in (Identifier("ours", "t"), Identifier("javas", "x"))]
        assert entries[0] == entries[1]
        assert _locks(options) == []
        return
    # One set of rows: whoever wrote them, they have the same form, and no lock is left.
    key = options["catalog-key"]
    assert rows_of(options, "paimon_tables") == [(key, "javas", "x"), (key, "ours", "t")]
    properties = {(d, k): v for _, d, k, v in rows_of(options, "paimon_database_properties")}
    assert {d: properties[d, "exists"] for d in ("default", "javas", "ours")} == dict.fromkeys(
        ("default", "javas", "ours"), "true"
    )
    assert {d: properties[d, "location"] for d in ("javas", "ours")} == {
        d: properties["default", "location"].replace("default.db", f"{d}.db") for d in ("javas", "ours")
    }
    if "lock.enabled" in options:
        assert rows_of(options, "paimon_distributed_locks") == []


@pytest.mark.java
@pytest.mark.nightly
@pytest.mark.parametrize("place", ["hive"], indirect=True)
def test_java_waits_for_our_lock(place, shared, tmp_path):
    options, jars = place
    name, impatient = Identifier("default", "t"), {**options, "lock-acquire-timeout": "1 s"}
    catalog = open_catalog("c", options)
    catalog.create_table(name, schema())
    insert = ["INSERT INTO t VALUES (1, 'java');"]

    with catalog._lock_of(name).held(), pytest.raises(AssertionError, match="Acquire lock failed with time"):
        flink(shared, impatient, jars, insert, tmp_path / "kept_out")
    assert catalog.table(name).snapshots().num_rows == 0
    flink(shared, impatient, jars, insert, tmp_path / "let_in")

    assert catalog.table(name).to_arrow().to_pylist() == [{"id": 1, "v": "java"}]
    assert _locks(options) == []


@pytest.mark.java
@pytest.mark.nightly
@pytest.mark.parametrize("place", ["hive"], indirect=True)
def test_java_and_we_share_format_tables(place, shared, tmp_path):
    """Flink writes and reads the CSV tables; for the others it lacks its own formats here."""
    options, jars = place
    kinds = ("csv", "parquet", "orc")
    columns = "(id INT COMMENT 'the id', ts TIMESTAMP(6), v STRING, dt STRING) PARTITIONED BY (dt)"
    made = [
        f"CREATE TABLE d.{{}}_{kind} {columns} WITH ('type' = 'format-table', 'file.format' = '{kind}')"
        for kind in kinds
    ]
    value = "TIMESTAMP '2024-01-02 03:04:05.678'"
    with paimon_nb.connect(options["warehouse"], catalog="p", options=options) as wb:
        wb.run(";".join(["CREATE DATABASE d", *(m.format("ours") for m in made)]))
        wb.run(f"INSERT INTO d.ours_csv VALUES (1, {value}, 'we', 'a b')")

    flink(shared, options, jars, [
        *(f"{m.format('javas')};" for m in made),
        *(f"INSERT INTO d.{who}_csv VALUES (2, {value}, 'java', 'c');" for who in ("ours", "javas")),
        "-- @q all", "SELECT id, v, dt FROM d.ours_csv;",
    ], tmp_path / "out")  # fmt: skip

    we, java = {"id": 1, "v": "we", "dt": "a b"}, {"id": 2, "v": "java", "dt": "c"}
    assert answers(tmp_path / "out", "all") == sorted([we, java], key=str)
    with paimon_nb.connect(options["warehouse"], catalog="p", options=options) as wb:
        assert wb.session.catalog.tables("d") == sorted(f"{who}_{kind}" for who in ("javas", "ours") for kind in kinds)
        for who, expected in (("ours", [we, java]), ("javas", [java])):
            rows = wb.table(f"d.{who}_csv").to_arrow().sort_by("id")
            assert rows.select(["id", "v", "dt"]).to_pylist() == expected
            assert {t.isoformat() for t in rows["ts"].to_pylist()} == {"2024-01-02T03:04:05.678000"}
    for kind in kinds:
        ours, javas = (_form(options, Identifier("d", f"{who}_{kind}")) for who in ("ours", "javas"))
        assert ours == javas


def _locks(options: dict[str, str]) -> list:
    from hive_metastore.ttypes import ShowLocksRequest

    return open_catalog("c", options).metastore.client.query("show_locks", ShowLocksRequest()).locks


def _form(options: dict[str, str], name: Identifier) -> dict:
    """A table's entry in the Hive metastore, without what differs between two tables."""
    metastore = open_catalog("c", options).metastore
    entry = metastore.entry(name)
    assert entry.sd.location == f"{metastore.client.query('get_database', name.database).locationUri}/{name.table}"
    form = {
        "columns": [c.name for c in entry.sd.cols if c.name != "n"], "types": [c.type for c in entry.sd.cols if c.name != "n"],
        "formats": (entry.sd.inputFormat, entry.sd.outputFormat, entry.sd.serdeInfo.serializationLib),
        "kind": entry.tableType, "keys": entry.partitionKeys, "retention": entry.retention, "owner": entry.owner,
    }  # fmt: skip
    hives_own = {"transient_lastDdlTime", "numFiles", "totalSize", "last_modified_by", "last_modified_time"}
    return form | {"parameters": {k: v for k, v in entry.parameters.items() if k not in hives_own}}
