"""Registry of named entries, with a did-you-mean for unknown names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, Generic, TypeVar, cast

from paimon_nb.base.errors import UnknownName

T = TypeVar("T")


def nearest_known_name(name: str, known: Iterable[str]) -> str | None:
    """The known name closest to `name`, or None if none is close."""
    import difflib

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
        self._entries: dict[str, Any] = dict(entries)

    def find(self, name: str) -> T:
        """The entry called `name`. Raises `UnknownName` with the nearest known name."""
        if name not in self:
            raise UnknownName(
                f"no {self.kind} {name!r}",
                hint=did_you_mean(name, self) or f"known: {', '.join(sorted(self))}",
                name=name,
            )
        return self[name]

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __getitem__(self, name: str) -> T:
        entry: T = self._entries[name]
        return entry

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


class LazyRegistry(Registry[T]):
    """A registry whose entries are imported when they are looked up. Listing and checking names imports nothing."""

    def __init__(self, kind: str, package: str, entries: Mapping[str, str]) -> None:
        """Declares the entries.

        Args:
            kind: what the entries are, for messages.
            package: the package of their modules.
            entries: name -> `module:object`, the module relative to the package.
        """
        super().__init__(kind, {})
        self._package = package
        self._entries = dict(entries)

    def __getitem__(self, name: str) -> T:
        module, _, attribute = self._entries[name].partition(":")
        return cast("T", getattr(import_module(f"{self._package}.{module}"), attribute))
