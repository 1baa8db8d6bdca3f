"""A slow merge that can be read in one sitting: one version after the other, a dict of columns per key, no vectors.

It shares nothing with the kernels but the schema's types. Versions are `Version`s; results too, one a key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.table.lsm.merge import MergeSpec

RETRACTS = (1, 3)
DELETE = 3


@dataclass(frozen=True)
class Version:
    """A row of a kv table."""

    values: dict[str, Any]
    sequence: int
    kind: int


class Refused(Exception):
    """The engine takes no such retraction."""


def merged(versions: Sequence[Version], spec: MergeSpec, *, drop_delete: bool, alone_as_is: bool) -> list[Version]:
    """One version a key, in key order."""
    keys = sorted({_key(v, spec) for v in versions})
    out = []
    for key in keys:
        of_key = [v for v in versions if _key(v, spec) == key]
        if spec.ignore_delete:
            of_key = [v for v in of_key if v.kind not in RETRACTS]
        of_key.sort(key=lambda v: _order(v, spec))
        if not of_key:
            continue
        result = of_key[0] if len(of_key) == 1 and alone_as_is else ENGINES[spec.engine](of_key, spec)
        if not (drop_delete and result.kind in RETRACTS):
            out.append(result)
    return out


def _key(version: Version, spec: MergeSpec) -> tuple[Any, ...]:
    return tuple(version.values[k] for k in spec.keys)


def _order(version: Version, spec: MergeSpec) -> tuple[Any, ...]:
    """NULL first in either direction."""
    sequence = []
    for name in spec.sequence_fields:
        value = version.values[name]
        sequence.append((0, 0) if value is None else (1, -value if spec.descending else value))
    return (*sequence, version.sequence)


def deduplicate(versions: list[Version], spec: MergeSpec) -> Version:
    return versions[-1]


def first_row(versions: list[Version], spec: MergeSpec) -> Version:
    if any(v.kind in RETRACTS for v in versions):
        raise Refused
    return versions[0]


def partial_update(versions: list[Version], spec: MergeSpec) -> Version:
    row: dict[str, Any] = dict.fromkeys(versions[0].values)
    inserted = started = deleted = False
    for v in versions:
        deleted = False
        if v.kind in RETRACTS:
            if not started:
                row.update(_not_null(v, spec))
                started = True
            if spec.groups:
                row, deleted = _retract_groups(row, v, spec)
            elif not spec.remove_record_on_delete:
                raise Refused
            elif v.kind == DELETE:
                deleted = True
                row = dict.fromkeys(row) | _not_null(v, spec)
            continue
        row = _update_groups(row, v, spec)
        inserted = started = True
    row.update({k: versions[-1].values[k] for k in spec.keys})
    return Version(row, versions[-1].sequence, DELETE if deleted or not inserted else 0)


def _not_null(version: Version, spec: MergeSpec) -> dict[str, Any]:
    return {f.name: version.values[f.name] for f in spec.fields if not f.type.nullable}


def _newer(row: dict[str, Any], v: Version, sequence: tuple[str, ...]) -> bool | None:
    """None: the version says nothing about this group."""
    new, old = (tuple((x is not None, x or 0) for x in (source[s] for s in sequence)) for source in (v.values, row))
    return None if all(v.values[s] is None for s in sequence) else new >= old


def _update_groups(row: dict[str, Any], v: Version, spec: MergeSpec) -> dict[str, Any]:
    out = dict(row)
    grouped = {name for g in spec.groups for name in (*g.sequence, *g.protected)}
    for group in spec.groups:
        newer = _newer(row, v, group.sequence)
        for name in (*group.sequence, *group.protected):
            function = spec.aggregators.get(name) if name not in group.sequence else None
            if newer and function is None:
                out[name] = v.values[name]
            elif newer:
                out[name] = add(function.function, row[name], v.values[name])
            elif newer is False and function is not None:
                older, newest = v.values[name], row[name]
                # collect has no order to keep: what comes later stands later
                pair = (newest, older) if function.function == "collect" else (older, newest)
                out[name] = add(function.function, *pair)
    return out | {n: value for n, value in v.values.items() if n not in grouped and value is not None}


def _retract_groups(row: dict[str, Any], v: Version, spec: MergeSpec) -> tuple[dict[str, Any], bool]:
    out = dict(row)
    for group in spec.groups:
        newer = _newer(row, v, group.sequence)
        if newer and v.kind == DELETE and set(group.sequence) & spec.remove_on_groups:
            return dict.fromkeys(row) | _not_null(v, spec), True
        for name in group.sequence:
            out[name] = v.values[name] if newer else row[name]
        for name in group.protected:
            function = spec.aggregators.get(name)
            if function is not None and newer is not None:
                out[name] = retract(function.function, row[name], v.values[name])
            elif newer:
                out[name] = None
    return out, False


def aggregation(versions: list[Version], spec: MergeSpec) -> Version:
    row: dict[str, Any] = dict.fromkeys(versions[0].values)
    deleted = False
    first = dict.fromkeys(row, True)
    for v in versions:
        deleted = spec.remove_record_on_delete and v.kind == DELETE
        if deleted:
            row = dict.fromkeys(row) | _not_null(v, spec)
            continue
        for name in row:
            aggregator = spec.aggregators[name]
            value = v.values[name]
            if v.kind in RETRACTS:
                row[name] = row[name] if aggregator.ignore_retract else retract(aggregator.function, row[name], value)
            elif aggregator.function in ("first_value", "first_non_null_value"):
                if first[name] and (aggregator.function == "first_value" or value is not None):
                    row[name], first[name] = value, False
            else:
                row[name] = add(aggregator.function, row[name], value)
    return Version(row, versions[-1].sequence, DELETE if deleted else 0)


ENGINES = {
    "deduplicate": deduplicate,
    "first-row": first_row,
    "partial-update": partial_update,
    "aggregation": aggregation,
}


def add(function: str, old: Any, new: Any) -> Any:
    """One function's step; values are small integers and short lists, so nothing wraps."""
    match function:
        case "primary-key" | "last_value":
            return new
        case "last_non_null_value":
            return old if new is None else new
    if function == "listagg":
        old, new = (old or "").strip() and old, (new or "").strip() and new
        return f"{old},{new}" if old and new else new or old or None
    if old is None or new is None:
        return new if old is None else old
    match function:
        case "sum" | "collect":
            return old + new
        case "product":
            return old * new
        case "max":
            return max(old, new)
        case "min":
            return min(old, new)
        case "bool_and":
            return old and new
        case "bool_or":
            return old or new
    raise AssertionError(function)


def retract(function: str, old: Any, value: Any) -> Any:
    match function:
        case "primary-key":
            return value
        case "last_value":
            return None
        case "last_non_null_value":
            return old if value is None else None
        case "sum":
            return old if value is None else (0 if old is None else old) - value
        case "collect":
            left = list(old or ())
            for element in value or ():
                if element in left:
                    left.remove(element)
            return None if old is None else left
    raise Refused
