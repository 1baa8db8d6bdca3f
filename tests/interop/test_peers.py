"""pypaimon 2.1.0 and pypaimon-rust 0.4.0 read what is written here, and the other way round; also writing one table in turn."""

from __future__ import annotations

import json
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from peer_cases import Case, cases, keeps, shown
from peer_kit import PeerError, Peers, as_sql
from pyarrow import parquet as pq
from sampling import sampled

import paimon_nb

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow  # other processes, in a venv that the first test makes

WRITERS = ("us", "pypaimon", "rust", "in_turn")
READERS = ("us", "pypaimon", "rust")
EVERY_TIME = {("us", "pypaimon"), ("us", "rust"), ("pypaimon", "us"), ("rust", "us"), ("in_turn", "rust")}
"""Who reads whose tables in `make test`."""

_NO_MAP = "pypaimon: 'Unsupported pyarrow type for Avro conversion: map<string, int32>'"
_BEFORE_1970 = "rust: 'Overflow while decoding timestamp' before 1970 in pypaimon's ORC"
_AFTER_NULL = "rust: after a row with NULL, the ROW of the next row of an Avro file has NULL fields"
_NO_NULL_WRITTEN = "pypaimon: 'Lists with non-zero length null components are not supported' where a VECTOR is NULL"
_NO_NULL_READ = "pypaimon: 'Expected all lists to be of size=' where a VECTOR is NULL"
_NULLABLE = "rust: 'unknown field `nullable`' in the VECTOR of pypaimon's schema file, which Java does not write"
FAULTS: dict[tuple[str, str, str], str] = {
    ("*_orc*", "rust", "*"): "rust: 'is not supported by the current writer' of ORC, for zstd, lz4, snappy and zlib",
    ("types_orc", "in_turn", "rust"): _BEFORE_1970,
    ("types_orc", "pypaimon", "rust"): _BEFORE_1970,
    ("types_avro", "pypaimon", "*"): _NO_MAP,
    ("types_avro", "in_turn", "rust"): _AFTER_NULL,
    ("types_avro", "us", "rust"): _AFTER_NULL,
    ("types_avro", "rust", "rust"): _AFTER_NULL,
    ("vectors_or_null_parquet", "pypaimon", "*"): _NO_NULL_WRITTEN,
    ("vectors_or_null_beside", "pypaimon", "*"): _NO_NULL_WRITTEN,
    ("vectors_or_null_evolving", "pypaimon", "*"): _NO_NULL_WRITTEN,
    ("vectors*", "pypaimon", "rust"): _NULLABLE,
    ("vectors_or_null_keyed", "pypaimon", "pypaimon"): _NO_NULL_READ,
    **{
        (f"vectors_or_null_{name}", writer, "pypaimon"): _NO_NULL_READ
        for name in ("parquet", "beside", "evolving", "keyed")
        for writer in ("rust", "in_turn")
    },
}
"""(pattern of a case's name, writer, reader; '*' for any) -> what the peer does wrong: its error has the quoted words; without such
words it reads other rows than those that were written."""


class Shared:
    """One warehouse for all; each table is written once."""

    def __init__(self, root: Path) -> None:
        self.peers = Peers(root)
        self.wb = paimon_nb.connect(str(root))
        self._made: dict[tuple[str, str], str | Exception] = {}

    def table(self, case: Case, writer: str) -> str:
        if (case.name, writer) not in self._made:
            try:
                self._made[case.name, writer] = self._make(case, writer)
            except (PeerError, paimon_nb.PaimonError) as error:
                self._made[case.name, writer] = error
        found = self._made[case.name, writer]
        if isinstance(found, Exception):
            raise found
        return found

    def _make(self, case: Case, writer: str) -> str:
        name = f"{case.name}_{writer}"
        if writer == "us" or (writer != "pypaimon" and case.created_by == "us"):
            self._create(case, name)
        else:
            self.peers.create(name, case.schema, list(case.keys), list(case.partitions), case.options)
        for turn, rows in enumerate(case.batches()):
            in_turn = [w for w in READERS if _fault(case, w, "us") is None]
            by = in_turn[turn % len(in_turn)] if writer == "in_turn" else writer
            batch = pa.Table.from_pylist(rows, schema=case.schema)
            if by == "us":
                self.wb.table(name).append(batch)
            else:
                self.peers.write(by, name, batch)
        return name

    def _create(self, case: Case, name: str) -> None:
        columns = ", ".join(f"`{n}` {t}" for n, (t, _) in case.columns.items())
        key = f", PRIMARY KEY ({', '.join(case.keys)}) NOT ENFORCED" if case.keys else ""
        parted = f" PARTITIONED BY ({', '.join(case.partitions)})" if case.partitions else ""
        options = ", ".join(f"'{k}' = '{v}'" for k, v in case.options.items())
        self.wb.run(f"CREATE TABLE {name} ({columns}{key}){parted} WITH ({options})")

    def read(self, reader: str, case: Case, table: str, where: tuple | None) -> pa.Table:
        if reader == "us":
            condition = None if where is None else as_sql(where)
            return self.wb.table(table).to_arrow(columns=list(case.columns), where=condition)
        return self.peers.read(reader, table, list(case.columns), where)


@pytest.fixture(scope="module")
def shared(tmp_path_factory) -> Iterator[Shared]:
    made = Shared(tmp_path_factory.mktemp("peers"))
    yield made
    made.peers.close()


def _fault(case: Case, writer: str, reader: str) -> str | None:
    for (pattern, by, of), why in FAULTS.items():
        if fnmatch(case.name, pattern) and by in (writer, "*") and of in (reader, "*"):
            return why
    return None


def _quoted_words(why: str) -> str:
    """The words of the peer's error; '' for a peer that reads wrong rows."""
    return why.split("'")[1] if "'" in why else ""


def _xfail(why: str) -> pytest.MarkDecorator:
    """A fault of a peer. An error of ours, other words of the peer, or our wrong rows are no such fault."""
    return pytest.mark.xfail(reason=why, strict=True, raises=PeerError if _quoted_words(why) else AssertionError)


def _parameters() -> Iterator[object]:
    for case in cases():
        for writer in WRITERS:
            for reader in READERS:
                marks = [] if case.short and (writer, reader) in EVERY_TIME else [pytest.mark.nightly]
                why = _fault(case, writer, reader)
                if why:
                    marks.append(_xfail(why))
                yield pytest.param(case, writer, reader, id=f"{case.name}-{writer}-{reader}", marks=marks)


@pytest.mark.parametrize(("case", "writer", "reader"), list(_parameters()))
def test_the_same_rows(shared, case, writer, reader):
    try:
        table = shared.table(case, writer)
        for where in case.queries:
            rows = [r for r in case.expected() if keeps(r, where)]
            wanted = shown(pa.Table.from_pylist(rows, schema=case.schema))
            assert shown(shared.read(reader, case, table, where)) == wanted, where
    except PeerError as error:
        if _quoted_words(_fault(case, writer, reader) or "") not in str(error):
            pytest.fail(f"another fault than the listed one: {error}")
        raise


EVOLVED = pa.schema([("id", pa.int32()), ("b", pa.int32()), ("c", pa.string())])


_PANICS = "rust: 'PanicException: selection exceeds the number of selected rows' on updated and deleted rows in ORC"
_FORMATS = [
    pytest.param(
        file_format, reader, id=f"{file_format}-{reader}",
        marks=[
            *([pytest.mark.nightly] if file_format != "parquet" else []),
            *([_xfail(_PANICS)] if (file_format, reader) == ("orc", "rust") else []),
        ],
    )
    for file_format in ("parquet", "orc", "avro")
    for reader in READERS
]  # fmt: skip


@pytest.mark.parametrize(("file_format", "reader"), _FORMATS)
def test_updated_and_deleted_rows_of_data_evolution(shared, file_format, reader):
    name = f"evolved_{file_format}_{reader}"
    options = {
        "row-tracking.enabled": "true",
        "data-evolution.enabled": "true",
        "deletion-vectors.enabled": "true",
        "file.format": file_format,
    }
    peers = shared.peers
    peers.create(name, EVOLVED, [], [], options)
    rows = {i: {"id": i, "b": i, "c": f"c{i}"} for i in range(10)}
    peers.write("pypaimon", name, pa.Table.from_pylist([rows[i] for i in range(6)], schema=EVOLVED))
    shared.wb.table(name).append(pa.Table.from_pylist([rows[i] for i in range(6, 10)], schema=EVOLVED))
    for step in ("delete 1", "update 0 1 2 6", "delete 2 7", "update 3 8", "delete 9"):
        what, *ids = step.split()
        numbers = [int(i) for i in ids]
        if what == "delete":
            peers.delete(name, numbers)
            for i in numbers:
                rows.pop(i)
        else:
            peers.update(
                name,
                pa.table(
                    {"_ROW_ID": pa.array(numbers, pa.int64()), "b": pa.array([i + 100 for i in numbers], pa.int32())}
                ),
            )
            for i in numbers:
                if i in rows:
                    rows[i]["b"] = i + 100
        case = Case(name, "append", {}, columns={n: ("", EVOLVED.field(n).type) for n in EVOLVED.names})
        for where in (None, ("b", "greater_than", [99]), ("id", "between", [1, 7])):
            wanted = shown(pa.Table.from_pylist([r for r in rows.values() if keeps(r, where)], schema=EVOLVED))
            assert shown(shared.read(reader, case, name, where)) == wanted, (step, where)


@pytest.mark.parametrize("reader", ["pypaimon", "rust"])
def test_peers_read_our_new_values_by_row_id_and_by_function(shared, reader):
    name = f"new_values_{reader}"
    options = {"row-tracking.enabled": "true", "data-evolution.enabled": "true", "deletion-vectors.enabled": "true"}
    shared.peers.create(name, EVOLVED, [], [], options)
    rows = [{"id": i, "b": i, "c": f"c{i}"} for i in range(8)]
    shared.peers.write("pypaimon", name, pa.Table.from_pylist(rows, schema=EVOLVED))
    shared.peers.delete(name, [2])
    t = shared.wb.table(name)
    t.update_by_row_id(pa.table({"_ROW_ID": [1, 2, 7], "b": [10, 20, 70]}))
    t.add_column("d", "INT").backfill({"d": lambda found: [2 * i for i in found["id"].to_pylist()]}, ["id"])
    found = shared.peers.read(reader, name, ["id", "b", "d"]).to_pylist()
    wanted = [{"id": i, "b": {1: 10, 7: 70}.get(i, i), "d": 2 * i} for i in range(8) if i != 2]
    assert sorted(found, key=lambda r: r["id"]) == wanted


SHARED = pa.schema([("id", pa.int32()), ("m", pa.map_(pa.string(), pa.int64()))])


@pytest.mark.parametrize("policy", sampled(["lru", "plain", "sequential"], 3))
def test_maps_whose_keys_share_columns_are_read_as_they_were_written(shared, policy):
    peers, name = shared.peers, f"shared_maps_{policy}"
    options = {
        "bucket": "-1", "fields.m.map.storage-layout": "shared-shredding", "fields.m.map.shared-shredding.max-columns": "4",
        "fields.m.map.shared-shredding.column-placement-policy": policy,
    }  # fmt: skip
    peers.create(name, SHARED, [], [], options)
    maps = [[(f"k{j}", i * j if j % 3 else None) for j in range(i % 9, i % 9 + i % 7)] for i in range(2000)]
    rows = [{"id": i, "m": None if i % 11 == 0 else m} for i, m in enumerate(maps)]
    peers.write("pypaimon", name, pa.Table.from_pylist(rows, schema=SHARED))
    found = {r: shown(shared.read(r, Case(name, "append", {}, columns={"id": ("", pa.int32()), "m": ("", pa.null())}), name, None)) for r in READERS}  # fmt: skip
    wanted = shown(pa.Table.from_pylist(rows, schema=SHARED))
    assert {r: f == wanted for r, f in found.items()} == dict.fromkeys(READERS, True)
    some = shared.wb.table(name).to_arrow(where="id = 1234")
    assert sorted(some["m"][0].as_py()) == sorted(rows[1234]["m"])
    theirs = set(Path(shared.wb.table(name).path).glob("bucket-0/*.parquet"))
    shared.wb.table(name).append(pa.Table.from_pylist(rows, schema=SHARED))
    (ours,) = set(Path(shared.wb.table(name).path).glob("bucket-0/*.parquet")) - theirs
    assert file_of_shared_maps(ours) == file_of_shared_maps(*theirs)
    assert shown(peers.read("pypaimon", name, ["id", "m"])) == shown(pa.Table.from_pylist(rows + rows, schema=SHARED))


def file_of_shared_maps(path: Path) -> tuple[list, dict]:
    """The stored columns, and what the file tells of them beside the compressed keys."""
    found = pq.read_table(path)
    told = found.schema.field("m").metadata
    unlike = {b"PARQUET:field_id", b"paimon.id", b"paimon.map.shared-shredding.field-dict"}
    texts = {k: v for k, v in told.items() if k not in unlike}
    return found.column("m").to_pylist(), {k: json.loads(v) if v.startswith(b"{") else v for k, v in texts.items()}


def test_null_in_a_primary_key_is_read_as_it_was_written(shared):
    peers, name = shared.peers, "null_keys"
    peers.create(name, EVOLVED, ["id"], [], {"primary-key.nullable": "true", "bucket": "2"})
    for turn, ids in enumerate([[None, 1, 5], [None, 1], [7]]):
        peers.write(
            "pypaimon", name, pa.Table.from_pylist([{"id": i, "b": turn, "c": "x"} for i in ids], schema=EVOLVED)
        )
    t = shared.wb.table(name)
    found = {
        w: sorted(t.to_arrow(where=w).column("b").to_pylist())
        for w in (None, "id IS NULL", "id = 1", "id IS NOT NULL", "id > 1")
    }
    assert found == {
        None: [0, 1, 1, 2],
        "id IS NULL": [1],
        "id = 1": [1],
        "id IS NOT NULL": [0, 1, 2],
        "id > 1": [0, 2],
    }
    t.append(pa.Table.from_pylist([{"id": i, "b": 9, "c": "x"} for i in (None, 7)], schema=EVOLVED))
    t.compact()
    now = peers.read("pypaimon", name, ["id", "b"]).to_pylist()
    assert {r["id"]: r["b"] for r in now} == {None: 9, 1: 1, 5: 0, 7: 9}
