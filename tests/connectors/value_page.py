"""The page docs/values.md: made of the recorded values of `test_cdc_value_matrix.py` and the table of `test_format_value_matrix.py`.

`python tests/connectors/value_page.py` writes it. RECORD_VALUES=1 with the matrix test (nightly) records the values again.
"""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "values.md"
RECORDED = HERE / "source_values.json"
_MOST = 60
"""Characters of a value on the page."""


def value_text(value: Any) -> str:
    """A stored value as text: NULL, JSON for texts and arrays, 0x for bytes."""
    match value:
        case None:
            return "NULL"
        case bytes():
            return "0x" + value.hex()
        case dt.datetime() | dt.date() | dt.time():
            return str(value)
        case list():
            return "[" + ", ".join(map(value_text, value)) + "]"
        case dict():
            return "{" + ", ".join(f"{k}: {value_text(v)}" for k, v in value.items()) + "}"
        case Decimal() | bool() | int() | float():
            return str(value)
    return json.dumps(value, ensure_ascii=False)


def as_recorded(
    types: dict[str, tuple[str, ...]], columns: dict[str, str], rows: list[dict[str, Any]]
) -> dict[str, Any]:
    """By type of the source: the type of the column, and each literal with what is stored.

    Args:
        types: the literals of each type; the column `c<i>` has the i-th type.
        columns: the types of the columns.
        rows: the stored rows; row j has the j-th literal of each type.
    """
    return {
        t: {"column": columns[f"c{i}"], "values": [[v, value_text(rows[j][f"c{i}"])] for j, v in enumerate(values)]}
        for i, (t, values) in enumerate(types.items())
    }


def page() -> str:
    recorded = json.loads(RECORDED.read_text())
    lines = ["# Values of sources", "", _HEAD]
    for name, title in _TITLES.items():
        lines += ["", f"## {title}", "", "| type | column | values: stored |", "|---|---|---|"]
        for t, about in recorded[name].items():
            values = "; ".join(_pair(literal, stored) for literal, stored in about["values"])
            lines.append(f"| `{_cell(t)}` | {_cell(about['column'])} | {values} |")
    lines += ["", "## Kafka", "", _KAFKA, "", *_format_lines()]
    return "\n".join(lines) + "\n"


def _format_lines() -> list[str]:
    from test_format_value_matrix import AS_TEXT, FORMATS, REFUSED, SYNC_FORMATS, VALUES

    formats = (*FORMATS, *SYNC_FORMATS)
    lines = [f"| type | values | {' | '.join(f'`{f}`' for f in formats)} |", "|---" * (len(formats) + 2) + "|"]
    for t, values in VALUES.items():
        marks = ["refused" if t in REFUSED.get(f, ()) else "same" for f in FORMATS]
        marks += ["refused" if f == "debezium-avro" and t in REFUSED["avro"] else "text" if t in AS_TEXT[f] else "same" for f in SYNC_FORMATS]  # fmt: skip
        shown = "; ".join(_code(value_text(_as_list(v))) for v in values)
        lines.append(f"| {_cell(t)} | {shown} | {' | '.join(marks)} |")
    return lines


def _as_list(value: Any) -> Any:
    return list(map(_as_list, value)) if isinstance(value, list | tuple) else value


def _pair(literal: str, stored: str) -> str:
    plain = literal.strip("'")
    return (
        _code(literal)
        if stored in (plain, json.dumps(plain, ensure_ascii=False))
        else f"{_code(literal)}: {_code(stored)}"
    )


def _code(text: str) -> str:
    text = text if len(text) <= _MOST else text[: _MOST - 1] + "…"
    return f"`{_cell(text)}`"


def _cell(text: str) -> str:
    escaped = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)
    return escaped.replace("|", "\\|").replace("`", "'")


_HEAD = """What the syncs and formats make of the least, greatest and special values of each type. The page is made from recorded results of
tests; `tests/connectors/test_value_page.py` compares it with them. A value without a second text is stored as it is written. Rules for values
that do not fit: [streams](streaming.md#values-that-do-not-fit). For PostgreSQL and MariaDB the snapshot of the rows and the log of changes give
the same value, for every value on this page."""
_KAFKA = """What a sink writes, the source with the same format reads: `same` for each of the values and NULL. `refused`: the format has no form for
the type, as in Flink; the statement fails before it runs. `csv` needs `csv.null-literal` to tell NULL from an empty text, and `csv.escape-character`
or quotes for delimiters. The last two formats are those of syncs alone; `text`: the message does not have the type, so a sync stores the value as
the message writes it, in a STRING column. Numbers that JSON does not have are the texts `"NaN"`, `"Infinity"`, `"-Infinity"`, as in Flink."""
_TITLES = {
    "postgres": "PostgreSQL 15",
    "postgres-text": "PostgreSQL 15 with `type_mapping => 'to-string'`",
    "mariadb": "MariaDB 10.11",
}

if __name__ == "__main__":
    PAGE.write_text(page())
