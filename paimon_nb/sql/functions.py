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
    """`{0}`, `{1}` ... stand for the arguments' own text."""

    said = re.split(r"\{(\d)\}", template)
    wanted = [int(i) for i in said[1::2]]

    def rewrite(text: str, name: Token, bracket: Sequence[Token]) -> list[Edit]:
        spans = arguments_of(bracket)
        if any(i >= len(spans) for i in wanted):
            return []
        if wanted == [*range(len(wanted))] and wanted:
            # Only what stands between the arguments is said anew, so that what is in them can be, too.
            starts = [name.start, *(spans[i].stop for i in wanted)]
            stops = [*(spans[i].start for i in wanted), bracket[-1].stop]
            return [(Span(a, b), new) for a, b, new in zip(starts, stops, said[0::2], strict=True)]
        out = said[0] + "".join(
            text[spans[i].start : spans[i].stop] + s for i, s in zip(wanted, said[2::2], strict=True)
        )
        return [(Span(name.start, bracket[-1].stop), out)]

    return rewrite


def _truncated(text: str, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """TRUNCATE(n) and TRUNCATE(n, places) keep the number's type, as Flink does."""
    arguments = [text[s.start : s.stop] for s in arguments_of(bracket)]
    if len(arguments) not in (1, 2):
        return []
    number, places = arguments[0], arguments[1] if len(arguments) > 1 else "0"
    down, up = f"floor({number}, {places})", f"ceil({number}, {places})"
    return [(Span(name.start, bracket[-1].stop), f"(CASE WHEN ({number}) < 0 THEN {up} ELSE {down} END)")]


def _epoch(text: str, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """TO_TIMESTAMP_LTZ(n, 0) counts seconds, (n, 3) and (n) milliseconds; of a text it is a cast."""
    arguments = [text[s.start : s.stop].strip() for s in arguments_of(bracket)]
    if len(arguments) > 1 and arguments[1] not in ("0", "3"):
        return _renamed("to_timestamp")(text, name, bracket)
    function = "timestamp_seconds" if arguments[1:] == ["0"] else "timestamp_millis"
    return _called(function + "(CAST({0} AS BIGINT))")(text, name, bracket)


def _json(what: str) -> Rewrite:
    """JSON_VALUE(x, '$.a' RETURNING INT), JSON_QUERY, JSON_EXISTS: paths may begin with lax or strict.

    What Flink lets say about empty and broken values is left out: Spark gives NULL there, as Flink's lax paths do.
    """

    def rewrite(text: str, name: Token, bracket: Sequence[Token]) -> list[Edit]:
        spans = arguments_of(bracket)
        if len(spans) < 2:
            return []
        inside = [t for t in bracket if spans[1].start <= t.start < spans[1].stop]
        words = [t.upper for t in inside]
        path = inside[0]
        edits = [(Span(name.start, name.stop), "get_json_object")]
        if path.kind == "string" and (plain := re.sub(r"(?i)^\s*(lax|strict)\s+", "", path.value)) != path.value:
            edits.append((Span(path.start, path.stop), "'" + plain.replace("'", "\\'") + "'"))
        end = next((t.start for t in inside[1:] if t.kind == "word"), bracket[-1].start)
        kind, tail = "", ""
        if "RETURNING" in words:
            following = inside[words.index("RETURNING") + 1 :]
            stop = next((i for i, t in enumerate(following) if t.upper in _JSON_CLAUSES), len(following))
            kind = spark_type_text(_rebuild(following[:stop]))
        if kind:
            edits[0] = (edits[0][0], "CAST(get_json_object")
            tail = f" AS {kind})"
        elif what == "EXISTS":  # of no text, Flink says NULL
            document = text[spans[0].start : spans[0].stop]
            edits[0] = (edits[0][0], f"IF(({document}) IS NULL, NULL, get_json_object")
            tail = " IS NOT NULL)"
        if end != bracket[-1].start or tail:
            edits.append((Span(end, bracket[-1].stop), ")" + tail))
        return edits

    return rewrite


_JSON_CLAUSES = ("NULL", "ERROR", "DEFAULT", "EMPTY", "WITH", "WITHOUT", "TRUE", "FALSE", "UNKNOWN")


def _rounded(up: bool) -> Rewrite:
    """FLOOR(ts TO DAY), CEIL(ts TO HOUR); of numbers they are Spark's own."""

    def rewrite(text: str, name: Token, bracket: Sequence[Token]) -> list[Edit]:
        inner = bracket[1:-1]
        if len(inner) < 3 or inner[-2].upper != "TO":
            return []
        unit, to = inner[-1].upper, inner[-2]
        more = f" + INTERVAL 1 {unit} - INTERVAL 1 MICROSECOND" if up else ""
        head = (Span(name.start, bracket[0].stop), f"CAST(date_trunc('{unit}', (")
        return [head, (Span(to.start, bracket[-1].stop), f"){more}) AS TIMESTAMP_NTZ)")]

    return rewrite


def _group_window(kind: str, part: str) -> Rewrite:
    """TUMBLE(ts, size), HOP(ts, slide, size), SESSION(ts, gap) in GROUP BY, and their _START, _END, _ROWTIME."""

    def rewrite(text: str, name: Token, bracket: Sequence[Token]) -> list[Edit]:
        arguments = [text[s.start : s.stop] for s in arguments_of(bracket)]
        if len(arguments) != (3 if kind == "HOP" else 2) or arguments[0].upper().startswith(("TABLE", "DATA")):
            return []
        spans = [f"'{_interval(a)}'" for a in reversed(arguments[1:])]
        function = "session_window" if kind == "SESSION" else "window"
        said = f"{function}({arguments[0]}, {', '.join(spans)})"
        said += {"": "", "START": ".start", "END": ".end", "ROWTIME": ".end - INTERVAL '0.001' SECOND"}[part]
        return [(Span(name.start, bracket[-1].stop), said)]

    return rewrite


FUNCTION_EDITS: Mapping[str, Rewrite] = {
    "PROCTIME": _called("current_timestamp()"),
    "CURRENT_ROW_TIMESTAMP": _called("current_timestamp()"),
    "TO_TIMESTAMP_LTZ": _epoch,
    "CONVERT_TZ": _called("date_format(from_utc_timestamp(to_utc_timestamp({0}, {1}), {2}), 'yyyy-MM-dd HH:mm:ss')"),
    "FLOOR": _rounded(up=False),
    "CEIL": _rounded(up=True),
    "CEILING": _rounded(up=True),
    "JSON_VALUE": _json("VALUE"),
    "JSON_QUERY": _json("QUERY"),
    "JSON_EXISTS": _json("EXISTS"),
    "TO_BASE64": _called("base64({0})"),
    "FROM_BASE64": _called("CAST(unbase64({0}) AS STRING)"),
    **{f"SHA{n}": _called(f"sha2({{0}}, {n})") for n in (224, 256, 384, 512)},
    **{
        f"{kind}{'_' * bool(part)}{part}": _group_window(kind, part)
        for kind in ("TUMBLE", "HOP", "SESSION")
        for part in ("", "START", "END", "ROWTIME")
    },
    "SPLIT_INDEX": _called("get(split({0}, concat('\\\\Q', {1}, '\\\\E')), {2})"),
    "LISTAGG": _renamed("listagg"),
    "CHARACTER_LENGTH": _renamed("char_length"),
    "REGEXP_EXTRACT": _renamed("regexp_extract"),
    "TRUNCATE": _truncated,
    "ROW": _renamed("struct"),
    "IF": _renamed("if"),
    "UUID": _renamed("uuid"),
}
"""Flink function -> how it is said in Spark."""


def _with_argument(count: int, more: str) -> Rewrite:
    """The argument that Flink takes by default, where there are only `count`."""

    def rewrite(text: str, name: Token, bracket: Sequence[Token]) -> list[Edit]:
        end = bracket[-1].start
        return [(Span(end, end), f", {more}")] if len(arguments_of(bracket)) == count else []

    return rewrite


FLINK_MEANINGS: Mapping[str, Rewrite] = {
    "LISTAGG": _with_argument(1, "','"),
    "REGEXP_EXTRACT": _with_argument(2, "0"),
}
"""Functions that both have, with other defaults."""


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
      | (?P<string>VARCHAR\s*\(\s*2147483647\s*\)|VARCHAR(?!\s*\())
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


def cut_text(cast: Token, bracket: Sequence[Token]) -> list[Edit]:
    """CAST(x AS VARCHAR(3)) cuts in Flink; in Spark it does not."""
    words = [t.upper or t.text for t in bracket[-6:]]
    if len(words) < 6 or words[:3] != ["AS", "VARCHAR", "("] or words[4:] != [")", ")"] or not words[3].isdecimal():
        return []
    end = bracket[-1].stop
    return [(Span(cast.start, cast.start), "left("), (Span(bracket[-5].start, bracket[-2].stop), "STRING"), (Span(end, end), f", {words[3]})")]  # fmt: skip


def _rebuild(tokens: Sequence[Token]) -> str:
    """The type's text with single spaces between words, so that the pattern sees `TIMESTAMP(3)` however it was spaced."""
    out = ""
    for token in tokens:
        out += (" " if out and out[-1] not in "(<" and token.kind in ("word", "quoted") else "") + token.text
    return out


def window_table(kind: str, arguments: list[str]) -> tuple[str, str]:
    """Text before and after the table for TUMBLE, HOP and CUMULATE in batch.

    TUMBLE(TABLE t, DESCRIPTOR(ts), size) gives t's columns, window_start, window_end, window_time. CUMULATE(.., step, size)
    gives a row for each end in steps after the row's time, up to the end of its window of `size`.
    """
    if len(arguments) < (2 if kind == "TUMBLE" else 3):
        raise SqlSyntaxError(f"{kind} needs a DESCRIPTOR and {'a size' if kind == 'TUMBLE' else 'slide and size'}")
    column = re.sub(r"(?is)^\s*DESCRIPTOR\s*\(\s*(.*?)\s*\)\s*$", r"\1", arguments[0])
    intervals, window = [_interval(a) for a in arguments[1:]], ""
    if kind == "TUMBLE":
        spec = f"window({column}, '{intervals[0]}')"
    elif kind == "HOP":
        spec = f"window({column}, '{intervals[1]}', '{intervals[0]}')"
    elif kind == "CUMULATE":
        ends = f"sequence(__day.start + INTERVAL {intervals[0]}, __day.end, INTERVAL {intervals[0]})"
        later = f"filter({ends}, e -> e > {column})"
        spec = f"explode(transform({later}, e -> named_struct('start', __day.start, 'end', e)))"
        window = f"(SELECT *, window({column}, '{intervals[1]}') AS __day FROM "
    else:
        raise SqlSyntaxError(f"{kind} windows are not known here", hint="use TUMBLE, HOP or CUMULATE")
    hidden = "(__win, __day)" if window else "(__win)"
    head = (
        f"(SELECT __w.* EXCEPT {hidden}, __w.__win.start AS window_start, __w.__win.end AS window_end, "
        f"__w.__win.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, {spec} AS __win FROM {window}"
    )
    return head, ")" * bool(window) + ") AS __w)"


def _interval(text: str) -> str:
    """INTERVAL '10' MINUTES -> 10 MINUTES."""
    match = re.fullmatch(r"(?is)\s*INTERVAL\s*'([^']+)'\s*(\w+)\s*(?:\(\d+\))?\s*", text)
    if not match:
        raise SqlSyntaxError(f"{text!r} is no interval", hint="INTERVAL '10' MINUTES")
    return f"{match[1]} {match[2]}"
