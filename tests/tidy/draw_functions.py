"""Draw functions at random, so that a reader can say what each does from its name and body alone.

python tests/tidy/draw_functions.py SEED [COUNT]
"""

import ast
import random
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "paimon_nb"
FEWEST_LINES = 3
"""Shorter bodies say nothing that the name does not say."""


def functions() -> Iterator[tuple[str, str, str]]:
    """Package, place, and source without docstring of every function and method."""
    for file in sorted(PACKAGE.rglob("*.py")):
        path = str(file.relative_to(PACKAGE.parent))
        tree = ast.parse(file.read_text())
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            line = node.lineno
            if ast.get_docstring(node) is not None:
                node.body = node.body[1:]
            if node.body and not node.name.startswith("__") and ast.unparse(node).count("\n") >= FEWEST_LINES:
                yield path.split("/")[1], f"{path}:{line}", ast.unparse(node)


def draw(seed: int, count: int) -> list[tuple[str, str]]:
    """Place and source of functions: each package gets its share by number of functions, and at least one."""
    by_package: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for package, place, source in functions():
        by_package[package].append((place, source))
    random_order = random.Random(seed)
    total = sum(map(len, by_package.values()))
    drawn = [
        function
        for _, found in sorted(by_package.items())
        for function in random_order.sample(found, max(1, round(count * len(found) / total)))
    ]
    return (
        drawn[:count]
        if len(drawn) >= count
        else drawn
        + random_order.sample([f for found in by_package.values() for f in found if f not in drawn], count - len(drawn))
    )


if __name__ == "__main__":
    for number, (_, source) in enumerate(draw(int(sys.argv[1]), int((sys.argv[2:] or ["60"])[0])), 1):
        sys.stdout.write(f"# {number}\n{source}\n\n")
