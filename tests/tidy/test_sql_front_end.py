"""One SQL front end: one lexer, one parser of expressions and queries, and no search backwards from an operator."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from source_kit import PACKAGE, package_files, tree

if TYPE_CHECKING:
    from collections.abc import Iterator

READ_SQL = ("syntax", "sql", "session", "plan", "table/read/predicate")
"""The folders that read the text of statements and conditions."""
PATTERNS = {
    "syntax/lexer.py": "the characters of SQL",
    "sql/completion.py": "the unfinished text before a cursor, which is no statement yet",
    "sql/formatting.py": "comments and blank lines between tokens",
    "sql/flink/casts.py": "names of types, and what is inside string literals",
    "sql/flink/function_edits.py": "our own templates",
    "sql/flink/json_functions.py": "JSON paths",
    "sql/flink/operators.py": "what is inside string literals",
    "sql/grammar/columns.py": "names of types",
    "session/query/computed_columns.py": "keys of options",
    "session/query/local/answer.py": "names in our own SQL",
    "session/query/local/literals.py": "timestamps inside string literals",
    "session/execute/insert.py": "dates and timestamps as text",
    "session/execute/spark_show.py": "names that need no quotes",
    "session/streaming/checkpoints.py": "names of folders",
    "session/query/local/expressions.py": "escapes in patterns of LIKE",
    "session/query/local/patterns.py": "quantifiers of regular expressions",
    "session/query/local/text_functions.py": "paths of JSON, and groups in replacements",
    "table/read/predicate/evaluate.py": "patterns of LIKE",
    "table/read/predicate/parser.py": "escapes in strings, and the types of numbers",
}
"""The modules of these folders that may use regular expressions -> what they match with them."""
PARSERS = {"syntax/expressions.py": "ExpressionParser", "syntax/queries.py": "QueryParser"}


def modules() -> Iterator[tuple[str, ast.Module]]:
    for file in package_files():
        yield file.relative_to(PACKAGE).as_posix(), tree(file)


def imported(module: ast.AST) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").partition(".")[0])
    return names


def test_no_other_parser_of_sql_is_imported() -> None:
    others = {"sqlglot", "sqlparse", "sqlfluff", "pyparsing", "lark"}
    assert [name for name, module in modules() if imported(module) & others] == []


def test_regular_expressions_read_no_sql_outside_the_lexer() -> None:
    users = {name for name, module in modules() if name.startswith(READ_SQL) and "re" in imported(module)}
    assert users == set(PATTERNS)


def test_expressions_and_queries_have_one_parser() -> None:
    found = {
        name: node.name
        for name, module in modules()
        if name.startswith(READ_SQL)
        for node in ast.walk(module)
        if isinstance(node, ast.ClassDef) and node.name.endswith(("Parser", "Lexer", "Tokenizer"))
    }
    assert found == PARSERS


def walks_backwards(module: ast.AST) -> list[int]:
    """The lines of loops that count an index down."""
    lines = []
    for loop in (node for node in ast.walk(module) if isinstance(node, ast.While | ast.For)):
        parts = list(ast.walk(loop))
        indices = {
            name.id
            for part in parts
            if isinstance(part, ast.Subscript)
            for name in ast.walk(part.slice)
            if isinstance(name, ast.Name)
        }
        counted_down = {
            part.target.id
            for part in parts
            if isinstance(part, ast.AugAssign) and isinstance(part.op, ast.Sub) and isinstance(part.target, ast.Name)
        }
        is_reversed = (
            isinstance(loop, ast.For)
            and isinstance(loop.iter, ast.Call)
            and isinstance(loop.iter.func, ast.Name)
            and (
                (
                    loop.iter.func.id == "range"
                    and len(loop.iter.args) == 3
                    and isinstance(loop.iter.args[2], ast.UnaryOp)
                )
                or (loop.iter.func.id == "reversed" and "token" in ast.unparse(loop.iter))
            )
        )
        if counted_down & indices or is_reversed:
            lines.append(loop.lineno)
    return lines


def test_a_loop_that_counts_down_is_found() -> None:
    walk = "while tokens[i - 1].text != '(':\n    i -= 1\n"
    assert walks_backwards(ast.parse(walk)) == [1]
    assert walks_backwards(ast.parse("for i in range(n, -1, -1):\n    tokens[i]\n")) == [1]
    assert walks_backwards(ast.parse("for t in tokens:\n    depth -= t.text == ')'\n")) == []


def test_no_operand_is_found_by_walking_backwards() -> None:
    wrong = {
        name: lines
        for name, module in modules()
        if name.startswith(("syntax", "sql")) and (lines := walks_backwards(module))
    }
    assert wrong == {}
