"""Converts single values of other libraries to plain Python. Imports none of those libraries."""

from __future__ import annotations

from typing import Any


def to_python(value: Any) -> Any:
    """A NumPy or Arrow scalar as a plain Python value; anything else unchanged. NumPy times get microsecond precision."""
    wrapper = type(value).__module__.partition(".")[0]
    if wrapper == "pyarrow" and hasattr(value, "as_py"):
        return value.as_py()
    if wrapper == "numpy" and hasattr(value, "item") and not getattr(value, "shape", ()):
        return (value.astype("datetime64[us]") if value.dtype.kind == "M" else value).item()
    return value
