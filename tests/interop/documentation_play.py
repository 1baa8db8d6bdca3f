"""Plays the SQL examples in Java Paimon's documentation: `python tests/interop/documentation_play.py CHECKOUT --record`.

CHECKOUT is a work tree of apache/paimon at release 1.3.1. Each page is played from top to bottom in a fresh workbench. What a page takes
for granted (tables that it does not create, values of placeholders) is in `documentation/*.toml`, with the reasons why some statements do
not run here. `--record` writes `documentation/record.tsv`; `--page` plays some pages only, `--show` prints every statement.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import tomllib
from collections import Counter
from contextlib import ExitStack, contextmanager
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from documentation_blocks import Block, blocks, statements
from pyspark.errors import PySparkException

sys.path.append(str(Path(__file__).parents[1] / "servers"))
from hive_server import hive_metastore
from rest_server import RestServer

import paimon_nb
from paimon_nb.base.errors import AlreadyExists, PaimonError
from paimon_nb.spark.errors import spark_errors
from paimon_nb.sql.parse import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pyspark.sql import SparkSession

    from paimon_nb.workbench import Workbench

FOLDER = Path(__file__).parent / "documentation"
RECORD = FOLDER / "record.tsv"
ENGINES = {"flink": "SET 'execution.runtime-mode' = 'batch'", "spark": "RESET 'execution.runtime-mode'"}
"""SQL dialects that are played -> the statement that switches to their semantics."""
PLACES = re.compile(
    r"(?:hdfs://[\w.:]*|file:/{0,2}(?=/))?/(?:path/to|your/path|warehouse/path|te?mp)\b|<path-to-warehouse>"
)
"""Places of the documentation's authors."""
ELISION = re.compile(r"^\s*\.{3,},?\s*$\n?", re.MULTILINE)
"""A line that stands for more columns or options."""
HOME = "home"
"""The catalog of a fresh workbench."""
DROPS = {"CreateTable": "TABLE", "CreateView": "VIEW", "CreateCatalog": "CATALOG"}
"""A statement as a plan -> what drops what it creates."""


@dataclass(frozen=True)
class Exempt:
    """Why some statements of a block do not run here: `refused` ones are tried, and `skipped` ones are not."""

    verdict: str
    reason: str
    statements: frozenset[int]
    """Their numbers in the block, from 1; empty: all."""
    error: str
    """The class of a refused statement's error."""


@dataclass
class Setting:
    """What a page, or one block of it, needs: `prepare` is SQL of our own, `replace` gives values to placeholders."""

    prepare: str = ""
    replace: Sequence[tuple[str, str]] = ()
    exempt: Sequence[Exempt] = ()


@dataclass(frozen=True)
class Line:
    """One line of the record: how many statements of a block have a verdict, and why. `at` is 0 for what is no SQL of ours."""

    page: str
    at: int
    heading: str
    engine: str
    hash: str
    verdict: str
    statements: int
    reason: str

    def __str__(self) -> str:
        return "\t".join(map(str, astuple(self)))


def read_record(path: Path = RECORD) -> list[Line]:
    """The lines of the record."""
    rows = [line.split("\t") for line in path.read_text().splitlines()[1:]]
    return [
        Line(page, int(at), heading, engine, h, verdict, int(n), why)
        for page, at, heading, engine, h, verdict, n, why in rows
    ]


def settings() -> dict[tuple[str, int], Setting]:
    """(page, number of a block, 0 for the page) -> its setting."""
    found: dict[tuple[str, int], Setting] = {}
    for path in sorted(FOLDER.glob("*.toml")):
        for page in tomllib.loads(path.read_text())["page"]:
            found[page["name"], 0] = _setting(page)
            found |= {(page["name"], block["at"]): _setting(block) for block in page.get("block", ())}
    return found


def _setting(given: dict[str, Any]) -> Setting:
    return Setting(
        given.get("prepare", ""),
        [tuple(pair) for pair in given.get("replace", ())],
        [
            Exempt(verdict, e["why"], frozenset(e.get("statements", ())), e.get("error", ""))
            for verdict in ("refused", "skipped")
            for e in given.get(verdict, ())
        ],
    )


class Player:
    """Plays the blocks of one page in a workbench of its own."""

    def __init__(self, workbench: Workbench, places: Mapping[str, str], show: bool = False) -> None:
        self.workbench, self.places, self.show, self.engine = workbench, places, show, ""
        self.settings = settings()

    def play(self, block: Block) -> Iterator[Line]:
        """The lines of a block. A statement that fails without being exempt has the verdict "failed"."""
        page, own = self.settings.get((block.page, 0), Setting()), self.settings.get((block.page, block.at), Setting())
        if block.engine != self.engine:
            self.workbench.run(ENGINES[block.engine])
        if not self.engine:
            yield from self._prepare(block, page.prepare)
        self.engine = block.engine
        yield from self._prepare(block, own.prepare)
        text = block.text
        for old, new in (*own.replace, *page.replace):
            text = text.replace(old, new)
        text = self._placed(PLACES.sub("{folder}", ELISION.sub("", text)))
        verdicts = Counter(
            self._verdict(
                statement, [e for e in (*own.exempt, *page.exempt) if not e.statements or number in e.statements]
            )
            for number, statement in enumerate(statements(text), 1)
        )
        for (verdict, reason), count in verdicts.items():
            yield Line(block.page, block.at, block.heading, block.engine, block.hash, verdict, count, reason)

    def _placed(self, text: str) -> str:
        """The text with the folder of the page, and the addresses of its servers."""
        for name, place in self.places.items():
            text = text.replace(f"{{{name}}}", place)
        return text

    def _prepare(self, block: Block, text: str) -> Iterator[Line]:
        for statement in statements(self._placed(text)):
            if error := self._error(statement):
                reason = f"our own {statement}: {error}"
                yield Line(block.page, block.at, block.heading, block.engine, block.hash, "failed", 1, reason)

    def _verdict(self, statement: str, exempt: Sequence[Exempt]) -> tuple[str, str]:
        """Verdict and reason of one statement."""
        if exempt and exempt[0].verdict == "skipped":
            return "skipped", exempt[0].reason
        error = self._error(statement)
        if self.show:
            print(f"    {' '.join(statement.split())[:160]}\n      -> {error or 'ran'}", flush=True)
        if not exempt:
            return ("failed", error) if error else ("ran", "")
        if error.partition(":")[0] != exempt[0].error:
            return "failed", f"{error or 'runs'}, but should fail with {exempt[0].error}: {exempt[0].reason}"
        return "refused", exempt[0].reason

    def _error(self, statement: str) -> str:
        """The error of a statement; "" if it ran."""
        try:
            self._run_anew(statement)
        except (PaimonError, PySparkException) as error:
            return f"{type(error).__name__}: {' '.join(str(error).split())}"
        except Exception as error:  # not one of our messages: a bug of ours
            return f"RAW {type(error).__name__}: {' '.join(str(error).split())}"
        return ""

    def _run_anew(self, statement: str) -> None:
        """Run a statement; what it creates is dropped first, because pages show several definitions of one name."""
        try:
            self._run(statement)
        except AlreadyExists:
            plan: Any = parse(statement)[0]
            dropped = next((word for kind, word in DROPS.items() if type(plan).__name__.startswith(kind)), None)
            if dropped is None:
                raise
            parts = (plan.name,) if isinstance(plan.name, str) else plan.name
            if dropped == "CATALOG":
                self._run(f"USE CATALOG {HOME}")
            self._run(f"DROP {dropped} {'.'.join(f'`{part}`' for part in parts)}")
            self._run(statement)

    def _run(self, statement: str) -> None:
        """Run a statement and take its rows, or the first rows of a stream."""
        result = self.workbench.run(statement)
        if result.job is not None:
            result.job.awaitTermination(5)
            if result.job.error is not None:
                raise result.job.error
        elif result.live is not None:
            result.live.collect(timeout_s=10, idle_s=1.5)
        elif result.arrow is None and result.frame is not None:
            with spark_errors(statement):
                result.frame.toArrow()


@contextmanager
def servers_of_page(page: str, folder: Path) -> Iterator[dict[str, str]]:
    """The addresses of the catalog servers that the settings of a page name: `rest`, `hive`."""
    named = repr([setting for (name, _), setting in settings().items() if name == page])
    with ExitStack() as running:
        found = {}
        if "{rest}" in named:
            found["rest"] = running.enter_context(RestServer(folder / "rest")).uri
        if "{hive}" in named:
            (folder / "metastore").mkdir()
            found["hive"] = running.enter_context(hive_metastore(folder / "metastore"))
        yield found


def play(checkout: Path, spark: SparkSession, pages: Iterable[str] = (), show: bool = False) -> Iterator[Line]:
    """The record of a checkout, page by page."""
    by_page: dict[str, list[Block]] = {}
    for block in blocks(checkout):
        if not pages or any(p in block.page for p in pages):
            by_page.setdefault(block.page, []).append(block)
    for page, found in by_page.items():
        if any(b.at for b in found):
            with (
                tempfile.TemporaryDirectory(prefix="documentation-") as folder,
                servers_of_page(page, Path(folder)) as servers,
                paimon_nb.connect(f"{folder}/home", catalog=HOME, spark=spark.newSession()) as workbench,
            ):
                player = Player(workbench, {"folder": folder, **servers}, show)
                for block in found:
                    if block.at:
                        if show:
                            print(f"== {page} {block.at} {block.heading} ({block.engine})", flush=True)
                        yield from player.play(block)
        for engine, count in Counter(b.engine for b in found if not b.at).items():
            yield Line(page, 0, "", engine, "", "other", count, "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--page", action="append", default=[], help="a part of the names of the pages to play")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--record", action="store_true")
    given = parser.parse_args()
    spark = paimon_nb.connect(tempfile.mkdtemp(), spark_conf={"spark.sql.shuffle.partitions": "2"}).session.spark
    lines = []
    for line in play(given.checkout, spark, given.page, given.show):
        lines.append(line)
        if line.verdict == "failed":
            print(f"{line.page} {line.at} {line.heading}: {line.reason[:400]}", flush=True)
    print(dict(Counter(x for line in lines for x in [line.verdict] * line.statements)))
    if given.record:
        RECORD.write_text("".join(f"{line}\n" for line in ("\t".join(f.name for f in fields(Line)), *lines)))
    return int(any(line.verdict == "failed" for line in lines))


if __name__ == "__main__":
    sys.exit(main())
