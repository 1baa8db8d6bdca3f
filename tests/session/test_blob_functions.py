"""`sys.path_to_descriptor` and the other functions for blobs, in statements of both dialects."""

from __future__ import annotations

import pytest

from paimon_nb import SqlAnalysisError, TableNotFound
from paimon_nb.format.data.blob import BlobDescriptor, BlobView

pytestmark = pytest.mark.spark

EVOLVES = "'row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true'"
CONTENT = bytes(range(256)) * 5


@pytest.fixture
def uri(swb, tmp_path) -> str:
    """A file with CONTENT, and the table `t` with a BLOB."""
    path = tmp_path / "w" / "仕府公館 (2) o'clock.jpg"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(CONTENT)
    swb.run(f"CREATE TABLE t (id INT, x BYTES, m ARRAY<BYTES>) WITH ({EVOLVES}, 'blob-field' = 'x,m')")
    return f"file://{path}".replace("'", "''")


def value(swb, query: str):
    ((found,),) = swb.sql(query).collect()
    return bytes(found) if isinstance(found, bytearray) else found


def test_a_path_becomes_a_descriptor_of_the_whole_file(swb, uri):
    path = uri.replace("''", "'")
    assert value(swb, f"SELECT sys.path_to_descriptor('{uri}')") == BlobDescriptor(path, 0, -1).to_bytes()
    assert value(swb, "SELECT paimon.sys.path_to_descriptor(CAST(NULL AS STRING))") is None
    swb.run(f"INSERT INTO t VALUES (1, sys.path_to_descriptor('{uri}'), ARRAY(sys.path_to_descriptor('{uri}'), X'00'))")
    swb.run(f"INSERT INTO t SELECT 2, sys.path_to_descriptor(concat('{uri}', '')), NULL")
    assert swb.table("t").to_arrow().sort_by("id").to_pylist() == [
        {"id": 1, "x": CONTENT, "m": [CONTENT, b"\0"]},
        {"id": 2, "x": CONTENT, "m": None},
    ]


@pytest.mark.nightly
def test_a_descriptor_as_text(swb, uri):
    swb.run(f"INSERT INTO t VALUES (1, sys.path_to_descriptor('{uri}'), NULL)")
    hint = "/*+ OPTIONS('blob-as-descriptor' = 'true') */"
    place = BlobDescriptor.parse(value(swb, f"SELECT x FROM t {hint}"))
    text = f"BlobDescriptor{{version=2, uri='{place.uri}', offset={place.offset}, length={len(CONTENT)}}}"
    assert value(swb, f"SELECT sys.descriptor_to_string(x) FROM t {hint}") == text
    old = b"\x01" + BlobDescriptor("a", 5, -1).to_bytes()[9:]
    found = value(swb, f"SELECT sys.descriptor_to_string(X'{old.hex()}')")
    assert found == "BlobDescriptor{version=1, uri='a', offset=5, length=-1}"
    assert value(swb, "SELECT sys.descriptor_to_string(NULL)") is None
    for other in ("01", "0102", (old + b"x").hex(), BlobView("d.t", 1, 2).to_bytes().hex()):
        with pytest.raises(Exception, match="not a blob descriptor"):
            swb.sql(f"SELECT sys.descriptor_to_string(X'{other}')").collect()


def test_a_view_of_a_blob_in_another_table(swb, uri):
    swb.run(
        f"INSERT INTO t VALUES (1, X'48656C6C6F', NULL), (2, sys.path_to_descriptor('{uri}'), NULL), (3, NULL, NULL)"
    )
    swb.run(f"CREATE TABLE v (id INT, y BYTES) WITH ({EVOLVES}, 'blob-view-field' = 'y')")
    swb.run("INSERT INTO v SELECT id, sys.blob_view('paimon.default.t', 'x', _ROW_ID) FROM `t$row_tracking`")
    assert swb.table("v").to_arrow().sort_by("id")["y"].to_pylist() == [b"Hello", CONTENT, None]
    for field, row in (("'x'", -2), ("1", 1 << 40), ("258", 0)):
        stored = value(swb, f"SELECT sys.blob_view('default.t', {field}, CAST({row} AS BIGINT))")
        assert BlobView.parse(stored) == BlobView("default.t", 1 if field == "'x'" else int(field), row)


@pytest.mark.parametrize(
    ("arguments", "error", "why"),
    [
        (
            "'t', 'x', 0L",
            SqlAnalysisError,
            "Table name must be 'database.table' or 'paimon.database.table', but is 't'",
        ),
        ("'other.default.t', 'x', 0L", SqlAnalysisError, "Table name must be"),
        ("'default.t', 'id', 0L", SqlAnalysisError, "Field id in upstream table default.t is not a BLOB field"),
        ("'default.t', 'm', 0L", SqlAnalysisError, "is not a BLOB field"),
        ("'default.t', 'y', 0L", SqlAnalysisError, "Cannot find blob field y in upstream table default.t"),
        ("'default.gone', 'x', 0L", TableNotFound, "gone"),
        ("id, 'x', 0L", SqlAnalysisError, "must be a literal"),
        ("'default.t', 'x'", SqlAnalysisError, "3 arguments"),
    ],
)
@pytest.mark.usefixtures("uri")
def test_what_cannot_be_viewed_is_named(swb, arguments, error, why):
    with pytest.raises(error, match=why):
        swb.run(f"SELECT sys.blob_view({arguments}) FROM t")


@pytest.mark.nightly
def test_a_store_that_signs_no_urls(swb, uri):
    call = "descriptor_to_presigned_url('default.t', {}, {})"
    place, hour = f"sys.path_to_descriptor('{uri}')", "INTERVAL '1' HOUR"
    assert value(swb, f"SELECT sys.try_{call.format(place, hour)}") is None
    assert value(swb, f"SELECT sys.{call.format('CAST(NULL AS BINARY)', hour)}") is None
    with pytest.raises(Exception, match="does not support creating blob presigned URLs"):
        swb.sql(f"SELECT sys.{call.format(place, hour)}").collect()
    for validity in ("INTERVAL '1.000001' SECOND", "INTERVAL '0' SECOND"):
        with pytest.raises(Exception, match="positive whole seconds"):
            swb.sql(f"SELECT sys.{call.format(place, validity)}").collect()
    for table in ("CAST(NULL AS STRING)", "'spark_catalog.default.t'", "concat('default', '.t')"):
        with pytest.raises(SqlAnalysisError):
            swb.run(f"SELECT sys.try_descriptor_to_presigned_url({table}, {place}, {hour})")


def test_they_are_listed(swb):
    listed = {r["function"] for r in swb.run("SHOW USER FUNCTIONS IN sys").arrow.to_pylist()}
    assert {"sys.path_to_descriptor", "sys.descriptor_to_string", "sys.blob_view"} <= listed
    assert {"sys.descriptor_to_presigned_url", "sys.try_descriptor_to_presigned_url"} <= listed
