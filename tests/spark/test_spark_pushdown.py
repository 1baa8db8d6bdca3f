"""Only conditions that mean the same to Spark may skip files."""

import datetime as dt
from decimal import Decimal

import pytest

from paimon_nb.format.types import DataField, parse_type
from paimon_nb.spark.scan.pushdown import condition_for_native_scan
from paimon_nb.table.read.predicate.model import And, Compare, In, IsNotNull, IsNull, Like, Not, Or, StartsWith
from paimon_nb.table.read.strategy.spark_meaning import conjuncts_with_spark_meaning

FIELDS = [
    DataField(i, n, parse_type(t))
    for i, (n, t) in enumerate({
        "i": "INT", "s": "STRING", "c": "CHAR(3)", "d": "DOUBLE", "e": "DECIMAL(5, 1)", "n": "TIMESTAMP(3)",
        "z": "TIMESTAMP(6) WITH LOCAL TIME ZONE", "n9": "TIMESTAMP(9)", "da": "DATE", "t": "TIME(0)",
    }.items())
]  # fmt: skip
NOW = dt.datetime(2024, 1, 1)


@pytest.mark.parametrize(
    ("leaf", "zone", "kept"),
    [
        (Compare("i", "=", 1), "UTC", True),
        (Compare("I", "=", 1), "UTC", True),
        (Compare("i", ">", Decimal("1.5")), "UTC", True),
        (Compare("i", "=", "1"), "UTC", False),
        (Compare("i", "=", 1.5), "UTC", False),
        (Compare("i", "=", True), "UTC", False),
        (Compare("s", "<", "x"), "UTC", True),
        (Compare("s", "=", 1), "UTC", False),
        (Compare("c", "=", "x"), "UTC", False),
        (Compare("d", "<", 1.5), "UTC", True),
        (Compare("d", ">", 1.5), "UTC", False),
        (Compare("e", "=", 1.5), "UTC", False),
        (Compare("n", "=", NOW), "UTC", True),
        (Compare("n", "=", NOW), "Europe/Berlin", False),
        (Compare("n", "=", "2024-01-01 00:00:00"), "Europe/Berlin", True),
        (Compare("z", "=", "2024-01-01 00:00:00"), "Europe/Berlin", False),
        (Compare("z", "=", NOW), "UTC", True),
        (Compare("n9", "=", NOW), "UTC", False),
        (Compare("da", "=", dt.date(2024, 1, 1)), "UTC", True),
        (Compare("da", "=", "2024-1-1"), "UTC", False),
        (Compare("da", "=", "2024-13-01"), "UTC", False),
        (Compare("t", "=", dt.time(1)), "UTC", False),
        (Compare("nope", "=", 1), "UTC", False),
        (In("i", (1, 2)), "UTC", True),
        (In("i", (1, "2")), "UTC", False),
        (IsNull("n9"), "UTC", True),
        (StartsWith("s", "a"), "UTC", True),
        (StartsWith("i", "1"), "UTC", False),
        (Like("c", "a%"), "UTC", False),
        (Not(Compare("d", "<", 1.5)), "UTC", False),
        (Not(Compare("i", "<", 1)), "UTC", True),
        (Not(In("i", (1, 2))), "UTC", True),
    ],
)
def test_leaves(leaf, zone, kept):
    assert conjuncts_with_spark_meaning(leaf, FIELDS, zone) == (leaf if kept else None)


def test_a_conjunction_keeps_its_safe_parts_and_a_disjunction_only_whole():
    safe, unsafe = Compare("i", "=", 1), Compare("s", "=", 1)
    assert conjuncts_with_spark_meaning(And((safe, unsafe)), FIELDS, "UTC") == safe
    assert conjuncts_with_spark_meaning(Or((safe, unsafe)), FIELDS, "UTC") is None
    assert conjuncts_with_spark_meaning(And((Or((safe, unsafe)), IsNull("s"))), FIELDS, "UTC") == IsNull("s")
    assert conjuncts_with_spark_meaning(None, FIELDS, "UTC") is None


@pytest.mark.spark
def test_what_goes_before_a_mask(spark):
    frame = spark.sql(
        "SELECT * FROM VALUES (1, 1, 'a', 1.5BD), (2, 9, 'b', 2.0BD), (3, NULL, 'x', NULL) AS t(id, i, s, e)"
    )
    expected = [
        (Compare("i", "<", 5), [1]),
        (And((Compare("s", ">=", "b"), IsNull("i"))), [2, 3]),  # IS NULL is left to Spark
        (And((In("e", (Decimal("1.5"), Decimal("3.0"))), Compare("da", "=", 3))), [1]),
        (And((Compare("i", "<>", 1), Or((Compare("i", "=", 2), Compare("s", "=", "x"))))), [2]),
        (IsNotNull("i"), [1, 2]),
    ]
    for predicate, ids in expected:
        condition = condition_for_native_scan(predicate, FIELDS)
        assert [r.id for r in frame.where(condition).orderBy("id").collect()] == ids, str(predicate)


@pytest.mark.parametrize("predicate", [None, Compare("d", "<", 1.5), Compare("gone", "=", 1), Not(Like("s", "a%"))])
def test_what_is_left_to_spark_alone(predicate):
    assert condition_for_native_scan(predicate, FIELDS) is None
