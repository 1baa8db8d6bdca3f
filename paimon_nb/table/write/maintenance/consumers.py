"""Consumers: reset, delete, clear. Source: docs/spec/format.md section 15."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paimon_nb.base import clock
from paimon_nb.base.errors import BadOptionValue, ConsumerNotFound
from paimon_nb.base.identifier import check_name
from paimon_nb.base.registry import did_you_mean
from paimon_nb.options import table as opt
from paimon_nb.table.write.maintenance.atomic import raise_if_replaced, undone_on_error

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paimon_nb.table.read.store import TableStore


@raise_if_replaced
def reset_consumer(store: TableStore, consumer: str, next_snapshot: int) -> None:
    """Set the next snapshot of a consumer; creates it if absent."""
    check_name(consumer, "consumer")
    if next_snapshot < 1:
        raise BadOptionValue(f"next snapshot {next_snapshot} is below 1", hint="snapshot ids begin with 1")
    store.consumers.set(consumer, next_snapshot)


@raise_if_replaced
def delete_consumer(store: TableStore, consumer: str) -> None:
    """Delete a consumer. Raises ConsumerNotFound."""
    ids = store.consumers.ids()
    if consumer not in ids:
        raise ConsumerNotFound(
            f"{store.name} has no consumer {consumer!r}",
            hint=did_you_mean(consumer, ids) or f"consumers: {', '.join(ids) or 'none'}",
            name=consumer,
        )
    store.consumers.delete(consumer)


@raise_if_replaced
def clear_consumers(store: TableStore, including: str | None = None, excluding: str | None = None) -> list[str]:
    """Delete all consumers whose whole name matches `including` and not `excluding` (regular expressions)."""
    removed = []
    for consumer in store.consumers.ids():
        included = including is None or re.fullmatch(including, consumer)
        if included and not (excluding and re.fullmatch(excluding, consumer)):
            removed.append(consumer)
    _delete_all(store, removed)
    return removed


@raise_if_replaced
def expire_consumers(store: TableStore) -> list[str]:
    """Delete consumers without progress for `consumer.expiration-time`. Returns their names; [] without the option."""
    age = store.options.get(opt.CONSUMER_EXPIRATION_TIME)
    if age is None:
        return []
    limit = clock.now_ms() - age
    removed = [consumer for consumer, moved in store.consumers.modified_ms().items() if moved < limit]
    _delete_all(store, removed)
    return removed


def _delete_all(store: TableStore, names: Iterable[str]) -> None:
    """Delete all of these consumers, or none."""
    with undone_on_error(store) as changing:
        for name in names:
            changing.consumers.delete(name)
