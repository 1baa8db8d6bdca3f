"""Uses a table with the few packages of a small installation; prints what happened as JSON. Runs in another interpreter."""

from __future__ import annotations

import json
import sys

ABSENT = ("pyspark", "pandas", "yaml", "IPython", "ipywidgets", "anywidget", "plotly", "jupyterlab", "pyorc")


class Refusing:
    """An import hook: these packages are not installed."""

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> None:
        if name.partition(".")[0] in ABSENT:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return


def main(warehouse: str) -> dict[str, object]:
    import pyarrow as pa

    import paimon_nb

    def rows(first: int, count: int, state: str) -> pa.Table:
        ids = pa.array(range(first, first + count), pa.int32())
        return pa.table({"id": ids, "state": [state] * count, "day": ["mon" if i % 2 else "tue" for i in range(count)]})

    out: dict[str, object] = {}
    wb = paimon_nb.connect(warehouse)
    for file_format in ("parquet", "avro"):
        wb.run(
            f"""CREATE TABLE {file_format}_orders (id INT, state STRING, day STRING, PRIMARY KEY (id, day) NOT ENFORCED)
                PARTITIONED BY (day) WITH ('bucket' = '2', 'file.format' = '{file_format}', 'write-only' = 'true')"""
        )
        table = paimon_nb.open_table(f"{warehouse}/default.db/{file_format}_orders")
        for first in (0, 50, 100):
            table.upsert(rows(first, 100, f"s{first}"))
        with table.write() as writing:
            writing.write(rows(500, 10, "written"))
            table.commit().commit(writing.prepare())
        table.delete("id < 10")
        table = table.refresh()
        before = table.to_arrow(columns=["id", "state"], where="id < 120 AND state LIKE 's%'")
        table.compact(full=True)
        after = table.refresh()
        out[file_format] = {
            "rows": after.to_arrow().num_rows,
            "same": before.sort_by("id").equals(
                after.to_arrow(columns=["id", "state"], where="id < 120 AND state LIKE 's%'").sort_by("id")
            ),
            "one": after.lookup(id=501, day="mon").to_pylist(),
            "kinds": after.snapshots().column("commit_kind").to_pylist()[-2:],
            "files": after.files().num_rows,
        }
    wb.run("CREATE TABLE log (id INT, state STRING, day STRING)")
    log = wb.table("log")
    log.append(rows(0, 5, "a"))
    out["append"] = log.to_arrow().num_rows
    wb.run("CREATE TABLE in_orc (id INT, state STRING, day STRING) WITH ('file.format' = 'orc')")
    try:
        wb.table("in_orc").append(rows(0, 5, "a"))
    except paimon_nb.EnvironmentError_ as error:
        out["orc"] = error.hint
    out["counted"] = wb.run("SELECT count(*) AS n FROM log").arrow.to_pylist()
    try:
        wb.run("SELECT state, approx_count_distinct(id) FROM log GROUP BY state")  # left to Spark
    except paimon_nb.EnvironmentError_ as error:
        out["query"] = error.hint
    out["loaded"] = [name for name in ABSENT if name in sys.modules]
    return out


if __name__ == "__main__":
    if sys.argv[2:] == ["refuse"]:
        sys.meta_path.insert(0, Refusing())  # type: ignore[arg-type]
    sys.stdout.write(json.dumps(main(sys.argv[1])))
