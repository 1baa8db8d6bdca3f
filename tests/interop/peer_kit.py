"""Other writers and readers of Paimon 2.1 as judges: pypaimon and pypaimon-rust, in an environment of their own."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

WORKER = Path(__file__).with_name("peer_worker.py")
WANTED = ("pypaimon[vindex,full-text]==2.1.0", "pypaimon-rust==0.4.0")
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "paimon-nb-tests"


class PeerError(Exception):
    """What a peer raised."""


def peer_python() -> str:
    """A Python that has the peers: `PAIMON_PEERS_PYTHON`, else one made here once. Skips where it cannot be had."""
    return os.environ.get("PAIMON_PEERS_PYTHON") or installed_python("peers-2.1-indexes", WANTED)


def installed_python(name: str, packages: tuple[str, ...]) -> str:
    """A Python with these packages, made once in the user's cache. Skips where they cannot be had."""
    folder = _CACHE / name
    python = folder / "bin/python"
    with _installing(name):
        if (folder / ".installed").exists():
            return str(python)
        try:
            subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, capture_output=True)
            subprocess.run(
                [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages],
                check=True, capture_output=True, timeout=600, env={**os.environ, "PYTHONPATH": ""},
            )  # fmt: skip
        except (subprocess.SubprocessError, OSError) as why:
            pytest.skip(f"{', '.join(packages)} cannot be installed: {why!s:.200}")
        (folder / ".installed").touch()
    return str(python)


@contextmanager
def _installing(name: str) -> Iterator[None]:
    """One test process installs, the others wait for it."""
    _CACHE.mkdir(parents=True, exist_ok=True)
    with (_CACHE / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


class Peers:
    """Both peers over one warehouse, or over the catalog of these options, in one process. `warehouse` takes the rows on their way."""

    def __init__(self, warehouse: Path, options: Mapping[str, str] | None = None, python: str | None = None) -> None:
        self.warehouse = warehouse
        (warehouse / "default.db").mkdir(parents=True, exist_ok=True)
        catalog = str(warehouse) if options is None else json.dumps(dict(options))
        self._process = subprocess.Popen(
            [python or peer_python(), "-W", "ignore", str(WORKER), catalog], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, env={**os.environ, "PYTHONPATH": ""},
        )  # fmt: skip
        self._number = 0

    def ask(self, peer: str, op: str, **arguments: Any) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"peer": peer, "op": op, **arguments}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        answer = json.loads(line) if line else {"error": "the process ended"}
        if "error" in answer:
            raise PeerError(f"{peer} {op}: {answer['error']}")

    def create(
        self, table: str, schema: pa.Schema, keys: list[str], partitions: list[str], options: dict[str, str]
    ) -> None:
        self.ask(
            "pypaimon",
            "create",
            table=table,
            schema=self._file(schema.empty_table()),
            keys=keys,
            partitions=partitions,
            options=options,
        )

    def write(self, peer: str, table: str, rows: pa.Table) -> None:
        self.ask(peer, "write", table=table, rows=self._file(rows))

    def update(self, table: str, rows: pa.Table) -> None:
        self.ask("pypaimon", "update", table=table, rows=self._file(rows))

    def delete(self, table: str, ids: list[int]) -> None:
        self.ask("pypaimon", "delete", table=table, ids=ids)

    def create_global_index(self, table: str, column: str, kind: str, **options: str) -> None:
        self.ask("pypaimon", "create_global_index", table=table, column=column, kind=kind, options=options)

    def read(
        self, peer: str, table: str, columns: list[str], where: tuple[str, str, list[Any]] | None = None, **options: str
    ) -> pa.Table:
        """The rows; `where` is (column, a method of pypaimon's PredicateBuilder, its values)."""
        out = self._path()
        if peer == "pypaimon":
            self.ask(peer, "read", table=table, out=out, columns=columns, where=where, options=options)
        else:
            text = f"SELECT {', '.join(columns)} FROM {table}"
            self.ask(peer, "sql", text=text if where is None else f"{text} WHERE {as_sql(where)}", out=out)
        with pa.ipc.open_file(out) as file:
            return file.read_all()

    def search(
        self, table: str, column: str, vector: list[float], k: int, metric: str, mode: str = "full", **options: str
    ) -> dict[int, float]:
        """Row ids of the nearest vectors, with their scores. `mode`: `fast` is by an index only, `full` finds other rows, too."""
        options = {"metric": metric, **options}
        return self._scores("search", table=table, column=column, vector=vector, k=k, mode=mode, options=options)

    def full_text_search(self, table: str, column: str, query: str, k: int, mode: str = "full") -> dict[int, float]:
        """Row ids of the best texts, with their scores."""
        return self._scores("full_text_search", table=table, column=column, query=query, k=k, mode=mode)

    def _scores(self, op: str, **arguments: Any) -> dict[int, float]:
        out = self._path()
        self.ask("pypaimon", op, out=out, **arguments)
        with pa.ipc.open_file(out) as file:
            rows = file.read_all()
        return dict(zip(rows.column("row").to_pylist(), rows.column("score").to_pylist(), strict=True))

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)

    def _file(self, rows: pa.Table) -> str:
        path = self._path()
        with pa.ipc.new_file(path, rows.schema) as file:
            file.write_table(rows)
        return path

    def _path(self) -> str:
        self._number += 1
        return str(self.warehouse / f"exchange-{self._number}.arrow")


_OPERATORS = {"equal": "=", "greater_than": ">", "less_or_equal": "<="}


def as_sql(where: tuple[str, str, list[Any]]) -> str:
    """The same condition as SQL, for us and for rust."""
    column, op, values = where
    values = values[0] if op == "is_in" else values
    texts = ["'" + v + "'" if isinstance(v, str) else str(v) for v in values]
    match op:
        case "is_null":
            return f"{column} IS NULL"
        case "is_not_null":
            return f"{column} IS NOT NULL"
        case "is_in":
            return f"{column} IN ({', '.join(v for v in texts)})"
        case "between":
            return f"{column} BETWEEN {texts[0]} AND {texts[1]}"
    return f"{column} {_OPERATORS[op]} {texts[0]}"
