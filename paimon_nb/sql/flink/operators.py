"""Translates Flink's operators and clauses that Spark lacks: SIMILAR TO, BETWEEN SYMMETRIC, IS JSON ..."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from paimon_nb.base.errors import SqlSyntaxError
from paimon_nb.sql.flink.function_edits import Edit
from paimon_nb.statements import Span
from paimon_nb.syntax.operands import Operands

if TYPE_CHECKING:
    from paimon_nb.syntax.lexer import Token

Rewrite = Callable[[str, Operands, int], list[Edit]]
"""(text, the statement's operands, the operator's index) -> edits."""
_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
_ARITHMETIC = ("+", "-", "*", "/", "%", "||", "DIV")
_BRACKETS = {"(": ")", "[": "]"}


def operator_edits(text: str, operands: Operands, at: int) -> list[Edit]:
    """The edits for the token at `at`; [] if it is not such an operator."""
    rewrite = _OPERATORS.get(operands.tokens[at].upper)
    return rewrite(text, operands, at) if rewrite is not None else []


def _upper_word(tokens: Sequence[Token], at: int) -> str:
    return tokens[at].upper if 0 <= at < len(tokens) else ""


# -- the operators


def _rewrite_similar_to(text: str, operands: Operands, at: int) -> list[Edit]:
    """x SIMILAR TO 'pattern' [ESCAPE 'c'] as RLIKE of the whole string."""
    tokens = operands.tokens
    if _upper_word(tokens, at + 1) != "TO":
        return []
    pattern = tokens[at + 2] if at + 2 < len(tokens) else tokens[at + 1]
    if pattern.kind != "string":
        raise SqlSyntaxError(
            "SIMILAR TO needs a quoted pattern", hint="use x RLIKE pattern for other expressions; it takes Java's regular expressions",
            sql=text, start=pattern.start, stop=pattern.stop,
        )  # fmt: skip
    stop, escape = pattern.stop, ""
    if _upper_word(tokens, at + 3) == "ESCAPE" and at + 4 < len(tokens):
        escape, stop = tokens[at + 4].value, tokens[at + 4].stop
    regex = similar_regex(pattern.value, escape).replace("\\", "\\\\").replace("'", "\\'")
    return [(Span(tokens[at].start, stop), f"RLIKE '^(?s:{regex})\\\\z'")]


def similar_regex(pattern: str, escape: str = "") -> str:
    """A SIMILAR TO pattern as a regular expression: `%` and `_` as in LIKE, the rest as in the SQL standard."""
    out, inside, at = "", False, 0
    while at < len(pattern):
        c = pattern[at]
        if escape and c == escape and at + 1 < len(pattern):
            at += 1
            out += re.escape(pattern[at])
        elif inside:
            inside = c != "]"
            out += "\\\\" if c == "\\" else c
        elif c == "[":
            inside = True
            out += c
        else:
            out += {"%": ".*", "_": ".", ".": "\\.", "\\": "\\\\", "^": "\\^", "$": "\\$"}.get(c, c)
        at += 1
    return out


def _rewrite_between_symmetric(text: str, operands: Operands, symmetric_index: int) -> list[Edit]:
    """x BETWEEN SYMMETRIC a AND b: the smaller bound comes first."""
    tokens = operands.tokens
    if _upper_word(tokens, symmetric_index - 1) != "BETWEEN":
        return []
    middle = operands.stop(symmetric_index + 1)
    if _upper_word(tokens, middle) != "AND":
        return []
    end = operands.stop(middle + 1)
    a = text[tokens[symmetric_index + 1].start : tokens[middle - 1].stop]
    b = text[tokens[middle + 1].start : tokens[end - 1].stop]
    lower, upper = (f"CASE WHEN ({a}) <= ({b}) THEN {x} ELSE {y} END" for x, y in ((a, b), (b, a)))
    return [(Span(tokens[symmetric_index].start, tokens[end - 1].stop), f"{lower} AND {upper}")]


def _drop_asymmetric(text: str, operands: Operands, at: int) -> list[Edit]:
    tokens = operands.tokens
    return [(Span(tokens[at].start, tokens[at].stop), "")] if _upper_word(tokens, at - 1) == "BETWEEN" else []


_JSON_KIND = {
    "": "IS NOT NULL",
    "VALUE": "IS NOT NULL",
    "OBJECT": "LIKE 'OBJECT%'",
    "ARRAY": "LIKE 'ARRAY%'",
    "SCALAR": "RLIKE '^(?!OBJECT|ARRAY)'",
}


def _rewrite_is_json(text: str, operands: Operands, at: int) -> list[Edit]:
    """x IS [NOT] JSON [VALUE | OBJECT | ARRAY | SCALAR]; false for NULL."""
    tokens = operands.tokens
    negated = _upper_word(tokens, at + 1) == "NOT"
    at_json = at + 1 + negated
    if _upper_word(tokens, at_json) != "JSON":
        return []
    kind = _upper_word(tokens, at_json + 1)
    kind = kind if kind in _JSON_KIND else ""
    last = tokens[at_json + bool(kind)]
    start = tokens[operands.first(at)].start
    head = f"({'NOT ' * negated}coalesce(schema_of_variant(try_parse_json("
    return [(Span(start, start), head), (Span(tokens[at].start, last.stop), f")) {_JSON_KIND[kind]}, false))")]


def _rewrite_overlaps(text: str, operands: Operands, at: int) -> list[Edit]:
    """(a, b) OVERLAPS (c, d): two periods, each two timestamps in any order, or a timestamp and an interval."""
    tokens = operands.tokens
    if _upper_word(tokens, at - 1) != ")" or _upper_word(tokens, at + 1) != "(":
        return []
    first, last = operands.opening(at - 1), operands.closing(at + 1)
    periods = [_split_period(text, tokens[first + 1 : at - 1]), _split_period(text, tokens[at + 2 : last])]
    if not all(periods):
        return []
    (a, b), (c, d) = periods  # type: ignore[misc]
    latest = [f"CASE WHEN ({x}) >= ({y}) THEN {x} ELSE {y} END" for x, y in ((a, b), (c, d))]
    first_ = [f"CASE WHEN ({x}) <= ({y}) THEN {x} ELSE {y} END" for x, y in ((a, b), (c, d))]
    condition = f"(({latest[0]}) >= ({first_[1]}) AND ({latest[1]}) >= ({first_[0]}))"
    return [(Span(tokens[first].start, tokens[last].stop), condition)]


def _split_period(text: str, inside: Sequence[Token]) -> tuple[str, str] | None:
    depth = 0
    for i, token in enumerate(inside):
        depth += (token.text in _BRACKETS) - (token.text in _BRACKETS.values())
        if token.text == "," and depth == 0 and 0 < i < len(inside) - 1:
            a = text[inside[0].start : inside[i - 1].stop]
            b = text[inside[i + 1].start : inside[-1].stop]
            return a, (f"({a}) + {b}" if inside[i + 1].upper == "INTERVAL" else b)
    return None


def _rewrite_tablesample(text: str, operands: Operands, at: int) -> list[Edit]:
    """TABLESAMPLE BERNOULLI(p) and SYSTEM(p): p is a percentage."""
    tokens = operands.tokens
    if _upper_word(tokens, at + 1) not in ("BERNOULLI", "SYSTEM") or _upper_word(tokens, at + 2) != "(":
        return []
    word, end = tokens[at + 1], tokens[operands.closing(at + 2)].start
    return [(Span(word.start, word.stop), ""), (Span(end, end), " PERCENT")]


def _rewrite_quantified(text: str, operands: Operands, at: int) -> list[Edit]:
    """x = ANY (SELECT ...) is x IN (SELECT ...), x <> ALL (SELECT ...) is NOT IN; others are compared with each value."""
    tokens = operands.tokens
    compared, is_all = _upper_word(tokens, at - 1), tokens[at].upper == "ALL"
    compared = "<>" if compared == "!=" else compared
    if (
        compared not in _COMPARISONS
        or _upper_word(tokens, at + 1) != "("
        or _upper_word(tokens, at + 2) not in ("SELECT", "VALUES", "WITH")
    ):
        return []
    operator = {("=", False): "IN", ("<>", True): "NOT IN"}.get((compared, is_all))
    if operator is not None:
        return [(Span(tokens[at - 1].start, tokens[at].stop), operator)]
    first = operands.first(at - 1)
    while first > 0 and tokens[first - 1].upper in _ARITHMETIC:
        first = operands.first(first - 1) if first > 1 else 0
    closing = tokens[operands.closing(at + 1)]
    decided = "bool_or(NOT __b) THEN FALSE" if is_all else "bool_or(__b) THEN TRUE"
    empty = str(is_all).upper()
    case = f"CASE WHEN count(*) = 0 THEN {empty} WHEN {decided} WHEN count(*) > count(__b) THEN NULL ELSE {empty} END"
    return [
        (Span(tokens[first].start, tokens[first].start), f"(SELECT {case} FROM (SELECT "),
        (Span(tokens[at - 1].start, tokens[at + 1].stop), f"{compared} __c AS __b FROM ("),
        (Span(closing.start, closing.stop), ") AS __q(__c)))"),
    ]


def _rewrite_collect(text: str, operands: Operands, at: int) -> list[Edit]:
    """COLLECT([DISTINCT] x) [FILTER (...)]: a MULTISET, which is a map of the values that are not NULL to their counts."""
    tokens = operands.tokens
    if _upper_word(tokens, at + 1) != "(" or _upper_word(tokens, at - 1) in (".", "FUNCTION"):
        return []
    closing = operands.closing(at + 1)
    if _upper_word(tokens, closing + 1) == "FILTER" and _upper_word(tokens, closing + 2) == "(":
        closing = operands.closing(closing + 2)
    end = tokens[closing].stop
    counts = (
        "map_from_entries(transform(array_distinct(__l), __v -> struct(__v, size(filter(__l, __w -> __w <=> __v)))))"
    )
    return [
        (Span(tokens[at].start, tokens[at].stop), "element_at(transform(array(collect_list"),
        (Span(end, end), f"), __l -> {counts}), 1)"),
    ]


def _drop_interval_precision(text: str, operands: Operands, at: int) -> list[Edit]:
    """INTERVAL '1' DAY(3), INTERVAL '...' DAY TO SECOND(3): Spark accepts no precision."""
    tokens = operands.tokens
    at += 1 + (_upper_word(tokens, at + 1) in ("+", "-"))
    if at >= len(tokens) or tokens[at].kind != "string":
        return []
    edits: list[Edit] = []
    for unit in (at + 1, at + 3 + 3 * (_upper_word(tokens, at + 2) == "(")):
        if (
            _upper_word(tokens, unit).isalpha()
            and _upper_word(tokens, unit + 1) == "("
            and _upper_word(tokens, unit + 3) == ")"
        ):
            edits.append((Span(tokens[unit + 1].start, tokens[unit + 3].stop), ""))
        if _upper_word(tokens, unit + 1 + 3 * len(edits)) != "TO":
            break
    return edits


def _decode_unicode_literal(text: str, operands: Operands, at: int) -> list[Edit]:
    """U&'\\00e9': a string with Unicode escapes."""
    tokens = operands.tokens
    if at + 2 >= len(tokens) or tokens[at + 1].text != "&" or tokens[at + 2].kind != "string":
        return []
    literal = tokens[at + 2]
    if literal.start != tokens[at].stop + 1:
        return []
    literal_text = re.sub(r"\\([0-9a-fA-F]{4})", lambda m: chr(int(m[1], 16)), literal.text)
    return [(Span(tokens[at].start, literal.stop), literal_text)]


def _rewrite_localtime(text: str, operands: Operands, at: int) -> list[Edit]:
    tokens = operands.tokens
    if _upper_word(tokens, at + 1) in ("(", ".") or _upper_word(tokens, at - 1) in ("AS", "."):
        return []
    return [(Span(tokens[at].start, tokens[at].stop), "current_time()")]


def _rewrite_rows_of_one_row(text: str, operands: Operands, at: int) -> list[Edit]:
    """VALUES ((ROW(1, 2))): rows whose only column is a row. Spark takes the inner row for the row itself."""
    tokens = operands.tokens
    edits: list[Edit] = []
    at += 1
    while at < len(tokens):
        start = at
        at = operands.stop(at)
        if _upper_word(tokens, start) == "(" and _is_row_in_brackets(operands, start + 1, operands.closing(start)):
            edits.append((Span(tokens[start].start, tokens[start].start), "struct"))
        if _upper_word(tokens, at) != ",":
            break
        at += 1
    return edits


def _is_row_in_brackets(operands: Operands, start: int, stop: int) -> bool:
    """Whether the tokens before `stop` are ROW(...) in at least one more bracket."""
    tokens, brackets = operands.tokens, 0
    while _upper_word(tokens, start) == "(" and operands.closing(start) == stop - 1:
        start, stop, brackets = start + 1, stop - 1, brackets + 1
    return brackets > 0 and _upper_word(tokens, start) == "ROW" and operands.closing(start + 1) == stop - 1


_OPERATORS: Mapping[str, Rewrite] = {
    "VALUES": _rewrite_rows_of_one_row,
    "SIMILAR": _rewrite_similar_to,
    "SYMMETRIC": _rewrite_between_symmetric,
    "ASYMMETRIC": _drop_asymmetric,
    "IS": _rewrite_is_json,
    "OVERLAPS": _rewrite_overlaps,
    "TABLESAMPLE": _rewrite_tablesample,
    "ANY": _rewrite_quantified,
    "SOME": _rewrite_quantified,
    "ALL": _rewrite_quantified,
    "INTERVAL": _drop_interval_precision,
    "U": _decode_unicode_literal,
    "COLLECT": _rewrite_collect,
    "LOCALTIME": _rewrite_localtime,
}
