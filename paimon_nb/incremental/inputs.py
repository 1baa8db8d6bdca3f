"""The Paimon tables that an incremental query reads, and which of them can be followed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.options.table import SCAN_FALLBACK_BRANCH
from paimon_nb.session.query.computed_columns import computed_columns
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.sources import check_readable
from paimon_nb.session.query.local_select import means_frame
from paimon_nb.table.read import Latest, parse_incremental, parse_travel

if TYPE_CHECKING:
    from paimon_nb.session.core.session import Session
    from paimon_nb.statements import TableRef
    from paimon_nb.table.tables.table import Table


def open_input(session: Session, ref: TableRef) -> Table:
    """The table of a reference. Raises NotLocal: it has no snapshots to follow, or the reference names one of them."""
    if ref.file or means_frame(session, ref):
        raise NotLocal(f"{ref.parts[-1]} is not a table: it has no snapshots to follow")
    check_readable(session, ref)
    if ref.travel is not None or ref.options:
        raise NotLocal(f"{ref.parts[-1]} is read with time travel or options")
    found = session.find(ref.parts)
    if found.name.system is not None or found.name.database == "sys":
        raise NotLocal(f"{found.name} is a system table: it has no snapshots to follow")
    table = found.catalog.table(found.name, session.options_of(found))
    store = table.store
    if store.is_format_table:
        raise NotLocal(f"{found.name} is a format table: it has no snapshots to follow")
    if computed_columns(table.schema.options):
        raise NotLocal(f"{found.name} has computed columns")
    if parse_incremental(store.options) is not None or not isinstance(parse_travel(store.options), Latest):
        raise NotLocal(f"the options of {found.name} name a snapshot")
    if store.options.get(SCAN_FALLBACK_BRANCH):
        raise NotLocal(f"{found.name} has a fallback branch")
    return table
