"""Validates all options of a table: wrong values are errors, unknown names are warnings with the nearest name.

Checks options only. Checks that need columns (sequence fields, aggregates by type) are done with the schema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.base.registry import nearest_known_name
from paimon_nb.options import table
from paimon_nb.options.connector import CONNECTOR_OPTIONS
from paimon_nb.options.materialized import OWN_OPTIONS
from paimon_nb.options.prefix_options import PATTERNS, find_pattern
from paimon_nb.options.support import IGNORE_UNSUPPORTED
from paimon_nb.options.table import TABLE_OPTIONS
from paimon_nb.options.table_options import TableOptions
from paimon_nb.options.unsupported import unsupported_option_warnings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.options.option import Option

# Stored by other tools, not options of Paimon.
_STORED_KEYS = frozenset({"comment", "connector", "location", "owner", "provider", "file.format.version"})
_BY_FALLBACK = {f: o for o in (*TABLE_OPTIONS.values(), *CONNECTOR_OPTIONS.values()) for f in o.fallback_keys}
_ASPECTS = {p.option.key: p for p in PATTERNS if p.template.startswith("fields.<column>.")}


def find_option(key: str) -> Option[Any] | None:
    """The option of a table, a connector, or a key family that `key` names; None if there is none."""
    if key == IGNORE_UNSUPPORTED.key:
        return IGNORE_UNSUPPORTED
    if key in OWN_OPTIONS:
        return OWN_OPTIONS[key]
    exact = TABLE_OPTIONS.get(key) or _BY_FALLBACK.get(key) or CONNECTOR_OPTIONS.get(key)
    if exact is not None:
        return exact
    for prefix in (o for o in TABLE_OPTIONS.values() if o.is_map and key.startswith(o.key + ".")):
        return prefix.map_entry(key)
    pattern = find_pattern(key)
    return pattern.option if pattern else None


def validate_table_options(raw: Mapping[str, str]) -> list[str]:
    """Validate every value, and values that contradict each other.

    Returns:
        One warning for each unknown key, which Java stores silently, and for each supported by Java but not here.

    Raises:
        BadOptionValue: with the option, the problem and the allowed values.
    """
    for key, value in raw.items():
        option = find_option(key)
        if option is not None:
            option.value(value, key)
    _check_contradicting_options(TableOptions(raw))
    return option_warnings(raw)


def option_warnings(raw: Mapping[str, str]) -> list[str]:
    """One warning for each unknown key, which Java stores silently, and for each supported by Java but not here."""
    unknown = [
        _unknown_option_warning(key)
        for key in raw
        if find_option(key) is None
        and key not in _STORED_KEYS
        and not key.startswith("schema.")  # Flink stores watermarks and computed columns there
    ]
    return [*unknown, *unsupported_option_warnings(raw)]


def _unknown_option_warning(key: str) -> str:
    nearest_key = nearest_known_name(key, (*TABLE_OPTIONS, *CONNECTOR_OPTIONS))
    if key.startswith("fields.") and key.count(".") >= 2:
        column, _, aspect = key.removeprefix("fields.").rpartition(".")
        near_aspect = nearest_known_name(aspect, _ASPECTS)
        nearest_key = f"fields.{column}.{near_aspect}" if near_aspect else None
    return f"unknown option {key!r} is stored but has no effect" + (
        f"; did you mean {nearest_key!r}?" if nearest_key else ""
    )


def _check_contradicting_options(options: TableOptions) -> None:
    """Pairs of options that Java refuses when it opens a table. Source: SchemaValidation."""
    for lower_option, upper_option, lower_value, upper_value in (
        (
            table.SNAPSHOT_NUM_RETAINED_MIN,
            table.SNAPSHOT_NUM_RETAINED_MAX,
            options.get(table.SNAPSHOT_NUM_RETAINED_MIN),
            options.get(table.SNAPSHOT_NUM_RETAINED_MAX),
        ),
        (
            table.CHANGELOG_NUM_RETAINED_MIN,
            table.CHANGELOG_NUM_RETAINED_MAX,
            options.changelog_num_retained_min,
            options.changelog_num_retained_max,
        ),
    ):
        if lower_value > upper_value:
            _refuse_value(
                lower_option,
                lower_value,
                f"it is larger than {upper_option.key!r} ({upper_value})",
                f"lower {lower_option.key!r}, or increase {upper_option.key!r}",
            )
    if options.merge_engine == "first-row" and options.changelog_producer not in ("none", "lookup"):
        _refuse_value(
            table.CHANGELOG_PRODUCER,
            options.changelog_producer,
            "the merge engine first-row never changes a row",
            "use 'none' or 'lookup'",
        )
    if options.deletion_vectors:
        _check_deletion_vectors(options)
    if options.get(table.STREAMING_READ_OVERWRITE) and options.changelog_producer in ("lookup", "full-compaction"):
        _refuse_value(
            table.STREAMING_READ_OVERWRITE,
            True,
            f"the changelog producer {options.changelog_producer!r} writes those changes already",
            "unset it",
        )


def _check_deletion_vectors(options: TableOptions) -> None:
    if options.changelog_producer == "full-compaction":
        _refuse_value(
            table.DELETION_VECTORS_ENABLED,
            True,
            "the changelog producer full-compaction is not compatible with it",
            "use 'changelog-producer' = 'lookup', 'input' or 'none'",
        )
    if options.merge_engine == "first-row" and not options.get(table.PK_CLUSTERING_OVERRIDE):
        _refuse_value(table.DELETION_VECTORS_ENABLED, True, "the merge engine first-row deletes no rows", "unset it")


def _refuse_value(option: Option[Any], value: object, why: str, hint: str) -> None:
    display = str(value).lower()
    raise BadOptionValue(
        f"option {option.key!r} cannot be {display!r}: {why}", hint=hint, option=option.key, value=display
    )
