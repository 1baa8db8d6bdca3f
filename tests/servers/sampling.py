"""Long lists of parameters: `make test` runs a sample of them, `make nightly` the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable


def sampled(values: Iterable[Any], every: int) -> list[Any]:
    """All values, of which only the first and each `every`-th after it run in `make test`.

    Args:
        values: What `pytest.mark.parametrize` takes: one value, a tuple of values or a `pytest.param` for each run.
        every: 3 for a third of them.

    Example:
        >>> [bool(p.marks) for p in sampled("abcd", 3)]
        [False, True, True, False]
    """
    return [_parameters(value, nightly=number % every > 0) for number, value in enumerate(values)]


def _parameters(value: Any, *, nightly: bool) -> Any:
    marks = [pytest.mark.nightly] if nightly else []
    if isinstance(value, type(pytest.param())):
        return value._replace(marks=[*value.marks, *marks])
    return pytest.param(*value, marks=marks) if isinstance(value, tuple) else pytest.param(value, marks=marks)
