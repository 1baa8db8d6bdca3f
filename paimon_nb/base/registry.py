"""Registry of named entries, with a did-you-mean for unknown names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Generic, TypeVar

from paimon_nb.base.errors import UnknownName

T = TypeVar("T")


def nearest_known_name(name: str, known: Iterable[str]) -> str | None:
    """The known name closest to `name`, or None if none is close."""
    folded = {k.lower(): k for k in known}
    match = difflib.get_close_matches(name.lower(), folded, n=1, cutoff=0.6)
    return folded[match[0]] if match else None


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A hint sentence for a wrong name, or None."""
    near = nearest_known_name(name, known)
    return f"did you mean {near!r}?" if near else None


class Registry(Mapping[str, T], Generic[T]):
    """An immutable name -> entry mapping with the kind of its entries."""

    def __init__(self, kind: str, entries: Mapping[str, T]) -> None:
        self.kind = kind
        self._entries = dict(entries)

    def find(self, name: str) -> T:
        """The entry called `name`. Raises `UnknownName` with the nearest known name."""
        try:
            return self._entries[name]
        except KeyError:
            raise UnknownName(
                f"no {self.kind} {name!r}",
                hint=did_you_mean(name, self._entries) or f"known: {', '.join(sorted(self._entries))}",
                name=name,
            ) from None

    def __getitem__(self, name: str) -> T:
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)
