"""Whether the first line of a CSV file has names although DuckDB takes it for values: years, dates and percents in a header."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_NUMBER = re.compile(r"[-+]?\d+([.,]\d+)?%?")
_YEAR = re.compile(r"(1[5-9]|2[01])\d\d")
_DATE = re.compile(r"\d{4}-\d\d(-\d\d)?")
_MIN_YEARS = 2


def is_header(first: Sequence[str | None], rows: Sequence[Sequence[str | None]]) -> bool:
    """Whether words and years, dates or percents are names of columns.

    Such cells are names if they are unlike the values below: years that follow each other above numbers of another size, words that
    do not occur again in their column.
    """
    if any(cell is None for cell in first[1:]) or not rows or len(first) < 2:
        return False
    cells = [(cell or "").strip() for cell in first]
    numeric = [i for i, cell in enumerate(cells) if _NUMBER.fullmatch(cell) or _DATE.fullmatch(cell)]
    words = [i for i in range(len(cells)) if i not in numeric and cells[i]]
    if not numeric or not words:
        return False
    for i in words:
        below = {row[i] for row in rows}
        if cells[i] in below or (len(rows) > 1 and not cells[i][:1].isalpha()):
            return False
    labels = [cells[i] for i in numeric]
    if len(set(labels)) != len(labels):
        return False
    return all(_unlike_values(cells[i], [row[i] for row in rows if row[i]]) for i in numeric) and (
        all(map(_DATE.fullmatch, labels)) or _are_steps(labels) or any(c.endswith("%") for c in labels)
    )


def _are_steps(labels: Sequence[str]) -> bool:
    """Whether numbers are years, or rise by one step."""
    if not all(label.isdigit() for label in labels):
        return False
    numbers = [int(label) for label in labels]
    if len(numbers) < _MIN_YEARS:
        return bool(_YEAR.fullmatch(labels[0]))
    steps = {b - a for a, b in itertools.pairwise(numbers)}
    return len(steps) == 1 and steps.pop() in (1, -1, 5, 10, -10, -5)


def _unlike_values(label: str, values: Sequence[str | None]) -> bool:
    """Whether no value of the column looks like the label."""
    if label in values:
        return False
    if _YEAR.fullmatch(label):
        return not any(v and _YEAR.fullmatch(v.strip()) for v in values)
    if _DATE.fullmatch(label):
        return not any(v and _DATE.fullmatch(v.strip()) for v in values)
    return not label.isdigit() or not any(v and v.strip().isdigit() and len(v.strip()) == len(label) for v in values)
