"""The types of a query's columns that are columns of its table: Spark's types do not tell a TIMESTAMP(3) from a TIMESTAMP(6)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.base.errors import PaimonError
from paimon_nb.session.query.computed_columns import computed_columns
from paimon_nb.syntax.tree import Alias, Column, Select, Star, Table

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from paimon_nb.format.types import DataField
    from paimon_nb.session.core.session import Session
    from paimon_nb.statements import Query
    from paimon_nb.syntax.tree import Node


def fields_of_plain_columns(session: Session, query: Query) -> tuple[DataField, ...]:
    """The fields of the result if each of its columns is one of the query's only table; else ().

    Reads the schema only.
    """
    tree = query.tree
    if not isinstance(tree, Select) or tree.common or tree.joins or tree.lateral_views:
        return ()
    source = tree.source
    if not isinstance(source, Table) or source.number is None or source.columns:
        return ()
    ref = query.tables[source.number]
    if ref.travel is not None or ref.options or ref.file or ref.function is not None:
        return ()
    try:
        found = session.find(ref.parts)
        table = found.catalog.table(found.name)
    except PaimonError:  # a view, a variable, a table of Spark
        return ()
    if found.name.system is not None or computed_columns(table.schema.options):
        return ()
    fields = {f.name.lower(): f for f in table.schema.fields}
    out: list[DataField] = []
    for item in tree.items:
        if isinstance(item, Star) and not item.changed and not item.excluded:
            out += table.schema.fields
            continue
        field = _field(item, fields, {source.name.lower(), (source.alias or source.name).lower()})
        if field is None:
            return ()
        out.append(field)
    return tuple(out)


def _field(item: Node, fields: Mapping[str, DataField], sources: Collection[str]) -> DataField | None:
    if isinstance(item, Alias):
        inner = _field(item.expression, fields, sources)
        return None if inner is None else replace(inner, name=item.name)
    if not isinstance(item, Column):
        return None
    *qualifier, name = (part.lower() for part in item.parts)
    if qualifier and (len(qualifier) > 1 or qualifier[0] not in sources):  # a field of a column
        return None
    return fields.get(name)
