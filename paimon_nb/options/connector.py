"""Options of both connectors: those of a hint, `.option(...)` or a table besides table options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.registry import Registry
from paimon_nb.options.read import READ_OPTIONS
from paimon_nb.options.write import WRITE_OPTIONS

if TYPE_CHECKING:
    from paimon_nb.options.option import Option

CONNECTOR_OPTIONS: Registry[Option[object]] = Registry("connector option", {**READ_OPTIONS, **WRITE_OPTIONS})
