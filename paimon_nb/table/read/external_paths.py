"""Paths of new files of tables with external data paths. Knows roots and names, no table.

A file's manifest entry contains its path, so only the writer decides. Source: Paimon `fs/ExternalPathProvider.java` and
related classes; docs/spec/format.md section 1.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Sequence

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.options import TableOptions
from paimon_nb.options import table as opt

PathAllocator = Callable[[str, str], str]
"""(directory below a root, file name) -> path."""


def external_path_roots(options: TableOptions) -> tuple[str, ...]:
    """The roots of a table's new files; () for a table without external paths.

    Raises:
        BadOptionValue: a root without a scheme, or none with the required scheme.
    """
    strategy = options.get(opt.DATA_FILE_EXTERNAL_PATHS_STRATEGY)
    configured = options.names(opt.DATA_FILE_EXTERNAL_PATHS)
    if strategy == "none" or not configured:
        return ()
    for root in configured:
        if ":/" not in root:
            raise _bad_value(f"{root!r} has no scheme", "write file:///path or s3://bucket/path")
    roots = tuple(root.rstrip("/") for root in configured)
    if strategy == "specific-fs":
        scheme = options.get(opt.DATA_FILE_EXTERNAL_PATHS_SPECIFIC_FS) or ""
        roots = tuple(r for r in roots if r.partition(":")[0].lower() == scheme.lower())
        if not roots:
            key = opt.DATA_FILE_EXTERNAL_PATHS_SPECIFIC_FS.key
            raise _bad_value(f"no root has the scheme {scheme!r}", f"set '{key}' to the scheme of one of them")
    return roots


def path_allocator(options: TableOptions) -> PathAllocator | None:
    """Selects a path for each new file; None for a table without external paths.

    Raises:
        BadOptionValue: as `external_path_roots`, or invalid weights.
    """
    import random

    strategy, roots = options.get(opt.DATA_FILE_EXTERNAL_PATHS_STRATEGY), external_path_roots(options)
    if not roots:
        return None
    weights = _root_weights(options, roots) if strategy == "weight-robin" else None
    if weights is not None:
        return lambda below, name: f"{random.choices(roots, weights)[0]}/{below}/{name}"
    first = random.randrange(len(roots))
    turn = itertools.cycle(roots[first:] + roots[:first])
    if strategy == "entropy-inject":
        return lambda below, name: f"{next(turn)}/{below}/{_hashed_directory(name)}/{name}"
    return lambda below, name: f"{next(turn)}/{below}/{name}"


def _root_weights(options: TableOptions, roots: Sequence[str]) -> list[int] | None:
    configured = options.names(opt.DATA_FILE_EXTERNAL_PATHS_WEIGHTS)
    if not configured or len(roots) < 2:
        return None
    if len(configured) != len(roots) or not all(w.isdecimal() and int(w) > 0 for w in configured):
        key = opt.DATA_FILE_EXTERNAL_PATHS_WEIGHTS.key
        raise _bad_value(
            f"'{key}' = '{','.join(configured)}' does not fit {len(roots)} roots", "use one integer above 0 per root"
        )
    return [int(w) for w in configured]


def _hashed_directory(name: str) -> str:
    """Directories from 20 bits of the name's checksum: object stores distribute load by prefix."""
    bits = f"{zlib.crc32(name.encode()) & 0xFFFFF:020b}"
    return "/".join((bits[:4], bits[4:8], bits[8:12], bits[12:]))


def _bad_value(why: str, hint: str) -> BadOptionValue:
    return BadOptionValue(f"{why}: '{opt.DATA_FILE_EXTERNAL_PATHS.key}'", hint=hint)
