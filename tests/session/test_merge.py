"""MERGE INTO with every kind of clause, on every kind of table, against the same rules told row by row in Python."""

import random

import pyarrow as pa
import pytest
from change_kit import KINDS, MERGED, create
from sampling import sampled

from paimon_nb.base.errors import (
    ColumnNotFound,
    PaimonError,
    SqlSyntaxError,
    TableNotFound,
    UnsupportedOperation,
    WriteError,
)

pytestmark = pytest.mark.spark
Row = tuple[int, str | None, int | None, str]


def stored(wb, name: str = "t") -> list[Row]:
    return sorted((tuple(r.values()) for r in wb.table(name).to_arrow().to_pylist()), key=repr)


def table_of(rows: list[Row]) -> pa.Table:
    columns = list(zip(*rows, strict=True))
    types = (pa.int32(), pa.string(), pa.int32(), pa.string())
    return pa.table([pa.array(c, t) for c, t in zip(columns, types, strict=True)], names=["id", "v", "n", "p"])


MERGE = """
MERGE INTO t AS x USING (SELECT * FROM s WHERE n IS NULL OR n <> 13) AS y ON x.id = y.id AND x.p = y.p
WHEN MATCHED AND y.n > 60 THEN DELETE
WHEN MATCHED AND y.n > 30 THEN UPDATE SET v = CASE WHEN y.v IS NULL THEN 'none' ELSE concat(x.v, y.v) END, n = x.n + y.n
WHEN MATCHED AND y.v IS NOT NULL THEN UPDATE SET *
WHEN NOT MATCHED AND y.n < 50 THEN INSERT *
WHEN NOT MATCHED AND y.n IS NULL THEN INSERT (p, id, v) VALUES (y.p, y.id, 'new')
WHEN NOT MATCHED BY SOURCE AND x.n > 70 THEN UPDATE SET x.n = -1
WHEN NOT MATCHED BY SOURCE AND x.v IS NULL THEN DELETE
"""


def told(target: list[Row], source: list[Row]) -> list[Row]:
    """MERGE as the text above says it."""
    theirs = {(r[0], r[3]): r for r in source if r[2] != 13}
    out = []
    for i, v, n, p in target:
        y = theirs.pop((i, p), None)
        if y is not None:
            if y[2] is not None and y[2] > 60:
                continue
            if y[2] is not None and y[2] > 30:
                joined = None if v is None or y[1] is None else v + y[1]
                out.append((i, "none" if y[1] is None else joined, None if n is None else n + y[2], p))
            else:
                out.append(y if y[1] is not None else (i, v, n, p))
        elif n is not None and n > 70:
            out.append((i, v, -1, p))
        elif v is not None:
            out.append((i, v, n, p))
    for i, v, n, p in theirs.values():
        if n is None:
            out.append((i, "new", None, p))
        elif n < 50:
            out.append((i, v, n, p))
    return sorted(out, key=repr)


def random_rows(r: random.Random, count: int) -> list[Row]:
    ids = r.sample(range(60), count)
    return [(i, r.choice(["a", "b", None]), r.choice([None, 13, r.randrange(100)]), "abc"[i % 3]) for i in ids]


@pytest.mark.parametrize("kind", [k if k in MERGED else pytest.param(k, marks=pytest.mark.nightly) for k in KINDS])
def test_all_clauses(swb, kind):
    r = random.Random(kind)
    swb.run(f"{create('t', kind)}; CREATE TABLE s (id INT, v STRING, n INT, p STRING)")
    target, source = random_rows(r, 40), random_rows(r, 40)
    for part in (target[:15], target[15:]):
        swb.table("t").append(table_of(part))
    swb.table("s").append(table_of(source))
    for _ in range(2):  # the second finds deletion vectors and new files of the first
        result = swb.run(MERGE)
        target = told(target, source)
        assert stored(swb) == target
        assert [i for _, i in result.snapshots][-1:] == [swb.table("t").latest_snapshot().id]


@pytest.fixture
def small(swb):
    """k (key id) and a (no key) with rows 1, 2, 3; s with 2, 3, 4."""
    swb.run("""
        CREATE TABLE k (id INT, v STRING, n INT DEFAULT '7', PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1');
        CREATE TABLE a (id INT, v STRING, n INT DEFAULT '7'); CREATE TABLE s (id INT, v STRING, n INT);
        INSERT INTO k VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3); INSERT INTO a SELECT * FROM k;
        INSERT INTO s VALUES (2, 'B', 20), (3, 'C', 30), (4, 'D', 40)
    """)
    return swb


CLAUSES = [
    ("USING s ON {t}.id = s.id WHEN NOT MATCHED THEN INSERT (id, v) VALUES (id, s.v)",
     [(1, "a", 1), (2, "b", 2), (3, "c", 3), (4, "D", 7)]),
    ("USING s ON {t}.id = s.id WHEN NOT MATCHED THEN INSERT (id, n) VALUES (s.id, DEFAULT)",
     [(1, "a", 1), (2, "b", 2), (3, "c", 3), (4, None, 7)]),
    ("USING s ON {t}.id = s.id WHEN NOT MATCHED AND id > 3 THEN INSERT (id, v) VALUES (id, (SELECT max(id) FROM s)) "
     "WHEN NOT MATCHED BY SOURCE AND id = 1 THEN UPDATE SET v = concat(v, v)",
     [(1, "aa", 1), (2, "b", 2), (3, "c", 3), (4, "4", 7)]),
    ("USING s ON {t}.id = s.id WHEN MATCHED THEN DELETE", [(1, "a", 1)]),
    ("USING s ON {t}.id = s.id WHEN NOT MATCHED BY SOURCE THEN DELETE", [(2, "b", 2), (3, "c", 3)]),
    ("USING s ON {t}.id = s.id AND {t}.id > 2 WHEN MATCHED THEN UPDATE SET {t}.v = s.v WHEN NOT MATCHED BY TARGET THEN INSERT *",
     None),
    ("USING s ON {t}.id = s.id AND {t}.id > 2 WHEN MATCHED THEN UPDATE SET {t}.v = s.v",
     [(1, "a", 1), (2, "b", 2), (3, "C", 3)]),
    ("USING s ON {t}.id = s.id AND {t}.id > 2 WHEN NOT MATCHED BY SOURCE THEN DELETE", [(3, "c", 3)]),
    ("USING default.s AS o ON {t}.id = o.id WHEN MATCHED THEN UPDATE SET v = (SELECT max(v) FROM s), n = o.n",
     [(1, "a", 1), (2, "D", 20), (3, "D", 30)]),
    ("USING s VERSION AS OF 1 ON {t}.id = s.id WHEN MATCHED AND s.id = :id THEN DELETE", [(1, "a", 1), (3, "c", 3)]),
    ("USING (VALUES (1, 'one'), (9, 'nine')) AS s(id, v) ON {t}.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v "
     "WHEN NOT MATCHED THEN INSERT (id, v, n) VALUES (s.id, s.v, 0)",
     [(1, "one", 1), (2, "b", 2), (3, "c", 3), (9, "nine", 0)]),
    ("USING {t} AS o ON {t}.id = o.id + 1 WHEN MATCHED THEN UPDATE SET v = o.v", [(1, "a", 1), (2, "a", 2), (3, "b", 3)]),
    ("USING s ON {t}.id = s.id AND false WHEN MATCHED THEN DELETE", [(1, "a", 1), (2, "b", 2), (3, "c", 3)]),
    ("USING (SELECT 2 AS id UNION ALL SELECT 2) s ON {t}.id = s.id WHEN NOT MATCHED BY SOURCE THEN DELETE", [(2, "b", 2)]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("t", "clauses", "rows"),
    [
        # Both kinds of tables find their rows the same way: every fourth clause of one, one in twelve of the other are enough for every run.
        *(pytest.param("k", *case, marks=[] if i % 4 == 0 else pytest.mark.nightly) for i, case in enumerate(CLAUSES)),
        *(pytest.param("a", *case, marks=[] if i % 12 == 5 else pytest.mark.nightly) for i, case in enumerate(CLAUSES)),
    ],
)
def test_clause_by_clause(small, t, clauses, rows):
    if rows is None:  # a key comes in twice: it is one row in a key table, two in the other
        rows = [(1, "a", 1), (2, "B", 20), (3, "C", 3), (4, "D", 40)]
        rows += [(2, "b", 2)] if t == "a" else []
    small.run(f"MERGE INTO {t} {clauses.format(t=t)}", **({"id": 2} if ":id" in clauses else {}))
    assert stored(small, t) == sorted(rows, key=repr)


def test_what_it_says(small):
    text = "MERGE INTO k USING s ON k.id = s.id WHEN MATCHED AND s.id = 3 THEN DELETE WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    assert small.run(text).arrow.to_pylist() == [
        {"result": "1 inserted, 1 updated, 1 deleted rows in default.k in snapshot 2"}
    ]
    again = "MERGE INTO k USING s ON k.id = s.id AND s.id = 77 WHEN MATCHED THEN DELETE"
    assert small.run(again).arrow.to_pylist() == [
        {"result": "0 inserted, 0 updated, 0 deleted rows in default.k (no new snapshot)"}
    ]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("MERGE INTO {t} USING (SELECT 1 AS id UNION ALL SELECT 1) s ON {t}.id = s.id WHEN MATCHED THEN DELETE", WriteError),
        ("MERGE INTO {t} USING (SELECT 1 AS id UNION ALL SELECT 1) s ON {t}.id = s.id WHEN MATCHED AND {t}.n = 5 THEN DELETE", WriteError),
        ("MERGE INTO {t} USING (SELECT 1 AS id) s ON {t}.id = s.id WHEN MATCHED THEN UPDATE SET *", ColumnNotFound),
        ("MERGE INTO {t} USING s ON {t}.id = s.id WHEN MATCHED THEN UPDATE SET vv = 1", ColumnNotFound),
        ("MERGE INTO {t} USING s ON {t}.id = s.idd WHEN MATCHED THEN DELETE", PaimonError),
        ("MERGE INTO {t} USING nope ON {t}.id = nope.id WHEN MATCHED THEN DELETE", TableNotFound),
        ("MERGE INTO {t} USING s ON {t}.id = s.id", SqlSyntaxError),
        ("MERGE INTO {t} USING s ON {t}.id = s.id WHEN MATCHED THEN UPDATE SET", SqlSyntaxError),
        ("MERGE INTO {t} USING s ON {t}.id = s.id WHEN NOT MATCHED THEN INSERT (id, v) VALUES (1)", SqlSyntaxError),
        ("MERGE INTO k USING s ON k.id = s.id WHEN MATCHED THEN UPDATE SET id = s.n", UnsupportedOperation),
        ("MERGE INTO k USING s ON k.v = s.v WHEN MATCHED THEN UPDATE SET *", UnsupportedOperation),
    ],
)  # fmt: skip
@pytest.mark.parametrize("t", sampled(["k", "a"], 2))
def test_refused(small, t, text, kind):
    with pytest.raises(kind) as caught:
        small.run(text.format(t=t))
    assert caught.value.hint or kind is SqlSyntaxError
    assert [small.table(x).latest_snapshot().id for x in "ka"] == [1, 1]


@pytest.mark.parametrize(
    "text",
    sampled(
        [
            "MERGE INTO k USING s ON k.id = s.id WHEN MATCHED THEN UPDATE SET k.id = s.id, v = s.v",
            "MERGE INTO k USING s ON s.id = k.id WHEN MATCHED THEN UPDATE SET id = k.id, v = s.v",
            "MERGE INTO k AS t USING s ON s.id = t.id AND s.n > 0 WHEN MATCHED THEN UPDATE SET t.id = s.id, v = s.v",
            "MERGE INTO k USING s ON s.id = k.id WHEN MATCHED THEN UPDATE SET *",
        ],
        4,
    ),
)
def test_a_key_may_be_given_the_value_it_has(small, text):
    small.run(text)
    assert [r[:2] for r in stored(small, "k")] == [(1, "a"), (2, "B"), (3, "C")]
