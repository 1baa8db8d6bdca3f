"""The reference of options, written from the registry in `paimon_nb/options`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import paimon_nb.options.table as table_package
from paimon_nb.options import catalog, prefix_options, read, write
from paimon_nb.options.option import Option
from paimon_nb.options.prefix_options import PATTERNS

SINCE = Path(__file__).with_name("since.tsv")
HEAD = """---
hide: [toc]
---

# Options

Every option that paimon_nb knows, generated from the registry in `paimon_nb/options`.

*Type* says how a value is written, *range* what is allowed. *Since* is the first release line of Apache Paimon that has the
option; it is empty for options that Paimon does not have. *Fixed* options cannot change after the table exists.
In SQL, an unknown option is stored with a warning. In Python, a name that is nearly a known one is refused. A wrong value is always refused.

Table options go into `WITH (...)`, `TBLPROPERTIES`, `ALTER TABLE ... SET` or, for one statement, into an `OPTIONS` hint or
`wb.table(name, **options)`. Catalog options go into `CREATE CATALOG` or `paimon_nb.connect(options=...)`.
"""
ROW = "| `{key}` | {kind} | {default} | {range} | {doc} | {since} |\n"
TABLE = "| option | type | default | range | meaning | since |\n|---|---|---|---|---|---|\n"


def page() -> str:
    """The whole page as Markdown."""
    since = dict(line.split("\t") for line in SINCE.read_text().splitlines())
    parts = [HEAD]
    for title, topic, options in sections():
        parts.append(f"## {title}\n\n{topic}\n\n{TABLE}{''.join(_row(key, o, since) for key, o in options)}")
    return "\n".join(parts)


def sections() -> Iterator[tuple[str, str, list[tuple[str, Option[Any]]]]]:
    """(title, a sentence, options with the keys that documentation shows), each option once."""
    seen: set[str] = set()
    for info in pkgutil.iter_modules(table_package.__path__):
        module = importlib.import_module(f"{table_package.__name__}.{info.name}")
        yield f"Tables: {info.name.replace('_', ' ')}", _topic(module), _fresh(_of_module(module), seen)
    yield "Tables: keys that contain a name", _topic(prefix_options), [(p.template, p.option) for p in PATTERNS]
    yield "Readers", _topic(read), _fresh(_sorted(read.READ_OPTIONS), seen)
    yield "Writers", _topic(write), _fresh(_sorted(write.WRITE_OPTIONS), seen)
    yield "Catalogs and file systems", _topic(catalog), _fresh(_sorted(catalog.CATALOG_OPTIONS), set())


def _topic(module: ModuleType) -> str:
    return (module.__doc__ or "").splitlines()[0]


def _of_module(module: ModuleType) -> Iterable[tuple[str, Option[Any]]]:
    return _sorted({o.key: o for o in vars(module).values() if isinstance(o, Option)})


def _sorted(registry: Mapping[str, Option[Any]]) -> Iterable[tuple[str, Option[Any]]]:
    return sorted(((o.key, o) for o in registry.values()), key=lambda pair: pair[0])


def _fresh(options: Iterable[tuple[str, Option[Any]]], seen: set[str]) -> list[tuple[str, Option[Any]]]:
    out = []
    for key, option in options:
        if key not in seen:
            seen.add(key)
            out.append((key, option))
    return out


def _row(key: str, option: Option[Any], since: Mapping[str, str]) -> str:
    notes = [option.doc]
    if option.fallback_keys:
        notes.append("older: " + ", ".join(f"`{k}`" for k in option.fallback_keys))
    if option.fixed_after_data:
        notes.append("*fixed*")
    return ROW.format(
        key=_cell(key),
        kind=_cell(option.kind),
        default=f"`{_cell(option.default_text)}`" if option.default_text else "",
        range=_cell(range_of(option)),
        doc=_cell("; ".join(notes)),
        since=since.get(key, ""),
    )


def range_of(option: Option[Any]) -> str:
    """What values are allowed, in words; '' for any of the type."""
    if option.choices and option.kind != "true or false":
        return ", ".join(f"`{c}`" for c in option.choices)
    check: Any = option.check
    if check is None or option.kind not in _NUMBERS:
        return ""
    reasons = dict.fromkeys(reason for value in (-(10**18), 10**18) if (reason := check(value)))
    return "; ".join(reason.removeprefix("it must be ") for reason in reasons)


_NUMBERS = frozenset(
    {"whole number", "whole number (64 bits)", "number", "size such as '128 mb'", "time span such as '1 h'"}
)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
