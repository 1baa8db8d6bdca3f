"""Our statistics of Java's own files against the statistics that Java stored, byte for byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from paimon_nb.format.data import key_value_fields, read_data_file
from paimon_nb.format.manifest import ADD, DataFile, ManifestEntry, read_manifest, read_manifest_list
from paimon_nb.format.row import deserialize, partition_path
from paimon_nb.format.schema import SchemaDirectory
from paimon_nb.format.snapshot import SnapshotDirectory
from paimon_nb.format.stats import collect_stats, decode_stats, key_modes, stats_modes
from paimon_nb.fs import LocalFileIO
from paimon_nb.options import TableOptions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ORC_QUIRKS = {"TIMESTAMP", "TIMESTAMP_LTZ", "CHAR"}
"""Java's ORC is wrong by a second around 1970, and stores CHAR without the trailing spaces that its statistics have."""


def data_files(fs: LocalFileIO, root: Path) -> Iterator[ManifestEntry]:
    """Every data file that some snapshot of the table added and that is still there."""
    seen = set()
    for snapshot in SnapshotDirectory(fs, str(root)).all():
        for name in (snapshot.base_manifest_list, snapshot.delta_manifest_list, snapshot.changelog_manifest_list):
            for manifest in read_manifest_list(fs, f"{root}/manifest/{name}") if name else []:
                for entry in read_manifest(fs, f"{root}/manifest/{manifest.file_name}"):
                    if entry.kind == ADD and entry.file.file_name not in seen:
                        seen.add(entry.file.file_name)
                        yield entry


def bucket_dir(root: Path, schema, entry: ManifestEntry) -> Path:
    values = deserialize([f.type for f in schema.partition_fields], entry.partition)
    legacy = schema.options.get("partition.legacy-name", "true") == "true"
    name = "bucket-postpone" if entry.bucket == -2 else f"bucket-{entry.bucket}"
    return root / partition_path(schema.partition_fields, values, legacy) / name


def ours(path: Path, schema, file: DataFile):
    options = TableOptions(schema.options)
    if path.parent.name == "bucket-postpone":  # Java's postpone writer turns statistics off
        options = options.with_({"metadata.stats-mode": "none"})
    file_format = path.name.split(".")[1]
    keyed = bool(schema.primary_keys)
    thin = schema.options.get("data-file.thin-mode") == "true"
    fields = key_value_fields(schema, thin) if keyed else schema.fields
    table = read_data_file(LocalFileIO(), str(path), fields)
    key_names = [f.name for f in schema.key_fields] if thin else []
    leading = len(fields) - len(schema.fields)
    modes = stats_modes(
        options,
        schema.fields,
        level=file.level if keyed else None,
        changelog=path.name.startswith("changelog-"),
        thin_keys=key_names,
        file_format=file_format,
        leading_columns=leading,
    )
    dense = schema.options.get("metadata.stats-dense-store", "true") == "true"
    value_stats, cols = collect_stats(schema.fields, table, modes, file_format=file_format, dense=dense)
    key_stats = file.key_stats
    if keyed:
        keys = schema.key_fields if thin else fields[: len(schema.key_fields)]
        key_names = key_modes(
            options, keys, level=file.level, changelog=path.name.startswith("changelog-"), file_format=file_format
        )
        key_stats, _ = collect_stats(keys, table, key_names, file_format=file_format, dense=False)
    return value_stats, cols, key_stats


def test_every_file_of_every_fixture(shared):
    fs = LocalFileIO()
    compared, different = 0, []
    for root in sorted((shared / "oracle/fixtures/warehouse/fx.db").iterdir()):
        schemas = SchemaDirectory(fs, str(root))
        for entry in data_files(fs, root):
            schema, file = schemas.get(entry.file.schema_id), entry.file
            path = bucket_dir(root, schema, entry) / file.file_name
            if not path.exists():
                continue
            compared += 1
            value_stats, cols, key_stats = ours(path, schema, file)
            if (value_stats, cols, key_stats) == (file.value_stats, file.value_stats_cols, file.key_stats):
                continue
            own, other_files = (decode_stats(schema.fields, s, cols) for s in (value_stats, file.value_stats))
            names = [n for n in own if own[n] != other_files.get(n)]
            tolerated = path.suffix == ".orc" and {schema.field(n).type.root for n in names} <= ORC_QUIRKS
            if not tolerated or key_stats != file.key_stats or cols != file.value_stats_cols:
                different.append((root.name, file.file_name, [(n, own[n], other_files.get(n)) for n in names]))
    assert different == []
    assert compared > 250


@pytest.mark.parametrize("flipped", ["at_parquet"])
def test_a_changed_value_is_noticed(shared, flipped):
    fs, root = LocalFileIO(), shared / "oracle/fixtures/warehouse/fx.db" / flipped
    schema = SchemaDirectory(fs, str(root)).latest()
    entry = next(iter(data_files(fs, root)))
    table = read_data_file(fs, str(bucket_dir(root, schema, entry) / entry.file.file_name), schema.fields)
    modes = stats_modes(TableOptions({}), schema.fields)
    assert collect_stats(schema.fields, table, modes)[0] == entry.file.value_stats
    assert collect_stats(schema.fields, table.slice(0, 0), modes)[0] != entry.file.value_stats
