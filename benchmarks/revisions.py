"""This checkout beside an older one: `python -m benchmarks.revisions OLD_CHECKOUT [--rows N] [--repeat N]`.

The same public calls run in processes whose PYTHONPATH is one checkout or the other, in turn. A checkout with a `.venv` runs in it, as its
dependencies can differ. Prints a line for each call: the median
seconds of both, their ratio (below 1 this checkout is faster) and the range of the ratios of the rounds, which is the noise.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent.parent
COMMITS, INSERTS, LOOKUPS = 40, 40, 60
"""Small calls are repeated, and the median of the second half counts."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.revisions", description="Compare two checkouts.")
    parser.add_argument("old", type=Path, help="checkout of the older revision")
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the base (default %(default)s)")
    parser.add_argument("--repeat", type=int, default=5, help="rounds after the warm-up (default %(default)s)")
    arguments = parser.parse_args()
    rounds: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for number in range(arguments.repeat + 1):
        old, new = (_run(checkout, arguments.rows) for checkout in (arguments.old.resolve(), HERE))
        if old["answers"] != new["answers"]:
            raise SystemExit(f"the answers differ:\n{old['answers']}\n{new['answers']}")
        if number:  # the first round warms the page cache and the bytecode of both
            rounds.append((old["seconds"], new["seconds"]))
    print(f"{'call':34} {'old s':>9} {'new s':>9} {'ratio':>6}  rounds")
    for call in rounds[0][0]:
        ratios = sorted(new[call] / old[call] for old, new in rounds)
        before, after = (statistics.median(pair[side][call] for pair in rounds) for side in (0, 1))
        print(f"{call:34} {before:9.4f} {after:9.4f} {after / before:6.2f}  {ratios[0]:.2f} to {ratios[-1]:.2f}")
    return 0


def _run(checkout: Path, rows: int) -> dict[str, Any]:
    """Seconds and answers of each call with the package of a checkout, in a new process and an empty warehouse."""
    own = checkout / ".venv" / "bin" / "python"
    python = str(own) if own.exists() else sys.executable
    environment = {**os.environ, "PYTHONPATH": str(checkout), "PYSPARK_PYTHON": python}
    with tempfile.TemporaryDirectory(prefix="paimon_nb-revisions-") as directory:
        command = [python, __file__, directory, str(rows)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=directory)
    if done.returncode:
        raise SystemExit(f"{checkout}:\n{done.stderr}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def calls(directory: str, rows: int) -> dict[str, Any]:
    """Runs in the process of one checkout: only names that both checkouts have."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    import paimon_nb

    seconds: dict[str, float] = {}
    answers: dict[str, Any] = {}

    def timed(call: str, act: Callable[[], Any]) -> Any:
        began = time.perf_counter()
        answer = act()
        seconds[call] = time.perf_counter() - began
        return answer

    def repeated(call: str, act: Callable[[int], Any], times: int) -> None:
        took = []
        for number in range(times):
            began = time.perf_counter()
            act(number)
            took.append(time.perf_counter() - began)
        seconds[call] = statistics.median(took[times // 2 :])

    def batch(start: int, count: int, seed: int) -> pa.Table:
        random = np.random.default_rng(seed)
        keys = random.permutation(count) + start
        return pa.table(
            {"k": keys, "n": random.integers(0, 1000, count), "s": [f"name {key % 9973:06}" for key in keys]}
        )

    wb = timed("connect", lambda: paimon_nb.connect(directory))
    ddl = "CREATE TABLE {} (k BIGINT, n BIGINT, s STRING, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '4', 'write-only' = '{}')"
    for name, write_only in (("t", "true"), ("small", "true"), ("loaded", "true")):
        wb.run(ddl.format(name, write_only))
    base = batch(0, rows, 0)
    table = wb.table("t")
    timed("append of the base", lambda: table.append(base))
    changes = [batch(rows * n // 6, rows // 10, n + 1) for n in range(5)]
    timed("five upserts of a tenth", lambda: [table.upsert(change) for change in changes])
    merged = timed("to_arrow, merge-on-read", lambda: table.to_arrow())
    some = timed("to_arrow with where=", lambda: table.to_arrow(where="k = 77"))
    repeated("lookup", lambda n: table.lookup(k=n * (rows // LOOKUPS)), LOOKUPS)
    timed("files()", lambda: table.files().num_rows)
    small = wb.table("small")
    few = [batch(n * 10, 10, n) for n in range(COMMITS)]
    repeated("commit of 10 rows", lambda n: small.append(few[n]), COMMITS)
    texts = [
        "INSERT INTO small VALUES " + ", ".join(f"({n * 10 + i}, {i}, 'x')" for i in range(10)) for n in range(INSERTS)
    ]
    timed("Spark's start", lambda: wb.spark.range(1).count())  # before `wb.sql`, which would start it
    repeated("INSERT of 10 rows by SQL", lambda n: wb.sql(texts[n]), INSERTS)
    source = f"{directory}/source.parquet"
    pq.write_table(base, source)
    spark = wb.spark
    spark.read.parquet(source).createOrReplaceTempView("source")
    timed("INSERT ... SELECT by Spark", lambda: wb.sql("INSERT INTO loaded SELECT k, n, s FROM source"))
    question = "SELECT count(*) AS c, sum(n) AS n, max(s) AS s FROM t"
    timed("first aggregate by Spark", lambda: wb.sql(question).collect())
    answer = timed("second aggregate by Spark", lambda: [list(row) for row in wb.sql(question).collect()])
    full = table.copy({"write-only": "false"})
    timed("full compaction", lambda: full.compact())
    compacted = timed("to_arrow, compacted", lambda: wb.table("t").to_arrow())
    answers["merged"] = [merged.num_rows, int(np.sum(merged["n"].to_numpy()))]
    answers["compacted"] = [compacted.num_rows, int(np.sum(compacted["n"].to_numpy()))]
    answers["where"], answers["aggregate"] = some.to_pylist(), answer
    answers["small"], answers["loaded"] = (wb.table(name).to_arrow().num_rows for name in ("small", "loaded"))
    wb.close()
    return {"seconds": seconds, "answers": answers}


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[2].isdigit():
        print(json.dumps(calls(sys.argv[1], int(sys.argv[2]))))
    else:
        sys.exit(main())
