"""Column names in Avro files: Java's Avro takes letters of every script, so do we; what it refuses we refuse."""

import pyarrow as pa
import pytest

from paimon_nb.base.errors import UnsupportedFormat
from paimon_nb.format.data import open_data_writer, read_data_file
from paimon_nb.format.types import DataField, parse_type
from paimon_nb.fs import MemoryFileIO
from paimon_nb.options import TableOptions

PATH = "memory:/f.avro"


@pytest.mark.parametrize("name", ["a", "_1", "Ünï", "列2", "имя"])
def test_letters_of_every_script(name):
    fs, fields = MemoryFileIO(), [DataField(0, name, parse_type("INT"))]
    rows = pa.table({name: pa.array([1, None, 3], pa.int32())})
    writer = open_data_writer(fs, PATH, fields, TableOptions({}), None)
    writer.write(rows)
    writer.close()
    assert read_data_file(fs, PATH, fields, None).to_pylist() == rows.to_pylist()


@pytest.mark.parametrize("name", ["1a", "a b", "a-b", "", "a.b", "²"])
def test_what_is_no_name(name):
    with pytest.raises(UnsupportedFormat, match="Avro"):
        open_data_writer(MemoryFileIO(), PATH, [DataField(0, name, parse_type("INT"))], TableOptions({}), None)
