"""Arrow data that Java wrote: an array without values may have no offsets."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import PaimonError
from paimon_nb.format.types.arrow_from_outside import sound_array, sound_table

pytestmark = pytest.mark.unit

NOTHING = pa.py_buffer(b"")
LARGE = pa.array([1_999_999_999] * 2, pa.int64())
"""A number beside the column: what Arrow finds where it looks for offsets is then a large one."""


def without_offsets(t: pa.DataType) -> pa.Array:
    """No values of a type, in the way of Java's writer: all buffers are empty."""
    children = [without_offsets(t.field(i).type) for i in range(t.num_fields)]
    if pa.types.is_map(t):
        children = [without_offsets(pa.struct([t.key_field, t.item_field]))]
    buffers = {True: [None]}.get(pa.types.is_struct(t), [None, NOTHING])
    if pa.types.is_string(t) or pa.types.is_binary(t):
        buffers = [None, NOTHING, NOTHING]
    return pa.Array.from_buffers(t, 0, buffers, 0, 0, children)


def two_rows(t: pa.DataType, null: bool) -> pa.Array:
    """Two lists or maps that are NULL or empty, whose values have no offsets."""
    valid = pa.py_buffer(bytes([0 if null else 3]))
    if pa.types.is_map(t):
        children = [without_offsets(pa.struct([t.key_field, t.item_field]))]
    else:
        children = [without_offsets(t.value_type)]
    return pa.Array.from_buffers(t, 2, [valid, pa.py_buffer(bytes(12))], 2 * null, 0, children)


TYPES = {
    "ARRAY<STRING>": pa.list_(pa.string()),
    "ARRAY<ARRAY<STRING>>": pa.list_(pa.list_(pa.string())),
    "ARRAY<MAP<STRING, STRING>>": pa.list_(pa.map_(pa.string(), pa.string())),
    "MAP<STRING, ARRAY<STRING>>": pa.map_(pa.string(), pa.list_(pa.string())),
    "ARRAY<ROW<a STRING, m MAP<STRING, INT>>>": pa.list_(
        pa.struct([("a", pa.string()), ("m", pa.map_(pa.string(), pa.int32()))])
    ),
    "MAP<STRING, MAP<STRING, BYTES>>": pa.map_(pa.string(), pa.map_(pa.string(), pa.binary())),
}


def every_offsets_buffer(array: pa.Array) -> list[pa.Buffer]:
    """The offsets of an array and of all arrays inside."""
    t = array.type
    if pa.types.is_struct(t):
        return [b for i in range(t.num_fields) for b in every_offsets_buffer(array.field(i))]
    if pa.types.is_map(t):
        return [array.buffers()[1], *every_offsets_buffer(array.keys), *every_offsets_buffer(array.items)]
    if pa.types.is_list(t):
        return [array.buffers()[1], *every_offsets_buffer(array.values)]
    return [array.buffers()[1]] if pa.types.is_string(t) or pa.types.is_binary(t) else []


@pytest.mark.parametrize("null", [True, False], ids=["NULL", "empty"])
@pytest.mark.parametrize("t", TYPES.values(), ids=TYPES.keys())
def test_every_empty_array_gets_offsets(t: pa.DataType, null: bool) -> None:
    rows = sound_table(pa.table({"x": two_rows(t, null), "y": LARGE}))

    assert all(b.size >= 4 for b in every_offsets_buffer(rows.column("x").chunk(0)))
    assert rows.to_pylist() == [{"x": None if null else [], "y": 1_999_999_999}] * 2
    assert rows.nbytes < 200
    assert rows.schema.field("x").type == t


def test_a_slice_of_a_struct_keeps_its_rows() -> None:
    inner = two_rows(TYPES["ARRAY<ARRAY<STRING>>"], null=False)
    rows = pa.StructArray.from_arrays([inner, pa.array(["a", "b"])], names=["x", "n"], mask=pa.array([True, False]))

    assert sound_array(rows.slice(1)).to_pylist() == [{"x": [], "n": "b"}]
    assert sound_array(rows).to_pylist() == [None, {"x": [], "n": "b"}]


def test_sound_rows_are_not_copied() -> None:
    rows = pa.table({"x": pa.array([[["a"]], None]), "y": LARGE, "s": ["a", "b"]})

    assert sound_table(rows) is rows
    assert sound_table(rows.slice(1)).to_pylist() == rows.slice(1).to_pylist()


@pytest.mark.parametrize("name", TYPES)
def test_such_rows_are_appended(name: str, tmp_path: Any) -> None:
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run(f"CREATE TABLE t (x {name.replace('ROW', 'STRUCT')}, y BIGINT)")
    rows = pa.table({"x": two_rows(TYPES[name], null=False), "y": LARGE})

    wb.table("t").append(rows)

    assert wb.table("t").to_arrow().to_pylist() == [{"x": [], "y": 1_999_999_999}] * 2


def test_an_arrow_file_with_wrong_offsets_is_an_error(tmp_path: Any) -> None:
    """Each byte of a file that a SELECT names may be anything."""
    from pyarrow import feather

    good = tmp_path / "good.arrow"
    feather.write_feather(
        pa.table({"s": ["a", "bc", "def"] * 20, "l": [["x"], [], ["y", "z"]] * 20}),
        str(good),
        compression="uncompressed",
    )
    data = good.read_bytes()
    found = data.find((1).to_bytes(4, "little") + (3).to_bytes(4, "little"))
    assert found > 0
    (tmp_path / "bad.arrow").write_bytes(data[:found] + (1 << 30).to_bytes(4, "little") + data[found + 4 :])
    wb = paimon_nb.connect(str(tmp_path / "w"))

    with pytest.raises(PaimonError, match=r"bad\.arrow.*cannot be read"):
        wb.run(f"SELECT * FROM '{tmp_path}/bad.arrow'").to_arrow()
