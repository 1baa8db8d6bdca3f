"""Changelogs: what a stream sees of each table, per producer and merge engine. Names begin with log_."""

from __future__ import annotations

from hashlib import sha512
from typing import TYPE_CHECKING

from merge_case import Case, Rows, aggregated

if TYPE_CHECKING:
    from collections.abc import Sequence

PARTIAL = {"merge-engine": "partial-update"}
LOOKUP = {"changelog-producer": "lookup"}
FULL = {"changelog-producer": "full-compaction", "full-compaction.delta-commits": "1"}
_LOG_BATCHES: Sequence[Rows] = [
    [(1, 1, "x", "+I"), (2, 1, "x", "+I"), (3, 1, "x", "-D"), (4, 1, "x", "+U"), (5, 1, "x", "+I"), (6, 1, "x", "+I")],
    [
        (1, 2, None, "-D"),
        (2, 2, None, "+U"),
        (3, None, "n", "+I"),
        (4, 1, "x", "+U"),
        (5, 1, "x", "+I"),
        (7, 1, "x", "-D"),
    ],
    [(1, None, "after", "+I"), (2, None, "after", "-D"), (6, 3, "b", "+I"), (6, 4, "c", "+I"), (7, 2, None, "+I")],
]

_INPUT = {"changelog-producer": "input"}
_LONG = "".join(sha512(bytes([i])).hexdigest() for i in range(100))
_LOG_COLUMNS = {"k": "INT", "a": "INT", "b": "STRING", "op": "STRING"}
_MANY: Sequence[Rows] = [
    [(k, turn * 10 + k, "+I" if (k + turn) % 4 else "-D") for k in range(turn % 3, 9, 1 + turn % 3)]
    for turn in range(8)
]
_GROUP_COLUMNS = {"k": "INT", "a": "INT", "g1": "INT", "c": "INT", "g2": "INT", "op": "STRING"}
_GROUPS = PARTIAL | {
    "rowkind.field": "op",
    "fields.g1.sequence-group": "a",
    "fields.g2.sequence-group": "c",
    "fields.c.aggregate-function": "sum",
    "partial-update.remove-record-on-sequence-group": "g1",
}
_GROUP_BATCHES: Sequence[Rows] = [
    [(1, 1, 5, 1, 5, "+I"), (2, 1, 5, 1, 5, "+I"), (3, 1, 5, 1, 5, "-D"), (4, 1, 5, 1, 5, "+I")],
    [(1, 2, 4, 2, 6, "-D"), (2, 2, 6, 2, 6, "-D"), (3, 2, 6, 2, 6, "+I"), (4, 2, None, 2, 4, "-U")],
    [(1, None, 7, None, 7, "+U"), (2, 3, 4, 3, 4, "+I"), (3, 3, 7, 3, 1, "-D"), (4, 3, 7, 3, 7, "+I")],
]

CASES: tuple[Case, ...] = (
    # -- changelogs: the answer also holds what a stream would see
    Case(
        "log_lookup_partial",
        {"k": "INT", "a": "INT", "b": "STRING", "op": "STRING"},
        PARTIAL | LOOKUP | {"rowkind.field": "op", "partial-update.remove-record-on-delete": "true"},
        _LOG_BATCHES,
    ),
    Case(
        "log_lookup_dedup",
        {"k": "INT", "a": "INT", "b": "STRING", "op": "STRING"},
        LOOKUP | {"rowkind.field": "op"},
        _LOG_BATCHES,
    ),
    Case(
        "log_lookup_row_deduplicate",
        {"k": "INT", "a": "INT", "b": "STRING", "op": "STRING"},
        LOOKUP
        | {
            "rowkind.field": "op",
            "changelog-producer.row-deduplicate": "true",
            "changelog-producer.row-deduplicate-ignore-fields": "op",
        },
        _LOG_BATCHES,
    ),
    Case(
        "log_full_dedup",
        {"k": "INT", "a": "INT", "b": "STRING", "op": "STRING"},
        FULL | {"rowkind.field": "op"},
        _LOG_BATCHES,
    ),
    Case(
        "log_full_row_deduplicate",
        {"k": "INT", "a": "INT", "b": "STRING", "op": "STRING"},
        FULL
        | {
            "rowkind.field": "op",
            "changelog-producer.row-deduplicate": "true",
            "changelog-producer.row-deduplicate-ignore-fields": "op",
        },
        _LOG_BATCHES,
    ),
    Case(
        "log_lookup_agg",
        {"k": "INT", "v": "INT", "op": "STRING"},
        aggregated("sum") | LOOKUP | {"rowkind.field": "op"},
        [
            [(1, 10, "+I"), (2, 10, "-D"), (3, 1, "+U")],
            [(1, 3, "-U"), (2, 5, "+I"), (3, None, "-D"), (4, None, "-U")],
            [(1, 0, "+I"), (4, 2, "+I")],
        ],
    ),
    Case(
        "log_full_agg",
        {"k": "INT", "v": "INT", "op": "STRING"},
        aggregated("sum") | FULL | {"rowkind.field": "op"},
        [
            [(1, 10, "+I"), (2, 10, "-D"), (3, 1, "+U")],
            [(1, 3, "-U"), (2, 5, "+I"), (3, None, "-D"), (4, None, "-U")],
            [(1, 0, "+I"), (4, 2, "+I")],
        ],
    ),
    Case(
        "log_lookup_first_row",
        {"k": "INT", "v": "INT"},
        {"merge-engine": "first-row"} | LOOKUP,
        [[(1, 1), (2, 1)], [(2, 2), (3, 2)], [(1, 3), (3, 3), (4, 3)]],
    ),
    Case(
        "log_lookup_sequence",
        {"k": "INT", "v": "INT", "s": "INT"},
        {"sequence.field": "s"} | LOOKUP,
        [[(1, 1, 5), (2, 1, 5)], [(1, 2, 3), (2, 2, 6)], [(1, 3, 4), (2, 3, None), (3, 3, None)]],
    ),
    Case(
        "log_full_sequence",
        {"k": "INT", "v": "INT", "s": "INT"},
        {"sequence.field": "s"} | FULL,
        [[(1, 1, 5), (2, 1, 5)], [(1, 2, 3), (2, 2, 6)], [(1, 3, 4), (2, 3, None), (3, 3, None)]],
    ),
    # -- input: the rows as they came
    Case("log_input_dedup", _LOG_COLUMNS, _INPUT | {"rowkind.field": "op"}, _LOG_BATCHES),
    Case(
        "log_input_agg",
        {"k": "INT", "v": "INT", "op": "STRING"},
        aggregated("sum") | _INPUT | {"rowkind.field": "op"},
        [[(2, 1, "+I"), (1, 10, "+I"), (2, 10, "-D"), (1, 1, "+U")], [(1, 3, "-U"), (1, 5, "+I")]],
    ),
    Case(
        "log_input_ignore_delete",
        {"k": "INT", "v": "INT", "op": "STRING"},
        _INPUT | {"rowkind.field": "op", "ignore-delete": "true"},
        [[(2, 1, "+I"), (1, 10, "+I"), (2, 10, "-D")], [(1, 3, "-U"), (1, 5, "+U")]],
    ),
    Case(
        "log_input_sequence",
        {"k": "INT", "v": "INT", "s": "INT"},
        _INPUT | {"sequence.field": "s"},
        [[(2, 1, 5), (1, 1, 5), (1, 2, 3)], [(1, 3, 4), (2, 2, 6)]],
    ),
    # -- none: each flushed file, merged
    Case("log_none_dedup", _LOG_COLUMNS, {"rowkind.field": "op"}, _LOG_BATCHES),
    Case(
        "log_none_agg",
        {"k": "INT", "v": "INT", "op": "STRING"},
        aggregated("sum") | {"rowkind.field": "op"},
        [[(2, 1, "+I"), (1, 10, "+U"), (2, 10, "-D"), (3, 1, "-D")], [(1, 3, "-U"), (1, 5, "+I"), (3, 1, "+U")]],
    ),
    # -- many levels: lookups find rows below
    *(
        Case(
            f"log_lookup_levels_{name}",
            {"k": "INT", "v": "INT", "op": "STRING"},
            LOOKUP | {"rowkind.field": "op"} | more,
            _MANY,
        )
        for name, more in (
            ("dedup", {}),
            ("vectors", {"deletion-vectors.enabled": "true"}),
            ("row_deduplicate", {"changelog-producer.row-deduplicate": "true"}),
            ("two_runs", {"num-sorted-run.compaction-trigger": "2"}),
            ("agg", aggregated("sum")),
            ("agg_vectors", aggregated("sum") | {"deletion-vectors.enabled": "true"}),
        )
    ),
    Case(
        "log_full_levels_dedup",
        {"k": "INT", "v": "INT", "op": "STRING"},
        FULL | {"rowkind.field": "op"},
        _MANY,
    ),
    Case(
        "log_first_row_levels",
        {"k": "INT", "v": "INT"},
        {"merge-engine": "first-row", "num-sorted-run.compaction-trigger": "3"} | LOOKUP,
        [[(k, turn) for k in (turn, turn + 1, 20 - turn)] for turn in range(7)],
    ),
    Case(
        "log_first_row_ignore_delete",
        {"k": "INT", "v": "INT", "op": "STRING"},
        {"merge-engine": "first-row", "rowkind.field": "op", "ignore-delete": "true"} | LOOKUP,
        [[(1, 1, "+I"), (2, 1, "-D")], [(1, 2, "-D"), (2, 2, "+U")], [(2, 3, "-U"), (3, 3, "+U")]],
    ),
    # -- engines with each producer
    *(
        Case(f"log_{name}_groups", _GROUP_COLUMNS, producer | _GROUPS, _GROUP_BATCHES)
        for name, producer in (("lookup", LOOKUP), ("full", FULL))
    ),
    Case(
        "log_full_partial",
        _LOG_COLUMNS,
        PARTIAL | FULL | {"rowkind.field": "op", "partial-update.remove-record-on-delete": "true"},
        _LOG_BATCHES,
    ),
    *(
        Case(
            f"log_{name}_agg_remove",
            {"k": "INT", "v": "INT", "op": "STRING"},
            aggregated("sum") | producer | {"rowkind.field": "op", "aggregation.remove-record-on-delete": "true"},
            [
                [(1, 10, "+I"), (2, 10, "-D"), (3, 1, "+U"), (4, 1, "+I")],
                [(1, 3, "-D"), (2, 5, "+I"), (3, None, "+I"), (4, 1, "-D"), (4, 7, "+I")],
                [(1, 4, "+I"), (3, 2, "-D"), (4, 2, "-U")],
            ],
        )
        for name, producer in (("lookup", LOOKUP), ("full", FULL))
    ),
    *(
        Case(
            f"log_{name}_sequence_delete",
            {"k": "INT", "v": "INT", "s": "INT", "p": "STRING", "op": "STRING"},
            producer | {"sequence.field": "s", "rowkind.field": "op"},
            [
                # The long text keeps the top level out of later compactions, whatever a file's header takes.
                [(1, 1, 5, None, "+I"), (2, 1, 5, None, "+I"), (3, 1, 5, None, "-D"), (9, 1, 5, _LONG, "+I")],
                [(1, 2, 3, None, "-D"), (2, 2, 6, None, "-D"), (3, 2, 4, None, "+I")],
                [(1, 3, 5, None, "+U"), (2, 3, 5, None, "+I"), (3, 3, 6, None, "+I")],
            ],
        )
        for name, producer in (("lookup", LOOKUP), ("full", FULL))
    ),
    *(
        Case(
            f"log_{name}_ignore_delete",
            {"k": "INT", "v": "INT", "op": "STRING"},
            producer | {"rowkind.field": "op", "ignore-delete": "true"},
            [[(1, 1, "+I"), (2, 1, "-D")], [(1, 2, "-D"), (2, 2, "+U")], [(1, 3, "-U"), (2, 2, "+U"), (3, 3, "-D")]],
        )
        for name, producer in (("lookup", LOOKUP), ("full", FULL))
    ),
    *(
        Case(
            f"log_{name}_row_deduplicate_{what}",
            {"k": "INT", "v": type_text},
            producer | {"changelog-producer.row-deduplicate": "true"},
            [[(1, old), (2, old), (3, None), (4, None)], [(1, old), (2, new), (3, None), (4, new)]],
        )
        for name, producer in (("lookup", LOOKUP), ("full", FULL))
        for what, type_text, old, new in (
            ("double", "DOUBLE", 1.5, 2.5),
            ("bytes", "BYTES", "00ff", "00"),
            ("decimal", "DECIMAL(20, 2)", "1.50", "1.51"),
            ("timestamp", "TIMESTAMP(6)", "2024-01-01 00:00:00", "2024-01-01 00:00:00.000001"),
            ("array", "ARRAY<INT>", [1, None], [1]),
            ("map", "MAP<INT, STRING>", [[1, "a"], [2, None]], [[1, "a"]]),
            ("full_array", "ARRAY<INT>", [1, 2], [2, 1]),
            ("full_map", "MAP<INT, STRING>", [[1, "a"], [2, "b"]], [[1, "a"], [3, "b"]]),
            ("row", "ROW<x INT, y STRING>", [1, "x"], [1, None]),
        )
    ),
)
