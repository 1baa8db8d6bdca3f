"""Syntax trees are freed after these tests: a garbage collection of a test behind them would visit millions of nodes.

So would collections while the trees are made, which take twice as long as the parser: there are none until then.
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import source_kit

if TYPE_CHECKING:
    import pytest


def pytest_runtest_setup() -> None:
    gc.disable()


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    if nextitem is None or nextitem.path.parent != item.path.parent:
        source_kit.nodes.cache_clear()
        source_kit.tree.cache_clear()
        gc.enable()
