"""Merge engines and their orders: deduplicate, partial-update, first-row, sequences, row kinds, keys of every type."""

from __future__ import annotations

from merge_case import Case, aggregated

PARTIAL = {"merge-engine": "partial-update"}
_G2 = PARTIAL | {"fields.g1.sequence-group": "a,b", "fields.g2.sequence-group": "c,d"}
_G2_COLUMNS = {"k": "INT", "a": "INT", "b": "INT", "g1": "INT", "c": "INT", "d": "INT", "g2": "INT"}

CASES: tuple[Case, ...] = (
    # -- order
    Case(
        "sequence_descending_null",
        {"k": "INT", "v": "STRING", "s": "INT"},
        {"sequence.field": "s", "sequence.field.sort-order": "descending"},
        [
            [(1, "a", 5), (2, "a", 5), (3, "a", None), (4, "a", 5)],
            [(1, "b", 3), (2, "b", None), (3, "b", 9), (4, "b", 5)],
            [(1, "c", 4), (4, "c", 6)],
        ],
    ),
    Case(
        "sequence_two_fields",
        {"k": "INT", "v": "STRING", "s": "INT", "t": "STRING"},
        {"sequence.field": "s,t"},
        [
            [(1, "a", 5, "b"), (2, "a", None, "z"), (3, "a", 5, None)],
            [(1, "b", 5, "a"), (2, "b", None, None), (3, "b", 5, "")],
            [(1, "c", 5, "b"), (2, "c", -1, None)],
        ],
    ),
    Case(
        "agg_sequence",
        {"k": "INT", "v": "STRING", "w": "STRING", "s": "INT"},
        aggregated("last_value") | {"sequence.field": "s", "fields.w.aggregate-function": "first_value"},
        [[(1, "a", "a", 5)], [(1, "b", "b", 3)], [(1, "c", "c", 4)]],
    ),
    # -- partial-update
    Case(
        "partial_plain",
        {"k": "INT", "a": "INT", "b": "STRING", "c": "DOUBLE"},
        PARTIAL,
        [[(1, 1, "x", None), (2, None, None, None)], [(1, None, "y", 2.5), (2, 3, None, None)], [(1, 9, None, None)]],
    ),
    Case(
        "partial_groups",
        _G2_COLUMNS,
        _G2,
        [
            [(1, 1, 1, 1, 1, 1, 1), (2, 1, 1, 3, 1, 1, None)],
            [(1, 2, 2, 2, 2, 2, None), (2, 2, None, 3, 5, 5, None)],
            [(1, 3, 3, 1, 3, 3, 3), (2, None, 7, 4, 6, None, 1)],
            [(1, None, None, 2, None, None, 2), (2, 8, 8, None, 8, 8, 1)],
        ],
    ),
    Case(
        "partial_group_of_two",
        {"k": "INT", "a": "INT", "s1": "INT", "s2": "STRING", "z": "INT"},
        PARTIAL | {"fields.s1,s2.sequence-group": "a"},
        [
            [(1, 1, 1, "b", 1), (2, 1, 1, None, 1), (3, 1, None, "x", 1), (4, 1, 5, "x", None)],
            [(1, 2, 1, "a", None), (2, 2, None, "z", 2), (3, 2, None, None, 2), (4, None, 5, "x", 3)],
            [(1, 3, None, "c", 3), (2, 3, 1, "", None), (3, 3, 0, None, None)],
        ],
    ),
    Case(
        "partial_group_retract",
        _G2_COLUMNS | {"op": "STRING"},
        _G2 | {"rowkind.field": "op"},
        [
            [
                (1, 1, 1, 1, 1, 1, 1, "+I"),
                (2, 1, 1, 1, 1, 1, 1, "+I"),
                (3, 1, 1, 1, 1, 1, 1, "-D"),
                (4, 1, 1, 5, 1, 1, 1, "+I"),
            ],
            [
                (1, 5, 5, 2, 5, 5, None, "-D"),
                (2, 5, 5, 0, 5, 5, 1, "-U"),
                (3, 2, 2, 2, 2, 2, 2, "+I"),
                (4, 1, 1, 5, 1, 1, 1, "-D"),
            ],
            [(1, 6, 6, 1, 6, 6, 6, "+U"), (2, 7, None, 3, None, None, None, "+I"), (4, 9, 9, 4, 9, 9, None, "+I")],
        ],
    ),
    Case(
        "partial_only_retracts",
        _G2_COLUMNS | {"op": "STRING"},
        _G2 | {"rowkind.field": "op"},
        [[(1, 1, 1, 1, 1, 1, 1, "-D")], [(1, 1, 1, 2, 1, 1, 1, "-D")]],
    ),
    Case(
        "partial_remove_on_group",
        _G2_COLUMNS | {"op": "STRING"},
        _G2 | {"rowkind.field": "op", "partial-update.remove-record-on-sequence-group": "g1"},
        [
            [(i, 1, 1, 5, 1, 1, 5, "+I") for i in (1, 2, 3, 4)],
            [
                (1, 2, 2, 6, 2, 2, 6, "-D"),
                (2, 2, 2, 4, 2, 2, 6, "-D"),
                (3, 2, 2, None, 2, 2, 6, "-D"),
                (4, 2, 2, 6, 2, 2, 6, "-D"),
            ],
            [(4, 3, None, 7, 3, None, 5, "+I")],
        ],
    ),
    Case(
        "partial_remove_on_delete",
        {"k": "INT", "a": "INT", "b": "STRING", "op": "STRING"},
        PARTIAL | {"rowkind.field": "op", "partial-update.remove-record-on-delete": "true"},
        [
            [(1, 1, "x", "+I"), (2, 1, "x", "+I"), (3, 1, "x", "-D"), (4, 1, "x", "+I")],
            [(1, 2, None, "-D"), (2, 2, None, "-U"), (3, None, "n", "+I"), (4, None, None, "-D")],
            [(1, None, "after", "+I"), (2, None, "after", "+I")],
        ],
    ),
    Case(
        "partial_ignore_delete",
        {"k": "INT", "a": "INT", "op": "STRING"},
        PARTIAL | {"rowkind.field": "op", "ignore-delete": "true"},
        [[(1, 1, "+I"), (2, 1, "-D")], [(1, 2, "-D"), (2, 5, "+U")]],
    ),
    Case(
        "partial_group_aggregates",
        {
            "k": "INT",
            "s": "INT",
            "m": "INT",
            "f": "STRING",
            "n": "STRING",
            "l": "STRING",
            "t": "STRING",
            "q": "INT",
            "c": "ARRAY<INT>",
        },
        PARTIAL
        | {
            "fields.q.sequence-group": "s,m,f,n,l,t,c",
            "fields.s.aggregate-function": "sum",
            "fields.m.aggregate-function": "max",
            "fields.f.aggregate-function": "first_value",
            "fields.n.aggregate-function": "first_non_null_value",
            "fields.l.aggregate-function": "listagg",
            "fields.t.aggregate-function": "last_value",
            "fields.c.aggregate-function": "collect",
        },
        [
            [(1, 1, 5, "a", None, "a", "a", 5, [1]), (2, 1, 5, "a", None, "a", "a", 5, [1])],
            [(1, 2, 9, "b", "b", "b", None, 7, [2]), (2, 2, 9, "b", "b", "b", "b", 3, [2])],
            [(1, 4, 1, "c", "c", "c", "c", 6, [3]), (2, 4, None, "c", None, None, "c", 4, None)],
            [(1, 8, 1, "d", "d", "d", "d", None, [4]), (2, 8, 1, None, "d", "d", None, 9, [4])],
        ],
    ),
    Case(
        "partial_group_aggregate_retract",
        {"k": "INT", "s": "INT", "t": "STRING", "q": "INT", "op": "STRING"},
        PARTIAL
        | {
            "rowkind.field": "op",
            "fields.q.sequence-group": "s,t",
            "fields.s.aggregate-function": "sum",
            "fields.t.aggregate-function": "last_non_null_value",
        },
        [
            [(1, 10, "a", 5, "+I"), (2, 10, "a", 5, "+I"), (3, 10, "a", 5, "+I")],
            [(1, 3, "b", 7, "-D"), (2, 3, "b", 2, "-D"), (3, 3, None, 2, "-U")],
            [(1, 5, None, 6, "+I"), (2, 5, "z", 4, "+I")],
        ],
    ),
    Case(
        "partial_default_aggregate",
        {"k": "INT", "a": "INT", "b": "INT", "q": "INT"},
        PARTIAL | {"fields.q.sequence-group": "a,b", "fields.default-aggregate-function": "last_non_null_value"},
        [[(1, 1, 1, 5)], [(1, None, 2, 7)], [(1, 3, None, 6)], [(1, None, None, 9)]],
    ),
    # -- deduplicate
    Case(
        "dedup_kinds",
        {"k": "INT", "v": "INT", "op": "STRING"},
        {"rowkind.field": "op"},
        [
            [(1, 1, "+I"), (2, 1, "+U"), (3, 1, "-D"), (4, 1, "-U"), (5, 1, "+I")],
            [(1, 2, "-D"), (2, 2, "-U"), (3, 2, "+I"), (5, 2, "+U")],
        ],
    ),
    Case(
        "dedup_string_keys",
        {"k": "STRING", "v": "INT"},
        {},
        [[("b", 1), ("", 1), ("ä", 1), ("a", 1)], [("ä", 2), ("ab", 2), ("", 2)]],
    ),
    # -- sequences
    Case(
        "sequence_two_descending",
        {"k": "INT", "v": "STRING", "s": "INT", "t": "STRING"},
        {"sequence.field": "s,t", "sequence.field.sort-order": "descending"},
        [
            [(1, "a", 5, "b"), (2, "a", None, "z"), (3, "a", 5, None)],
            [(1, "b", 5, "a"), (2, "b", None, None), (3, "b", 5, "")],
            [(1, "c", 5, "b"), (2, "c", -1, None), (3, "c", 6, "")],
        ],
    ),
    Case(
        "sequence_timestamp_of_a_delete",
        {"k": "INT", "v": "STRING", "s": "TIMESTAMP(3)", "op": "STRING"},
        {"sequence.field": "s", "rowkind.field": "op"},
        [
            [(1, "a", "2024-01-02 00:00:00", "+I"), (2, "a", "2024-01-02 00:00:00", "+I")],
            [(1, "b", "2024-01-01 00:00:00", "-D"), (2, "b", "2024-01-02 00:00:00", "-D")],
            [(2, "c", "2024-01-01 23:59:59.999", "+I")],
        ],
    ),
    Case(
        "sequence_in_one_batch",
        {"k": "INT", "v": "STRING", "s": "DECIMAL(5, 1)"},
        {"sequence.field": "s"},
        [[(1, "a", "5.0"), (1, "b", "3.5"), (1, "c", "5.0"), (1, "d", None), (2, "a", None), (2, "b", None)]],
    ),
    # Not asked: descending sequences inside one batch. Paimon 1.3 sorts its write buffer upwards whatever the order.
    Case(
        "agg_sequence_descending",
        {"k": "INT", "v": "STRING", "w": "STRING", "s": "INT"},
        aggregated("listagg")
        | {
            "sequence.field": "s",
            "sequence.field.sort-order": "descending",
            "fields.w.aggregate-function": "first_value",
        },
        [[(1, "a", "a", 5)], [(1, "b", "b", 3)], [(1, "c", "c", 4)], [(1, "d", "d", None)]],
    ),
    Case(
        "agg_sequence_retract",
        {"k": "INT", "v": "INT", "s": "INT", "op": "STRING"},
        aggregated("sum") | {"sequence.field": "s", "rowkind.field": "op"},
        [[(1, 10, 5, "+I")], [(1, 3, 3, "-U")], [(1, 4, 7, "-D")]],
    ),
    Case(
        "partial_sequence",
        {"k": "INT", "a": "INT", "b": "STRING", "s": "INT"},
        PARTIAL | {"sequence.field": "s"},
        [
            [(1, 1, "x", 5), (2, 1, None, 5)],
            [(1, 2, None, 3), (2, None, "y", 6)],
            [(1, None, "z", 4), (2, 7, None, None)],
        ],
    ),
    Case(
        "partial_sequence_remove_on_delete",
        {"k": "INT", "a": "INT", "b": "STRING", "s": "INT", "op": "STRING"},
        PARTIAL | {"sequence.field": "s", "rowkind.field": "op", "partial-update.remove-record-on-delete": "true"},
        [
            [(1, 1, "x", 5, "+I"), (2, 1, "x", 5, "+I"), (3, 1, "x", 5, "+I")],
            [(1, 2, None, 4, "-D"), (2, 2, None, 6, "-D"), (3, 2, None, 5, "-D")],
            [(1, None, "z", 7, "+I"), (2, None, "z", 4, "+I"), (3, None, "z", 9, "+I")],
        ],
    ),
    # -- partial-update, the rest
    Case(
        "partial_not_null",
        {"k": "INT", "a": "INT NOT NULL", "b": "STRING", "op": "STRING"},
        PARTIAL | {"rowkind.field": "op", "partial-update.remove-record-on-delete": "true"},
        [[(1, 1, "x", "+I"), (2, 1, "x", "+I")], [(1, 2, None, "-D"), (2, 2, None, "+U")], [(1, 3, None, "+I")]],
    ),
    Case(
        "partial_delete_refused",
        {"k": "INT", "a": "INT", "op": "STRING"},
        PARTIAL | {"rowkind.field": "op"},
        [[(1, 1, "+I")], [(1, 2, "-D")]],
        fails=True,
    ),
    Case(
        "partial_update_before_refused",
        {"k": "INT", "a": "INT", "op": "STRING"},
        PARTIAL | {"rowkind.field": "op"},
        [[(1, 1, "+I")], [(1, 2, "-U")]],
        fails=True,
    ),
    Case(
        "partial_update_before_ignored",
        {"k": "INT", "a": "INT", "op": "STRING"},
        PARTIAL | {"rowkind.field": "op", "ignore-update-before": "true"},
        [[(1, 1, "+I"), (2, 1, "+I")], [(1, 2, "-U")], [(2, 3, "+U")]],
    ),
    Case(
        "partial_remove_on_group_of_two",
        {"k": "INT", "a": "INT", "s1": "INT", "s2": "INT", "c": "INT", "g2": "INT", "op": "STRING"},
        PARTIAL
        | {
            "rowkind.field": "op",
            "fields.s1,s2.sequence-group": "a",
            "fields.g2.sequence-group": "c",
            "partial-update.remove-record-on-sequence-group": "s1,s2",
        },
        [
            [(i, 1, 5, 5, 1, 5, "+I") for i in (1, 2, 3, 4, 5)],
            [
                (1, 2, 5, 6, 2, 6, "-D"),
                (2, 2, 5, 4, 2, 6, "-D"),
                (3, 2, None, 9, 2, 6, "-D"),
                (4, 2, 6, None, 2, 4, "-D"),
                (5, 2, None, None, 2, 6, "-D"),
            ],
            [(1, 3, 5, 5, 3, 5, "+I"), (4, None, 7, 1, 3, None, "+I")],
        ],
    ),
    Case(
        "partial_remove_on_either_group",
        _G2_COLUMNS | {"op": "STRING"},
        _G2 | {"rowkind.field": "op", "partial-update.remove-record-on-sequence-group": "g1,g2"},
        [
            [(i, 1, 1, 5, 1, 1, 5, "+I") for i in (1, 2, 3)],
            [(1, 2, 2, 6, 2, 2, 4, "-D"), (2, 2, 2, 4, 2, 2, 6, "-D"), (3, 2, 2, 4, 2, 2, 4, "-D")],
            [(1, 3, 3, 4, 3, 3, 3, "+I")],
        ],
    ),
    Case(
        "partial_group_update_before_kinds",
        _G2_COLUMNS | {"op": "STRING"},
        _G2 | {"rowkind.field": "op", "partial-update.remove-record-on-sequence-group": "g1"},
        [[(1, 1, 1, 5, 1, 1, 5, "+I")], [(1, 2, 2, 6, 2, 2, 6, "-U")], [(1, 3, None, 7, None, 4, 7, "+U")]],
    ),
    Case(
        "partial_group_descending",
        {"k": "INT", "a": "INT", "g": "INT"},
        PARTIAL | {"fields.g.sequence-group": "a", "sequence.field.sort-order": "descending"},
        [[(1, 1, 5), (2, 1, 5)], [(1, 2, 3), (2, 2, 7)], [(1, 3, 4), (2, 3, None)]],
    ),
    Case(
        "partial_group_reversed_aggregates",
        {
            "k": "INT",
            "g": "INT",
            "p": "INT",
            "x": "INT",
            "c": "ARRAY<INT>",
            "d": "ARRAY<INT>",
            "m": "MAP<INT, STRING>",
            "n": "ARRAY<ROW<id INT, v STRING>>",
            "l": "STRING",
            "b": "BOOLEAN",
            "z": "INT",
            "y": "STRING",
        },
        PARTIAL
        | {
            "fields.g.sequence-group": "p,x,c,d,m,n,l,b,z,y",
            "fields.p.aggregate-function": "product",
            "fields.x.aggregate-function": "min",
            "fields.c.aggregate-function": "collect",
            "fields.d.aggregate-function": "collect",
            "fields.d.distinct": "true",
            "fields.m.aggregate-function": "merge_map",
            "fields.n.aggregate-function": "nested_update",
            "fields.n.nested-key": "id",
            "fields.l.aggregate-function": "listagg",
            "fields.b.aggregate-function": "bool_and",
            "fields.z.aggregate-function": "last_value",
            "fields.y.aggregate-function": "first_value",
        },
        [
            [(1, 5, 2, 7, [1], [1], [[1, "a"]], [[1, "a"]], "a", True, 1, "a")],
            [(1, 3, 3, 5, [2, 1], [2, 1], [[1, "b"], [2, "b"]], [[1, "b"], [2, "b"]], "b", False, None, None)],
            [(1, 7, None, None, [3], [3, 3], [[2, "c"]], [[2, "c"], [3, "c"]], None, None, None, "c")],
            [(1, 4, 5, 9, None, None, None, None, "d", True, 4, "d")],
        ],
    ),
    Case(
        "partial_aggregates_outside_groups",
        {"k": "INT", "s": "INT", "f": "INT", "a": "INT", "g": "INT"},
        PARTIAL
        | {"fields.g.sequence-group": "a", "fields.s.aggregate-function": "sum", "fields.f.aggregate-function": "max"},
        [[(1, 1, 1, 1, 5)], [(1, 2, None, 2, 3)], [(1, None, 7, None, 6)]],
        fails=True,
    ),
    Case(
        "partial_group_sum_retract_older",
        {"k": "INT", "s": "INT", "c": "ARRAY<INT>", "g": "INT", "op": "STRING"},
        PARTIAL
        | {
            "rowkind.field": "op",
            "fields.g.sequence-group": "s,c",
            "fields.s.aggregate-function": "sum",
            "fields.c.aggregate-function": "collect",
        },
        [
            [(1, 10, [1, 2], 5, "+I"), (2, 10, [1], 5, "-D"), (3, 1, [1], 5, "+I")],
            [(1, 3, [2], 3, "-U"), (2, 1, [1], 7, "-D"), (3, 1, [1], None, "-D")],
            [(1, 4, [4], 4, "+U"), (2, 5, [9], 6, "+I"), (3, 2, [3], 9, "+I")],
        ],
    ),
    Case(
        "partial_group_ignore_delete",
        _G2_COLUMNS | {"op": "STRING"},
        _G2 | {"rowkind.field": "op", "ignore-delete": "true"},
        [[(1, 1, 1, 1, 1, 1, 1, "+I")], [(1, 2, 2, 2, 2, 2, 2, "-D")], [(1, 3, 3, 0, 3, 3, 3, "+U")]],
    ),
    # -- deduplicate and first-row, the rest
    Case(
        "dedup_ignore_delete",
        {"k": "INT", "v": "INT", "op": "STRING"},
        {"rowkind.field": "op", "ignore-delete": "true"},
        [[(1, 1, "+I"), (2, 1, "-D"), (3, 1, "+I")], [(1, 2, "-D"), (3, 2, "-U"), (2, 3, "+U")], [(3, 3, "-D")]],
    ),
    Case(
        "dedup_ignore_update_before",
        {"k": "INT", "v": "INT", "op": "STRING"},
        {"rowkind.field": "op", "ignore-update-before": "true"},
        [[(1, 1, "+I"), (2, 1, "-U"), (3, 1, "+I")], [(1, 2, "-D"), (3, 2, "-U")]],
    ),
    Case(
        "first_row",
        {"k": "INT", "v": "INT"},
        {"merge-engine": "first-row", "write-only": "false"},
        [[(1, 1), (2, 1), (1, 9)], [(2, 2), (3, 2)], [(1, 3), (3, 3), (4, 3)]],
    ),
    Case(
        "first_row_unseen_on_level_0",
        {"k": "INT", "v": "INT"},
        {"merge-engine": "first-row"},
        [[(1, 1), (2, 1)], [(2, 2)]],
    ),
    Case(
        "first_row_ignore_delete",
        {"k": "INT", "v": "INT", "op": "STRING"},
        {"merge-engine": "first-row", "write-only": "false", "rowkind.field": "op", "ignore-delete": "true"},
        [[(1, 1, "+I"), (2, 1, "-D")], [(1, 2, "-D"), (2, 2, "+U")], [(2, 3, "-U"), (3, 3, "+U")]],
    ),
    Case(
        "first_row_delete_refused",
        {"k": "INT", "v": "INT", "op": "STRING"},
        {"merge-engine": "first-row", "write-only": "false", "rowkind.field": "op"},
        [[(1, 1, "+I")], [(1, 2, "-D")]],
        fails=True,
    ),
    Case(
        "vectors_dedup",
        {"k": "INT", "v": "INT", "op": "STRING"},
        {"rowkind.field": "op", "deletion-vectors.enabled": "true", "write-only": "false"},
        [[(i, 1, "+I") for i in range(8)], [(1, 2, "-D"), (2, 2, "+U")], [(1, 3, "+I"), (3, 3, "-D")], [(2, 4, "-D")]],
    ),
    Case(
        "vectors_partial",
        {"k": "INT", "a": "INT", "b": "INT"},
        PARTIAL | {"deletion-vectors.enabled": "true", "write-only": "false"},
        [[(1, 1, None), (2, None, 1)], [(1, None, 2), (3, 2, None)], [(2, 3, None), (3, None, 3)]],
    ),
    # -- keys: the order of rows is the order of keys
    *(
        Case(f"keys_{name}", {"k": t, "v": "INT"}, {}, [[(v, 1) for v in values], [(v, 2) for v in values[::2]]])
        for name, t, values in (
            ("bigint", "BIGINT", [5000000000, -1, 0, 7]),
            ("decimal", "DECIMAL(20, 2)", ["1.50", "-2.25", "123456789012345678.00", "0.00"]),
            ("date", "DATE", ["2024-02-29", "1969-12-31", "0001-01-01"]),
            (
                "timestamp",
                "TIMESTAMP(6)",
                ["2024-02-29 00:00:00.000001", "1969-12-31 23:59:59.999999", "2024-02-29 00:00:00"],
            ),
            ("bytes", "VARBINARY(10)", ["80", "7f", "", "7fff", "ff00"]),
            ("boolean", "BOOLEAN", [True, False]),
            ("double", "DOUBLE", [1.5, -1.5, 0.0, 1e300, -1e300]),
            ("string", "STRING", ["\U0001f600", "\uffee", "é", "z", "", "Z"]),
        )
    ),
    Case(
        "keys_two",
        {"k": "STRING", "l": "INT", "v": "INT"},
        {},
        [[("b", 2, 1), ("b", -1, 1), ("a", 9, 1), ("", 0, 1)], [("b", -1, 2), ("a", 10, 2)]],
        keys=("k", "l"),
    ),
    Case(
        "keys_two_declared_reversed",
        {"v": "INT", "l": "INT", "k": "STRING"},
        {},
        [[(1, 2, "b"), (1, -1, "b"), (1, 9, "a"), (1, 0, "")], [(2, -1, "b"), (2, 10, "a")]],
        keys=("k", "l"),
    ),
)
