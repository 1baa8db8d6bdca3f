"""The tables that browser tests look at, made as a person makes them."""

from __future__ import annotations

import contextlib
import decimal
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
from lab_kit import REPO

sys.path.append(str(REPO / "tests" / "notebook"))
from hostile import PAYLOADS


def write_orders(warehouse: Path) -> None:
    """Twelve upserts of one key table: 20,000 orders, then their changes, in places that overlap."""
    import paimon_nb

    with paimon_nb.connect(str(warehouse)) as wb:
        wb.run(
            "CREATE TABLE orders (id BIGINT NOT NULL, status STRING, amount DECIMAL(10, 2), PRIMARY KEY (id) NOT ENFORCED) "
            "WITH ('bucket' = '1')"
        )
        table = wb.table("orders")
        draw = np.random.default_rng(7)

        def batch(low: int, high: int, rows: int, status: str) -> pa.Table:
            ids = np.sort(draw.choice(np.arange(low, high), rows, replace=False))
            amounts = [decimal.Decimal(int(cents)) / 100 for cents in draw.integers(100, 99_999, rows)]
            return pa.table({"id": ids, "status": [status] * rows, "amount": amounts}).cast(table.schema.arrow)

        table.upsert(batch(1, 40_001, 20_000, "new"))
        for i in range(11):
            low, width = int(draw.integers(1, 30_000)), int(draw.integers(2_000, 16_000))
            rows = min(width - 1, int(draw.integers(300, 2_500)))
            table.upsert(batch(low, min(40_000, low + width), rows, ("paid", "sent", "returned")[i % 3]))
            if i == 4:
                table.tags.create("month-end")


def write_hostile(warehouse: Path) -> None:
    """A table whose keys, values, column names, comments, options and tags all want to run: every payload in every place."""
    import paimon_nb
    from paimon_nb.base.errors import PaimonError

    with paimon_nb.connect(str(warehouse)) as wb:
        said = [p.replace("'", "''") for p in PAYLOADS]
        columns = ", ".join(
            f"`{p.replace('`', '``')}` STRING COMMENT '{c}'" for p, c in zip(PAYLOADS, said, strict=True)
        )
        options = ", ".join(f"'x.note.{i}' = '{c}'" for i, c in enumerate(said))
        wb.run(
            f"CREATE TABLE hostile (k STRING COMMENT '{said[0]}', {columns}, PRIMARY KEY (k) NOT ENFORCED) "
            f"COMMENT '{said[7]}' WITH ('bucket' = '1', 'write-only' = 'true', {options})"
        )
        table = wb.table("hostile")
        keys = [*PAYLOADS, "a"]
        for turn in range(2):
            values = [PAYLOADS[(i + turn) % len(PAYLOADS)] for i in range(len(keys))]
            table.upsert(pa.table({"k": keys, **dict.fromkeys(PAYLOADS, values)}))
        for payload in PAYLOADS:
            with contextlib.suppress(PaimonError):  # a tag's name is a file's name
                table.tags.create(payload)


def write_ill(warehouse: Path) -> None:
    """A table of three files, of which the newest is gone: the snapshot before it is whole."""
    import paimon_nb

    with paimon_nb.connect(str(warehouse)) as wb:
        wb.run("CREATE TABLE ill (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', 'write-only' = 'true')")
        table = wb.table("ill")
        for i in range(3):
            before = set(Path(table.path).rglob("data-*.parquet"))
            table.upsert(pa.table({"id": pa.array([i], pa.int32())}))
        (newest,) = set(Path(table.path).rglob("data-*.parquet")) - before
        newest.unlink()


def write_sales(warehouse: Path) -> None:
    """Sales by day in four buckets: three days, two loads each, and the columns' statistics that queries skip by."""
    import paimon_nb

    with paimon_nb.connect(str(warehouse)) as wb:
        wb.run(
            "CREATE TABLE sales (day STRING, id BIGINT, shop STRING, amount INT, PRIMARY KEY (day, id) NOT ENFORCED) "
            "PARTITIONED BY (day) WITH ('bucket' = '4', 'write-only' = 'true', 'file.block-size' = '16 kb')"
        )
        table = wb.table("sales")
        for day in range(1, 4):
            for load in range(2):
                ids = np.arange(load * 8000, load * 8000 + 8000)
                made = {
                    "day": [f"2026-03-0{day}"] * 8000,
                    "id": ids,
                    "shop": [f"shop {i % 9}" for i in ids],
                    "amount": ids % 500,
                }
                table.upsert(pa.table(made).cast(table.schema.arrow))


def write_carts(warehouse: Path) -> None:
    """One cart in seven versions: a partial-update table whose columns come from different commits, one of them a sum."""
    import paimon_nb

    with paimon_nb.connect(str(warehouse)) as wb:
        wb.run(
            "CREATE TABLE carts (id INT, customer STRING, items INT, paid DECIMAL(8, 2), note STRING, PRIMARY KEY (id) NOT ENFORCED) "
            "WITH ('bucket' = '1', 'merge-engine' = 'aggregation', 'write-only' = 'true', 'fields.items.aggregate-function' = 'sum', "
            "'fields.note.aggregate-function' = 'listagg')"
        )
        table = wb.table("carts")
        versions = (
            ("Ada", 2, None, None), (None, 3, None, "gift"), (None, None, "19.90", None), (None, -1, None, "fragile"),
            ("Ada L.", None, None, None), (None, 1, None, None), (None, None, "24.90", "paid"),
        )  # fmt: skip
        for i, (customer, items, paid, note) in enumerate(versions):
            made = {
                "id": [7, 8],
                "customer": [customer] * 2,
                "items": [items] * 2,
                "paid": [paid] * 2,
                "note": [note] * 2,
            }
            table.upsert(pa.table(made).cast(table.schema.arrow))
            if i == 2:
                table.compact()
