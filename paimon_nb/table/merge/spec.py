"""How the versions of one key are merged: read once from a table's schema and options. docs/spec/merge-semantics.md section 2."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.options import TableOptions, parse_names
from paimon_nb.options import table as opt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.format.schema import TableSchema
    from paimon_nb.format.types import DataField

DEFAULT_AGGREGATE = "last_non_null_value"
PICKS_ROWS = frozenset({"deduplicate", "first-row"})
"""Merge engines whose result is one of the stored rows."""


@dataclass(frozen=True, slots=True)
class SequenceGroup:
    """`fields.<g1,g2>.sequence-group = a,b`."""

    sequence: tuple[str, ...]
    protected: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Aggregator:
    """The aggregate function of one column with its parameters."""

    function: str
    ignore_retract: bool = False
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MergeSpec:
    """Everything that a merge engine needs."""

    engine: str
    fields: tuple[DataField, ...]
    """Columns of the table."""
    keys: tuple[str, ...]
    """Trimmed primary key: the comparison key inside one partition and bucket."""
    sequence_fields: tuple[str, ...] = ()
    descending: bool = False
    ignore_delete: bool = False
    remove_record_on_delete: bool = False
    remove_on_groups: frozenset[str] = frozenset()
    """Sequence fields whose -D removes the row."""
    groups: tuple[SequenceGroup, ...] = ()
    aggregators: Mapping[str, Aggregator] = field(default_factory=dict)
    row_deduplicate: bool = False
    deduplicate_ignored: frozenset[str] = frozenset()

    @staticmethod
    def of(schema: TableSchema, options: TableOptions) -> MergeSpec:
        """The spec of a primary-key table.

        Raises:
            BadOptionValue: groups or aggregates name unknown columns, or contradict each other.
        """
        engine = options.merge_engine
        sequence = options.names(opt.SEQUENCE_FIELD)
        names = set(schema.names)
        for name in sequence:
            if name not in names:
                raise BadOptionValue(
                    f"sequence.field names an unknown column: {name!r}", hint=f"columns: {', '.join(schema.names)}"
                )
        groups = _groups(schema, options) if engine == "partial-update" else ()
        if engine == "partial-update":
            remove = options.get(opt.PARTIAL_UPDATE_REMOVE_RECORD_ON_DELETE)
        else:
            remove = engine == "aggregation" and options.get(opt.AGGREGATION_REMOVE_RECORD_ON_DELETE)
        on_groups = options.names(opt.PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP) if groups else ()
        if engine == "partial-update":
            _refuse_contradictions(options, groups, on_groups)
        return MergeSpec(
            engine=engine,
            fields=tuple(schema.fields),
            keys=schema.trimmed_primary_keys,
            sequence_fields=sequence,
            descending=options.get(opt.SEQUENCE_FIELD_SORT_ORDER) == "descending",
            ignore_delete=options.get(opt.IGNORE_DELETE),
            remove_record_on_delete=bool(remove),
            remove_on_groups=frozenset(on_groups),
            groups=groups,
            aggregators=_aggregators(schema, options, engine, sequence, groups),
            row_deduplicate=options.get(opt.CHANGELOG_PRODUCER_ROW_DEDUPLICATE),
            deduplicate_ignored=frozenset(options.names(opt.CHANGELOG_PRODUCER_ROW_DEDUPLICATE_IGNORE_FIELDS)),
        )


def _refuse_contradictions(
    options: TableOptions, groups: tuple[SequenceGroup, ...], on_groups: tuple[str, ...]
) -> None:
    """Options of partial-update that Java refuses together."""
    remove = opt.PARTIAL_UPDATE_REMOVE_RECORD_ON_DELETE
    on_group = opt.PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP
    pairs = []
    if options.get(opt.IGNORE_DELETE):
        pairs += [(opt.IGNORE_DELETE.key, remove.key)] if options.get(remove) else []
        pairs += [(opt.IGNORE_DELETE.key, on_group.key)] if on_groups else []
    if options.get(remove) and groups:
        pairs.append((remove.key, "fields.*.sequence-group"))
    for one, other in pairs:
        raise _two_things(one, other)
    sequences = {s for g in groups for s in g.sequence}
    for name in on_groups:
        if name not in sequences:
            raise BadOptionValue(
                f"{on_group.key} names an unknown sequence field: {name!r}",
                hint=f"sequence fields: {', '.join(sorted(sequences))}",
                option=on_group.key,
            )


def _two_things(one: str, other: str) -> BadOptionValue:
    return BadOptionValue(f"{one} and {other} contradict each other about a -D", hint="unset one of them", option=one)


def _groups(schema: TableSchema, options: TableOptions) -> tuple[SequenceGroup, ...]:
    out: list[SequenceGroup] = []
    taken: set[str] = set()
    for key, value in options.raw.items():
        if not (key.startswith("fields.") and key.endswith(".sequence-group")):
            continue
        sequence = _columns(key[len("fields.") : -len(".sequence-group")], schema, key)
        protected = _columns(value, schema, key)
        for name in protected:
            if name in taken:
                raise BadOptionValue(
                    f"column {name!r} is in two sequence groups", hint="use it in one group only", option=key
                )
        taken.update(protected)
        # A key column is the same in all rows of its key, so it needs no order.
        out.append(SequenceGroup(sequence, tuple(n for n in protected if n not in schema.primary_keys)))
    return tuple(out)


def _columns(text: str, schema: TableSchema, option: str) -> tuple[str, ...]:
    names = parse_names(text)
    for name in names:
        if name not in schema.names:
            raise BadOptionValue(
                f"{option} names an unknown column: {name!r}", hint=f"columns: {', '.join(schema.names)}", option=option
            )
    return names


def _aggregators(
    schema: TableSchema,
    options: TableOptions,
    engine: str,
    sequence: tuple[str, ...],
    groups: tuple[SequenceGroup, ...],
) -> dict[str, Aggregator]:
    """Function per column: last_value for sequence fields, none for keys, then the column's own, the default, else last
    non-null.
    """
    if engine not in ("aggregation", "partial-update"):
        return {}
    default = options.get(opt.FIELDS_DEFAULT_AGGREGATE_FUNCTION)
    in_groups = {s for g in groups for s in g.sequence}
    protected = {p for g in groups for p in g.protected}
    out: dict[str, Aggregator] = {}
    for f in schema.fields:
        prefix = f"fields.{f.name}."
        own = options.field(f.name, "aggregate-function")
        extra = {k[len(prefix) :]: v for k, v in options.raw.items() if k.startswith(prefix)}
        ignore = extra.get("ignore-retract", "false").lower() == "true"
        if ignore and options.get(opt.AGGREGATION_REMOVE_RECORD_ON_DELETE):
            raise _two_things(f"{prefix}ignore-retract", opt.AGGREGATION_REMOVE_RECORD_ON_DELETE.key)
        if engine == "partial-update":
            if f.name in schema.primary_keys or f.name in in_groups:
                continue
            name = own or default
            if name:
                # The newest non-NULL value needs no order of its own; every other function does.
                if name != DEFAULT_AGGREGATE and f.name not in protected:
                    raise BadOptionValue(
                        f"aggregate function {name} of column {f.name!r} needs a sequence group",
                        hint=f"name the column in some 'fields.<order>.sequence-group' = '{f.name}'",
                    )
                out[f.name] = Aggregator(name, ignore, extra)
            continue
        if f.name in sequence:
            out[f.name] = Aggregator("last_value")
        elif f.name in schema.primary_keys:
            out[f.name] = Aggregator("primary-key")
        else:
            out[f.name] = Aggregator(own or default or DEFAULT_AGGREGATE, ignore, extra)
    return out
