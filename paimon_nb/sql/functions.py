"""What Flink says otherwise than Spark, as edits of the user's text: functions, casts, window tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from paimon_nb.base.errors import SqlSyntaxError
from paimon_nb.plan import Span
from paimon_nb.sql.tokens import Token

Edit = tuple[Span, str]
Rewrite = Callable[[str, Token, Sequence[Token]], list[Edit]]


def _renamed(new: str) -> Rewrite:
    """Another name, same arguments."""

    def rewrite(text: str, name: Token, bracket: Sequence[Token]) -> list[Edit]:
        return [(Span(name.start, name.stop), new)]

    return rewrite


def _called(template: str) -> Rewrite:
    """`{0}`, `{1}` ... stand for the arguments' own text; `{*}` for all of them."""

    def rewrite(text: str, name: Token, bracket: Sequence[Token]) -> list[Edit]:
        arguments = [text[s.start : s.stop] for s in arguments_of(bracket)]
        if template.count("{") and not all(f"{{{i}}}" not in template or i < len(arguments) for i in range(9)):
            return []
        out = template.replace("{*}", ", ".join(arguments))
        for i, argument in enumerate(arguments):
            out = out.replace(f"{{{i}}}", argument)
        return [(Span(name.start, bracket[-1].stop), out)]

    return rewrite


FUNCTION_EDITS: Mapping[str, Rewrite] = {
    "PROCTIME": _called("current_timestamp()"),
    "CURRENT_ROW_TIMESTAMP": _called("current_timestamp()"),
    "TO_TIMESTAMP_LTZ": _called("timestamp_millis(CAST({0} AS BIGINT))"),
    "JSON_VALUE": _called("get_json_object({0}, {1})"),
    "JSON_QUERY": _called("get_json_object({0}, {1})"),
    "SPLIT_INDEX": _called("get(split({0}, concat('\\\\Q', {1}, '\\\\E')), {2})"),
    "LISTAGG": _renamed("listagg"),
    "CHARACTER_LENGTH": _renamed("char_length"),
    "REGEXP_EXTRACT": _renamed("regexp_extract"),
    "TRUNCATE": _called("(CAST({0} * pow(10, {1}) AS BIGINT) / pow(10, {1}))"),
    "IF": _renamed("if"),
    "UUID": _renamed("uuid"),
}
"""Flink function -> how it is said in Spark."""


def arguments_of(bracket: Sequence[Token]) -> list[Span]:
    """The spans of a bracket's top-level arguments; `bracket` holds both brackets."""
    out: list[Span] = []
    depth, start, previous = 0, None, bracket[0]
    for token in bracket[1:-1]:
        if token.text == "," and depth == 0 and start is not None:
            out.append(Span(start, previous.stop))
            start = None
            continue
        depth += (token.text in ("(", "[")) - (token.text in (")", "]"))
        start = token.start if start is None else start
        previous = token
    if start is not None:
        out.append(Span(start, previous.stop))
    return out


_FLINK_TYPE = re.compile(
    r"""\b(?:
        (?P<ltz>TIMESTAMP_LTZ\s*(?:\(\s*\d\s*\))?|TIMESTAMP\s*(?:\(\s*\d\s*\))?\s+WITH\s+LOCAL\s+TIME\s+ZONE)
      | (?P<ntz>TIMESTAMP\s*\(\s*\d\s*\)(?:\s+WITHOUT\s+TIME\s+ZONE)?)
      | (?P<string>VARCHAR\s*\(\s*2147483647\s*\))
      | (?P<bytes>BYTES|VARBINARY\s*(?:\(\s*\d+\s*\))?|BINARY\s*\(\s*\d+\s*\))
      | (?P<row>ROW(?=\s*<))
      | (?P<time>TIME\s*\(\s*\d\s*\))
    )""",
    re.I | re.X,
)
_SPARK_TYPE = {
    "ltz": "TIMESTAMP_LTZ",
    "ntz": "TIMESTAMP_NTZ",
    "string": "STRING",
    "bytes": "BINARY",
    "row": "STRUCT",
    "time": "STRING",
}


def spark_type_text(flink: str) -> str:
    """A type's text as Spark writes it; what Spark knows already stays as it is."""
    return _FLINK_TYPE.sub(lambda m: _SPARK_TYPE[m.lastgroup or ""], flink)


def cast_edit(inside: Sequence[Token]) -> Edit | None:
    """CAST(x AS <Flink type>): the type in Spark's words, or None when it is Spark's already."""
    depth = 0
    for i, token in enumerate(inside):
        depth += (token.text == "(") - (token.text == ")")
        if depth == 0 and token.upper == "AS" and i + 1 < len(inside):
            span = Span(inside[i + 1].start, inside[-1].stop)
            flink = _rebuild(inside[i + 1 :])
            spark = spark_type_text(flink)
            return (span, spark) if spark != flink else None
    return None


def _rebuild(tokens: Sequence[Token]) -> str:
    """The type's text with single spaces between words, so that the pattern sees `TIMESTAMP(3)` however it was spaced."""
    out = ""
    for token in tokens:
        out += (" " if out and out[-1] not in "(<" and token.kind in ("word", "quoted") else "") + token.text
    return out


def window_table(kind: str, arguments: list[str]) -> tuple[str, str]:
    """Text before and after the table for TUMBLE, HOP and CUMULATE in batch.

    TUMBLE(TABLE t, DESCRIPTOR(ts), size) gives t's columns, window_start, window_end, window_time.
    """
    if len(arguments) < (2 if kind == "TUMBLE" else 3):
        raise SqlSyntaxError(f"{kind} needs a DESCRIPTOR and {'a size' if kind == 'TUMBLE' else 'slide and size'}")
    column = re.sub(r"(?is)^\s*DESCRIPTOR\s*\(\s*(.*?)\s*\)\s*$", r"\1", arguments[0])
    intervals = [_interval(a) for a in arguments[1:]]
    if kind == "TUMBLE":
        spec = f"window({column}, '{intervals[0]}')"
    elif kind == "HOP":
        spec = f"window({column}, '{intervals[1]}', '{intervals[0]}')"
    else:
        raise SqlSyntaxError(f"{kind} windows are not known here", hint="use TUMBLE or HOP")
    head = (
        "(SELECT __w.*, __w.__win.start AS window_start, __w.__win.end AS window_end, __w.__win.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, "
        + spec
        + " AS __win FROM "
    )
    return head, ") AS __w)"


def _interval(text: str) -> str:
    """INTERVAL '10' MINUTES -> 10 MINUTES."""
    match = re.fullmatch(r"(?is)\s*INTERVAL\s*'([^']+)'\s*(\w+)\s*(?:\(\d+\))?\s*", text)
    if not match:
        raise SqlSyntaxError(f"{text!r} is no interval", hint="INTERVAL '10' MINUTES")
    return f"{match[1]} {match[2]}"
