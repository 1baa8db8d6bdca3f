"""Every type of a database with its edge values: the snapshot and the log give the same row, and no value ends the sync."""

from __future__ import annotations

import json
import os
import uuid
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import more_values
import pytest
import value_page

import paimon_nb

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.nightly
_INTS = ("0", "1", "-1")
_REALS = ("0", "-0.0", "1.5", "-1e-30", "'NaN'", "'Infinity'", "'-Infinity'")
_DATES = ("'2026-02-28'", "'1970-01-01'", "'0001-01-01'", "'9999-12-31'", "'infinity'", "'-infinity'", "'0044-03-15 BC'", "'10000-01-01'")  # fmt: skip
_STAMPS = (
    "'2026-02-28 01:02:03.123456'", "'1969-12-31 23:59:59.999999'", "'0001-01-01'", "'9999-12-31 23:59:59.999999'", "'infinity'",
    "'-infinity'", "'0044-03-15 12:00:00 BC'", "'294276-12-31 23:59:59'",
)  # fmt: skip
_TIMES = ("'00:00:00'", "'00:00:00.001'", "'00:00:01.001'", "'23:59:59.999'", "'24:00:00'", "'12:34:56.789'", "'00:00:00.999999'", "'01:01:01'")  # fmt: skip
_TEXTS = ("''", "' '", "'a'", "'ü€'", "'😀'", "E'\\t\\n'", "'NULL'", "'a,b'")
POSTGRES: dict[str, tuple[str, ...]] = {
    "bool": ("TRUE", "FALSE"), "int2": (*_INTS, "32767", "-32768"), "int4": (*_INTS, "2147483647", "-2147483648"),
    "int8": (*_INTS, "9223372036854775807", "-9223372036854775808"), "oid": ("0", "1", "4294967295"),
    "float4": (*_REALS, "3.4e38"), "float8": (*_REALS, "1.7e308"),
    "numeric": ("0", "'NaN'", "'Infinity'", "'-Infinity'", "12345678901234567890.5", "123456789012345678901234567890.5", "0.1234567890123456789", "-0.0000000000000000005"),
    "numeric(5,2)": ("0", "999.99", "-999.99", "'NaN'", "0.005", "1.005", "-0.01", "100"), "numeric(38,0)": ("99999999999999999999999999999999999999", "-1", "'NaN'"),
    "numeric(38,38)": ("0.99999999999999999999999999999999999999", "0"), "numeric(50,2)": ("1", "999999999999999999999999999999999999999999999999.99", "'NaN'"),
    "numeric(3,5)": ("0.00999", "0"), "numeric(5,-2)": ("12300", "-9999900"),
    "text": _TEXTS, "varchar": _TEXTS, "varchar(5)": _TEXTS, "char": ("''", "'a'", "'😀'"), "char(5)": _TEXTS, "name": _TEXTS,
    "bytea": ("'\\x'", "'\\x00'", "'\\xff'", "'\\xdeadbeef'"), "date": _DATES,
    "time": _TIMES, "time(0)": _TIMES, "time(3)": _TIMES, "timestamp": _STAMPS, "timestamp(0)": _STAMPS[:4], "timestamp(3)": _STAMPS[:7],
    "timestamptz": _STAMPS, "timestamptz(0)": _STAMPS[:4], "timestamptz(3)": ("'2026-02-28 01:02:03.123+14'", "'2026-02-28 01:02:03-12'", *_STAMPS[:6]),
    "uuid": ("'00000000-0000-0000-0000-000000000000'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'"),
    "json": ("'{}'", "'null'", "'[1, 2]'", "'\"x\"'", "'{\"k\": 1e400}'"), "jsonb": ("'{}'", "'null'", "'[1, 2]'", "'\"x\"'", "'{\"k\": 1e400}'"),
    "bit(1)": ("B'0'", "B'1'"), "bit(9)": ("B'000000000'", "B'111111111'"), "varbit": ("B''", "B'1'", "B'101010101'"), "varbit(10)": ("B''", "B'1111111111'"),
    "bool[]": ("'{}'", "'{t,f,NULL}'"), "int2[]": ("'{}'", "'{32767,NULL}'"), "int4[]": ("'{}'", "'{1,NULL}'", "'{{1,2},{3,4}}'", "'[0:1]={5,6}'"), "int8[]": ("'{9223372036854775807}'",),
    "float4[]": ("'{NaN,1.5}'",), "float8[]": ("'{Infinity,-0}'",), "numeric[]": ("'{1.5,NULL}'", "'{NaN}'"), "text[]": ("'{}'", "ARRAY['', 'a,b', NULL, 'q\"', 'NULL', '\\']"),
    "varchar(5)[]": ("ARRAY['ab', 'NULL']",), "char(3)[]": ("ARRAY['a']",), "date[]": ("'{2026-01-01,infinity}'", "'{2026-01-01}'"), "time[]": ("'{24:00:00}'", "'{01:02:03}'"),
    "timestamp[]": ("'{2026-01-01 01:02:03}'",), "timestamptz[]": ("'{2026-01-01 01:02:03+02}'",), "uuid[]": ("ARRAY['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid]",), "bytea[]": ("ARRAY['\\x00ff'::bytea]",),
    "jsonb[]": ("ARRAY['{\"a\": [1, 2]}'::jsonb]",),
}  # fmt: skip
POSTGRES_AS_TEXT: dict[str, tuple[str, ...]] = {
    "money": ("'-1.50'", "'92233720368547758.07'"), "interval": ("'1 year -2 days 03:04:05'", "'0'"), "timetz": ("'24:00:00+14'",), "inet": ("'::1'", "'10.0.0.0/8'"), "cidr": ("'10.0.0.0/8'",),
    "macaddr": ("'08:00:2b:01:02:03'",), "point": ("'(1,2)'", "'(NaN,Infinity)'"), "line": ("'{1,2,3}'",), "lseg": ("'[(0,0),(1,1)]'",), "box": ("'(1,1),(0,0)'",), "path": ("'[(0,0),(1,1)]'",),
    "polygon": ("'((0,0),(1,1),(1,0))'",), "circle": ("'<(0,0),1>'",), "xml": ("'<a>ü</a>'",), "tsvector": ("'a b'",), "int4range": ("'[1,5)'", "'empty'"), "pg_lsn": ("'0/1'",),
    "int4[][]": ("'{{1,2},{3,4}}'",), "numeric(40,2)": ("'NaN'", "1"), "date": ("'infinity'", "'0044-03-15 BC'"),
}  # fmt: skip
_MY_STAMPS = ("'2026-02-28 01:02:03'", "'0000-00-00 00:00:00'", "'2024-00-15 00:00:00'", "'2024-02-00 00:00:00'", "'1000-01-01 00:00:00'", "'9999-12-31 23:59:59'")  # fmt: skip
_MY_TIMES = (
    "'00:00:00'",
    "'-00:00:01'",
    "'838:59:59'",
    "'-838:59:59'",
    "'24:00:00'",
    "'23:59:59'",
    "'100:00:00'",
    "'00:00:01'",
)
_MY_TIMES_6 = ("'00:00:00.000001'", "'-00:00:00.5'", "'-00:00:01.1'", "'-01:00:00.999999'", "'838:59:59.999999'", "'23:59:59.999'", "'00:00:01.001'")  # fmt: skip
_MY_TEXTS = ("''", "' '", "'a'", "'ü€'", "'😀'", "'\\t\\n'", "'NULL'", "'a,b'")
_MY_BYTES = ("''", "x'00'", "x'ff'", "x'00ff'", "'a'")
MARIADB: dict[str, tuple[str, ...]] = {
    "TINYINT(1)": ("0", "1", "2", "-1"), "TINYINT": (*_INTS, "127", "-128"), "TINYINT UNSIGNED": ("0", "255"), "SMALLINT": (*_INTS, "32767", "-32768"), "SMALLINT UNSIGNED": ("0", "65535"),
    "MEDIUMINT": ("8388607", "-8388608"), "MEDIUMINT UNSIGNED": ("0", "16777215"), "INT": (*_INTS, "2147483647", "-2147483648"), "INT UNSIGNED": ("0", "4294967295"), "INT(5) ZEROFILL": ("0", "7"),
    "BIGINT": (*_INTS, "9223372036854775807", "-9223372036854775808"), "BIGINT UNSIGNED": ("0", "18446744073709551615"), "BOOLEAN": ("TRUE", "FALSE"),
    "FLOAT": ("0", "-1.5", "3.4e38", "0.1"), "DOUBLE": ("0", "-1.5", "1.7e308", "0.1", "-1e-300"), "DECIMAL(5,2)": ("0", "999.99", "-999.99", "0.01"), "DECIMAL(38,10)": ("1234567890123456789012345678.0123456789", "-0.0000000001"),
    "DECIMAL(65,30)": ("1.5", "-99999999999999999999999999999999999.999999999999999999999999999999"), "DECIMAL": ("9999999999", "-1"),
    "DATE": ("'2026-02-28'", "'0000-00-00'", "'2024-00-15'", "'2024-02-00'", "'1000-01-01'", "'9999-12-31'"),
    "DATETIME": _MY_STAMPS, "DATETIME(3)": (*_MY_STAMPS, "'2026-02-28 01:02:03.123'"), "DATETIME(6)": (*_MY_STAMPS, "'9999-12-31 23:59:59.999999'"),
    "TIMESTAMP NULL": ("'2026-02-28 01:02:03'", "'0000-00-00 00:00:00'", "'1970-01-01 00:00:01'", "'2038-01-19 03:14:07'"),
    "TIMESTAMP(3) NULL": ("'2026-02-28 01:02:03.123'", "'0000-00-00 00:00:00'"), "TIMESTAMP(6) NULL": ("'2026-02-28 01:02:03.123456'", "'2038-01-19 03:14:07.999999'", "'0000-00-00 00:00:00'"),
    "TIME": _MY_TIMES, "TIME(1)": _MY_TIMES_6, "TIME(2)": _MY_TIMES_6, "TIME(3)": _MY_TIMES_6, "TIME(4)": _MY_TIMES_6, "TIME(5)": _MY_TIMES_6, "TIME(6)": _MY_TIMES_6, "YEAR": ("0", "1901", "2155", "2026"),
    "CHAR(5)": _MY_TEXTS, "CHAR(1)": ("''", "'ü'"), "CHAR(0)": ("''",), "VARCHAR(5)": _MY_TEXTS, "VARCHAR(300)": _MY_TEXTS, "TINYTEXT": _MY_TEXTS, "TEXT": _MY_TEXTS, "MEDIUMTEXT": _MY_TEXTS, "LONGTEXT": _MY_TEXTS,
    "VARCHAR(5) CHARACTER SET latin1": ("''", "'ä'", "'a'", "'€'", "x'81'"), "TEXT CHARACTER SET latin1": ("''", "'ä'"), "VARCHAR(5) CHARACTER SET ucs2": ("'ü€'", "''"),
    **{f"VARCHAR(9) CHARACTER SET {c}": values for c, values in {
        "utf16": ("'ü€😀'", "'a'"), "utf16le": ("'ü😀'",), "utf32": ("'ü😀'",), "latin2": ("'ł'",), "cp1251": ("'ж'",), "koi8r": ("'ж'",), "greek": ("'α'",), "hebrew": ("'א'",),
        "gbk": ("'汉'",), "big5": ("'漢'",), "sjis": ("'カ'",), "cp932": ("'漢'",), "ujis": ("'漢'",), "euckr": ("'한'",), "tis620": ("'ก'",), "cp850": ("'ü'",), "macroman": ("'ü'",), "ascii": ("'a'",),
    }.items()},
    "BINARY(1)": ("x'00'", "x'ff'", "''"), "BINARY(3)": _MY_BYTES, "VARBINARY(3)": _MY_BYTES, "TINYBLOB": _MY_BYTES, "BLOB": _MY_BYTES, "MEDIUMBLOB": _MY_BYTES, "LONGBLOB": _MY_BYTES,
    "BIT(1)": ("b'0'", "b'1'"), "BIT(8)": ("b'0'", "b'11111111'"), "BIT(10)": ("b'0'", "b'1000000001'"), "BIT(64)": ("b'0'", f"b'{'1' * 64}'", "b'1'"),
    "ENUM('p','q','')": ("'p'", "'q'", "''"), "ENUM('p','q')": ("'p'", "'nope'"), "SET('x','y','z')": ("''", "'x'", "'z,x'", "'x,y,z'"), "JSON": ("'{}'", "'null'", "'[1, 2]'", "'{\"k\": 1e400}'", "'\"😀\"'"),
    "UUID": ("'00000000-0000-0000-0000-000000000000'", "'b0b1c2d3-1234-11ee-8a8b-0242ac120002'", "'018f3c1e-0000-7000-8000-000000000000'", "'61626364-6162-4162-a162-616263646566'", "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'"), "INET6": ("'::1'", "'::ffff:10.0.0.1'", "'::10.0.0.1'", "'fe80::'", "'2001:db8::1'", "'::'"), "INET4": ("'10.0.0.1'", "'0.0.0.0'", "'1.0.0.0'"),
    "POINT": ("ST_GeomFromText('POINT(1 2.5)')",), "LINESTRING": ("ST_GeomFromText('LINESTRING(0 0,1 1)')",), "POLYGON": ("ST_GeomFromText('POLYGON((0 0,1 0,1 1,0 0))')",),
    "GEOMETRY": ("ST_GeomFromText('POINT(1 2)', 4326)", "ST_GeomFromText('GEOMETRYCOLLECTION(POINT(1 1))')"), "MULTIPOINT": ("ST_GeomFromText('MULTIPOINT(0 0,1 1)')",), "GEOMETRYCOLLECTION": ("ST_GeomFromText('GEOMETRYCOLLECTION EMPTY')",),
}  # fmt: skip


POSTGRES = more_values.filled(POSTGRES, more_values.POSTGRES)
POSTGRES_AS_TEXT = more_values.filled(POSTGRES_AS_TEXT, more_values.POSTGRES)
MARIADB = more_values.filled(MARIADB, more_values.MARIADB)


@pytest.fixture
def wb(tmp_path: Path):
    workbench = paimon_nb.connect(str(tmp_path / "w"))
    yield workbench
    workbench.session.jobs.stop_all()


def columns_of(types: dict[str, tuple[str, ...]]) -> tuple[str, list[str]]:
    """The columns of a table with a column of each type, and its rows: the values of each type, then NULL."""
    columns = ", ".join(f"c{i} {t}" for i, t in enumerate(types))
    lines = [", ".join(v or "NULL" for v in values) for values in zip_longest(*types.values())]
    return columns, [*lines, ", ".join(["NULL"] * len(types))]


def compared(wb, job, count: int, copy: Any, types: dict[str, tuple[str, ...]], name: str) -> list[str]:
    """Differences from what was recorded for `name`, and the differences between the rows of the snapshot and the same rows that came through the log."""
    assert job.wait_for(lambda: job.rows == count, 120), (job.status, job.error)
    copy()
    assert job.wait_for(lambda: job.rows == 2 * count, 120), (job.status, job.error, job.rows)
    assert job.wait_for(lambda: wb.table("t").to_arrow().num_rows == 2 * count, 120)
    found = sorted(wb.table("t").to_arrow().to_pylist(), key=lambda r: int(r["id"]))
    names = dict(zip((f"c{i}" for i in range(len(types))), types, strict=True))
    columns = {f.name: str(f.type) for f in wb.table("t").schema.fields}
    stored, recorded = value_page.as_recorded(types, columns, found), json.loads(value_page.RECORDED.read_text())
    if os.environ.get("RECORD_VALUES"):
        value_page.RECORDED.write_text(json.dumps({**recorded, name: stored}, ensure_ascii=False, indent=1) + "\n")
    else:
        assert stored == recorded[name]
    return [
        f"{names[c]}, row {first['id']}: {first[c]!r} from the snapshot, {second[c]!r} from the log"
        for first, second in zip(found[:count], found[count:], strict=True)
        for c in names
        if repr(first[c]) != repr(second[c])
    ]


@pytest.mark.parametrize(
    ("types", "more", "recorded"),
    [(POSTGRES, "", "postgres"), (POSTGRES_AS_TEXT, ", type_mapping => 'to-string'", "postgres-text")],
    ids=["typed", "as-text"],
)
def test_every_value_of_postgres(wb, postgres, types, more, recorded):
    name = f"m_{uuid.uuid4().hex[:6]}"
    columns, lines = columns_of(types)
    postgres.run(f"CREATE TABLE {name} (id INT PRIMARY KEY, {columns})", f"ALTER TABLE {name} REPLICA IDENTITY FULL")
    for i, line in enumerate(lines):
        postgres.run(f"INSERT INTO {name} VALUES ({i}, {line})")
    inputs = postgres.conf | {"table-name": name, "slot.name": name}
    text = ",".join(f"{k}={v}" for k, v in inputs.items() if v)
    try:
        (row,) = wb.run(
            f"CALL sys.postgres_sync_table(`table` => 't', postgres_conf => '{text}', interval => '50 ms'{more})"
        ).arrow.to_pylist()
        job = wb.session.jobs.find(row["job"])
        others = ", ".join(f"c{i}" for i in range(len(types)))
        copy = f"INSERT INTO {name} SELECT id + 1000, {others} FROM {name}"
        assert compared(wb, job, len(lines), lambda: postgres.run(copy), types, recorded) == []
    finally:
        wb.session.jobs.stop_all()
        postgres.run(
            f"DROP TABLE {name}", f"DROP PUBLICATION {name}_tables", f"SELECT pg_drop_replication_slot('{name}')"
        )


def test_every_value_of_mariadb(wb, mariadb):
    shop = f"m_{uuid.uuid4().hex[:6]}"
    columns, lines = columns_of(MARIADB)
    others = ", ".join(f"c{i}" for i in range(len(MARIADB)))
    with mariadb.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SET SESSION sql_mode = '', time_zone = '+00:00'")
        cursor.execute("SET NAMES utf8mb4")
        cursor.execute(f"CREATE DATABASE {shop}")
        cursor.execute(f"CREATE TABLE {shop}.t (id INT PRIMARY KEY, {columns}) CHARACTER SET utf8mb4")
        for i, line in enumerate(lines):
            cursor.execute(f"INSERT INTO {shop}.t VALUES ({i}, {line})")
        connection.commit()
        text = ",".join(f"{k}={v}" for k, v in (mariadb.conf | {"database-name": shop}).items())
        (row,) = wb.run(
            f"CALL sys.mysql_sync_table(`table` => 't', mysql_conf => '{text}', interval => '50 ms')"
        ).arrow.to_pylist()
        job = wb.session.jobs.find(row["job"])

        def copy() -> None:
            cursor.execute(f"INSERT INTO {shop}.t SELECT id + 1000, {others} FROM {shop}.t")
            connection.commit()

        differences = compared(wb, job, len(lines), copy, MARIADB, "mariadb")
        assert differences == [], "\n".join(differences)
        wb.session.jobs.stop_all()
        cursor.execute(f"DROP DATABASE {shop}")


def test_the_matrix_is_large_enough():
    for types in ({**POSTGRES, **{f"{t} as text": v for t, v in POSTGRES_AS_TEXT.items()}}, MARIADB):
        assert sum(len(values) >= more_values.EACH for values in types.values()) >= 60
