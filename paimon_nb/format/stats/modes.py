"""Which statistics each column of a new file gets. Decides from options; reads no data.

Source: Paimon `StatsCollectorFactories`, `KeyValueFileWriterFactory`; docs/spec/format.md section 7.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.format.types import DataField
from paimon_nb.options import TableOptions
from paimon_nb.options import table as opt

KEY_MODE = "truncate(128)"
"""Mode of `_KEY_` columns and of keys in thin files, whatever the options say."""

_TRUNCATE = re.compile(r"truncate\((\d+)\)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StatsMode:
    """A mode, parsed."""

    kind: Literal["none", "counts", "truncate", "full"]
    length: int = 0
    """Code points kept of texts under 'truncate'."""


@lru_cache(maxsize=256)
def parse_mode(text: str) -> StatsMode:
    """The mode that 'none', 'counts', 'full' or 'truncate(n)' names. Raises: BadOptionValue."""
    match text.lower():
        case "none":
            return StatsMode("none")
        case "counts":
            return StatsMode("counts")
        case "full":
            return StatsMode("full")
    match = _TRUNCATE.fullmatch(text)
    if match is None or int(match[1]) < 1:
        raise BadOptionValue(
            f"{text!r} is no statistics mode", hint="use none, counts, truncate(n) or full", value=text
        )  # fmt: skip
    return StatsMode("truncate", int(match[1]))


def stats_modes(
    options: TableOptions,
    fields: Sequence[DataField],
    *,
    level: int | None = None,
    changelog: bool = False,
    thin_keys: Collection[str] = (),
    file_format: str = "parquet",
    leading_columns: int = 0,
) -> list[str]:
    """The mode of each column's statistics, in the order of `fields`.

    Args:
        level: the file's level in a keyed table; None for append tables.
        changelog: the file is a changelog file.
        thin_keys: key columns of a file without `_KEY_` columns (option `data-file.thin-mode`): they keep statistics.
        leading_columns: columns before `fields` in an Avro file; there they count as kept columns too.
    Raises: BadOptionValue: an option holds no mode.
    """
    table_mode = _file_mode(options, level, changelog)
    keep = options.get(opt.METADATA_STATS_KEEP_FIRST_N_COLUMNS)
    if file_format == "json":
        return ["none"] * len(fields)
    avro = file_format == "avro"
    stored = leading_columns if avro else 0
    modes = []
    for field in fields:
        own = options.field(field.name, "stats-mode")
        if own is None and not avro and field.name in thin_keys:
            modes.append(KEY_MODE)
            continue
        modes.append(own or ("none" if 0 <= keep <= stored else table_mode))
        stored += 1
    for mode in modes:
        parse_mode(mode)
    return modes


def key_modes(
    options: TableOptions,
    key_fields: Sequence[DataField],
    *,
    level: int | None = None,
    changelog: bool = False,
    file_format: str = "parquet",
) -> list[str]:
    """The mode of each `_KEY_` column's statistics. Key statistics are never dense."""
    if file_format == "json":
        return ["none"] * len(key_fields)
    if file_format != "avro":
        return [KEY_MODE] * len(key_fields)
    keep, table_mode = options.get(opt.METADATA_STATS_KEEP_FIRST_N_COLUMNS), _file_mode(options, level, changelog)
    return ["none" if 0 <= keep <= i else table_mode for i in range(len(key_fields))]


def _file_mode(options: TableOptions, level: int | None, changelog: bool) -> str:
    if changelog and (mode := options.get(opt.CHANGELOG_FILE_STATS_MODE)):
        return str(mode)
    per_level = options.get(opt.METADATA_STATS_MODE_PER_LEVEL) if level is not None else None
    for key, mode in (per_level or {}).items():
        if str(key).strip() == str(level):
            return str(mode)
    return str(options.get(opt.METADATA_STATS_MODE))
