"""Random expressions of Flink SQL over the columns of a table."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from odd_tables import TEXTS, WHOLE, Column

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

FAMILIES = {
    **dict.fromkeys((*WHOLE, "INTEGER"), "int"), "FLOAT": "num", "DOUBLE": "num", "DECIMAL": "dec", "CHAR": "text",
    "VARCHAR": "text", "STRING": "text", "BOOLEAN": "bool", "DATE": "date", "TIMESTAMP": "ts", "TIMESTAMP_LTZ": "ltz",
    "TIME": "time", "BINARY": "bin", "VARBINARY": "bin", "BYTES": "bin",
}  # fmt: skip
LITERALS = {
    "int": ["0", "1", "2", "7", "-1", "100", "2147483647"],
    "num": ["CAST(1.5 AS DOUBLE)", "CAST('-0.25' AS DOUBLE)", "1e3"],
    "dec": ["1.5", "-2.25", "100.00", "0.125", "CAST(12 AS DECIMAL(5, 1))"],
    "text": [f"'{text}'" for text in TEXTS] + ["'2024-02-29 12:34:56'", "'a-b-c'", "' x '", "'12'"],
    "bool": ["TRUE", "FALSE", "CAST(NULL AS BOOLEAN)"],
    "date": ["DATE '2024-02-29'", "DATE '1969-12-31'", "DATE '2023-01-01'"],
    "ts": ["TIMESTAMP '2024-02-29 12:34:56.789'", "TIMESTAMP '1969-12-31 23:59:59'", "TIMESTAMP '2023-01-31 00:00:00'"],
    "ltz": ["TO_TIMESTAMP_LTZ(1709210096789, 3)", "TO_TIMESTAMP_LTZ(0, 3)"],
    "time": ["TIME '12:34:56'"],
    "bin": ["x'61c3a9'", "CAST('abc' AS BYTES)"],
}
TEMPLATES = {
    "int": """<int> + <int>;<int> - <int>;<int> * <int>;<int> / 3;7 / <int>;MOD(<int>, 7);-<int>;ABS(<int>);SIGN(<int>);CHAR_LENGTH(<text>)
        POSITION('a' IN <text>);LOCATE('a', <text>);INSTR(<text>, 'a');ASCII(<text>);CAST(<text> AS INT);TRY_CAST(<text> AS INT)
        CAST(<bool> AS INT);CAST(<num> AS BIGINT);CAST(<num> AS INT);CAST(<dec> AS INT);CAST(<int> AS SMALLINT);CAST(<int> AS BIGINT)
        COALESCE(<int>, 0);NULLIF(<int>, <int>);CASE WHEN <bool> THEN <int> ELSE <int> END;IF(<bool>, <int>, 1);IFNULL(<int>, 5)
        GREATEST(<int>, <int>);LEAST(<int>, <int>);EXTRACT(YEAR FROM <date>);EXTRACT(MONTH FROM <ts>);EXTRACT(HOUR FROM <ts>)
        EXTRACT(WEEK FROM <date>);EXTRACT(DOW FROM <date>);EXTRACT(SECOND FROM <ts>);YEAR(<date>);QUARTER(<date>);MONTH(<ts>)
        WEEK(<date>);DAYOFYEAR(<date>);DAYOFWEEK(<date>);DAYOFMONTH(<date>);HOUR(<ts>);MINUTE(<ts>);SECOND(<ts>)
        TIMESTAMPDIFF(DAY, <ts>, <ts>);TIMESTAMPDIFF(MONTH, <date>, <ts>);TIMESTAMPDIFF(SECOND, <ts>, <ts>)
        CARDINALITY(ARRAY[<int>, 1]);ARRAY[<int>, <int>][1];MAP['a', <int>]['a'];ARRAY_POSITION(ARRAY[1, 2], <int>)
        CASE <int> WHEN 1 THEN 10 WHEN 2 THEN 20 END;ARRAY_MAX(ARRAY[<int>, <int>]);BITAND(<int>, 3)
        UNIX_TIMESTAMP('2024-02-29 12:34:56');CEIL(<int>);FLOOR(<int>);ROUND(<int>, -1)""",
    "num": """<num> + <num>;<num> - <num>;<num> * <num>;<num> * 2;-<num>;ABS(<num>);ROUND(<num>, 1);TRUNCATE(<num>, 1);CEIL(<num>)
        FLOOR(<num>);POWER(<int>, 2);SQRT(ABS(<num>));CAST(<int> AS DOUBLE);CAST(<dec> AS DOUBLE);        CAST(<num> AS DOUBLE);COALESCE(<num>, 0.5e0);<num> + <int>;<num> * <dec>;TRY_CAST(<text> AS DOUBLE);SIGN(<num>)
        CASE WHEN <bool> THEN <num> ELSE <int> END;MOD(<int>, 5) * 0.5e0;EXP(<int> * 0e0);LN(2);LOG10(100);GREATEST(<num>, <num>)""",
    "dec": """<dec> + <dec>;<dec> - <dec>;<dec> * <dec>;<dec> / 3;<dec> * <int>;<dec> + <int>;-<dec>;ABS(<dec>);ROUND(<dec>, 1);ROUND(<dec>)
        TRUNCATE(<dec>, 1);CEIL(<dec>);FLOOR(<dec>);SIGN(<dec>);MOD(<dec>, 7);CAST(<int> AS DECIMAL(10, 2));CAST(<dec> AS DECIMAL(6, 1))
        CAST(<dec> AS DECIMAL(38, 18));CAST(<num> AS DECIMAL(12, 3));TRY_CAST(<text> AS DECIMAL(8, 2));COALESCE(<dec>, 0.0);<dec> / <dec>
        CASE WHEN <bool> THEN <dec> ELSE <int> END;GREATEST(<dec>, <dec>);NULLIF(<dec>, 1.5)""",
    "text": """UPPER(<text>);LOWER(<text>);TRIM(<text>);TRIM(LEADING 'a' FROM <text>);TRIM(BOTH ' ' FROM <text>);LTRIM(<text>);RTRIM(<text>)
        SUBSTRING(<text>, 2);SUBSTRING(<text> FROM 1 FOR 2);SUBSTR(<text>, -2);SUBSTRING(<text>, 0, 2);<text> || <text>
        CONCAT(<text>, <text>);CONCAT_WS('-', <text>, <text>);REPLACE(<text>, 'a', 'b');LPAD(<text>, 4, '*');RPAD(<text>, 2, 'ab')
        REVERSE(<text>);SPLIT_INDEX(<text>, ' ', 0);REGEXP_REPLACE(<text>, '[0-9]+', '#');REGEXP_EXTRACT(<text>, '([a-z]+)', 1)
        CAST(<int> AS STRING);CAST(<num> AS STRING);CAST(<dec> AS STRING);CAST(<date> AS STRING);CAST(<ts> AS STRING);CAST(<bool> AS STRING)
        CAST(<text> AS VARCHAR(2));CAST(<text> AS CHAR(3));CAST(<int> AS CHAR(5));CAST(<bin> AS STRING);CAST(<time> AS STRING);CAST(<ltz> AS STRING)
        DATE_FORMAT(<ts>, 'yyyy-MM-dd HH:mm');DATE_FORMAT(<ts>, 'yyyyMMdd');COALESCE(<text>, 'none');NULLIF(<text>, 'a')
        CASE WHEN <bool> THEN <text> ELSE 'no' END;INITCAP(<text>);REPEAT(<text>, 2);OVERLAY(<text> PLACING 'xy' FROM 1);LEFT(<text>, 1)
        RIGHT(<text>, 1);MD5(<text>);SHA1(<text>);SHA256(<text>);TO_BASE64(<text>);FROM_BASE64('YWJj');HEX(<int>);HEX(<text>);BIN(<int>);CHR(<int>)
        IFNULL(<text>, 'x');GREATEST(<text>, <text>);JSON_VALUE('{"a": 1}', '$.a');ARRAY_JOIN(ARRAY[<text>, 'z'], ',')
        ELT(1, <text>, 'b');TRANSLATE(<text>, 'ab', 'xy');PARSE_URL('http://a.b/c?d=e', 'HOST');STR_TO_MAP('a=1,b=2')['a'];SPLIT_INDEX('a,b', ',', <int>)
        BTRIM(<text>);FROM_UNIXTIME(0);JSON_STRING(<text>);JSON_QUERY('{"a": [1]}', '$.a')
        CONVERT_TZ('1970-01-01 00:00:00', 'UTC', 'Asia/Tokyo')""",
    "bool": """<int> = <int>;<int> < <int>;<int> <> <int>;<num> >= <num>;<dec> <= <dec>;<text> = <text>;<text> < <text>;<text> <> <text>;<date> > <date>
        <ts> <= <ts>;<date> = <date>;<int> = <dec>;<num> < <int>;<any> IS NULL;<any> IS NOT NULL;<text> LIKE 'a%';<text> LIKE '%b%'
        <text> NOT LIKE '_';<text> LIKE 'x!%' ESCAPE '!';<int> BETWEEN 0 AND 7;<int> NOT BETWEEN 1 AND 2;<int> IN (1, 2, 7);<text> IN ('a', 'b', 'zz')
        <text> NOT IN ('a', 'A');<int> NOT IN (1, 2);<bool> AND <bool>;<bool> OR <bool>;NOT <bool>;<bool> IS TRUE;<bool> IS NOT TRUE
        <bool> IS UNKNOWN;<bool> IS NOT FALSE;<int> IS DISTINCT FROM <int>;<text> IS NOT DISTINCT FROM <text>;<text> SIMILAR TO '[a-z]+'
        REGEXP(<text>, '[0-9]');ARRAY_CONTAINS(ARRAY[1, 2], <int>);STARTSWITH(<text>, 'a');ENDSWITH(<text>, 'b');CAST('true' AS BOOLEAN)
        CAST(<int> AS BOOLEAN);TRY_CAST(<text> AS BOOLEAN);<ts> BETWEEN <ts> AND <ts>;<date> = '2024-02-29';<int> = '7';IS_DIGIT(<text>);IS_ALPHA(<text>)""",
    "date": """<date> + INTERVAL '1' DAY;<date> - INTERVAL '2' MONTH;TO_DATE('2024-01-31');COALESCE(<date>, DATE '2000-01-01')
        FLOOR(<date> TO MONTH);CEIL(<date> TO YEAR);TRY_CAST(<text> AS DATE);CAST('2024-02-29' AS DATE)""",
    "ts": """CAST(<date> AS TIMESTAMP(3));<ts> + INTERVAL '1' HOUR;<ts> - INTERVAL '1' MONTH;TIMESTAMPADD(MONTH, 1, <ts>)
        TIMESTAMPADD(DAY, <int>, <ts>);FLOOR(<ts> TO DAY);FLOOR(<ts> TO HOUR);CEIL(<ts> TO MONTH);TO_TIMESTAMP('2024-02-29 01:02:03')
        CAST(<ts> AS TIMESTAMP(0));CAST(<ltz> AS TIMESTAMP(3));COALESCE(<ts>, TIMESTAMP '2000-01-01 00:00:00');CAST('2024-02-29 12:00:00' AS TIMESTAMP(3))
        TRY_CAST(<text> AS TIMESTAMP(3));TO_TIMESTAMP('29/02/2024', 'dd/MM/yyyy')""",
    "ltz": """CAST(<ts> AS TIMESTAMP_LTZ(3));TO_TIMESTAMP_LTZ(<int>, 3);TO_TIMESTAMP_LTZ(<int>, 0)""",
    "time": """CAST(<ts> AS TIME);CAST('12:00:01' AS TIME)""",
    "bin": """CAST(<text> AS BYTES);UNHEX('4142')""",
    "nested": """ARRAY[<int>, <int>];ARRAY_DISTINCT(ARRAY[<int>, 1, 1]);ARRAY_CONCAT(ARRAY[1], ARRAY[<int>]);ARRAY_REVERSE(ARRAY[1, <int>])
        ARRAY_REMOVE(ARRAY[1, 2], <int>);ARRAY_APPEND(ARRAY[1], <int>);ARRAY_PREPEND(ARRAY[1], <int>);ARRAY_UNION(ARRAY[1], ARRAY[<int>])
        ARRAY_SLICE(ARRAY[1, 2, 3], 2);ARRAY_SORT(ARRAY[3, <int>, 1]);MAP['a', <int>];MAP_KEYS(MAP['a', <int>]);MAP_VALUES(MAP['a', <int>])
        MAP_FROM_ARRAYS(ARRAY['k'], ARRAY[<int>]);ROW(<int>, <text>);SPLIT('a,b', ',');CAST(ARRAY[<int>] AS ARRAY<BIGINT>)
        CAST(ROW(1, <text>) AS ROW<x BIGINT, y STRING>);STR_TO_MAP('a=1,b=2');MAP_ENTRIES(MAP['a', <int>]);MAP_UNION(MAP['a', 1], MAP['b', <int>])""",
}  # fmt: skip
SPLIT = {family: [t.strip() for t in re.split(r"[;\n]", text) if t.strip()] for family, text in TEMPLATES.items()}
AGGREGATES = """COUNT(*);COUNT(<any>);COUNT(DISTINCT <int>);SUM(<int>);SUM(<dec>);SUM(<num>);MIN(<int>);MAX(<text>);MIN(<text>);MAX(<date>);MIN(<ts>)
    AVG(<int>);AVG(<dec>);AVG(<num>);MAX(<dec>);SUM(<int>) FILTER (WHERE <bool>);COUNT(*) FILTER (WHERE <bool>);MAX(<num>);COUNT(DISTINCT <text>)
    SUM(DISTINCT <int>);MIN(<bool>);MAX(<bool>)"""  # fmt: skip
AGGREGATES = [t.strip() for t in re.split(r"[;\n]", AGGREGATES) if t.strip()]


def family(kind: str) -> str:
    return "nested" if "<" in kind else FAMILIES[kind.split("(")[0]]


class Expressions:
    """Expressions over these columns, whose names may be prefixed with an alias."""

    def __init__(self, chance: random.Random, columns: Sequence[Column], alias: str = "") -> None:
        self.random = chance
        self.by_family: dict[str, list[str]] = {}
        for c in columns:
            self.by_family.setdefault(family(c.type), []).append(f"{alias}`{c.name}`")

    def any_column(self) -> str:
        return self.random.choice([name for names in self.by_family.values() for name in names])

    def some(self, wanted: str, depth: int = 2) -> str:
        r = self.random
        if wanted == "any":
            return self.any_column()
        names = self.by_family.get(wanted, [])
        if depth <= 0 or r.random() < 0.35:
            if names and (r.random() < 0.75 or wanted == "nested"):
                return r.choice(names)
            if wanted in LITERALS:
                return r.choice(LITERALS[wanted])
        text = self.fill(r.choice(SPLIT[wanted]), depth - 1)
        return (
            f"({text})" if depth < 2 and re.search(r"^\(|[ ]", text) and not re.fullmatch(r"\w+\(.*\)", text) else text
        )

    def fill(self, template: str, depth: int) -> str:
        return re.sub(r"<(\w+)>", lambda m: self.some(m[1], depth) if m[1] in {*SPLIT, "any"} else m[0], template)

    def projection(self) -> str:
        return self.some(
            self.random.choice(
                ["int", "num", "dec", "text", "text", "bool", "date", "ts", "ltz", "time", "bin", "nested"]
            )
        )

    def aggregate(self) -> str:
        return self.fill(self.random.choice(AGGREGATES), 1)

    def condition(self) -> str:
        return self.some("bool")
