"""Runs in a Python of its own with pypaimon and pypaimon-rust: one JSON request a line in, one JSON answer a line out.

Rows travel as Arrow IPC files. It knows nothing of this project.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import pyarrow as pa
from pypaimon import CatalogFactory, Schema


def load(path: str) -> pa.Table:
    with pa.ipc.open_file(path) as file:
        return file.read_all()


def save(path: str, rows: pa.Table) -> None:
    with pa.ipc.new_file(path, rows.schema) as file:
        file.write_table(rows)


class Pypaimon:
    def __init__(self, options: dict[str, str]) -> None:
        self.catalog = CatalogFactory.create(options)
        self.catalog.create_database("default", True)

    def create(self, table: str, schema: str, keys: list[str], partitions: list[str], options: dict[str, str]) -> None:
        made = Schema.from_pyarrow_schema(
            load(schema).schema, primary_keys=keys, partition_keys=partitions, options=options
        )
        self.catalog.create_table(f"default.{table}", made, False)

    def write(self, table: str, rows: str, overwrite: dict[str, Any] | None = None) -> None:
        def work(builder: Any) -> Any:
            if overwrite is not None:
                builder.overwrite(overwrite)
            writing = builder.new_write()
            writing.write_arrow(load(rows))
            messages = writing.prepare_commit()
            writing.close()
            return messages

        self._commit(table, work)

    def update(self, table: str, rows: str) -> None:
        """New values of columns, by `_ROW_ID`."""
        new = load(rows)
        names = [n for n in new.column_names if n != "_ROW_ID"]
        self._commit(table, lambda b: b.new_update().with_update_type(names).update_by_arrow_with_row_id(new))

    def delete(self, table: str, ids: list[int]) -> None:
        self._commit(table, lambda b: b.new_update().delete_by_row_id(ids))

    def create_global_index(self, table: str, column: str, kind: str, options: dict[str, str]) -> None:
        self.catalog.get_table(f"default.{table}").create_global_index(column, kind, options=options)

    def tag(self, table: str, name: str, snapshot: int) -> None:
        self.catalog.create_tag(f"default.{table}", name, snapshot)

    def read(
        self, table: str, out: str, columns: list[str] | None, where: list[Any] | None, options: dict[str, str]
    ) -> None:
        found = self.catalog.get_table(f"default.{table}")
        builder = (found.copy(options) if options else found).new_read_builder()
        if where is not None:
            column, op, value = where
            builder = builder.with_filter(getattr(builder.new_predicate_builder(), op)(column, *value))
        if columns is not None:
            builder = builder.with_projection(columns)
        save(out, builder.new_read().to_arrow(builder.new_scan().plan().splits()))

    def search(
        self, table: str, column: str, vector: list[float], k: int, mode: str, options: dict[str, str], out: str
    ) -> None:
        """Row ids and scores of the nearest vectors."""
        found = self.catalog.get_table(f"default.{table}").copy({"vector-index.search-mode": mode})
        builder = found.new_vector_search_builder().with_vector_column(column).with_query_vector(vector).with_limit(k)
        for key, value in options.items():
            builder = builder.with_option(key, value)
        self._save_scores(builder.execute_local(), out)

    def full_text_search(self, table: str, column: str, query: str, k: int, mode: str, out: str) -> None:
        """Row ids and scores of the best texts."""
        found = self.catalog.get_table(f"default.{table}").copy({"full-text-index.search-mode": mode})
        self._save_scores(
            found.new_full_text_search_builder().with_query(column, query).with_limit(k).execute_local(), out
        )

    def _save_scores(self, scored: Any, out: str) -> None:
        score = scored.score_getter()
        ids = list(scored.results())
        save(out, pa.table({"row": pa.array(ids, pa.int64()), "score": [score(i) for i in ids]}))

    def _commit(self, table: str, work: Any) -> None:
        builder = self.catalog.get_table(f"default.{table}").new_batch_write_builder()
        messages = work(builder)
        commit = builder.new_commit()  # after `overwrite` of the builder
        commit.commit(messages)
        commit.close()


class Rust:
    def __init__(self, options: dict[str, str]) -> None:
        from pypaimon_rust.datafusion import SQLContext

        self.context = SQLContext()
        self.context.register_catalog("paimon", options)
        self.context.set_current_catalog("paimon")
        self.batches = 0

    def sql(self, text: str, out: str | None = None) -> None:
        batches = self.context.sql(text)
        if out is not None:
            rows = pa.Table.from_batches(batches) if batches else pa.table({})
            save(out, rows)

    def write(self, table: str, rows: str) -> None:
        batch = load(rows).combine_chunks()
        self.batches += 1
        self.context.register_batch(f"batch_{self.batches}", batch.to_batches()[0])
        columns = ", ".join(batch.column_names)
        self.context.sql(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM batch_{self.batches}")


def main(catalog: str) -> None:
    """`catalog`: a warehouse's path, or the options of a catalog as JSON."""
    options = json.loads(catalog) if catalog.startswith("{") else {"warehouse": catalog}
    peers: dict[str, Any] = {}
    makers = {"pypaimon": Pypaimon, "rust": Rust}
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            peer = asked.pop("peer")
            if peer not in peers:
                peers[peer] = makers[peer](options)
            getattr(peers[peer], asked.pop("op"))(**asked)
            answer = {}
        except BaseException as error:
            answer = {"error": f"{type(error).__name__}: {error}"[:600]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
