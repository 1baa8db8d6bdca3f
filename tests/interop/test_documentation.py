"""The SQL examples in Java Paimon's documentation: how they are taken out of a page, their record, and a replay of all of them."""

from __future__ import annotations

import pytest
from documentation_blocks import Block, blocks_of_page, statements
from documentation_play import ENGINES, play, read_record, settings
from requirements import paimon_checkout

PAGE = """
# Tables
{{< tabs "t" >}}
{{< tab "Flink" >}}
```sql
CREATE TABLE t (id INT);
```
{{< /tab >}}
{{< tab "Hive" >}}
```sql
SHOW TABLES;
```
{{< /tab >}}
{{< /tabs >}}
## Steps
```bash
ls
```
```sql
CREATE TABLE u (id INT) TBLPROPERTIES ('a' = 'b')
```
<table><tr><td>compact</td><td>CALL sys.compact(x)</td><td>-- now<br/>CALL sys.compact('t')<br>CALL sys.compact('u')</td></tr></table>
"""


def test_the_examples_of_a_page():
    found = list(blocks_of_page("concepts/tables.md", PAGE))
    assert [(b.at, b.heading, b.engine) for b in found] == [
        (1, "Tables", "flink"), (0, "Tables", "hive"), (0, "Steps", "bash"), (2, "Steps", "spark"), (3, "compact", "flink"),
    ]  # fmt: skip
    assert statements(found[-1].text) == ["CALL sys.compact('t')", "CALL sys.compact('u')"]
    assert Block("other", 7, "", "spark", found[0].text).hash == found[0].hash != found[3].hash


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("SELECT 1;\n-- two\nSELECT 2", ["SELECT 1", "SELECT 2"]),
        ("CALL a()\n\n-- then\nCALL b()", ["CALL a()", "CALL b()"]),
        ("SELECT 1;\n+---+\n| 1 |\n+---+\n- You see it\nSELECT 2;", ["SELECT 1", "SELECT 2"]),
        ("INSERT INTO t\nSELECT 1", ["INSERT INTO t\nSELECT 1"]),
        ("WHEN NOT MATCHED\nTHEN INSERT *", ["WHEN NOT MATCHED\nTHEN INSERT *"]),
    ],
)
def test_the_statements_of_an_example(text, found):
    assert statements(text) == found


def test_the_record_gives_a_reason_for_what_does_not_run():
    lines = read_record()
    assert {line.verdict for line in lines} == {"ran", "refused", "skipped", "other"}
    assert [line for line in lines if (line.verdict in ("refused", "skipped")) != bool(line.reason)] == []
    assert [line for line in lines if (line.at > 0) != (line.engine in ENGINES)] == []
    exempt = [e for setting in settings().values() for e in setting.exempt]
    assert {line.reason for line in lines if line.reason} == {e.reason for e in exempt}
    assert [e for e in exempt if (e.verdict == "refused") != bool(e.error)] == []


def test_settings_are_for_pages_and_blocks_of_the_record():
    known = {(line.page, line.at) for line in read_record()} | {(line.page, 0) for line in read_record()}
    assert settings().keys() - known == set()


@pytest.mark.nightly
@pytest.mark.needs("paimon-checkout")
def test_every_example_ends_as_the_record_says(spark):
    checkout = paimon_checkout()
    assert checkout is not None
    assert list(play(checkout, spark)) == read_record()
