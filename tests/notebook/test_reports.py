"""`%paimon why`, `due` and `doctor TABLE`: what a person reads, as text and as HTML."""

from html.parser import HTMLParser

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.notebook.reports import due_report, health_report, static_compare_report, why_report


class Nodes(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]

    def handle_data(self, data):
        self.text += data


@pytest.fixture
def table(tmp_path):
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run(
        "CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', 'write-only' = 'true')"
    )
    return wb.table("t")


def put(table, *rows: tuple[int, str | None]) -> None:
    ids, values = zip(*rows, strict=True)
    table.upsert(pa.table({"id": pa.array(ids, pa.int32()), "v": pa.array(values, pa.string())}))


def test_why_shows_versions_and_the_row(table):
    put(table, (1, "old"))
    put(table, (1, None))
    page = why_report(table.why(id=1))._repr_mimebundle_()
    nodes = Nodes(page["text/html"])
    assert nodes.tags.count("tr") == 4  # head, two versions, the row
    assert "wins" in nodes.text
    assert page["text/plain"].splitlines()[-1] == "  = id=1, v=None"


def test_values_are_text_never_nodes(table):
    for payload in ("<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "'\"><svg onload=alert(1)>"):
        put(table, (1, payload))
    nodes = Nodes(why_report(table.why(id=1))._repr_mimebundle_()["text/html"])
    assert not {"script", "img", "svg"} & set(nodes.tags)
    assert not [a for a in nodes.attributes if a.startswith("on")]
    assert "<script>alert(1)</script>" in nodes.text


def test_due_names_the_rule_that_decides(table):
    for i in range(6):
        put(table, (i, "x"))
    page = due_report(table.inspect.due_compactions())._repr_mimebundle_()
    assert "compaction.max-size-amplification-percent: 6 files" in page["text/plain"]
    assert Nodes(page["text/html"]).text.count("applies") >= 1
    assert str(due_report([])) == "no files yet"


def test_health_gives_the_cure(table):
    for i in range(6):
        put(table, (i, "x"))
    page = health_report("default.t", table.health())._repr_mimebundle_()
    assert "CALL sys.compact('default.t')" in page["text/plain"]
    assert Nodes(page["text/html"]).tags.count("code") == 1


def test_compare_lists_files_and_changes(table):
    put(table, (1, "x"))
    put(table, (1, "y"))
    page = static_compare_report(table.inspect.compare(1, 2), ["<svg></svg>"])._repr_mimebundle_()
    nodes = Nodes(page["text/html"])
    assert (nodes.tags.count("svg"), nodes.tags.count("tr")) == (1, 1)
    assert "added" in nodes.text
    assert "snapshot 1 -> 2" in page["text/plain"]
