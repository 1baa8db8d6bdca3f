"""`@dataclass` as in the standard library, whose classes are cheap to import: no method is compiled before it is used.

The standard decorator compiles six methods of a frozen class, 0.4 ms of CPU. A process that answers one query imports 260 such classes and creates
objects of few of them.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import Field, dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, slots=False, kw_only=False):
        """A class whose fields are its annotated names, as `dataclasses.dataclass` makes it.

        Args:
            cls: the class.
            frozen: fields cannot be assigned, and objects have a hash.
            slots: objects have no `__dict__`.
            kw_only: fields are keyword arguments only.
        """
        if cls is None:
            return lambda plain: _with_methods(plain, frozen, slots, kw_only)
        return _with_methods(cls, frozen, slots, kw_only)


__all__ = ["dataclass"]


def _with_methods(plain: type, frozen: bool, slots: bool, kw_only: bool) -> type:
    """The class with its fields, and with each method that it does not define itself."""
    defined = vars(plain)
    if plain.__doc__ is None:
        plain.__doc__ = plain.__name__  # else the standard decorator computes a signature for it
    make = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)
    cls: type = make(plain)
    methods: dict[str, Any] = {
        "__init__": _InitOnFirstUse(cls, frozen, slots),
        "__repr__": _OnFirstUse(cls, "__repr__", _repr_of),
    }
    if "__eq__" not in defined:
        methods["__eq__"] = _OnFirstUse(cls, "__eq__", _equality_of)
    if defined.get("__hash__") is None:
        methods["__hash__"] = _OnFirstUse(cls, "__hash__", _hash_of) if frozen else None
    if frozen:
        methods["__setattr__"] = _OnFirstUse(cls, "__setattr__", _refusal_to_assign)
        methods["__delattr__"] = _OnFirstUse(cls, "__delattr__", _refusal_to_delete)
    if frozen and slots:
        methods.update(__getstate__=_field_values, __setstate__=_set_field_values)
    for name, method in methods.items():
        if name not in defined or name == "__hash__":
            setattr(cls, name, method)
    return cls


class _OnFirstUse:
    """Stands for a method and replaces itself with the one that `make` returns when it is first looked up."""

    __slots__ = ("_make", "_name", "_owner")

    def __init__(self, owner: type, name: str, make: Callable[[type], Any]) -> None:
        self._owner, self._name, self._make = owner, name, make

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        method = self._make(self._owner)
        setattr(self._owner, self._name, method)
        return method if instance is None else method.__get__(instance, owner)


class _InitOnFirstUse:
    """Stands for `__init__`: fills the first objects field by field, then replaces itself with the compiled method.

    Most classes of a process have an object or two. Compiling takes as long as filling a hundred.
    """

    __slots__ = ("_frozen", "_left", "_owner", "_slots")

    def __init__(self, owner: type, frozen: bool, slots: bool) -> None:
        self._owner, self._frozen, self._slots = owner, frozen, slots
        self._left = _UNCOMPILED

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        self._left -= 1
        if instance is not None and self._left >= 0:
            return partial(self._fill, instance)
        return self._compiled() if instance is None else self._compiled().__get__(instance, owner)

    def _compiled(self) -> Any:
        init = _compile_init(self._owner, self._frozen, self._slots)
        setattr(self._owner, "__init__", init)  # noqa: B010  mypy allows no assignment
        return init

    def _fill(self, made: object, *positions: Any, **names: Any) -> None:
        fields = dataclasses.fields(self._owner)
        values = dict(zip((f.name for f in fields if f.init and not f.kw_only), positions, strict=False))
        unknown = len(positions) > len(values) or names.keys() & values.keys()
        values |= names
        if unknown or values.keys() != {f.name for f in fields if f.init and (f.name in values or _is_required(f))}:
            self._compiled()(made, *positions, **names)  # raises the error
            return
        assign = object.__setattr__ if self._frozen else setattr
        for f in fields:
            if f.name in values:
                assign(made, f.name, values[f.name])
            elif f.default_factory is not dataclasses.MISSING:
                assign(made, f.name, f.default_factory())
            elif f.default is not dataclasses.MISSING and (f.init or self._slots):
                assign(made, f.name, f.default)
        if hasattr(made, "__post_init__"):
            made.__post_init__()


_UNCOMPILED = 2
"""Objects of a class before its `__init__` is compiled."""


def _is_required(f: Field[Any]) -> bool:
    return f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING


def _compile_init(cls: type, frozen: bool, slots: bool) -> Any:
    """`__init__` with a parameter for each field, as the standard decorator compiles it."""
    scope: dict[str, Any] = {"__name__": cls.__module__, "__set": object.__setattr__, "__made": _MADE}
    fields = dataclasses.fields(cls)
    parameters = ["self", *(_parameter(f, scope) for f in fields if f.init and not f.kw_only)]
    by_keyword = [_parameter(f, scope) for f in fields if f.init and f.kw_only]
    if by_keyword:
        parameters += ["*", *by_keyword]
    body = []
    for f in fields:
        value = _initial_value(f, scope, slots)
        if value is not None:
            body.append(f"__set(self, {f.name!r}, {value})" if frozen else f"self.{f.name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    exec(f"def __init__({', '.join(parameters)}):\n  " + "\n  ".join(body or ["pass"]), scope)
    init = scope["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {**{f.name: f.type for f in fields if f.init}, "return": None}
    return init


class _Made:
    """Default of a parameter whose value a factory makes."""

    def __repr__(self) -> str:
        return "<factory>"


_MADE = _Made()


def _parameter(f: Field[Any], scope: dict[str, Any]) -> str:
    if f.default is not dataclasses.MISSING:
        scope[f"__default_{f.name}"] = f.default
        return f"{f.name}=__default_{f.name}"
    return f.name if f.default_factory is dataclasses.MISSING else f"{f.name}=__made"


def _initial_value(f: Field[Any], scope: dict[str, Any], slots: bool) -> str | None:
    """The expression that `__init__` assigns to a field; None if it assigns nothing."""
    if f.default_factory is not dataclasses.MISSING:
        scope[f"__make_{f.name}"] = f.default_factory
        made = f"__make_{f.name}()"
        return f"{made} if {f.name} is __made else {f.name}" if f.init else made
    if f.init:
        return f.name
    if slots and f.default is not dataclasses.MISSING:  # otherwise the default is an attribute of the class
        scope[f"__default_{f.name}"] = f.default
        return f"__default_{f.name}"
    return None


def _getter(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """A function that returns these attributes as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda found: tuple(getattr(found, name) for name in names)


def _repr_of(cls: type) -> Any:
    names = [f.name for f in dataclasses.fields(cls) if f.repr]

    @recursive_repr()
    def __repr__(self: Any) -> str:  # noqa: N807
        values = ", ".join([f"{name}={getattr(self, name)!r}" for name in names])
        return f"{self.__class__.__qualname__}({values})"

    return __repr__


def _equality_of(cls: type) -> Any:
    values = _getter([f.name for f in dataclasses.fields(cls) if f.compare])

    def __eq__(self: Any, other: Any) -> bool:  # noqa: N807
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _hash_of(cls: type) -> Any:
    fields = dataclasses.fields(cls)
    values = _getter([f.name for f in fields if (f.compare if f.hash is None else f.hash)])

    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(values(self))

    return __hash__


def _refusal_to_assign(cls: Any) -> Any:
    """`__setattr__` of a frozen class: subclasses may have attributes of their own."""
    names = frozenset(f.name for f in dataclasses.fields(cls))

    def __setattr__(self: Any, name: str, value: Any) -> None:  # noqa: N807
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    return __setattr__


def _refusal_to_delete(cls: Any) -> Any:
    names = frozenset(f.name for f in dataclasses.fields(cls))

    def __delattr__(self: Any, name: str) -> None:  # noqa: N807
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return __delattr__


def _field_values(self: Any) -> list[Any]:
    """What pickle stores of a frozen object without `__dict__`."""
    return [getattr(self, f.name) for f in dataclasses.fields(self)]


def _set_field_values(self: Any, state: list[Any]) -> None:
    for f, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, f.name, value)
