"""The words of SQL that a parser needs: reserved ones, operators by strength, units."""

from __future__ import annotations

CONDITION_WORDS = frozenset({"AND", "OR", "NOT", "IN", "IS", "NULL", "LIKE", "BETWEEN", "TRUE", "FALSE"})
"""Words that are never a name in a condition."""
QUERY_WORDS = CONDITION_WORDS | frozenset(
    {
        *("SELECT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION", "INTERSECT", "EXCEPT"),
        *("ON", "USING", "JOIN", "WHEN", "THEN", "ELSE", "AS"),
    }
)  # fmt: skip
"""Words that are never a name in a query."""
CLAUSE_WORDS = QUERY_WORDS | frozenset(
    {"OFFSET", "FETCH", "MINUS", "WITH", "CLUSTER", "DISTRIBUTE", "SORT", "QUALIFY", "LATERAL", "WINDOW"}
)
"""Words that are an alias only after AS."""
QUERY_STARTS = frozenset({"SELECT", "WITH", "VALUES", "FROM"})
COMPARISONS = frozenset({"=", "==", "<>", "!=", "<", "<=", ">", ">=", "<=>"})
PATTERN_OPERATORS = frozenset({"LIKE", "ILIKE", "RLIKE", "REGEXP", "SIMILAR"})
NEGATABLE = frozenset({"BETWEEN", "IN"}) | PATTERN_OPERATORS
PREFIXES = frozenset({"NOT", "!", "-", "+", "~"})
COMPARED = 3
"""The strength of comparisons and of all other conditions on values."""
STRENGTH = {
    word: strength
    for strength, words in enumerate(
        (
            ("OR",),
            ("AND",),
            (*COMPARISONS, *NEGATABLE, "NOT", "IS", "OVERLAPS"),
            ("||",),
            ("|",),
            ("^",),
            ("&",),
            ("+", "-"),
            ("*", "/", "%", "DIV"),
        ),
        1,
    )
    for word in words
}
"""How strong each operator between two operands binds."""
TYPED_STRINGS = frozenset({"DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ", "X"})
UNITS = frozenset(
    """YEAR YEARS QUARTER QUARTERS MONTH MONTHS WEEK WEEKS DAY DAYS HOUR HOURS MINUTE MINUTES SECOND SECONDS MILLISECOND MILLISECONDS
    MICROSECOND MICROSECONDS EPOCH DOW DOY ISODOW ISOYEAR CENTURY DECADE MILLENNIUM DAYOFWEEK DAYOFYEAR YEAROFWEEK""".split()  # noqa: SIM905 - forty quotes would be harder to read
)
"""Words that are units, not columns, as the first argument of `WITH_UNITS` and after TO."""
WITH_UNITS = frozenset({"EXTRACT", "TIMESTAMPADD", "TIMESTAMPDIFF"})
AFTER_OPERAND = frozenset(
    {"IS", "IN", "NOT", "AND", "OR", "LIKE", "BETWEEN", "VALUE", "ON", "AS", "DIV", "RLIKE", "ILIKE"}
)
WITHOUT_BRACKETS = frozenset(
    {"CURRENT_DATE", "CURRENT_TIMESTAMP", "CURRENT_TIME", "CURRENT_USER", "LOCALTIME", "LOCALTIMESTAMP"}
)
