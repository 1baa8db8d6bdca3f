"""A -D that a sequence group lets remove the row asks no aggregate between the group's columns."""

import pyarrow as pa
import pytest

from paimon_nb import UnsupportedOperation
from paimon_nb.format.schema import create_schema
from paimon_nb.format.types import parse_type
from paimon_nb.options import TableOptions
from paimon_nb.table.lsm.merge import MergeSpec, merge

COLUMNS = {"k": "INT NOT NULL", "g": "INT", "most": "INT", "h": "INT"}
OPTIONS = {
    "merge-engine": "partial-update", "fields.g,h.sequence-group": "most", "fields.most.aggregate-function": "max",
}  # fmt: skip


def merged(options: dict[str, str], *versions: tuple[int | None, ...]) -> list[dict[str, object]]:
    columns = [(n, parse_type(t), None, None) for n, t in COLUMNS.items()]
    spec = MergeSpec.of(create_schema(columns, [], ["k"], options, None), TableOptions(options))
    names = [*COLUMNS, "_SEQUENCE_NUMBER", "_VALUE_KIND"]
    types = [*(pa.int32() for _ in COLUMNS), pa.int64(), pa.int8()]
    values = zip(*versions, strict=True)
    kv = pa.table([pa.array(list(v), t) for v, t in zip(values, types, strict=True)], names=names)
    return merge([kv], spec).select(["g", "most", "h"]).to_pylist()


@pytest.mark.parametrize("column", ["g", "h", "g,h"])
def test_the_row_goes_whichever_column_is_named(column: str) -> None:
    options = OPTIONS | {"partial-update.remove-record-on-sequence-group": column}
    first, gone = (1, 1, 7, 1, 0, 0), (1, 1, 7, 2, 1, 3)
    assert merged(options, first, gone) == []
    assert merged(options, first, gone, (1, 1, 3, 1, 2, 0)) == [{"g": 1, "most": 3, "h": 1}]
    late = (1, 0, 7, 9, 1, 3)
    with pytest.raises(UnsupportedOperation, match="does not support retraction"):
        merged(options, first, late)
