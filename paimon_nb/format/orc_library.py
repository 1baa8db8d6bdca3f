"""Access to pyorc, which an installation for Parquet and Avro alone does not have."""

from __future__ import annotations

from typing import Any

from paimon_nb.base.errors import EnvironmentError_


def load_pyorc() -> Any:
    """The module pyorc.

    Raises:
        EnvironmentError_: it is not installed.
    """
    try:
        import pyorc
    except ImportError:
        raise EnvironmentError_(
            "ORC files need the Python package pyorc", hint="pip install 'pyorc>=0.10'", package="pyorc"
        ) from None
    return pyorc
