"""Warnings that name the line of the program that called this package."""

from __future__ import annotations

import sys
import warnings


def warn_caller(text: str) -> None:
    """Give a `UserWarning` at the innermost line outside this package."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("paimon_nb."):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, stacklevel=level)
