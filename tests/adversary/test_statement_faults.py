"""Every kind of statement while one file call fails: the warehouse is as before, or the statement has succeeded."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sampling import sampled
from statement_faults import WAYS, Faulty, InMemory, OnDisk, state_of, workbench

from paimon_nb.base.errors import PaimonError
from paimon_nb.procedures import PROCEDURES
from paimon_nb.session.executor import HANDLERS
from paimon_nb.sql import parse
from paimon_nb.statements import Call
from paimon_nb.table.read.live_files import LIVE_FILES
from paimon_nb.table.write.publish import changes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

APPEND = "CREATE TABLE t (id INT, p INT) PARTITIONED BY (p) WITH ('bucket' = '-1')"
KEYED = "CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')"
ROWS = "INSERT INTO t VALUES (1, 1), (2, 2); INSERT INTO t VALUES (3, 1)"
PAIRS = "INSERT INTO t VALUES (1, 'a'), (2, 'b'); INSERT INTO t VALUES (2, 'B'), (3, 'c')"
TAGGED = f"{APPEND}; {ROWS}; CALL sys.create_tag('t', 'one', 1); CALL sys.create_tag('t', 'two', 2)"
BRANCHED = f"{TAGGED}; CALL sys.create_branch('t', 'b', 'one')"


MERGEABLE = BRANCHED.replace("= '-1'", "= '-1', 'branch-merge.enabled' = 'true'")


@dataclass(frozen=True)
class Case:
    """A statement."""

    name: str
    before: str
    """Statements before it."""
    text: str
    maintains: bool = False
    """Whether it expires snapshots or compacts afterwards, which the next commit repeats after a failure."""


CASES = [
    Case("create database", "", "CREATE DATABASE d"),
    Case("drop database", f"CREATE DATABASE d; USE d; {APPEND}; {ROWS}; CREATE TABLE u (id INT); USE default", "DROP DATABASE d CASCADE"),
    Case("create table", "", APPEND),
    Case("create table like", f"{APPEND}; {ROWS}", "CREATE TABLE u LIKE t"),
    Case("create format table", "", "CREATE TABLE t (id INT, v STRING) USING csv"),
    Case("create or replace", f"{APPEND}; {ROWS}", "CREATE OR REPLACE TABLE t (a STRING, p INT) PARTITIONED BY (p)"),
    Case("create or replace, other partitions", f"{APPEND}; {ROWS}", "CREATE OR REPLACE TABLE t (a STRING)"),
    Case("create table as file", "", "CREATE TABLE t AS SELECT * FROM '{file}'"),
    Case("drop table", f"{APPEND}; {ROWS}", "DROP TABLE t"),
    Case("drop table purge", f"{APPEND}; {ROWS}", "DROP TABLE t PURGE"),
    Case("undrop", f"{APPEND}; {ROWS}; DROP TABLE t", "UNDROP TABLE t"),
    Case("add columns", f"{APPEND}; {ROWS}", "ALTER TABLE t ADD COLUMNS (a INT, b STRING)"),
    Case("set options", f"{APPEND}; {ROWS}", "ALTER TABLE t SET ('write-only' = 'true', 'snapshot.num-retained.max' = '20')"),
    Case("rename table", f"{APPEND}; {ROWS}", "ALTER TABLE t RENAME TO u"),
    Case("create tag", f"{APPEND}; {ROWS}", "ALTER TABLE t CREATE TAG x"),
    Case("replace tag", TAGGED, "ALTER TABLE t CREATE OR REPLACE TAG one AS OF VERSION 2"),
    Case("rename tag", TAGGED, "ALTER TABLE t RENAME TAG one TO three"),
    Case("delete tags", TAGGED, "ALTER TABLE t DELETE TAG `one,two`"),
    Case("drop partitions", f"{APPEND}; {ROWS}", "ALTER TABLE t DROP PARTITION (p = 1), PARTITION (p = 2)"),
    Case("truncate", f"{APPEND}; {ROWS}", "TRUNCATE TABLE t"),
    Case("insert", f"{APPEND}; {ROWS}", "INSERT INTO t VALUES (4, 3), (5, 4)"),
    Case("insert with expiry", f"{APPEND[:-1]}, 'snapshot.num-retained.min' = '1', 'snapshot.num-retained.max' = '1'); {ROWS}", "INSERT INTO t VALUES (4, 3)", maintains=True),
    Case("upsert and compaction", f"{KEYED[:-1]}, 'num-sorted-run.compaction-trigger' = '2'); {PAIRS}", "INSERT INTO t VALUES (1, 'A')", maintains=True),
    Case("upsert with changelog", f"{KEYED[:-1]}, 'changelog-producer' = 'lookup'); {PAIRS}", "INSERT INTO t VALUES (1, 'A')", maintains=True),
    Case("upsert in dynamic buckets", f"{KEYED.replace(chr(39) + '1' + chr(39), chr(39) + '-1' + chr(39))}; {PAIRS}", "INSERT INTO t VALUES (1, 'A'), (9, 'z')"),
    Case("insert overwrite", f"{APPEND}; {ROWS}", "INSERT OVERWRITE t VALUES (4, 1)"),
    Case("insert into csv", "CREATE TABLE t (id INT, p INT) USING csv PARTITIONED BY (p); INSERT INTO t VALUES (1, 1)", "INSERT INTO t VALUES (2, 1), (3, 2)"),
    Case("overwrite csv", "CREATE TABLE t (id INT, p INT) USING csv PARTITIONED BY (p); INSERT INTO t VALUES (1, 1)", "INSERT OVERWRITE t VALUES (2, 1)"),
    Case("call create_tag", f"{APPEND}; {ROWS}", "CALL sys.create_tag('t', 'x')"),
    Case("call delete_tag", TAGGED, "CALL sys.delete_tag('t', 'one')"),
    Case("call delete_tag of two", TAGGED, "CALL sys.delete_tag('t', 'one,two')"),
    Case("call create_branch", TAGGED, "CALL sys.create_branch('t', 'b', 'one')"),
    Case("call create_empty_branch", f"{APPEND}; {ROWS}", "CALL sys.create_branch('t', 'b')"),
    Case("call delete_branch", BRANCHED, "CALL sys.delete_branch('t', 'b')"),
    Case("call rename_branch", BRANCHED, "CALL sys.rename_branch('t', 'b', 'c')"),
    Case("call fast_forward", f"{BRANCHED}; INSERT INTO `t$branch_b` VALUES (9, 9)", "CALL sys.fast_forward('t', 'b')"),
    Case("call rollback", f"{APPEND}; {ROWS}; INSERT INTO t VALUES (5, 5)", "CALL sys.rollback('t', '1')"),
    Case("call rollback to tag", TAGGED, "CALL sys.rollback('t', 'one')"),
    Case("call expire_snapshots", f"{APPEND}; {ROWS}; INSERT INTO t VALUES (5, 5)", "CALL sys.expire_snapshots('t', 1)"),
    Case("call expire_partitions", f"{APPEND.replace('p INT', 'p STRING')}; INSERT INTO t VALUES (1, '2000-01-01'), (2, '2999-01-01')", "CALL sys.expire_partitions('t', '1 d', 'yyyy-MM-dd', '$p', 'values-time')"),
    Case("call drop_partition", f"{APPEND}; {ROWS}", "CALL sys.drop_partition('t', 'p=1')"),
    Case("call remove_orphan_files", f"{APPEND}; {ROWS}", "CALL sys.remove_orphan_files('t')"),
    Case("call reset_consumer", f"{APPEND}; {ROWS}", "CALL sys.reset_consumer('t', 'c', 1)"),
    Case("call compact", f"{KEYED}; {PAIRS}", "CALL sys.compact('t')"),
    Case("call purge_files", f"{APPEND}; {ROWS}", "CALL sys.purge_files('t')"),
    Case("call clone", f"{APPEND}; {ROWS}", "CALL sys.clone(database => 'default', `table` => 't', target_database => 'd', target_table => 'u')"),
    Case("call copy", f"{APPEND}; {ROWS}", "CALL sys.copy('t', 'u')"),
    Case("call mark_partition_done", f"{APPEND}; {ROWS}", "CALL sys.mark_partition_done('t', 'p=1')"),
    Case("call rewrite_file_index", f"{APPEND}; {ROWS}; ALTER TABLE t SET ('file-index.bloom-filter.columns' = 'id', 'file-index.in-manifest-threshold' = '1 b')", "CALL sys.rewrite_file_index('t')"),
    Case("analyze", f"{APPEND}; {ROWS}", "ANALYZE TABLE t COMPUTE STATISTICS"),
    Case("alter column", f"{KEYED}; {PAIRS}", "ALTER TABLE t ALTER COLUMN v COMMENT 'text'"),
    Case("rename column", f"{APPEND}; {ROWS}", "ALTER TABLE t RENAME COLUMN id TO number"),
    Case("drop columns", f"{KEYED}; {PAIRS}; ALTER TABLE t ADD COLUMNS (a INT, b INT)", "ALTER TABLE t DROP COLUMNS (a, b)"),
    Case("change type", f"{APPEND}; {ROWS}", "ALTER TABLE t ALTER COLUMN id TYPE BIGINT"),
    Case("reset options", f"{APPEND}; {ROWS}; ALTER TABLE t SET ('write-only' = 'true', 'k' = 'v')", "ALTER TABLE t UNSET TBLPROPERTIES ('write-only', 'k')"),
    Case("comment on table", f"{APPEND}; {ROWS}", "COMMENT ON TABLE t IS 'rows'"),
    Case("add partition of csv", "CREATE TABLE t (id INT, p INT) USING csv PARTITIONED BY (p); INSERT INTO t VALUES (1, 1)", "ALTER TABLE t ADD PARTITION (p = 2)"),
    Case("call alter_column_default_value", f"{KEYED}; {PAIRS}", "CALL sys.alter_column_default_value('t', 'v', 'none')"),
    Case("call clear_consumers", f"{APPEND}; {ROWS}; CALL sys.reset_consumer('t', 'c', 1); CALL sys.reset_consumer('t', 'd', 1)", "CALL sys.clear_consumers('t')"),
    Case("call compact_manifest", f"{APPEND}; {ROWS}; INSERT INTO t VALUES (5, 5)", "CALL sys.compact_manifest('t')"),
    Case("call create_tag_from_timestamp", f"{APPEND}; {ROWS}", "CALL sys.create_tag_from_timestamp('t', 'x', 1000)"),
    Case("call expire_tags", TAGGED, "CALL sys.expire_tags('t', '2999-01-01 00:00:00')"),
    Case("call expire_changelogs", f"{KEYED[:-1]}, 'changelog-producer' = 'input', 'snapshot.num-retained.min' = '1', 'snapshot.num-retained.max' = '1', 'changelog.num-retained.min' = '1', 'changelog.num-retained.max' = '9'); {PAIRS}; {PAIRS}", "CALL sys.expire_changelogs(`table` => 't', retain_max => 1)"),
    Case("call rename_tag", TAGGED, "CALL sys.rename_tag('t', 'one', 'three')"),
    Case("call replace_tag", TAGGED, "CALL sys.replace_tag('t', 'one', 2)"),
    Case("call rollback_to_timestamp", f"{APPEND}; {ROWS}", "CALL sys.rollback_to_timestamp('t', 4000000000000)"),
    Case("call rollback_to_as_latest", TAGGED, "CALL sys.rollback_to_as_latest('t', 'one')"),
    Case("call merge_branch", f"{MERGEABLE}; INSERT INTO `t$branch_b` VALUES (9, 9)", "CALL sys.merge_branch('t', 'b')"),
    Case("call trigger_tag_automatic_creation", f"{APPEND[:-1]}, 'tag.automatic-creation' = 'process-time', 'tag.creation-period' = 'daily', 'write-only' = 'true'); {ROWS}", "CALL sys.trigger_tag_automatic_creation('t')"),
    Case("call rescale", f"{KEYED}; {PAIRS}", "CALL sys.rescale('t', 2)"),
    Case("call reassign_row_id", f"{APPEND[:-1]}, 'row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true'); {ROWS}; INSERT INTO t VALUES (5, 2)", "CALL sys.reassign_row_id('t')"),
    Case("call create_global_index", f"{APPEND[:-1]}, 'row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true'); {ROWS}", "CALL sys.create_global_index('t', 'id', 'btree')"),
    Case("call drop_global_index", f"{APPEND[:-1]}, 'row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true'); {ROWS}; CALL sys.create_global_index('t', 'id', 'btree')", "CALL sys.drop_global_index(`table` => 't', index_column => 'id', index_type => 'btree')"),
    Case("call remove_unexisting_files", f"{APPEND}; {ROWS}", "CALL sys.remove_unexisting_files('t')"),
    Case("call remove_unexisting_manifests", f"{APPEND}; {ROWS}", "CALL sys.remove_unexisting_manifests('t')"),
    Case("call repair_earliest_snapshot", f"{APPEND}; {ROWS}", "CALL sys.repair_earliest_snapshot('t', 2)"),
    Case("create materialized table", f"{APPEND}; {ROWS}", "CREATE MATERIALIZED TABLE m FRESHNESS = INTERVAL '1' HOUR AS SELECT id FROM t"),
    Case("alter materialized table", f"{APPEND}; {ROWS}; CREATE MATERIALIZED TABLE m FRESHNESS = INTERVAL '1' HOUR AS SELECT id FROM t", "ALTER MATERIALIZED TABLE m SUSPEND"),
    Case("drop materialized table", f"{APPEND}; {ROWS}; CREATE MATERIALIZED TABLE m FRESHNESS = INTERVAL '1' HOUR AS SELECT id FROM t", "DROP MATERIALIZED TABLE m"),
    Case("call rollback_to", TAGGED, "CALL sys.rollback_to('t', 1)"),
    Case("call materialize_deletion_vectors", f"{APPEND[:-1]}, 'row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true', 'deletion-vectors.enabled' = 'true'); {ROWS}", "CALL sys.materialize_deletion_vectors('t')"),
]  # fmt: skip

WITH_SPARK = [
    Case("update", f"{APPEND}; {ROWS}", "UPDATE t SET id = id + 10 WHERE id < 3"),
    Case("update by key", f"{KEYED}; {PAIRS}", "UPDATE t SET v = 'x' WHERE id < 3"),
    Case("delete", f"{APPEND}; {ROWS}", "DELETE FROM t WHERE id = 1"),
    Case("delete by key", f"{KEYED}; {PAIRS}", "DELETE FROM t WHERE id = 1"),
    Case("merge", f"{KEYED}; {PAIRS}", "MERGE INTO t USING (SELECT 1 AS id, 'm' AS v UNION ALL SELECT 9, 'n') s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *"),
    Case("insert query", f"{APPEND}; {ROWS}", "INSERT INTO t SELECT id + 10, p FROM t"),
    Case("create table as query", f"{APPEND}; {ROWS}", "CREATE TABLE u AS SELECT id + 1 AS id, p FROM t"),
    Case("replace table as query", f"{APPEND}; {ROWS}", "CREATE OR REPLACE TABLE t PARTITIONED BY (p) AS SELECT id + 1 AS id, p FROM t"),
    Case("replace table as query, other partitions", f"{APPEND}; {ROWS}", "CREATE OR REPLACE TABLE t AS SELECT id + 1 AS id, p FROM t"),
    Case("copy into", f"{KEYED}", "COPY INTO t FROM '{file}' FILE_FORMAT = (TYPE = CSV, SKIP_HEADER = 1)"),
]  # fmt: skip

SESSION = "changes the session, and no table"
READS = "only reads"
NOT_HERE = {
    **dict.fromkeys(("Query", "Explain", "Show", "ShowCreate", "Describe", "Summarize"), READS),
    **dict.fromkeys(("CreateCatalog", "DropCatalog", "Use", "SetOption", "ResetOption", "StopJob", "NothingToDo"), SESSION),
    "ExecuteImmediate": "runs another statement",
    "SparkCommand": "Spark's own, not on tables of Paimon",
    "StatementSet": "test_a_statement_set_at_some_failing_calls",
    "CopyIntoLocation": "writes new files of the user's: tests/session/test_copy_into.py",
    **dict.fromkeys(("CreateView", "AlterView", "DropView", "CreateFunction", "DropFunction", "AlterDatabase"), "test_catalog_faults.py"),
}  # fmt: skip
"""Kinds of statements that no case has, and why."""
PROCEDURES_NOT_HERE = {
    **dict.fromkeys(("vector_search", "full_text_search"), READS),
    **dict.fromkeys(("mysql_sync_table", "mysql_sync_database", "postgres_sync_table", "postgres_sync_database",
                     "kafka_sync_table", "kafka_sync_database"), "a stream of commits: tests/connectors"),
    **dict.fromkeys(("migrate_table", "migrate_database", "migrate_iceberg_table"), "their source is another system's"),
    **dict.fromkeys(("merge_into", "data_evolution_merge_into"), "as MERGE INTO"),
    **dict.fromkeys(("create_tag_from_watermark", "rollback_to_watermark"), "as for timestamps"),
    **dict.fromkeys(("init_file_based_privilege", "create_privileged_user", "drop_privileged_user", "grant_privilege_to_user",
                     "revoke_privilege_from_user"), "change the privileges only: tests/catalog/test_privilege.py"),
    "alter_view_dialect": "test_catalog_faults.py",
    "compact_chain_table": "as compact, on two branches",
    "compact_database": "its result has the number of tables that failed",
    "copy_files": "as copy",
    "repair": "adds what is missing: tests/adversary/test_entry_moves.py",
}  # fmt: skip
"""Procedures that no case has, and why."""


def test_every_kind_of_statement_and_procedure_has_a_case_or_a_reason():
    found = [parse(case.text)[-1] for case in (*CASES, *WITH_SPARK)]
    kinds = {type(statement).__name__ for statement in found}
    procedures = {statement.procedure for statement in found if isinstance(statement, Call)}
    assert ({kind.__name__ for kind in HANDLERS}, set(PROCEDURES)) == (
        kinds | NOT_HERE.keys(),
        procedures | PROCEDURES_NOT_HERE.keys(),
    )
    assert (kinds & NOT_HERE.keys(), procedures & PROCEDURES_NOT_HERE.keys()) == (set(), set())


def forget() -> None:
    """As in a new process."""
    changes._last.clear()
    changes._consumed.clear()
    LIVE_FILES.invalidate_cache()


def run(case: Case, warehouse: InMemory | OnDisk, fs: Faulty, file: Path, spark: object = None) -> BaseException | None:
    """Run the statement; returns its error."""
    forget()
    wb = workbench(fs, warehouse.root, spark)
    try:
        wb.run(case.text.replace("{file}", str(file)))
    except (PaimonError, OSError) as error:
        return error
    return None


def broken_at(
    case: Case,
    warehouse: InMemory | OnDisk,
    file: Path,
    points: Callable[[Faulty], Iterable[tuple[int, str]]],
    spark: object = None,
) -> list[str]:
    """The calls at which a failure leaves something else than the state before or, without an error, the one after."""
    for text in filter(None, case.before.split("; ")):
        workbench(warehouse.files, warehouse.root, spark).run(text)
    start = warehouse.copy()
    before = state_of(start.files, start.root)
    counted = Faulty(start.copy().files)
    trial = start.copy()
    counted.inner = trial.files
    assert run(case, trial, counted, file, spark) is None
    after = state_of(trial.files, trial.root)
    wrong = []
    for n, way in points(counted):
        trial = start.copy()
        faulty = Faulty(trial.files, n, way)
        error = run(case, trial, faulty, file, spark)
        forget()
        where = f"{way} call {n} of {counted.calls}, {counted.log[n - 1]}"
        wrong += wrong_outcomes(case, where, error, before, after, lambda t=trial: state_of(t.files, t.root))
    return wrong


def wrong_outcomes(
    case: Case, where: str, error: Exception | None, before: dict, after: dict, state: Callable[[], dict]
) -> list[str]:
    """What is wrong after a failure at a call: the state is that before or, without an error, the one after."""
    try:
        found = state()
    except (PaimonError, OSError) as unreadable:
        return [f"{where}: unreadable: {unreadable}"]
    if case.maintains and error is None:
        found["default"]["t"]["snapshots"] = after["default"]["t"]["snapshots"]
    if error is None and found != after:
        return [f"{where}: succeeded, but {difference(found, after)}"]
    if error is not None and found != before:
        return [f"{where}: {type(error).__name__}, and {difference(found, before)}"]
    return []


def difference(found: dict, expected: dict) -> str:
    """What differs, in short."""
    out = []
    for database in sorted(found.keys() | expected.keys()):
        mine, right = found.get(database), expected.get(database)
        if mine is None or right is None:
            out.append(f"database {database} is {'missing' if mine is None else 'new'}")
            continue
        for table in sorted(mine.keys() | right.keys()):
            one, other = mine.get(table), right.get(table)
            if one is None or other is None:
                out.append(f"table {table} is {'missing' if one is None else 'new'}")
            else:
                out += [f"{table} {k}: {one.get(k)} for {other.get(k)}"[:200] for k in other if one.get(k) != other[k]]
    return ", ".join(out)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text("id,v\n1,x\n7,y\n")
    return path


@pytest.fixture(autouse=True)
def quiet() -> Iterable[None]:
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


def some(counted: Faulty) -> list[tuple[int, str]]:
    """A few calls that change files, in one of the first two ways by turns."""
    step = max(1, len(counted.changes) // 8)
    return [(n, WAYS[i % 2]) for i, n in enumerate(counted.changes[::step])]


def every(counted: Faulty) -> list[tuple[int, str]]:
    """Every call in both ways."""
    return [(n, way) for n in range(1, counted.calls + 1) for way in WAYS[:2]]


def changing(counted: Faulty) -> list[tuple[int, str]]:
    """Every call that changes files, in both ways."""
    return [(n, way) for n in counted.changes for way in WAYS[:2]]


@pytest.mark.parametrize("case", sampled(CASES, 3), ids=lambda case: case.name)
def test_a_statement_at_some_failing_calls(case, file):
    assert broken_at(case, InMemory(), file, some) == []


@pytest.mark.nightly
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_statement_at_every_failing_call(case, file):
    assert broken_at(case, InMemory(), file, every) == []


@pytest.mark.nightly
@pytest.mark.parametrize("case", WITH_SPARK, ids=lambda case: case.name)
def test_a_statement_of_spark_at_every_failing_change(case, file, tmp_path, spark):
    assert broken_at(case, OnDisk(tmp_path), file, changing, spark) == []


SET = "EXECUTE STATEMENT SET BEGIN INSERT INTO t VALUES (4, 3); INSERT INTO u VALUES (1); INSERT INTO t VALUES (5, 3); END"


def sets_that_say_something_else(points: Callable[[Faulty], Iterable[tuple[int, str]]]) -> list[str]:
    """The calls at which a failure leaves other INSERTs than the first ones, or ones that the error does not name."""
    case, file = Case("set", f"{APPEND}; {ROWS}; CREATE TABLE u (id INT)", SET), Path()
    warehouse = InMemory()
    for text in case.before.split("; "):
        workbench(warehouse.files, warehouse.root).run(text)
    counted = Faulty(warehouse.copy().files)
    assert run(case, InMemory(counted.inner), counted, file) is None
    wrong = []
    for n, way in points(counted):
        trial = warehouse.copy()
        error = run(case, trial, Faulty(trial.files, n, way), file)
        forget()
        tables = state_of(trial.files, trial.root)["default"]
        done = (tables["t"]["snapshots"], tables["u"]["snapshots"])
        said = "".join((getattr(error, "hint", "") or "", *getattr(error, "__notes__", ())))
        expected = {
            ((1, 2), ()): None,
            ((1, 2, 3), ()): "the INSERTs before it are committed: default.t in snapshot 3",
            ((1, 2, 3), (1,)): "the INSERTs before it are committed: default.t in snapshot 3, default.u in snapshot 1",
            ((1, 2, 3, 4), (1,)): "",
        }.get((tuple(done[0]), tuple(done[1])), "another state")
        right = error is None if expected == "" else error is not None and said.endswith(expected or said)
        if not right or (expected is None and "committed" in said):
            wrong.append(f"{way} call {n}, {counted.log[n - 1]}: {done}, {error!r}: {said}")
    return wrong


def test_a_statement_set_at_some_failing_calls():
    """Each INSERT of it is atomic, and the error says which ones are committed."""
    assert sets_that_say_something_else(some) == []


@pytest.mark.nightly
def test_a_statement_set_at_every_failing_call():
    assert sets_that_say_something_else(every) == []
