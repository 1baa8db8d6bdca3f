"""Texts of a million characters, written to make a regular expression or a parser slow: time in proportion to their length."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress

import pytest

from paimon_nb.base.redact import is_secret, redact_text
from paimon_nb.connectors.cdc.computed import parse_computed
from paimon_nb.format.types import parse_type
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.patterns import portable_pattern

PIECES = [
    "a", " ", "'", '"', "`", "(", "[", "<", "-", "1", "\\", "/", "/*", "--", "a.", "a=", "a,", "a b ", ":a", "\n", "é", "ab1-", "'a' ", "a'b", "''a",
    "=>", "://", "a://", "a://a:", "a://a:a@", "a://a:80/", "http://a", "@", "--\n", "a'='b',", "a 'b' ", "`a`.", "passw", "bearer ",
    "authorization: ", "-----BEGIN A", "-----BEGIN CERTIFICATE-----", "'a' = 'b', ", "a: ", "; ", "password=x ", "ssl-", "csv.header.", "token.ecs-",
    "init_file_based_privilege(", "create_privileged_user('a', ", "a=\"b='c=", "(  ", "CASE ", "(SELECT ", "a AND ", "ARRAY<", "1e", "x'a'",
]  # fmt: skip
CODE = """
import json, resource, sys
readers, size, ends, pieces = json.loads(sys.argv[1])
resource.setrlimit(resource.RLIMIT_CPU, (400, 400))
from paimon_nb.base.errors import PaimonError
from paimon_nb.base.redact import is_secret, redact_text
from paimon_nb.format.types import parse_type
from paimon_nb.sql.parse import parse
from paimon_nb.syntax.lexer import tokens
from paimon_nb.syntax.queries import condition_tree_of, query_tree_of
for name in readers:
    for piece in pieces:
        for end in ends:
            print(name, repr(piece), repr(end), flush=True)
            try:
                globals()[name]((piece * size)[:size] + end)
            except PaimonError:
                pass
print("done")
"""


def check(readers: list[str], size: int, *ends: str) -> None:
    """Each text takes a fraction of a second. Where time grows with the square of the length, one of them would need hours."""
    arguments = json.dumps([readers, size, ends, PIECES])
    done = subprocess.run([sys.executable, "-c", CODE, arguments], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "done", (done.stdout[-300:], done.stderr[-2000:])


def test_some_long_texts_take_time_in_proportion() -> None:
    check(["redact_text", "is_secret"], 100_000, "!")
    check(["tokens", "parse_type"], 10_000, "!")


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("reader", "size"),
    [("redact_text", 1_000_000), ("is_secret", 1_000_000), ("tokens", 200_000), *((p, 20_000) for p in ("parse", "query_tree_of", "condition_tree_of"))],
)  # fmt: skip
def test_long_texts_take_time_in_proportion(reader: str, size: int) -> None:
    check([reader], size, "", "!", "='")


def test_a_key_with_many_parts() -> None:
    """The number of ways to take such a key apart doubles with each part."""
    assert is_secret("ssl-" + "a-" * 60 + "key")
    assert not is_secret("ssl-" + "a-" * 60 + "x")


def test_assignments_in_assignments_are_masked() -> None:
    """However deep they are: each value may hold another assignment."""
    text = "a=" * 50_000 + "password=hidden-here"
    assert redact_text(text) == "a=" * 50_000 + "password=***"
    assert redact_text("'conf' = 'a=b:password=\"it, is\"', 'c' = 'd'") == "'conf' = 'a=b:password=\"***\"', 'c' = 'd'"


def test_a_computed_column_with_many_spaces() -> None:
    (found,) = parse_computed([f"  c  ={' ' * 100_000}upper  ( v )  "], {"v": parse_type("STRING")})
    assert found.name == "c"


PATTERNS = ["v LIKE '{}%b'".format("%a" * 12), "v LIKE '{}%b'".format("%a_" * 12), "v LIKE '{}b'".format("%_" * 12),
            "v RLIKE '^(a|a)*b$'", "v RLIKE '^(a+)+b$'", "v RLIKE '^(a*)*b$'", "v RLIKE '^((a?)*|(a*)?)+b$'"]  # fmt: skip
CONDITIONS = """
import json, resource, sys
import pyarrow as pa
import paimon_nb
resource.setrlimit(resource.RLIMIT_CPU, (200, 200))
wb = paimon_nb.connect(sys.argv[1])
wb.run("CREATE TABLE t (id INT, v STRING) WITH ('bucket' = '-1')")
wb.table("t").append(pa.table({"id": pa.array([1, 2], pa.int32()), "v": ["a" * 1_000, "a" * 1_000 + "b"]}))
for condition in json.loads(sys.argv[2]):
    by_sql = wb.run(f"SELECT id, count(*) AS n FROM t WHERE {condition} GROUP BY id").to_arrow()
    print(condition, by_sql["id"].to_pylist(), wb.run(f"SELECT id FROM t WHERE {condition}").to_arrow()["id"].to_pylist(), flush=True)
print("done")
"""


@pytest.mark.nightly
def test_a_pattern_that_backtracks_ends(tmp_path) -> None:
    """LIKE and regular expressions that take a backtracking matcher longer than the age of the universe. CPU time is limited."""
    done = subprocess.run(
        [sys.executable, "-c", CONDITIONS, str(tmp_path / "w"), json.dumps(PATTERNS)],
        capture_output=True, text=True, check=False, env=os.environ | {"PAIMON_NB_WITHOUT": "all"},
    )  # fmt: skip
    assert done.stdout.splitlines() == [*(f"{p} [2] [2]" for p in PATTERNS), "done"], done.stderr


@pytest.mark.parametrize(
    "pattern", ["(" * 200_000, "(a" * 3_000 + ")" * 3_000, "a" * 100_000, "(?:a|" * 90 + "b" + ")+" * 90]
)
def test_a_pattern_of_any_size_is_read_or_left_to_spark(pattern) -> None:
    with suppress(NotLocal):
        assert portable_pattern(pattern, only_whether=True).text == pattern
