"""`paimon-nb refresh WAREHOUSE [TABLE ...]`: refreshes materialized tables once, or keeps them fresh with --watch."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from paimon_nb.base.errors import PaimonError
from paimon_nb.base.identifier import split_name
from paimon_nb.base.redact import redact_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.session.core.session import ResolvedTable, Session


def main(arguments: Sequence[str]) -> int:
    """The command. Returns 0, or 1 if a refresh without --watch failed."""
    parser = argparse.ArgumentParser(prog="paimon-nb refresh", description="Refresh materialized tables.")
    parser.add_argument("warehouse")
    parser.add_argument("tables", nargs="*", metavar="TABLE", help="[database.]table; default: all materialized tables")
    parser.add_argument(
        "--watch", action="store_true", help="run until SIGTERM: refresh each table when its freshness is over"
    )
    parser.add_argument("--config", metavar="FILE.yaml", help="catalog definition or Flink settings")
    options = parser.parse_args(arguments)
    if options.config and not Path(options.config).is_file():
        parser.error(f"no such file: {options.config}")
    import paimon_nb

    with paimon_nb.connect(options.warehouse) as wb:
        if options.config:
            wb.configure(Path(options.config))
        failed = _refresh_once(wb.session, options.tables)
        if options.watch:
            _watch(wb.session, options.tables)
            return 0
    return 1 if failed else 0


def _targets(session: Session, names: Sequence[str]) -> list[ResolvedTable]:
    from paimon_nb.session.materialized.refresher import all_materialized, in_order

    named = [session.find(split_name(name)) for name in names]
    return in_order(session, named or all_materialized(session))


def _refresh_once(session: Session, names: Sequence[str]) -> int:
    """Refresh the tables that are not suspended. Returns how many refreshes failed."""
    from paimon_nb.session.materialized.refresh import materialized_definition, refresh

    failed = 0
    for target in _targets(session, names):
        try:
            if not names and materialized_definition(target.catalog.table(target.name)).is_suspended:
                _print(f"{target.name} is suspended")
                continue
            _print(f"{target.name} {refresh(session, target)}")
        except PaimonError as error:
            failed += 1
            _print(f"{target.name} failed: {error.one_line}")
    return failed


def _watch(session: Session, names: Sequence[str]) -> None:
    from paimon_nb.session.materialized.refresher import Refresher, name_of

    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    refresher = session.refresher = Refresher(session)
    while not stopped.is_set():
        for target in _targets(session, names):  # also those that were created meanwhile
            if name_of(target) not in refresher.tables:
                refresher.keep(name_of(target))
        stopped.wait(_LOOK_S)


_LOOK_S = 1.0


def _print(line: str) -> None:
    sys.stdout.write(redact_text(line) + "\n")
    sys.stdout.flush()
