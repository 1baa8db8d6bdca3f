"""What kind of table a history runs on: merge engine and bucket mode are given, all else is drawn from the seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from model import Column, Rules

if TYPE_CHECKING:
    import random

ENGINES = ("deduplicate", "sequence", "partial-update", "groups", "aggregation", "first-row")
KINDS = (
    *((engine, bucket) for engine in ENGINES for bucket in ("fixed", "dynamic", "postpone")),
    *((engine, "cross") for engine in ("deduplicate", "partial-update", "aggregation", "first-row")),
    ("append", "unaware"),
    ("append", "bucketed"),
)
"""(merge engine, bucket mode): every pair that Paimon has."""


@dataclass(frozen=True)
class Scene:
    engine: str
    bucket: str
    columns: tuple[Column, ...]
    keys: tuple[str, ...]
    partitions: tuple[str, ...]
    options: dict[str, str]
    rules: Rules
    hides_level_0: bool
    keeps: int | None
    """Snapshots that every commit leaves (`snapshot.num-retained.max`); None: all."""

    @property
    def keyed(self) -> bool:
        return self.engine != "append"


def scene(engine: str, bucket: str, dice: random.Random) -> Scene:
    key_type = dice.choice(["INT", "STRING", "BIGINT", "DATE"])
    roles = [("k", key_type), ("p", "STRING"), ("a", "BIGINT"), ("v", "INT"), ("s", "STRING"), ("g", "INT")]
    columns = tuple(Column(i, role, t, role) for i, (role, t) in enumerate(roles))
    crossing, parted = bucket == "cross", bucket == "cross" or dice.random() < 0.5
    keyed = engine != "append"
    keys = () if not keyed else ("k", "p") if parted and not crossing else ("k",)
    options = {
        "bucket": {"fixed": dice.choice("123"), "bucketed": dice.choice("12"), "postpone": "-2"}.get(bucket, "-1"),
        "file.format": dice.choice(["parquet", "parquet", "orc", "avro"]),
        "num-sorted-run.compaction-trigger": dice.choice("2345"),
        "metadata.stats-mode": dice.choice(["truncate(16)", "full", "counts", "none"]),
    }
    if bucket == "bucketed":
        options["bucket-key"] = "k"
    if bucket in ("dynamic", "cross") and dice.random() < 0.5:
        options["dynamic-bucket.target-row-num"] = "5"
    if bucket == "postpone":
        options["postpone.default-bucket-num"] = dice.choice("12")
        options["postpone.batch-write-fixed-bucket"] = "false"  # the rows wait
    keeps = dice.choice([None, None, 3, 6])
    if keeps:
        options |= {"snapshot.num-retained.min": "1", "snapshot.num-retained.max": str(keeps)}
    for chance, more in (
        (0.3, {"target-file-size": "1 kb"}),
        (0.3, {"manifest.merge-min-count": "2", "manifest.target-file-size": "1 kb"}),
        (0.2, {"file-index.bloom-filter.columns": "s", "file-index.bitmap.columns": "v"}),
        (0.2, {"num-levels": "3"}),
        (0.2, {"compaction.min.file-num": "2"}),
    ):
        if dice.random() < chance:
            options |= more
    deletes = "no"
    if keyed:
        deletes = _keyed(engine, bucket, dice, options)
    elif bucket == "unaware" and dice.random() < 0.5:
        options["deletion-vectors.enabled"] = "true"
    rules = Rules(
        engine, tuple(c.identity for c in columns if c.name in keys), 1 if parted else None,
        crossing, bucket == "postpone", deletes,
    )  # fmt: skip
    if "write-only" in options:
        keeps = None  # expiry is left to others, too
    hides = keyed and (engine == "first-row" or "deletion-vectors.enabled" in options)
    return Scene(engine, bucket, columns, keys, ("p",) if parted else (), options, rules, hides, keeps)


def _keyed(engine: str, bucket: str, dice: random.Random, options: dict[str, str]) -> str:
    """Options of a table with keys; returns what a -D does."""
    options["merge-engine"] = {"sequence": "deduplicate", "groups": "partial-update"}.get(engine, engine)
    if dice.random() < 0.3:
        options["data-file.thin-mode"] = "true"
    producers = ["none", "lookup"] if engine == "first-row" else ["none", "none", "input", "lookup", "full-compaction"]
    if bucket == "postpone":
        producers = ["none", "lookup"]
    producer = options["changelog-producer"] = dice.choice(producers)
    vectors = engine != "first-row" and bucket in ("fixed", "dynamic") and producer != "full-compaction"
    if vectors and dice.random() < 0.3:
        options |= {"deletion-vectors.enabled": "true", "deletion-vectors.bitmap64": dice.choice(["true", "false"])}
    elif engine != "first-row" and producer in ("none", "input") and bucket != "postpone" and dice.random() < 0.2:
        options["write-only"] = "true"
    # A -D that meets nothing below it is forgotten when files of level 0 are merged among themselves, in Java too;
    # where level 0 always meets the present row, deletes inside partial-update and aggregation are well defined.
    meets_rows = producer == "lookup" or "deletion-vectors.enabled" in options
    match engine:
        case "deduplicate":
            return "row"
        case "sequence":
            options["sequence.field"] = "v"
        case "partial-update" if meets_rows and bucket in ("fixed", "dynamic") and dice.random() < 0.6:
            options["partial-update.remove-record-on-delete"] = "true"
            return "row"
        case "groups":
            options["fields.g.sequence-group"] = "v,s"
        case "aggregation":
            options |= {f"fields.{c}.aggregate-function": f for c, f in (("a", "sum"), ("v", "max"), ("g", "min"))}
            if meets_rows and bucket in ("fixed", "dynamic") and dice.random() < 0.5:
                options["aggregation.remove-record-on-delete"] = "true"
                return "row"
            if bucket == "cross":
                return "no"  # a -D would take the partition column back too
            options |= {f"fields.{c}.ignore-retract": "true" for c in "vgs"}
            options["fields.default-aggregate-function"] = "last_non_null_value"
            return "retract"
    return "no"
