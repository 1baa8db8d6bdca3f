"""Syntax trees are freed after these tests: a garbage collection of a test behind them would visit millions of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import source_kit

if TYPE_CHECKING:
    import pytest


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    if nextitem is None or nextitem.path.parent != item.path.parent:
        source_kit.nodes.cache_clear()
        source_kit.tree.cache_clear()
