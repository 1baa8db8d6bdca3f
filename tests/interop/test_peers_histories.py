"""Random histories: this package, pypaimon and pypaimon-rust write, change and compact one table in turn; all read the same rows."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from peer_kit import PeerError, Peers
from sampling import sampled

import paimon_nb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.slow

SCHEMA = pa.schema([("id", pa.int32()), ("v", pa.int64()), ("name", pa.string()), ("p", pa.string())])
NAMES = SCHEMA.names
_VECTORS = {"deletion-vectors.enabled": "true"}
_APPEND = {"bucket": "-1"}
_EVOLVING = {
    **_APPEND, **_VECTORS, "row-tracking.enabled": "true", "data-evolution.enabled": "true",
    "global-index.column-update-action": "DROP_PARTITION_INDEX",
}  # fmt: skip
KINDS: dict[str, tuple[bool, dict[str, str]]] = {
    "evolving": (False, _EVOLVING),
    "small evolving files": (False, {**_EVOLVING, "target-file-size": "2 kb"}),
    "append": (False, _APPEND),
    "append with vectors": (False, {**_APPEND, **_VECTORS}),
    "key": (True, {"bucket": "2"}),
    "key with vectors": (True, {"bucket": "1", **_VECTORS}),
    "key with a sequence": (True, {"bucket": "1", "sequence.field": "v"}),
}
"""Whether the table has keys, and its options."""


class History:
    """One table, its expected rows by id, and the steps that each writer can take."""

    def __init__(self, wb: paimon_nb.Workbench, peers: Peers, seed: int) -> None:
        self.wb, self.peers, self.random, self.name = wb, peers, random.Random(seed), f"t{seed}"
        self.kind = self.random.choice(list(KINDS))
        self.keyed, options = KINDS[self.kind]
        # pypaimon-rust cannot write ORC with the default compression.
        options = {**options, "file.format": self.random.choice(["parquet", "avro"])}
        keys, partitions = ["id"] if self.keyed else [], self.random.choice([[], [] if self.keyed else ["p"]])
        if self.random.random() < 0.5:
            wb.create_table(self.name, SCHEMA, primary_key=keys, partition_by=partitions, options=options)
        else:
            peers.create(self.name, SCHEMA, keys, partitions, options)
        self.rows: dict[int, dict[str, Any]] = {}
        self.last = 0
        self.taken: list[str] = [f"{self.kind}, {options['file.format']}, partitions {partitions}"]
        self.steps: list[Callable[[], None]] = [self.append_here, self.append_pypaimon, self.append_rust, self.compact]
        if self.kind != "append":
            self.steps += [self.delete_here]
        if not self.keyed and self.kind != "append":
            self.steps += [self.update_here]
        if "evolving" in self.kind:
            self.steps += [self.merge_here, self.update_pypaimon, self.delete_pypaimon, self.index_here]

    @property
    def table(self) -> paimon_nb.Table:
        return self.wb.table(self.name)

    def step(self) -> None:
        taken = self.random.choice(self.steps)
        self.taken.append(taken.__name__)
        taken()

    def append_here(self) -> None:
        rows = self._new_rows()
        (self.table.upsert if self.keyed else self.table.append)(rows)

    def append_pypaimon(self) -> None:
        self._append_by_peer("pypaimon")

    def append_rust(self) -> None:
        self._append_by_peer("rust")

    def _append_by_peer(self, peer: str) -> None:
        self.peers.write(peer, self.name, self._new_rows())
        if self.kind == "key with vectors":
            self.table.compact()  # rows of level 0 are not read before, in Java neither

    def compact(self) -> None:
        self.table.compact(full=self.keyed and self.random.random() < 0.5)

    def delete_here(self) -> None:
        chosen = self._some_id()
        self.table.delete(f"id = {chosen} OR id < {chosen // 3}")
        self.rows = {i: r for i, r in self.rows.items() if i != chosen and i >= chosen // 3}

    def update_here(self) -> None:
        chosen = self._some_id()
        self.table.update({"v": 1000}, where=f"id = {chosen}")
        if chosen in self.rows:
            self.rows[chosen]["v"] = 1000

    def merge_here(self) -> None:
        chosen = self._some_id()
        self.last = max(self.last, chosen) + 1
        inserted = {"id": self.last, "v": 8, "name": "new", "p": "x"}
        source = pa.Table.from_pylist([{**inserted, "id": chosen}, inserted], schema=SCHEMA)
        merge = self.table.merge(source, on=["id"]).when_matched_update({"v": 7}).when_not_matched_insert()
        merge.execute()
        for row in source.to_pylist():
            known = self.rows.get(row["id"])
            self.rows[row["id"]] = row if known is None else {**known, "v": 7}

    def update_pypaimon(self) -> None:
        chosen = self._some_row_ids()
        if chosen:
            names = [f"u{len(self.taken)}"] * len(chosen)
            self.peers.update(self.name, pa.table({"_ROW_ID": pa.array(chosen.values(), pa.int64()), "name": names}))
            for i in chosen:
                self.rows[i]["name"] = names[0]

    def delete_pypaimon(self) -> None:
        chosen = self._some_row_ids()
        if chosen:
            self.peers.delete(self.name, [*chosen.values()])
            for i in chosen:
                del self.rows[i]

    def index_here(self) -> None:
        call = f"CALL sys.{{}}_global_index(`table` => '{self.name}', index_column => 'v', index_type => '{{}}')"
        for kind in ("btree", "bitmap"):
            self.wb.run(call.format("drop", kind))
        self.wb.run(call.format("create", self.random.choice(["btree", "bitmap"])))

    def _some_id(self) -> int:
        return self.random.randint(1, max(1, self.last))

    def _some_row_ids(self) -> dict[int, int]:
        """Row ids of at most three rows, by `id`."""
        found = self.table.to_arrow(columns=["id", "_ROW_ID"]).to_pylist()
        return {
            r["id"]: r["_ROW_ID"] for r in self.random.sample(sorted(found, key=lambda r: r["id"]), min(3, len(found)))
        }

    def _new_rows(self) -> pa.Table:
        """Rows to write; with keys, some of them replace rows. The expected rows follow."""
        made: dict[int, dict[str, Any]] = {}
        for _ in range(self.random.randint(1, 8)):
            known = self.keyed and self.rows and self.random.random() < 0.5
            if not known:
                self.last += 1
            i = self.random.choice(sorted(self.rows)) if known else self.last
            v = self.random.choice([*range(-50, 50), *([] if "sequence" in self.kind else [None] * 9)])
            made[i] = {"id": i, "v": v, "name": self.random.choice(["a", "bé", "", None]), "p": "xy"[i % 2]}
        for i, row in made.items():
            if "sequence" not in self.kind or i not in self.rows or self.rows[i]["v"] <= row["v"]:
                self.rows[i] = dict(row)
        return pa.Table.from_pylist(list(made.values()), schema=SCHEMA)

    def check(self) -> None:
        expected = _in_order(self.rows.values())
        assert _in_order(self.table.to_arrow().to_pylist()) == expected, self.taken
        for peer in ("pypaimon", "rust"):
            assert _in_order(self.peers.read(peer, self.name, NAMES).to_pylist()) == expected, (peer, self.taken)
        bound, chosen = self.random.randint(-50, 50), self._some_id()
        for where, holds in (
            (f"v > {bound}", lambda r: r["v"] is not None and r["v"] > bound),
            (f"id = {chosen} OR name IS NULL", lambda r: r["id"] == chosen or r["name"] is None),
        ):
            found = _in_order(self.table.to_arrow(where=where).to_pylist())
            assert found == [r for r in expected if holds(r)], (where, self.taken)


def _in_order(rows: Any) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: row["id"])


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[paimon_nb.Workbench, Peers]]:
    root = tmp_path_factory.mktemp("peers")
    peers = Peers(root)
    with paimon_nb.connect(str(root)) as wb:
        yield wb, peers
    peers.close()


@pytest.mark.parametrize(
    "seeds", sampled([range(2), range(2, 50), range(50, 100), range(100, 150), range(150, 200), range(200, 250)], 6),
    ids=lambda seeds: f"{seeds.start}-{seeds.stop - 1}",
)  # fmt: skip
def test_all_read_the_same_rows(warehouse: tuple[paimon_nb.Workbench, Peers], seeds: range) -> None:
    for seed in seeds:
        history = History(*warehouse, seed)
        try:
            for number in range(history.random.randint(6, 14)):
                history.step()
                if number % 5 == 4:
                    history.check()
            history.check()
        except (PeerError, paimon_nb.PaimonError) as error:
            error.add_note(f"seed {seed}: {history.taken}")
            raise
