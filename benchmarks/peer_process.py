"""Runs under the peer's interpreter: does what each line of standard input asks, and answers a line of JSON.

Knows pypaimon and the columns' checksum; nothing of paimon_nb, which is not installed there.
"""

import json
import statistics
import sys
import time
import traceback
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pyarrow as pa
from pypaimon import CatalogFactory, Schema

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks import data

NATIVE = {
    "read.native.enabled": "true",
    "write.native.enabled": "true",
    "commit.native.enabled": "true",
    "scan.native-plan.enabled": "true",
}
_held: dict[str, pa.Table] = {}


def held(path):
    """Rows of an Arrow file, read once: the input lies in memory before the clock runs."""
    if path not in _held:
        _held[path] = pa.ipc.open_file(path).read_all()
    return _held[path]


def open_table(warehouse, name, native):
    table = CatalogFactory.create({"warehouse": warehouse}).get_table(name)
    return table.copy(NATIVE) if native and "$" not in name else table


def create(warehouse, name, native, options):
    catalog = CatalogFactory.create({"warehouse": warehouse})
    catalog.create_database(name.split(".")[0], True)
    schema = Schema.from_pyarrow_schema(data.SCHEMA, primary_keys=["k"], options=options)
    catalog.create_table(name, schema, False)
    return open_table(warehouse, name, native)


def write(table, rows):
    builder = table.new_batch_write_builder()
    writer, commit = builder.new_write(), builder.new_commit()
    writer.write_arrow(rows)
    commit.commit(writer.prepare_commit())
    writer.close()
    commit.close()


def read(table, key=None):
    builder = table.new_read_builder()
    if key is not None:
        builder = builder.with_filter(builder.new_predicate_builder().equal("k", key))
    return builder.new_read().to_arrow(builder.new_scan().plan().splits())


_used = 0.0


def clocked(action):
    global _used
    used, began = time.process_time(), time.perf_counter()
    out = action()
    took = time.perf_counter() - began
    _used = time.process_time() - used
    return took, out


def do_versions():
    names = ("pypaimon", "pypaimon-rust", "pyarrow")
    found = {}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "absent"
    return 0.0, found


def do_load(warehouse, name, native, options, files):
    """Create a table and write files into it, a commit each."""
    rows = [held(f) for f in files]

    def action():
        table = create(warehouse, name, native, options)
        for part in rows:
            write(table, part)

    return clocked(action)


def do_upsert(warehouse, name, native, files):
    rows = [held(f) for f in files]
    table = open_table(warehouse, name, native)
    return clocked(lambda: [write(table, part) for part in rows] and None)


def do_checksum(warehouse, name):
    return 0.0, data.checksum(read(open_table(warehouse, name, False)))


def do_read(warehouse, name, native):
    seconds, rows = clocked(lambda: read(open_table(warehouse, name, native)))
    return seconds, data.checksum(rows)


_tables = {}


def do_lookup(warehouse, name, native, keys, asked):
    """The median of one lookup after another, on one table handle that stays open; the answers are those of `asked`, untimed."""
    if (name, native) not in _tables:
        _tables[name, native] = open_table(warehouse, name, native)
    table = _tables[name, native]
    took = [clocked(lambda key=key: read(table, key))[0] for key in keys]
    return statistics.median(took), [read(table, key).column("i").to_pylist() for key in asked]


def do_commits(warehouse, name, native, options, count, last=1):
    """The median of the last ones of small commits in a row."""
    table = create(warehouse, name, native, options)
    took = []
    for number in range(count):
        rows = data.few(number)
        took.append(clocked(lambda rows=rows: write(table, rows))[0])
    return statistics.median(took[-last:]), took


def do_plan(warehouse, name):
    """A scan of everything, planned by the Rust core on a table that was not opened before."""
    return clocked(lambda: len(open_table(warehouse, name, True).new_read_builder().new_scan().plan().splits()))


def do_files(warehouse, name):
    seconds, rows = clocked(lambda: read(open_table(warehouse, name + "$files", False)))
    return seconds, rows.num_rows


_contexts = {}


def context(warehouse):
    """The SQL context of pypaimon-rust, opened once."""
    if warehouse not in _contexts:
        from pypaimon_rust.datafusion import SQLContext

        _contexts[warehouse] = SQLContext()
        _contexts[warehouse].register_catalog("paimon", {"warehouse": warehouse})
    return _contexts[warehouse]


def do_files_rust(warehouse, name):
    """The same by pypaimon-rust alone, its SQL context open already."""
    sql = context(warehouse)
    asked = f"SELECT * FROM paimon.default.`{name}$files`"
    return clocked(lambda: sum(batch.num_rows for batch in sql.sql(asked)))


def do_question(warehouse, text):
    """A query of pypaimon-rust's SQL; its rows, numbers as floats."""
    sql = context(warehouse)
    seconds, batches = clocked(lambda: list(sql.sql(text)))
    rows = [row for batch in batches for row in zip(*(c.to_pylist() for c in batch.columns), strict=True)]
    return seconds, [[v if isinstance(v, str) else float(v) for v in row] for row in rows]


def do_kafka(address, topic, partitions, warehouse, name, options, count, most, every_s):
    """A topic into a new key table: a commit after `most` records, or after `every_s` seconds where that is told."""
    from confluent_kafka import Consumer, TopicPartition

    given = [("k", pa.int64()), ("v", pa.int64()), ("s", pa.string()), ("sent", pa.int64())]
    rows_schema = pa.schema(given)
    catalog = CatalogFactory.create({"warehouse": warehouse})
    catalog.create_database(name.split(".")[0], True)
    catalog.create_table(name, Schema.from_pyarrow_schema(rows_schema, primary_keys=["k"], options=options), False)
    table = open_table(warehouse, name, True)
    consumer = Consumer({"bootstrap.servers": address, "group.id": "peer", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, p, 0) for p in range(partitions)])

    def action():
        done, waiting, since = 0, [], time.monotonic()
        while done < count:
            waiting += [json.loads(m.value()) for m in consumer.consume(10_000, 0.1) if m.error() is None]
            due = every_s is not None and time.monotonic() - since >= every_s
            if waiting and (due or len(waiting) >= most or done + len(waiting) >= count):
                write(table, pa.Table.from_pylist(waiting, schema=rows_schema))
                done, waiting, since = done + len(waiting), [], time.monotonic()

    seconds, _ = clocked(action)
    consumer.close()
    return seconds, None


def main():
    out = sys.stdout
    sys.stdout = sys.stderr  # what pypaimon prints must not end up among the answers
    for line in sys.stdin:
        request = json.loads(line)
        try:
            seconds, answer = globals()["do_" + request.pop("do")](**request)
            reply = {"seconds": seconds, "answer": answer, "cpu": _used}
        except Exception:
            reply = {"error": traceback.format_exc()}
        out.write(json.dumps(reply) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
