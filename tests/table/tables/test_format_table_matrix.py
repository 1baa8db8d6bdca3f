"""Format tables and other libraries: all types in all formats, both ways."""

import format_table_matrix as matrix
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import paimon_nb


@pytest.fixture
def wb(tmp_path):
    return paimon_nb.connect(str(tmp_path / "w"))


def expected(differences: dict, library: str, kind: str, sql_type: str) -> str:
    return differences.get((library, kind, sql_type), "equal").partition(":")[0]


SLICE = (("duckdb", "csv"), ("duckdb", "json"), ("pyarrow", "orc"))
"""Other libraries and formats of the normal suite; the others are nightly."""


def pairs(libraries: dict) -> list:
    found = [(library, kind) for library, (_, formats) in libraries.items() for kind in formats]
    return [pytest.param(*pair, marks=[] if pair in SLICE else pytest.mark.nightly) for pair in found]


@pytest.mark.parametrize(("library", "kind"), pairs(matrix.WRITERS))
def test_files_of_others_are_read_as_they_are(wb, library, kind):
    types = [t for t in matrix.VALUES if kind != "csv" or t not in matrix.NESTED]
    found = {t: matrix.read_outcome(wb, library, kind, t) for t in types}
    found = {t: outcome for t, outcome in found.items() if outcome is not None}
    assert found == {t: expected(matrix.READ_DIFFERENCES, library, kind, t) for t in found}
    assert len(found) >= len(types) - 4


@pytest.mark.parametrize(("library", "kind"), pairs(matrix.READERS))
def test_others_read_what_a_format_table_writes(wb, library, kind):
    types = [t for t in matrix.VALUES if kind != "csv" or t not in matrix.NESTED]
    found = {t: matrix.write_outcome(wb, library, kind, t) for t in types}
    assert found == {t: expected(matrix.WRITE_DIFFERENCES, library, kind, t) for t in types}


@pytest.mark.parametrize(
    "library", [pytest.param(x, marks=[] if x == "duckdb" else pytest.mark.nightly) for x in matrix.PARTITION_WRITERS]
)
def test_directories_of_others_are_partitions_with_their_values(wb, library):
    for sql_type in matrix.PARTITIONS:
        if library == "pandas" and sql_type == "BIGINT":  # beside NULL a frame has floating point numbers
            continue
        table, rows = matrix.partitioned(wb, sql_type)
        if library == "pandas" and pa.types.is_floating(rows["v"].type):  # NaN is NULL in a frame
            rows = rows.filter(pc.invert(pc.fill_null(pc.is_nan(rows["v"]), False)))
        matrix.PARTITION_WRITERS[library](rows, table.path)
        assert matrix.in_order(table.to_arrow()) == matrix.in_order(rows), sql_type


@pytest.mark.parametrize(
    "library", [pytest.param(x, marks=[] if x == "duckdb" else pytest.mark.nightly) for x in matrix.PARTITION_READERS]
)
def test_others_read_partitions_with_their_values(wb, library):
    for sql_type in matrix.PARTITIONS:
        if library == "pyarrow" and sql_type.startswith("DECIMAL"):  # it has no partitions of decimals
            continue
        table, rows = matrix.partitioned(wb, sql_type)
        table.append(rows)
        assert matrix.in_order(table.to_arrow()) == matrix.in_order(rows), sql_type
        found = matrix.PARTITION_READERS[library](table.path, sql_type, rows.schema.field("v"))
        assert matrix.in_order(found) == matrix.in_order(rows), sql_type


@pytest.mark.parametrize("kind", ["parquet", "orc"])
@pytest.mark.parametrize(
    "sql_type", [pytest.param(t, marks=[] if t == "FLOAT" else pytest.mark.nightly) for t in matrix.READ_AS]
)
def test_no_stored_value_becomes_another_one(wb, kind, sql_type):
    orc_time = kind == "orc" and sql_type.startswith("TIME(")  # stored as INT
    wrong = {
        stored: matrix.misread(wb, kind, sql_type, stored)
        for stored in matrix.STORED
        if not (orc_time and stored == "int32")
    }
    assert {stored: why for stored, why in wrong.items() if why is not None} == {}
