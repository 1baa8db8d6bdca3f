"""YAML configuration: catalog definitions and Flink's configuration. Reports the effect of each key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import BadOptionValue, ConfigError, MissingFile
from paimon_nb.base.redact import MASK, is_secret, redact_text
from paimon_nb.base.registry import nearest_known_name
from paimon_nb.options import CATALOG_OPTIONS
from paimon_nb.session.core.result import Result, rows_result
from paimon_nb.session.execute.settings import FLINK_FAMILIES, FLINK_SETTINGS, apply_setting, effect_of_setting
from paimon_nb.statements import CreateCatalog, Span

if TYPE_CHECKING:
    from paimon_nb.session.core.session import Session

_OF_A_CATALOG = ("type", "metastore", "warehouse", "uri")
"""One of these keys at top level makes the text a catalog definition."""


def configure(session: Session, source: str | Path | Mapping[str, Any], catalog: str = "paimon") -> Result:
    """Apply a configuration. The session then uses the last catalog that it defines.

    Args:
        source: YAML text, the path of a YAML file, or a mapping. Flat (`a.b: 1`) and nested keys are equivalent.
        catalog: name of the defined catalog if the text has no `name`.

    Returns:
        rows (key, value, effect), secrets masked.

    Raises:
        ConfigError: not YAML, or not a mapping.
        BadOptionValue: an invalid value.
        PaimonError: as CREATE CATALOG.
    """
    text, tree = _read_configuration(source)
    effects: list[tuple[str, str, str]] = []
    notes: list[str] = []
    listed = tree.pop("catalogs", None)
    settings = _flatten_keys(tree)
    definitions = [_flatten_keys(one) for one in _catalog_definitions(listed)]
    if any(k in settings for k in _OF_A_CATALOG):
        definitions.append({k: v for k, v in settings.items() if not _of_flink(k)})
        settings = {k: v for k, v in settings.items() if _of_flink(k)}
    for definition in definitions:
        name = definition.pop("name", catalog)
        notes += _define_catalog(session, name, definition, text)
        effects += [(k, v, _catalog_option_effect(name, k)) for k, v in definition.items()]
    for key, value in settings.items():
        apply_setting(session, key, value, text, Span(0, len(text)))
        effects.append((key, value, effect_of_setting(key)))
    masked = [(k, MASK if is_secret(k) else redact_text(v), e) for k, v, e in effects]
    columns = {n: [row[i] for row in masked] for i, n in enumerate(("key", "value", "effect"))}
    return rows_result(columns, notes=notes)


def _define_catalog(session: Session, name: str, options: dict[str, str], text: str) -> list[str]:
    """CREATE CATALOG and USE CATALOG; returns notes."""
    from paimon_nb.session.core.statement_context import StatementContext
    from paimon_nb.session.execute.ddl import create_catalog

    metastore = options.get("metastore", "filesystem")
    if options.get("type", "paimon") == "paimon" and not options.get("warehouse"):
        raise BadOptionValue(
            f"catalog {name!r} ({metastore}) has no warehouse",
            hint="add a line: 'warehouse: /path/to/tables'", option="warehouse",
        )  # fmt: skip
    if name in session.catalogs and name != session.first_catalog:
        del session.catalogs[name]  # loading a configuration twice is allowed
    made = create_catalog(StatementContext(session, text, {}), CreateCatalog("", Span(0, 0), name, options))
    session.use_catalog(session.catalog_named(name))
    return made.notes


def _read_configuration(source: str | Path | Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The text and its mapping; all values stay text."""
    if isinstance(source, Mapping):
        return "", dict(source)
    text = str(source)
    if isinstance(source, Path) or ("\n" not in text and text.rstrip().endswith((".yaml", ".yml"))):
        if not Path(text).is_file():
            raise MissingFile(text)
        text = Path(text).read_text(encoding="utf-8")
    import yaml  # type: ignore[import-untyped]

    try:
        tree = yaml.load(text, Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark is not None else ""
        raise ConfigError(f"invalid YAML{where}", hint="write one 'key: value' per line") from None
    if tree is None or tree == "":
        return text, {}
    if not isinstance(tree, dict):
        raise ConfigError("the YAML has no keys", hint="write one 'key: value' per line")
    return text, tree


def _flatten_keys(tree: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """`a: {b: 1}` as `a.b: 1`; a list as comma-separated items."""
    out: dict[str, str] = {}
    for key, value in tree.items():
        if isinstance(value, Mapping):
            out.update(_flatten_keys(value, f"{prefix}{key}."))
        elif isinstance(value, list):
            out[prefix + str(key)] = ",".join(map(str, value))
        elif isinstance(value, bool):
            out[prefix + str(key)] = str(value).lower()
        elif value is not None:
            out[prefix + str(key)] = str(value)
    return out


def _catalog_definitions(listed: Any) -> Iterator[Mapping[str, Any]]:
    """`catalogs:` as a list of mappings with a name, or as a mapping from names."""
    if isinstance(listed, Mapping):
        listed = [{"name": name, **options} for name, options in listed.items() if isinstance(options, Mapping)]
    for definition in listed or ():
        if not isinstance(definition, Mapping) or "name" not in definition:
            raise ConfigError("a catalog in `catalogs` has no name", hint="add a line: '- name: paimon'")
        yield definition


def _of_flink(key: str) -> bool:
    return key in FLINK_SETTINGS or key.startswith((*FLINK_FAMILIES, "execution.", "table.", "spark."))


def _catalog_option_effect(name: str, key: str) -> str:
    if key == "type" or key in CATALOG_OPTIONS or key.startswith(("table-default.", "table-override.", "jdbc.")):
        return f"catalog {name}"
    if key.partition(".")[0] in ("s3", "s3a", "fs", "hadoop", "oss", "hive"):
        return f"catalog {name}, for its store"
    near = nearest_known_name(key, CATALOG_OPTIONS)
    return f"stored with catalog {name}, has no effect" + (f"; did you mean {near!r}?" if near else "")
