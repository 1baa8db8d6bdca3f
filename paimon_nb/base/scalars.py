"""Single values as Python has them, from the libraries that wrap them. Imports none of those."""

from __future__ import annotations

from typing import Any


def to_python(value: Any) -> Any:
    """A NumPy or Arrow scalar as an everyday Python value; all else as it is. NumPy's times come in microseconds."""
    wrapper = type(value).__module__.partition(".")[0]
    if wrapper == "pyarrow" and hasattr(value, "as_py"):
        return value.as_py()
    if wrapper == "numpy" and hasattr(value, "item") and not getattr(value, "shape", ()):
        return (value.astype("datetime64[us]") if value.dtype.kind == "M" else value).item()
    return value
