"""The check for pyorc, which an installation for Parquet and Avro alone does not have."""

from __future__ import annotations

from paimon_nb.base.errors import EnvironmentError_


def require_pyorc() -> None:
    """Call it before `import pyorc`.

    Raises:
        EnvironmentError_: pyorc is not installed.
    """
    try:
        import pyorc  # noqa: F401
    except ImportError:
        raise EnvironmentError_(
            "ORC files need the Python package pyorc", hint="pip install 'pyorc>=0.10'", package="pyorc"
        ) from None
