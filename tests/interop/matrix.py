"""The write matrix: tables of every engine, producer, format, bucket mode and so on, drawn so that all pairs of choices meet.

What a table should hold in the end is folded from its batches by plain Python, never read from the table.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

AXES: Mapping[str, tuple[str, ...]] = {
    "engine": ("deduplicate", "partial-update", "aggregation", "first-row", "append"),
    "producer": ("none", "input", "lookup", "full-compaction"),
    "format": ("parquet", "orc", "avro", "mixed"),
    "bucket": ("1", "3", "-1", "-2"),
    "partitioned": ("no", "yes", "cross"),
    "vectors": ("no", "v1", "v2"),
    "compaction": ("auto", "never", "minor", "full"),
    "sequence": ("no", "ascending", "descending"),
    "stats": ("truncate(16)", "full", "counts", "none"),
    "codec": ("zstd", "none", "snappy"),
    "more": ("plain", "thin", "index", "manifests", "evolved", "outside", "beside"),
}
Choice = dict[str, str]
Row = dict[str, Any]
COLUMNS = {"id": "INT", "a": "BIGINT", "s": "STRING", "v": "INT", "w": "INT", "p": "STRING"}
SEQUENCE = {"ascending": "v", "descending": "w"}
"""Two columns: Java caches comparators by their columns, not by direction, and reads many tables in one process here."""

BATCHES, KEYS = 7, 24


@dataclass(frozen=True)
class Case:
    """One table."""

    name: str
    choice: Choice
    away: str = ""
    """A root outside the warehouse, for tables that keep their files there."""

    @property
    def keyed(self) -> bool:
        return self.choice["engine"] != "append"

    @property
    def keys(self) -> tuple[str, ...]:
        if not self.keyed:
            return ()
        return ("id", "p") if self.choice["partitioned"] == "yes" else ("id",)

    @property
    def options(self) -> dict[str, str]:
        c = self.choice
        out = {"bucket": c["bucket"], "file.compression": c["codec"], "metadata.stats-mode": c["stats"]}
        out |= (
            {"file.format": "parquet", "file.format.per.level": "0:avro,5:orc"}
            if c["format"] == "mixed"
            else {"file.format": c["format"]}
        )
        if c["compaction"] == "never":
            out["write-only"] = "true"
        out["num-sorted-run.compaction-trigger"] = "3"
        if self.keyed:
            out |= {"merge-engine": c["engine"], "changelog-producer": c["producer"]}
            if c["sequence"] != "no":
                out |= {"sequence.field": SEQUENCE[c["sequence"]], "sequence.field.sort-order": c["sequence"]}
            if c["engine"] == "aggregation":
                functions = {"a": "sum", "s": "last_non_null_value", "v": "max", "w": "max"}
                functions.pop(SEQUENCE.get(c["sequence"], ""), None)
                out |= {f"fields.{name}.aggregate-function": f for name, f in functions.items()}
        elif c["bucket"] == "3":
            out["bucket-key"] = "id"
        if c["vectors"] != "no":
            out |= {"deletion-vectors.enabled": "true", "deletion-vectors.bitmap64": str(c["vectors"] == "v2").lower()}
        match c["more"]:
            case "thin":
                out["data-file.thin-mode"] = "true"
            case "index":
                out |= {"file-index.bloom-filter.columns": "s", "file-index.bitmap.columns": "v"}
            case "outside":
                out |= {
                    "data-file.external-paths": f"{self.away}/{self.name}/1,{self.away}/{self.name}/2",
                    "data-file.external-paths.strategy": "round-robin",
                    "index-file-in-data-file-dir": "true",
                    "data-file.path-directory": "below",
                }
            case "beside":
                out["index-file-in-data-file-dir"] = "true"
            case "manifests":
                out |= {
                    "manifest.format": "orc" if c["format"] == "orc" else "avro",
                    "manifest.compression": "none",
                    "manifest.merge-min-count": "2",
                    "manifest.target-file-size": "1 kb",
                }
        return out

    def batches(self) -> Iterator[list[Row]]:
        """Rows to upsert, one list a commit; row `kind` is +I or, for engines that take it, -D."""
        dice = random.Random(self.name)
        for turn in range(BATCHES):
            rows = []
            for i in sorted(dice.sample(range(KEYS), 9)):
                p = f"p{dice.randrange(3)}" if self.choice["partitioned"] != "no" else "x"
                # With a sequence field, a NULL or a deletion makes the result depend on what was compacted when, in Java too.
                s = None if dice.random() < 0.3 and self.choice["sequence"] == "no" else f"{turn}.{i} é"
                rows.append(
                    {
                        "id": i,
                        "a": dice.randrange(-99, 99),
                        "s": s,
                        "v": dice.randrange(50),
                        "w": dice.randrange(50),
                        "p": p,
                        "kind": self._kind(dice),
                    }
                )
            yield rows

    def _kind(self, dice: random.Random) -> str:
        takes = self.choice["engine"] == "deduplicate" and self.choice["sequence"] == "no"
        return "-D" if takes and dice.random() < 0.15 else "+I"

    def expected(self) -> list[Row]:
        """All rows in the end."""
        rows = [
            (turn, {k: v for k, v in r.items() if k != "kind"}, r["kind"])
            for turn, b in enumerate(self.batches())
            for r in b
        ]
        if not self.keyed:
            return [r for _, r, _ in rows]
        versions: dict[tuple, list[tuple[int, Row, str]]] = {}
        for version in rows:
            versions.setdefault(tuple(version[1][k] for k in self.keys), []).append(version)
        out = [self._fold(found) for found in versions.values()]
        return [r for r in out if r is not None]

    def _fold(self, versions: list[tuple[int, Row, str]]) -> Row | None:
        if self.choice["sequence"] != "no":
            sign = -1 if self.choice["sequence"] == "descending" else 1
            versions = sorted(versions, key=lambda v: (sign * v[1][SEQUENCE[self.choice["sequence"]]], v[0]))
        rows = [r for _, r, _ in versions]
        match self.choice["engine"]:
            case "deduplicate":
                return None if versions[-1][2] == "-D" else rows[-1]
            case "first-row":
                return rows[0]
        out = dict(rows[0])
        for row in rows[1:]:
            for name, value in row.items():
                if value is None or name in self.keys:
                    continue
                if self.choice["engine"] == "aggregation" and name == "a":
                    out[name] += value
                elif self.choice["engine"] == "aggregation" and name in {"v", "w"} - {
                    SEQUENCE.get(self.choice["sequence"])
                }:
                    out[name] = max(out[name], value)
                else:
                    out[name] = value
        return out


def makes_sense(c: Choice) -> bool:
    """Whether Paimon has such a table at all; what it refuses is tested elsewhere."""
    e = c["engine"]
    if e == "append":
        return (
            c["producer"] == "none" and c["bucket"] in ("-1", "3") and c["sequence"] == "no"
            and c["more"] != "thin" and c["partitioned"] != "cross" and c["format"] != "mixed"
            and not (c["vectors"] != "no" and c["bucket"] == "3")
        )  # fmt: skip
    if e == "first-row" and (c["producer"] not in ("none", "lookup") or c["vectors"] != "no" or c["sequence"] != "no"):
        return False
    if c["vectors"] != "no" and c["producer"] == "full-compaction":
        return False
    if c["partitioned"] == "cross" and (e != "deduplicate" or c["bucket"] != "-1" or c["sequence"] != "no"):
        return False
    if c["bucket"] == "-2" and (
        c["producer"] == "input" or c["vectors"] != "no" or c["partitioned"] == "cross" or c["compaction"] == "never"
    ):
        return False
    hidden = c["vectors"] != "no" or e == "first-row"
    return not (hidden and c["compaction"] == "never")  # level 0 would stay invisible


def cases(count: int, seed: int = 7, away: str = "") -> list[Case]:
    """`count` tables: greedily those that bring the most pairs of choices not seen yet."""
    dice = random.Random(seed)
    pool: list[Choice] = []
    while len(pool) < count * 12:
        choice = {axis: dice.choice(values) for axis, values in AXES.items()}
        if makes_sense(choice):
            pool.append(choice)
    seen: set[tuple] = set()
    out: list[Case] = []
    while len(out) < count and pool:
        candidates = dice.sample(pool, min(60, len(pool)))
        best = max(candidates, key=lambda c: len(_pairs(c) - seen))
        pool.remove(best)
        seen |= _pairs(best)
        out.append(Case(f"m{len(out):03d}", best, away))
    return out


def _pairs(choice: Choice) -> set[tuple]:
    return set(combinations(sorted(choice.items()), 2))
