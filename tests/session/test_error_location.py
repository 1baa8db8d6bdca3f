"""An error points at the word that it is about, in the user's own text."""

import pytest

from paimon_nb.base.errors import PaimonError

PLACES = [
    ("DESCRIBE prdr", "prdr"),
    ("SELECT *\nFROM default.prdr AS x", "default.prdr"),
    ("SELECT * FROM prod$snapshotz", "prod$snapshotz"),
    ("DROP TABLE default.`prdr`", "`prdr`"),
    ("CALL sys.compcat('prod')", "compcat"),
    ("CALL sys.compact('default.prdr', 'p=1')", "'default.prdr'"),
    ("CALL sys.compact(tabel => 'prod')", "tabel"),
    ("CALL sys.compact('prod', order_strategy => 'zz', order_by => 'id')", "'zz'"),
    ("CALL sys.compact('prod', partition_idle_time => 'soon')", "partition_idle_time"),
    ("CALL sys.rollback_to('prod', 99)", "99"),
    ("CALL sys.rename_tag('prod', 'nope', 'other')", "'nope'"),
    ("ALTER TABLE prod DROP PARTITION (nope = 1)", "nope"),
    ("ALTER TABLE prod DROP COLUMN vv", "vv"),
    ("ALTER TABLE prod SET ('write-only' = 'true', 'snapshot.time-retained' = 'soon')", "'snapshot.time-retained'"),
    ("CREATE TABLE x (id INT) WITH (\n  'bucket' = 'many')", "'bucket'"),
    ("CREATE TABLE x (id INT, PRIMARY KEY (id, idd) NOT ENFORCED)", "idd"),
    ("CREATE TABLE x (id INTT)", "INTT"),
    ("INSERT INTO prod (id, vv) VALUES (1, 'a')", "vv"),
    ("UPDATE prod SET vv = 1", "vv"),
    ("USE CATALOG piamon", "piamon"),
    ("SHOW TABLES FROM nope", "nope"),
    ("SET 'execution.runtime-mode' = 'btch'", "'execution.runtime-mode'"),
    ("CREATE TABLE prod (id INT)", "prod"),
    ("CREATE TABLE `../x` (id INT)", "`../x`"),
    ("INSERT INTO prod VALUES (NULL, 'x')", None),
]


@pytest.mark.parametrize(("text", "place"), PLACES, ids=[p[0].replace("\n", " ") for p in PLACES])
def test_the_place(wb, monkeypatch, text, place):
    monkeypatch.setattr(type(wb.session), "spark", property(lambda _self: pytest.fail("Spark was started")))
    wb.run("CREATE TABLE prod (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')")
    before = "SHOW CATALOGS; -- vv prdr nope\n"
    with pytest.raises(PaimonError) as caught:
        wb.run(before + text)
    error = caught.value
    assert error.sql == before + text
    found = error.sql[error.start : error.stop]
    assert found == (place or text) or (place is None and found == "id"), found


@pytest.mark.spark
def test_a_key_that_is_assigned_is_meant_where_it_gets_its_value(swb):
    swb.run("CREATE TABLE prod (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')")
    merge = """MERGE INTO prod USING prod AS s ON prod.id = s.id
        WHEN MATCHED AND s.id = 2 THEN UPDATE SET v = 'x', prod.id = 4"""
    with pytest.raises(PaimonError, match="primary key column 'id' cannot be updated") as caught:
        swb.run(merge)
    assert caught.value.start == merge.index("id = 4")


def test_an_unknown_option_is_told_with_the_nearest(wb):
    assert wb.run("CREATE TABLE x (id INT) WITH ('bukcet' = '1')").notes == [
        "unknown option 'bukcet' is stored but has no effect; did you mean 'bucket'?"
    ]
