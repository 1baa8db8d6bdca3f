"""Distinguishes misspelled Paimon options from options of other systems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import BadOptionValue, UnknownOption
from paimon_nb.options.catalog import CATALOG_OPTIONS
from paimon_nb.options.connector import CONNECTOR_OPTIONS
from paimon_nb.options.read import READ_OPTIONS
from paimon_nb.options.table import TABLE_OPTIONS
from paimon_nb.options.validation import find_option
from paimon_nb.options.write import WRITE_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_CLOSE = 0.75
"""Similarity from which a name counts as misspelled; readers may pass options of other formats."""

_CLOSER = 0.85
"""The same for catalogs, whose options other engines share: 'catalog-type' is not a misspelled 'catalog-key'."""
_FAMILIES = (
    "cos", "dfs", "fs", "gs", "hadoop", "header", "hive", "jdbc", "obs", "oss", "s3", "s3a", "security", "table-default",
    "table-override",
)  # fmt: skip
"""Catalog options with these prefixes belong to a store, a database or tables, which validate them."""


def checked_texts(options: Mapping[str, Any]) -> dict[str, str]:
    """Option values as text. Raises: UnknownOption: a misspelled Paimon option."""
    if not isinstance(options, Mapping):
        raise BadOptionValue(
            f"options cannot be {options!r}, a {type(options).__name__}",
            hint="{'scan.snapshot-id': '3'}",
            option="options",
        )
    check_no_misspelled_options(options)
    return {k: str(v).lower() if isinstance(v, bool) else str(v) for k, v in options.items()}


def check_no_misspelled_options(options: Iterable[str]) -> None:
    """Raises UnknownOption for a misspelled Paimon option: ignoring it would silently change the result."""
    for key in options:
        if find_option(key) is not None or key in READ_OPTIONS or key in WRITE_OPTIONS:
            continue
        near = _near_names(key, [*TABLE_OPTIONS, *CONNECTOR_OPTIONS, *READ_OPTIONS, *WRITE_OPTIONS], _CLOSE)
        if near:
            raise UnknownOption(f"no option {key!r} is known", hint=f"did you mean {near[0]!r}?", option=key)


def check_values(options: Mapping[str, str]) -> None:
    """Raises BadOptionValue for a value that an option does not have, also of one that has no effect here."""
    for key, value in options.items():
        option = find_option(key) or WRITE_OPTIONS.get(key) or READ_OPTIONS.get(key)
        if option is not None:
            option.value(value, key)


def misspelled_catalog_keys(options: Iterable[str]) -> dict[str, str]:
    """Misspelled catalog options, with the correct key. Ignoring them would create tables elsewhere."""
    known = {"type", *CATALOG_OPTIONS, *(k for o in CATALOG_OPTIONS.values() for k in o.fallback_keys)}
    candidates = [key for key in options if key not in known and key.partition(".")[0] not in _FAMILIES]
    near = {key: _near_names(key, sorted(known), _CLOSER) for key in candidates}
    return {key: found[0] for key, found in near.items() if found}


def _near_names(key: str, known: Sequence[str], cutoff: float) -> list[str]:
    """The known name that is most like `key`, if it is at least `cutoff` (0 to 1) like it."""
    import difflib

    return difflib.get_close_matches(key, known, n=1, cutoff=cutoff)


def check_catalog_names(options: Iterable[str]) -> None:
    """Raises UnknownOption for the first of `misspelled_catalog_keys`."""
    for key, near in misspelled_catalog_keys(options).items():
        raise UnknownOption(f"no catalog option {key!r} is known", hint=f"did you mean {near!r}?", option=key)
