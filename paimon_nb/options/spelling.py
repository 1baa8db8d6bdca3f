"""Names of options as people write them: a slip of the pen is told from an option of somebody else's."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from paimon_nb.base.errors import UnknownOption
from paimon_nb.options.catalog import CATALOG_OPTIONS
from paimon_nb.options.connector import CONNECTOR_OPTIONS
from paimon_nb.options.read import READ_OPTIONS
from paimon_nb.options.table import TABLE_OPTIONS
from paimon_nb.options.validation import find_option
from paimon_nb.options.write import WRITE_OPTIONS

_CLOSE = 0.75
"""How alike two names are of which one is taken for a slip of the pen; readers may bring options of other formats."""

_CLOSER = 0.85
"""The same for catalogs, whose options other engines share: 'catalog-type' is no slip of 'catalog-key'."""
_FAMILIES = (
    "cos", "dfs", "fs", "gs", "hadoop", "header", "hive", "jdbc", "obs", "oss", "s3", "s3a", "security", "table-default",
    "table-override",
)  # fmt: skip
"""Options of a catalog that begin so belong to a store, a database or tables, which know more of them."""


def check_names(options: Iterable[str]) -> None:
    """Raises UnknownOption: a name that is nearly one of ours. Without an effect it would give other rows, silently."""
    for key in options:
        if find_option(key) is not None or key in READ_OPTIONS or key in WRITE_OPTIONS:
            continue
        known = (*TABLE_OPTIONS, *CONNECTOR_OPTIONS, *READ_OPTIONS, *WRITE_OPTIONS)
        near = difflib.get_close_matches(key, known, n=1, cutoff=_CLOSE)
        if near:
            raise UnknownOption(f"no option {key!r} is known", hint=f"did you mean {near[0]!r}?", option=key)


def misspelled_catalog_keys(options: Iterable[str]) -> dict[str, str]:
    """Names that are nearly one of a catalog's options, with that one. Without an effect tables would be made elsewhere."""
    known = {"type", *CATALOG_OPTIONS, *(k for o in CATALOG_OPTIONS.values() for k in o.fallback_keys)}
    candidates = [key for key in options if key not in known and key.partition(".")[0] not in _FAMILIES]
    near = {key: difflib.get_close_matches(key, sorted(known), n=1, cutoff=_CLOSER) for key in candidates}
    return {key: found[0] for key, found in near.items() if found}


def check_catalog_names(options: Iterable[str]) -> None:
    """Raises UnknownOption for the first of `misspelled_catalog_keys`."""
    for key, near in misspelled_catalog_keys(options).items():
        raise UnknownOption(f"no catalog option {key!r} is known", hint=f"did you mean {near!r}?", option=key)
