"""A ROW that is modified: fields of the same name keep their ids, new ones take the next, as real Paimon gives them."""

from __future__ import annotations

import paimon_nb


def _ids(t) -> object:
    """Field ids by name, of a type and all types inside of it."""
    for inside in (getattr(t, "element", None), getattr(t, "value", None)):
        if inside is not None:
            return _ids(inside)
    return {f.name: (f.id, _ids(f.type)) for f in t.fields} if hasattr(t, "fields") else None


def test_only_new_fields_take_ids(tmp_path):
    wb = paimon_nb.connect(str(tmp_path))
    wb.run(
        "CREATE TABLE t (k INT, c ROW<a INT, b STRING>, d ARRAY<ROW<a INT, r ROW<x INT>>>, m MAP<STRING, ROW<q INT>>)"
    )
    wb.run("ALTER TABLE t MODIFY c ROW<n ROW<x INT, y ROW<z INT, zz INT>>, a BIGINT, o INT, b STRING>")
    wb.run("ALTER TABLE t MODIFY d ARRAY<ROW<a INT, r ROW<x BIGINT, w ROW<v INT>>, e INT>>")
    wb.run("ALTER TABLE t MODIFY m MAP<STRING, ROW<q INT, qq INT>>")
    schema = wb.table("t").schema
    assert {f.name: _ids(f.type) for f in schema.fields} == {
        "k": None,
        "c": {
            "n": (10, {"x": (11, None), "y": (14, {"z": (12, None), "zz": (13, None)})}),
            "a": (2, None), "o": (15, None), "b": (3, None),
        },
        "d": {"a": (5, None), "r": (7, {"x": (6, None), "w": (16, {"v": (17, None)})}), "e": (18, None)},
        "m": {"q": (9, None), "qq": (19, None)},
    }  # fmt: skip
    assert schema.highest_field_id == 19
