"""Topics of a real broker as tables: every start and end, metadata, keys, changes, sinks, and a broker that goes away."""

from __future__ import annotations

import datetime as dt
import json
import time

import pytest

from paimon_nb.base.errors import (
    BadMessage,
    BadOptionValue,
    PaimonError,
    SourceLost,
    SourceUnavailable,
    UnknownOption,
    UnsupportedOperation,
)
from paimon_nb.spark.errors import spark_errors

pytestmark = pytest.mark.spark
STREAMING = "SET 'execution.runtime-mode' = 'streaming'"
BATCH = "SET 'execution.runtime-mode' = 'batch'"


def declare(wb, broker, name: str, topic: str, columns: str = "k INT, v STRING", **options: str) -> None:
    """A table over a topic; options with _ for - and __ for a dot."""
    inputs = {"connector": "kafka", "topic": topic, "properties.bootstrap.servers": broker.address, "format": "json"}
    inputs |= {k.replace("__", ".").replace("_", "-"): v for k, v in options.items()}
    texts = ", ".join(f"'{k}' = '{v}'" for k, v in inputs.items() if v)
    wb.run(f"CREATE TABLE {name} ({columns}) WITH ({texts})")


def rows(wb, text: str) -> list[tuple]:
    with spark_errors(text):
        return sorted((tuple(r) for r in wb.run(text).frame.collect()), key=repr)


def table(wb, name: str) -> list[tuple]:
    return sorted(tuple(r.values()) for r in wb.table(name).to_arrow().to_pylist())


def numbered(low: int, high: int) -> list[str]:
    return [json.dumps({"k": i, "v": f"v{i}"}) for i in range(low, high)]


@pytest.mark.nightly
def test_batch_reads_between_any_start_and_end(swb, broker):
    topic = broker.topic("bounds", 2)
    broker.send(topic, numbered(0, 3))
    time.sleep(0.01)
    timestamp = int(time.time() * 1000)
    time.sleep(0.01)
    broker.send(topic, numbered(3, 5))
    broker.send(topic, numbered(10, 14), partition=1)
    swb.run(BATCH)
    cases = {
        "all": {"scan__startup__mode": "earliest-offset"},
        "default": {},
        "later": {"scan__startup__mode": "timestamp", "scan__startup__timestamp_millis": str(timestamp)},
        "earlier": {"scan__startup__mode": "earliest-offset", "scan__bounded__mode": "timestamp", "scan__bounded__timestamp_millis": str(timestamp)},
        "middle": {
            "scan__startup__mode": "specific-offsets", "scan__startup__specific_offsets": "partition:0,offset:1;partition:1,offset:2",
            "scan__bounded__mode": "specific-offsets", "scan__bounded__specific_offsets": "partition:0,offset:4;partition:1,offset:3",
        },
        "none": {"scan__startup__mode": "latest-offset"},
    }  # fmt: skip
    seen = {}
    for name, options in cases.items():
        declare(swb, broker, name, topic, **({"scan__bounded__mode": "latest-offset"} | options))
        seen[name] = [k for k, _ in rows(swb, f"SELECT * FROM `{name}`")]
    assert seen == {
        "all": [0, 1, 10, 11, 12, 13, 2, 3, 4],
        "default": [0, 1, 10, 11, 12, 13, 2, 3, 4],
        "later": [10, 11, 12, 13, 3, 4],
        "earlier": [0, 1, 2],
        "middle": [1, 12, 2, 3],
        "none": [],
    }


def test_metadata_keys_and_headers_stand_beside_the_value(swb, broker):
    topic = broker.topic("meta")
    broker.send(topic, [
        {"value": '{"v": "a"}', "key": '{"id": 7}', "headers": [("h", b"x")], "timestamp": 1_700_000_000_123},
        {"value": '{"v": "b"}', "key": None, "timestamp": 1_700_000_000_456},
    ])  # fmt: skip
    declare(
        swb, broker, "t", topic,
        "key_id INT, v STRING, `partition` INT METADATA VIRTUAL, at TIMESTAMP(3) METADATA FROM 'timestamp', n BIGINT METADATA FROM 'offset' VIRTUAL, "
        "`topic` STRING METADATA VIRTUAL, headers MAP<STRING, BYTES> METADATA, raw BYTES METADATA FROM 'key' VIRTUAL, kind STRING METADATA FROM 'timestamp-type' VIRTUAL, up AS UPPER(v)",
        format="", value__format="json", key__format="json", key__fields="key_id", key__fields_prefix="key_",
        value__fields_include="EXCEPT_KEY", scan__bounded__mode="latest-offset",
    )  # fmt: skip
    swb.run(BATCH)
    told = swb.run("SELECT key_id, v, `partition`, date_format(at, 'HH:mm:ss.SSS') AS at, n, topic, headers, raw, kind, up FROM t ORDER BY n").frame  # fmt: skip
    first, second = (r.asDict() for r in told.collect())
    assert first == {
        "key_id": 7, "v": "a", "partition": 0, "at": "22:13:20.123", "n": 0, "topic": topic, "headers": {"h": b"x"},
        "raw": b'{"id": 7}', "kind": "CreateTime", "up": "A",
    }  # fmt: skip
    assert (second["key_id"], second["headers"], second["raw"], second["n"]) == (None, {}, None, 1)


@pytest.mark.nightly
def test_a_job_takes_each_record_once_over_restarts_and_a_broker_that_goes_away(swb, broker, tmp_path):
    topic = broker.topic("once", 2)
    broker.send(topic, numbered(0, 50))
    declare(swb, broker, "source", topic, scan__startup__mode="earliest-offset", properties__group__id="once")
    swb.run("CREATE TABLE log (k INT, v STRING)")
    swb.run(f"SET 'execution.checkpointing.dir' = '{tmp_path}/c'")
    swb.run("SET 'pipeline.name' = 'load'")
    swb.run(STREAMING)
    job = swb.sql("INSERT INTO log SELECT k, UPPER(v) FROM source WHERE k % 2 = 0")
    assert job.wait_for(lambda: len(table(swb, "log")) == 25)
    broker.stop()
    try:
        time.sleep(1.5)
        assert job.isActive, job.error
    finally:
        broker.start()
    broker.send(topic, numbered(50, 60), partition=1)
    assert job.wait_for(lambda: len(table(swb, "log")) == 30)
    job.stop()
    broker.send(topic, numbered(60, 70))
    job = swb.sql("INSERT INTO log SELECT k, UPPER(v) FROM source WHERE k % 2 = 0")
    assert job.wait_for(lambda: len(table(swb, "log")) >= 35)
    assert job.process_available()
    job.stop()
    assert table(swb, "log") == [(k, f"V{k}") for k in range(0, 70, 2)]
    # The group knows how far the job came, but for its last micro-batch; another table begins there.
    swb.run(BATCH)
    declare(swb, broker, "rest", topic, scan__startup__mode="group-offsets", properties__group__id="once", scan__bounded__mode="latest-offset")  # fmt: skip
    assert {k for k, _ in rows(swb, "SELECT * FROM rest")} <= set(range(60, 70))


@pytest.mark.nightly
def test_changes_of_a_database_arrive_in_their_order(swb, broker):
    """Insert, update twice, delete, and insert again, of the same keys and within one micro-batch."""
    topic = broker.topic("cdc")
    a, b, c = ({"id": 1, "n": n} for n in (1, 2, 3))
    other, back = {"id": 2, "n": 9}, {"id": 3, "n": 5}
    changes = [
        {"before": None, "after": a, "op": "r"}, {"before": a, "after": b, "op": "u"}, {"before": None, "after": other, "op": "c"},
        {"before": b, "after": c, "op": "u"}, {"before": None, "after": back, "op": "c"}, {"before": back, "after": None, "op": "d"},
        {"before": other, "after": None, "op": "d"}, None, {"before": None, "after": back, "op": "c"},
    ]  # fmt: skip
    broker.send(topic, [None if c is None else json.dumps(c) for c in changes])
    declare(
        swb,
        broker,
        "cdc",
        topic,
        "id INT, n INT, tab STRING METADATA FROM 'value.source.table' VIRTUAL",
        format="debezium-json",
    )
    swb.run(
        "CREATE TABLE t (id INT PRIMARY KEY NOT ENFORCED, n INT) WITH ('bucket' = '1', 'changelog-producer' = 'input')"
    )
    swb.run("CREATE TEMPORARY VIEW doubled (i, m) AS SELECT x.id, x.n * 2 FROM (SELECT c.* FROM cdc AS c) AS x")
    swb.run(STREAMING)
    job = swb.sql("INSERT INTO t SELECT i, m FROM doubled WHERE m > 0")
    assert job.wait_for(lambda: table(swb, "t") == [(1, 6), (3, 10)])
    job.stop()
    live = swb.stream("SELECT n, id FROM cdc")
    told = [tuple(r.values()) for r in live.collect(limit=11, timeout_s=60, idle_s=1).to_pylist()]
    assert told == [
        ("+I", 1, 1), ("-U", 1, 1), ("+U", 2, 1), ("+I", 9, 2), ("-U", 2, 1), ("+U", 3, 1), ("+I", 5, 3), ("-D", 5, 3),
        ("-D", 9, 2), ("+I", 5, 3),
    ]  # fmt: skip
    with pytest.raises(UnsupportedOperation, match="cannot group"):
        swb.sql("INSERT INTO t SELECT id, COUNT(*) FROM cdc GROUP BY id")


@pytest.mark.nightly
def test_what_is_written_is_read_again(swb, broker):
    """A table's rows into json, its changes into debezium-json and upsert-kafka; records as Flink writes them."""
    names = {n: broker.topic(n) for n in ("plain", "changes", "newest")}
    columns = "k INT, v STRING, d DECIMAL(10, 2), at TIMESTAMP(3)"
    declare(swb, broker, "plain", names["plain"], columns + ", headers MAP<STRING, BYTES> METADATA", key__format="raw", key__fields="v", scan__bounded__mode="latest-offset")  # fmt: skip
    declare(swb, broker, "changes", names["changes"], columns, format="debezium-json")
    declare(swb, broker, "newest", names["newest"], columns + ", PRIMARY KEY (k) NOT ENFORCED", connector="upsert-kafka", format="", key__format="json", value__format="json")  # fmt: skip
    swb.run(f"CREATE TABLE t ({columns}, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1', 'changelog-producer' = 'input')")  # fmt: skip
    swb.run(f"CREATE TABLE copy ({columns}, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1')")
    swb.run("INSERT INTO t VALUES (1, 'a', 1.50, TIMESTAMP '2026-01-02 03:04:05.600'), (2, 'b', 100, NULL)")
    swb.run(BATCH)
    swb.run("INSERT INTO plain SELECT *, MAP('h', CAST('x' AS BINARY)) FROM t ORDER BY k")
    first = b'{"k":1,"v":"a","d":1.50,"at":"2026-01-02 03:04:05.6"}'
    second = b'{"k":2,"v":"b","d":100.00,"at":null}'
    assert sorted(broker.take(names["plain"], 2)) == [(b"a", first), (b"b", second)]
    assert rows(swb, "SELECT k, v, d, at, headers['h'] = CAST('x' AS BINARY) FROM plain")[0][:3] == (1, "a", rows(swb, "SELECT d FROM t WHERE k = 1")[0][0])  # fmt: skip
    swb.run(STREAMING)
    swb.run("SET 'execution.checkpointing.interval' = '100 ms'")
    changes, newest = (swb.sql(f"INSERT INTO {n} SELECT * FROM t") for n in ("changes", "newest"))
    assert changes.process_available()
    assert newest.process_available()
    swb.table("t").delete("k = 2")
    told = broker.take(names["changes"], 3)
    assert [json.loads(v)["op"] for _, v in told] == ["c", "c", "d"]
    assert told[2] == (None, b'{"before":' + second + b',"after":null,"op":"d"}')
    assert broker.take(names["newest"], 3) == [(b'{"k":1}', first), (b'{"k":2}', second), (b'{"k":2}', None)]
    job = swb.sql("INSERT INTO copy SELECT * FROM newest")
    assert job.wait_for(lambda: table(swb, "copy") == table(swb, "t"))
    with pytest.raises(UnsupportedOperation, match="no form for"):
        swb.sql("INSERT INTO plain SELECT *, CAST(NULL AS MAP<STRING, BINARY>) FROM newest").awaitTermination(60)


@pytest.mark.nightly
def test_a_micro_batch_that_comes_again_is_in_a_transaction_once(swb, broker, tmp_path):
    """As after a crash between the broker's commit and Spark's: Spark's note of the last micro-batch is taken away."""
    source, sinks = broker.topic("in"), {"once": broker.topic("once"), "twice": broker.topic("twice")}
    broker.send(source, numbered(0, 3))
    declare(swb, broker, "source", source, scan__startup__mode="earliest-offset")
    guarantee = {"sink__delivery_guarantee": "exactly-once", "sink__transactional_id_prefix": sinks["once"]}
    for name, options in (("once", guarantee), ("twice", {})):
        declare(swb, broker, name, sinks[name], **options)
    swb.run(f"{STREAMING}; SET 'execution.checkpointing.dir' = '{tmp_path}/c'")
    for _ in range(2):
        jobs = [swb.sql(f"INSERT INTO {name} SELECT * FROM source") for name in sinks]
        for job in jobs:
            assert job.process_available()
            job.stop()
        for name in sinks:
            newest = max((tmp_path / "c" / f"insert-into_{name}" / "commits").glob("[0-9]*"), key=lambda p: int(p.name))
            newest.unlink()
            newest.with_name(f".{newest.name}.crc").unlink(missing_ok=True)
    swb.run(f"{BATCH}; INSERT INTO once VALUES (9, 'batch')")
    taken = {name: [json.loads(v)["k"] for _, v in broker.take(topic, 7, idle_s=3)] for name, topic in sinks.items()}
    assert taken == {"once": [0, 1, 2, 9], "twice": [0, 1, 2, 0, 1, 2]}


def test_what_is_no_row_is_left_out_or_kept_as_a_dead_letter(swb, broker):
    """By option; avro has no other way. A key and headers go with a dead letter, and where it came from."""
    topic, dead, packed = broker.topic("mixed"), broker.topic("dead"), broker.topic("packed")
    unusual = {"value": "no json", "key": b"K", "headers": [("h", b"1")]}
    broker.send(topic, ['{"k": 1, "v": "a"}', unusual, '{"k": "x", "v": "b"}', None, '{"k": 2, "v": "c"}'])
    swb.run(BATCH)
    bounded = {"scan__bounded__mode": "latest-offset"}
    declare(swb, broker, "skips", topic, scan__bad_messages="skip", **bounded)
    declare(swb, broker, "keeps", topic, scan__bad_messages="dead-letter", scan__dead_letter_topic=dead, **bounded)
    declare(swb, broker, "letters", dead, "v STRING, key BYTES METADATA, headers MAP<STRING, BYTES> METADATA", format="raw", **bounded)  # fmt: skip
    declare(swb, broker, "packed", packed, format="avro", scan__bad_messages="skip", **bounded)
    assert rows(swb, "SELECT * FROM skips") == rows(swb, "SELECT * FROM keeps") == [(1, "a"), (2, "c")]
    told = {v: (k, {h: bytes(b).decode() for h, b in headers.items()}) for v, k, headers in rows(swb, "SELECT * FROM letters")}  # fmt: skip
    assert told.keys() == {"no json", '{"k": "x", "v": "b"}'}
    key, headers = told["no json"]
    assert (bytes(key), headers["h"]) == (b"K", "1")
    assert [headers[f"errors.{n}"] for n in ("topic", "partition", "offset")] == [topic, "0", "1"]
    assert "no json" in headers["errors.message"]
    swb.run("INSERT INTO packed VALUES (1, 'x'), (-65, CAST(NULL AS STRING))")
    broker.send(packed, [b"\x07"])
    assert {v for _, v in broker.take(packed, 3)} == {b"\x02\x02\x02\x02x", b"\x02\x81\x01\x00", b"\x07"}
    assert rows(swb, "SELECT * FROM packed") == [(-65, None), (1, "x")]
    for wrong in ({"scan__bad_messages": "drop"}, {"scan__bad_messages": "dead-letter"}, {"scan__bad_messages": "skip", "scan__dead_letter_topic": dead}):  # fmt: skip
        declare(swb, broker, "w", topic, **wrong)
        with pytest.raises(BadOptionValue, match=r"scan\."):
            swb.run("SELECT * FROM w")
        swb.run("DROP TABLE w")


@pytest.mark.usefixtures("tmp_path")
def test_what_is_wrong_is_said(swb, broker):
    topic = broker.topic("bad")
    broker.send(topic, ['{"k": 1, "v": "a"}', "no json", '{"k": "x", "v": "b"}', None, '{"k": 2, "v": "c"}'])
    swb.run(BATCH)
    bounded = {"scan__bounded__mode": "latest-offset"}
    declare(swb, broker, "strict", topic, **bounded)
    declare(swb, broker, "lenient", topic, json__ignore_parse_errors="true", **bounded)
    with pytest.raises(BadMessage, match="no json") as refused:
        rows(swb, "SELECT * FROM strict")
    assert "json.ignore-parse-errors" in refused.value.hint
    assert rows(swb, "SELECT * FROM lenient") == [(1, "a"), (2, "c"), (None, "b")]
    declare(swb, broker, "nobody", topic, properties__bootstrap__servers="127.0.0.1:1", properties__sasl__password="hunter2", properties__request__timeout__ms="1000", **bounded)  # fmt: skip
    with pytest.raises(SourceUnavailable, match=r"127\.0\.0\.1:1") as away:
        rows(swb, "SELECT * FROM nobody")
    assert "hunter2" not in str(away.value)
    declare(swb, broker, "lost", topic, scan__startup__mode="group-offsets", properties__group__id="nobody", **bounded)
    with pytest.raises(SourceLost, match="'nobody' has no offset"):
        rows(swb, "SELECT * FROM lost")
    wrong: dict[str, tuple[type[PaimonError], dict[str, str]]] = {
        "scan.startup.mode": (BadOptionValue, {"scan__startup__mode": "begining"}),
        "colour": (UnknownOption, {"colour": "red"}),
        "fail-on-missing": (UnknownOption, {"json__fail_on_missing": "true"}),
        "topic-pattern": (BadOptionValue, {"topic_pattern": ".*"}),
        "timestamp-millis": (BadOptionValue, {"scan__startup__mode": "timestamp"}),
        "transactional-id-prefix": (BadOptionValue, {"sink__delivery_guarantee": "exactly-once"}),
        "thrice": (BadOptionValue, {"sink__delivery_guarantee": "thrice"}),
    }
    for number, (word, (kind, options)) in enumerate(wrong.items()):
        declare(swb, broker, f"w{number}", topic, **options)
        with pytest.raises(kind, match=word):
            swb.run(f"SELECT * FROM w{number}")


@pytest.mark.nightly
def test_groups_over_a_watermark_keep_counting(swb, broker):
    topic = broker.topic("counts")
    broker.send(topic, [json.dumps({"w": w, "at": f"2026-01-01 00:00:0{i}"}) for i, w in enumerate("abab")])
    declare(swb, broker, "words", topic, "w STRING, at TIMESTAMP(3), WATERMARK FOR at AS at - INTERVAL '5' SECOND")
    swb.run("CREATE TABLE counts (w STRING PRIMARY KEY NOT ENFORCED, n BIGINT, last TIMESTAMP(3))")
    job = swb.sql("INSERT INTO counts SELECT w, COUNT(*), MAX(at) FROM words GROUP BY w")
    assert job.wait_for(lambda: [r[:2] for r in table(swb, "counts")] == [("a", 2), ("b", 2)])
    broker.send(topic, [json.dumps({"w": "a", "at": "2026-01-01 00:00:09.5"})])
    assert job.wait_for(lambda: [r[1] for r in table(swb, "counts")] == [3, 2])
    job.stop()
    assert table(swb, "counts")[0][2] == dt.datetime(2026, 1, 1, 0, 0, 9, 500000)
