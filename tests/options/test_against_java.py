"""Options and value texts against what Java Paimon 1.3.1 itself says; `java/*.json` was printed by its own classes.

`core_options.json` and `other_options.json` hold the fields of CoreOptions, CatalogOptions, FlinkConnectorOptions,
HiveCatalogOptions and JdbcCatalogOptions; `values.json` what `Options.get` makes of a text ("!" where it throws).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paimon_nb.options import CATALOG_OPTIONS, CONNECTOR_OPTIONS, TABLE_OPTIONS, Option
from paimon_nb.options import option as parsers
from paimon_nb.options.table import MERGE_ENGINE

JAVA = Path(__file__).parent / "java"
CORE = json.loads((JAVA / "core_options.json").read_text())
OTHER = json.loads((JAVA / "other_options.json").read_text())
VALUES = json.loads((JAVA / "values.json").read_text())

PARSE = {
    "memory": parsers.parse_memory,
    "duration": parsers.parse_duration_ms,
    "bool": parsers.parse_bool,
    "int": parsers.parse_int,
    "long": parsers.parse_long,
    "double": parsers.parse_float,
    "map": parsers.parse_map,
    "engine": MERGE_ENGINE.parse,
}
KIND = {
    "Boolean": parsers.parse_bool,
    "Integer": parsers.parse_int,
    "Long": parsers.parse_long,
    "Double": parsers.parse_float,
    "Float": parsers.parse_float,
    "MemorySize": parsers.parse_memory,
    "Duration": parsers.parse_duration_ms,
    "Map": parsers.parse_map,
    "String": str,
}
# Later releases differ here, and what they say holds for new tables.
NEWER_DEFAULT = {"sort-compaction.range-strategy", "postpone.default-bucket-num"}
NEWER_FIXED = {"type", "row-tracking.enabled"}
CHANGEABLE_IN_PART = {"ignore-delete", "ignore-update-before"}  # the catalog allows one direction
NARROWER = {"manifest.format"}  # a free text in Java
READ_OTHERWISE = {"parquet.enable.dictionary"}  # an Integer that Java's writer reads as a boolean


def ours(key: str) -> Option[object] | None:
    return TABLE_OPTIONS.get(key) or CONNECTOR_OPTIONS.get(key) or CATALOG_OPTIONS.get(key)


def test_every_option_of_java_is_known():
    assert [k for k in {**CORE, **OTHER} if ours(k) is None] == []


@pytest.mark.parametrize("key", sorted({**CORE, **OTHER}))
def test_type_default_choices_and_older_keys(key):
    java, option = {**OTHER, **CORE}[key], ours(key)
    assert option is not None
    if java["type"] == "Enum":
        assert {w.lower() for w in java["choices"]} <= set(option.choices)
    elif key not in NARROWER | READ_OTHERWISE:
        assert option.parse is KIND[java["type"]] or option.choices
    default = java["default"]
    if key not in NEWER_DEFAULT:
        folded = default.lower() if java["type"] == "Enum" and default is not None else default
        assert option.default == (option.default if folded == "" else folded)
    assert set(java.get("fallback", ())) <= set(option.fallback_keys)


def test_what_may_not_change_is_what_java_forbids():
    java = {k for k, o in CORE.items() if o.get("immutable")} - CHANGEABLE_IN_PART
    here = {k for k in CORE if TABLE_OPTIONS[k].fixed_after_data}
    assert here == java | NEWER_FIXED


@pytest.mark.parametrize("kind", sorted(VALUES))
def test_value_texts(kind):
    def answer(text: str) -> object:
        try:
            value = PARSE[kind](text)
        except ValueError:
            return "!"
        named = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}
        return named.get(str(value), value) if kind == "double" else value

    assert {text: answer(text) for text in VALUES[kind]} == VALUES[kind]
