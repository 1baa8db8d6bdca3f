"""Marks of the public API: what goes away, and what may change."""

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")


def deprecated(since: str, until: str, use: str) -> Callable[[F], F]:
    """Mark a function or method: it works until a release, warns, and names what to use.

    Args:
        since: the release that deprecated it.
        until: the release that removes it.
        use: the replacement, as a reader would write it.
    """

    def mark(function: F) -> F:
        @functools.wraps(function)
        def warning(*args: Any, **kwargs: Any) -> Any:
            warnings.warn(
                f"{function.__name__}() is deprecated since {since} and goes in {until}; use {use}",
                DeprecationWarning,
                stacklevel=2,
            )
            return function(*args, **kwargs)

        warning.__doc__ = (
            f"{function.__doc__ or ''}\n\n    Deprecated since {since}, removed in {until}: use `{use}`.\n"
        )
        warning.deprecated = (since, until, use)  # type: ignore[attr-defined]
        return warning  # type: ignore[return-value]

    return mark


def experimental(since: str) -> Callable[[F], F]:
    """Mark a class or function of the public API that may change in a minor release."""

    def mark(thing: F) -> F:
        thing.__doc__ = f"{thing.__doc__ or ''}\n\n    Experimental since {since}: it may change in a minor release.\n"
        thing.experimental = since  # type: ignore[attr-defined]
        return thing

    return mark
