"""docs/procedures.md, written from the registry: run this file to write it again after a procedure was added or changed.

Each example runs on a small table of its own, and its answer stands in the page; a test does the same and compares.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa

import paimon_nb
from paimon_nb.procedures import PROCEDURES, UNSUPPORTED, Procedure

PAGE = Path(__file__).parents[2] / "docs" / "procedures.md"
EXAMPLES: dict[str, str] = {
    "alter_column_default_value": "CALL sys.alter_column_default_value('t', 'v', 'none')",
    "alter_view_dialect": "CALL sys.alter_view_dialect('v', 'update', 'spark', 'SELECT id FROM t')",
    "clear_consumers": "CALL sys.clear_consumers('t', 'report.*')",
    "clone": "CALL sys.clone(database => 'default', `table` => 't', target_database => 'lab', target_table => 't', `where` => 'dt = ''2025-10-19''')",
    "compact": "CALL sys.compact(`table` => 't', partitions => 'dt=2025-10-19', compact_strategy => 'full')",
    "compact_chain_table": "CALL sys.compact_chain_table('t', 'dt=2025-10-19')",
    "compact_database": "CALL sys.compact_database('default|sales', 'combined', 't.*', 'tmp_.*')",
    "compact_manifest": "CALL sys.compact_manifest('t')",
    "copy": "CALL sys.copy(source_table => 't', target_table => 'lab.t')",
    "copy_files": "CALL sys.copy_files(database => 'default', `table` => 't', target_warehouse => '/tmp/lab', target_database => 'lab', target_table => 't')",
    "create_branch": "CALL sys.create_branch('t', 'trial', 'monday')",
    "create_global_index": "CALL sys.create_global_index(`table` => 't', index_column => 'v', index_type => 'btree', partitions => 'dt=2025-10-19')",
    "create_privileged_user": "CALL sys.create_privileged_user('ann', '...')",
    "create_tag": "CALL sys.create_tag('t', 'tuesday', 2, '7 d')",
    "create_tag_from_timestamp": "CALL sys.create_tag_from_timestamp('t', 'early', '2020-01-01 00:00:00')",
    "create_tag_from_watermark": "CALL sys.create_tag_from_watermark('t', 'early', 1500)",
    "data_evolution_merge_into": "CALL sys.data_evolution_merge_into('t', '', '', 's', 't._ROW_ID = s.id', 'v = s.v')",
    "delete_branch": "CALL sys.delete_branch('t', 'dev')",
    "delete_tag": "CALL sys.delete_tag('t', 'monday')",
    "drop_global_index": "CALL sys.drop_global_index(`table` => 't', index_column => 'v', index_type => 'btree')",
    "drop_partition": "CALL sys.drop_partition('t', 'dt=2025-10-19')",
    "drop_privileged_user": "CALL sys.drop_privileged_user('ann')",
    "expire_changelogs": "CALL sys.expire_changelogs(`table` => 't', retain_max => 1)",
    "expire_partitions": "CALL sys.expire_partitions('t', '7 d', 'yyyy-MM-dd', '$dt')",
    "expire_snapshots": "CALL sys.expire_snapshots('t', 2)",
    "expire_tags": "CALL sys.expire_tags('t', '2020-01-01 00:00:00')",
    "fast_forward": "CALL sys.fast_forward('t', 'dev')",
    "full_text_search": "CALL sys.full_text_search(`table` => 't', column => 'v', query => 'x', top_k => 1, projection => 'id,v')",
    "grant_privilege_to_user": "CALL sys.grant_privilege_to_user('ann', 'SELECT', 'default', 't')",
    "init_file_based_privilege": "CALL sys.init_file_based_privilege('...')",
    "kafka_sync_database": "CALL sys.kafka_sync_database(database => 'ods', kafka_conf => 'properties.bootstrap.servers=kafka:9092,topic=shop,value.format=canal-json')",
    "kafka_sync_table": "CALL sys.kafka_sync_table(`table` => 'ods.orders', kafka_conf => 'properties.bootstrap.servers=kafka:9092,topic=shop.orders,value.format=debezium-json', primary_keys => 'id')",
    "mark_partition_done": "CALL sys.mark_partition_done('t', 'dt=2025-10-19;dt=2025-10-20')",
    "materialize_deletion_vectors": "CALL sys.materialize_deletion_vectors('t', 'dt=2025-10-19')",
    "merge_branch": "CALL sys.merge_branch('t', 'dev')",
    "merge_into": "CALL sys.merge_into('t', '', '', 's', 't.id = s.id', '', 'v = s.v', '', '*')",
    "migrate_database": "CALL sys.migrate_database('hive', 'web')",
    "migrate_iceberg_table": "CALL sys.migrate_iceberg_table('web.logs', 'metadata.iceberg.storage=hadoop-catalog,iceberg_warehouse=/iceberg')",
    "migrate_table": "CALL sys.migrate_table('hive', 'web.logs', options => 'file.format=parquet')",
    "mysql_sync_database": "CALL sys.mysql_sync_database(database => 'ods', mysql_conf => 'hostname=db,username=cdc,password=...,database-name=shop')",
    "mysql_sync_table": "CALL sys.mysql_sync_table(`table` => 'ods.orders', mysql_conf => 'hostname=db,username=cdc,password=...,database-name=shop_.*,table-name=orders', table_conf => 'bucket=4')",
    "postgres_sync_database": "CALL sys.postgres_sync_database(database => 'ods', postgres_conf => 'hostname=db,username=cdc,password=...,database-name=shop,slot.name=ods')",
    "postgres_sync_table": "CALL sys.postgres_sync_table(`table` => 'ods.orders', postgres_conf => 'hostname=db,username=cdc,password=...,database-name=shop,slot.name=orders', table_conf => 'bucket=4')",
    "purge_files": "CALL sys.purge_files('t')",
    "reassign_row_id": "CALL sys.reassign_row_id('t', 'dt=2025-10-19')",
    "remove_orphan_files": "CALL sys.remove_orphan_files(`table` => 't', dry_run => true)",
    "remove_unexisting_files": "CALL sys.remove_unexisting_files('t', true)",
    "remove_unexisting_manifests": "CALL sys.remove_unexisting_manifests('t')",
    "rename_branch": "CALL sys.rename_branch('t', 'dev', 'trial')",
    "rename_tag": "CALL sys.rename_tag('t', 'monday', 'start')",
    "repair": "CALL sys.repair('db.t')",
    "repair_earliest_snapshot": "CALL sys.repair_earliest_snapshot('t', 1)",
    "replace_tag": "CALL sys.replace_tag('t', 'monday', 2)",
    "rescale": "CALL sys.rescale('t', 2, 'dt=2025-10-19')",
    "reset_consumer": "CALL sys.reset_consumer('t', 'report', 2)",
    "revoke_privilege_from_user": "CALL sys.revoke_privilege_from_user('ann', 'SELECT', 'default')",
    "rewrite_file_index": "CALL sys.rewrite_file_index('t')",
    "rollback": "CALL sys.rollback(table => 't', version => 'monday')",
    "rollback_to": "CALL sys.rollback_to('t', 'monday')",
    "rollback_to_as_latest": "CALL sys.rollback_to_as_latest('t', 'monday')",
    "rollback_to_timestamp": "CALL sys.rollback_to_timestamp('t', '2999-01-01 00:00:00')",
    "rollback_to_watermark": "CALL sys.rollback_to_watermark('t', 1500)",
    "trigger_tag_automatic_creation": "CALL sys.trigger_tag_automatic_creation('t')",
    "vector_search": "CALL sys.vector_search(`table` => 't', vector_column => 'embedding', query_vector => '0.1,0.2,0.3', top_k => 1, projection => 'id,__paimon_search_score', options => 'ivf.nprobe=32', `where` => 'id > 1')",
}  # fmt: skip
_JOB = "| job | tables |\n|---|---|\n| ... | {} |"
GIVEN = {
    "compact_chain_table": "| result |\n|---|\n| Success |",
    "alter_view_dialect": "| result |\n|---|\n| true |",
    "create_global_index": "| result |\n|---|\n| true |",
    "create_privileged_user": "| result |\n|---|\n| User ann is created without any privileges. |",
    "copy_files": "| result |\n|---|\n| Success |",
    "data_evolution_merge_into": "| result |\n|---|\n| true |",
    "drop_privileged_user": "| result |\n|---|\n| User ann is dropped. |",
    "grant_privilege_to_user": "| result |\n|---|\n| User ann is granted with privilege SELECT on table default.t. |",
    "kafka_sync_database": _JOB.format(""),
    "kafka_sync_table": _JOB.format("ods.orders"),
    "materialize_deletion_vectors": "| result |\n|---|\n| true |",
    "merge_branch": "| result |\n|---|\n| Success |",
    "reassign_row_id": "| result |\n|---|\n| Success. Reassigned row IDs for table 'default.t': snapshot 4 -> 5, nextRowId 7 -> 11, files=6, rows=4, indexFiles=0. |",
    "merge_into": "| result |\n|---|\n| Success |",
    "migrate_database": "| result |\n|---|\n| migrate database is finished, success cnt: 3 , failed cnt: 0 |",
    "migrate_iceberg_table": "| result |\n|---|\n| Success |",
    "migrate_table": "| result |\n|---|\n| Success |",
    "mysql_sync_database": _JOB.format("ods.customers, ods.orders"),
    "mysql_sync_table": _JOB.format("ods.orders"),
    "postgres_sync_database": _JOB.format("ods.customers, ods.orders"),
    "postgres_sync_table": _JOB.format("ods.orders"),
    "revoke_privilege_from_user": "| result |\n|---|\n| User ann is revoked with privilege SELECT on database default. |\n| Number of privileges revoked: 1 |",
    "repair": "| result |\n|---|\n| true |",
    "vector_search": '| result |\n|---|\n| {"id":"2","__paimon_search_score":"0.75"} |',
}
"""Answers of the examples that cannot be had without a JVM, a server or another warehouse; the tests of those procedures show them."""
VOLATILE = re.compile(r"(?<=\| )\d{13}(?= \|)")
"""A moment in milliseconds."""

HEAD = """# Procedures

`CALL` runs maintenance. Flink's form takes the arguments in order, with `''` for one that is left out; both engines' named
form takes them by name, with `=>` (`table` needs backticks in Flink). `sys.` and a catalog in front of it may be left out:
`CALL paimon.sys.compact('db.t')`, `CALL sys.compact('t')` and `CALL compact('t')` are the same in a session that stands in `db`.

* The rows follow the form: arguments by position, or a name in backquotes as only Flink needs it, give Flink's; plain names give
  Spark's. After `SET 'execution.runtime-mode'` all are Flink's. `alter_view_dialect` and `repair` take their arguments by position in
  both engines; there the session decides.
* A list of partitions is text: `,` is *and*, `;` is *or*: `'dt=2025-10-19,hh=1;dt=2025-10-20'`. Options are `'k=v,k2=v2'`.
* A time is epoch milliseconds or `'yyyy-MM-dd HH:mm:ss'`, a span is `'7 d'`, `'36 h'`.
* `SHOW PROCEDURES` lists them. A wrong name or argument is answered with the nearest right one.
* Each is a command, too, with the arguments of Flink's action jar: `paimon-nb compact --path W/db.db/t --table_conf k=v`. The table
  is said by `--path`, or by `--warehouse`, `--database`, `--table`; options of the catalog by `--catalog_conf k=v`, several times. `-`
  in a name is as good as `_`. `paimon-nb ACTION --help` lists its arguments; the action `delete` is there as well,
  and its `--where` can read the views and tables that `--source_sql` (repeatable) creates.

This page is checked against the code by a test. The answers below come from a table `t` with three commits, a tag `monday`
on the first, a branch `dev`, and a reader `report`.
"""


def page(folder: Path) -> str:
    """The whole page. `folder` is for the examples' tables."""
    template = folder / "template"
    _template(template)
    sections = [
        _section(PROCEDURES[name], EXAMPLES[name], GIVEN.get(name) or _answer(name, template))
        for name in sorted(PROCEDURES)
    ]
    return "\n".join([HEAD, _contents(), *sections, _refused()])


def _contents() -> str:
    rows = "\n".join(f"| [{n}](#{n}) | {PROCEDURES[n].doc} |" for n in sorted(PROCEDURES))
    return f"| procedure | what it does |\n|---|---|\n{rows}\n"


def _section(procedure: Procedure, example: str, answer: str) -> str:
    rows = "\n".join(
        f"| {a.name} | {a.kind} | {'yes' if a.required else ''} | {a.doc.replace('|', chr(92) + '|')}"
        + (f" (also `{'`, `'.join(a.also)}`)" if a.also else "")
        + " |"
        for a in procedure.arguments
    )
    return (
        f"## {procedure.name}\n\n{procedure.doc}\n\n| argument | kind | needed | |\n|---|---|---|---|\n{rows}\n\n"
        f"```sql\n{example}\n```\n\n{answer}\n"
    )


def _refused() -> str:
    rows = "\n".join(f"| {name} | {UNSUPPORTED[name]} |" for name in sorted(UNSUPPORTED))
    return f"## Known by name, and refused\n\n| procedure | why |\n|---|---|\n{rows}\n"


def _template(folder: Path) -> None:
    wb = paimon_nb.connect(str(folder))
    wb.run("""CREATE TABLE t (id INT, v STRING, dt STRING, PRIMARY KEY (id, dt) NOT ENFORCED) PARTITIONED BY (dt)
              WITH ('bucket' = '1', 'write-only' = 'true')""")
    for id_, dt in ((1, "2025-10-19"), (2, "2025-10-20"), (1, "2025-10-19")):
        rows = pa.table({"id": pa.array([id_], pa.int32()), "v": ["x"], "dt": [dt]})
        table = wb.table("t")
        with table.write() as writing:
            writing.write(rows)
            table.commit().commit(
                writing.prepare_commit(),
                expected_rows=1,
                watermark=1000 * (table.store.snapshots.latest_id() or 0) + 1000,
            )
    wb.run(
        "CALL sys.create_tag('t', 'monday', 1); CALL sys.create_branch('t', 'dev', 'monday'); CALL sys.reset_consumer('t', 'report', 2)"
    )


def _answer(name: str, template: Path) -> str:
    place = template.with_name(name)
    shutil.copytree(template, place)
    rows = paimon_nb.connect(str(place)).run(EXAMPLES[name]).arrow
    assert rows is not None
    body = "".join(f"| {' | '.join(_cell(v) for v in row.values())} |\n" for row in rows.to_pylist())
    text = f"| {' | '.join(rows.column_names)} |\n|{'---|' * rows.num_columns}\n{body}".rstrip("\n")
    return VOLATILE.sub("...", text)


def _cell(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        PAGE.write_text(page(Path(made)))
    sys.stdout.write(f"{PAGE} written\n")
