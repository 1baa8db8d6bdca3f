"""What every catalog promises, each one held to it by one suite."""

from __future__ import annotations

from functools import partial

import pyarrow as pa
import pytest
from catalog_kit import KINDS_WITHOUT_S3, ODD_NAMES, at_once, schema
from sampling import sampled

from paimon_nb.base.errors import (
    AlreadyExists,
    ColumnNotFound,
    CommitError,
    DatabaseNotFound,
    InvalidName,
    SchemaChangeError,
    TableIsMoving,
    TableNotFound,
    TableReplaced,
    UnsupportedOperation,
)
from paimon_nb.base.identifier import Identifier
from paimon_nb.statements.ddl import AddColumn, DropColumn, RenameColumn, SetOptions

T = Identifier("d", "t")


NOT_ON_S3_EACH_TIME = pytest.mark.parametrize("options", KINDS_WITHOUT_S3, indirect=True)
"""What a catalog decides by names alone asks an object store nothing of its own: there it runs nightly."""


@pytest.fixture
def filled(catalog):
    """Database `d` with table `t`, two rows."""
    catalog.create_database("d")
    catalog.create_table(T, schema())
    catalog.table(T).upsert(rows(1, 2))
    return catalog


def rows(*ids: int) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int32()), "v": [f"v{i}" for i in ids]})


def has_trash(catalog) -> bool:
    """Whether dropped tables come back here. Where they do not, UNDROP says so."""
    if not catalog.keeps_dropped_tables:
        catalog.drop_table(T)
        with pytest.raises(UnsupportedOperation, match="keeps no dropped tables"):
            catalog.undrop_table(T)
        assert catalog.tables("d") == []
    return catalog.keeps_dropped_tables


def read(catalog, name: Identifier = T) -> list[int]:
    return sorted(catalog.table(name).to_arrow().column("id").to_pylist())


# -- databases


def test_databases_come_and_go(catalog, session):
    assert catalog.databases() == ["default"]
    assert [catalog.create_database(n) for n in ("b", "a")] == [True, True]
    assert catalog.create_database("a", if_not_exists=True) is False
    with pytest.raises(AlreadyExists, match="'a'"):
        catalog.create_database("a")
    assert session().databases() == ["a", "b", "default"]
    assert (catalog.drop_database("a"), catalog.drop_database("a", if_exists=True)) == (True, False)
    with pytest.raises(DatabaseNotFound) as caught:
        catalog.drop_database("bb")
    assert "'b'" in caught.value.hint
    assert session().databases() == ["b", "default"]


def test_a_database_that_holds_tables_goes_only_with_them(filled, session):
    with pytest.raises(UnsupportedOperation, match="1 table"):
        filled.drop_database("d")
    assert read(session()) == [1, 2]
    assert filled.drop_database("d", cascade=True) is True
    assert session().databases() == ["default"]
    filled.create_database("d")
    assert session().tables("d") == []


def test_the_default_database_takes_tables(catalog, session):
    catalog.create_table(Identifier("default", "t"), schema())
    assert session().tables("default") == ["t"]


# -- tables


def test_a_table_is_made_filled_and_read_by_another_session(filled, session):
    other = session()
    assert other.tables("d") == ["t"]
    table = other.table(T)
    assert (table.schema.names, table.primary_keys, table.schema.options["bucket"]) == (("id", "v"), ("id",), "1")
    table.upsert(rows(2, 3))
    assert read(filled) == [1, 2, 3]
    assert table.path == filled.table(T).path


def test_a_name_is_taken_once(filled, session):
    assert session().create_table(T, schema("other"), if_not_exists=True) is False
    with pytest.raises(AlreadyExists, match=r"d\.t"):
        session().create_table(T, schema("other"))
    assert filled.table(T).schema.names == ("id", "v")
    assert read(filled) == [1, 2]


@NOT_ON_S3_EACH_TIME
@pytest.mark.parametrize(
    "act",
    [
        lambda c, n: c.table(n),
        lambda c, n: c.drop_table(n),
        lambda c, n: c.rename_table(n, Identifier("d", "new")),
        lambda c, n: c.alter_table(n, [SetOptions({"snapshot.num-retained.max": "50"})]),
    ],
    ids=["table", "drop", "rename", "alter"],
)
def test_what_is_not_there_is_told_with_the_nearest_name(filled, act):
    with pytest.raises(TableNotFound) as caught:
        act(filled, Identifier("d", "tt"))
    assert "'t'" in caught.value.hint
    with pytest.raises(DatabaseNotFound):
        act(filled, Identifier("nowhere", "t"))
    assert read(filled) == [1, 2]


def test_nothing_is_made_in_a_database_that_is_not_there(filled, session):
    for act in (
        lambda: filled.create_table(Identifier("e", "t"), schema()),
        lambda: filled.rename_table(T, Identifier("e", "t")),
        lambda: filled.tables("e"),
    ):
        with pytest.raises(DatabaseNotFound):
            act()
    assert (session().databases(), read(session())) == (["d", "default"], [1, 2])


def test_a_dropped_table_is_gone_for_all_and_comes_back_by_undrop(filled, session):
    if not has_trash(filled):
        return
    other = session()
    assert (filled.drop_table(T), filled.drop_table(T, if_exists=True)) == (True, False)
    assert other.tables("d") == []
    with pytest.raises(TableNotFound):
        other.table(T)
    other.undrop_table(T)
    assert (session().tables("d"), read(session())) == (["t"], [1, 2])


@NOT_ON_S3_EACH_TIME
def test_undrop_never_hides_a_newer_table(filled, session):
    if not has_trash(filled):
        return
    filled.drop_table(T)
    filled.create_table(T, schema("newer"))
    with pytest.raises(AlreadyExists):
        filled.undrop_table(T)
    assert session().table(T).schema.names == ("id", "v", "newer")


@NOT_ON_S3_EACH_TIME
def test_undrop_after_a_late_writer_found_no_table(filled, session):
    """Such a writer commits nothing, but the directories that it wrote into stay."""
    late = filled.table(T)
    filled.drop_table(T)
    with pytest.raises(TableReplaced):
        late.upsert(rows(7))
    if not filled.keeps_dropped_tables:
        assert session().tables("d") == []
        return
    filled.undrop_table(T)
    assert read(session()) == [1, 2]


@NOT_ON_S3_EACH_TIME
def test_undrop_does_not_mix_with_files_of_others(filled, session):
    if not has_trash(filled):
        return
    path = filled.table(T).path
    filled.drop_table(T)
    filled.fs.write(f"{path}/notes.txt", b"mine")
    with pytest.raises(AlreadyExists, match=f"the path of table {T}, is not empty"):
        filled.undrop_table(T)
    filled.fs.delete(f"{path}/notes.txt")
    filled.undrop_table(T)
    assert read(session()) == [1, 2]


def test_purge_leaves_nothing(filled, session):
    if not has_trash(filled):
        return
    path = filled.table(T).path
    filled.drop_table(T, purge=True)
    assert not filled.fs.exists(path)
    with pytest.raises(TableNotFound):
        filled.undrop_table(T)
    filled.create_table(T, schema())
    assert read(session()) == []


def test_a_table_moves_with_its_rows(filled, session):
    filled.create_database("e")
    filled.rename_table(T, Identifier("e", "u"))
    other = session()
    assert (other.tables("d"), other.tables("e"), read(other, Identifier("e", "u"))) == ([], ["u"], [1, 2])
    other.table(Identifier("e", "u")).upsert(rows(3))
    assert read(filled, Identifier("e", "u")) == [1, 2, 3]


def test_a_rename_hides_no_other_table(filled, session):
    filled.create_table(Identifier("d", "u"), schema("other"))
    with pytest.raises(AlreadyExists, match=r"d\.u"):
        filled.rename_table(T, Identifier("d", "u"))
    other = session()
    assert (other.tables("d"), other.table(Identifier("d", "u")).schema.names) == (["t", "u"], ("id", "v", "other"))
    assert read(other) == [1, 2]


def test_changes_are_seen_by_all(filled, session):
    filled.alter_table(T, [AddColumn(("n",), "BIGINT", "a count"), RenameColumn(("v",), "text")])
    session().alter_table(T, [SetOptions({"snapshot.num-retained.max": "70"})])
    now = session().table(T)
    assert now.schema.names == ("id", "text", "n")
    assert (now.schema.id, now.schema.options["snapshot.num-retained.max"]) == (2, "70")
    assert now.to_arrow().sort_by("id").to_pylist() == [{"id": i, "text": f"v{i}", "n": None} for i in (1, 2)]


def test_a_change_that_fails_changes_nothing(filled, session):
    for change, error in ((DropColumn(("id",)), SchemaChangeError), (DropColumn(("zz",)), ColumnNotFound)):
        with pytest.raises(error):
            filled.alter_table(T, [AddColumn(("n",), "INT"), change])
    assert session().table(T).schema.names == ("id", "v")


def test_branches_and_system_tables_are_no_tables_to_make(catalog):
    for name in (Identifier("default", "t", "b"), Identifier("default", "t", "main", "files")):
        with pytest.raises(InvalidName):
            catalog.create_table(name, schema())
    assert catalog.tables("default") == []


# -- names


@NOT_ON_S3_EACH_TIME
@pytest.mark.parametrize("unusual", sampled(ODD_NAMES, 3))
def test_odd_names_are_only_names(catalog, session, unusual):
    if catalog.options.get("metastore") == "hive" and not unusual.isidentifier():
        try:  # Hive's releases differ in what they take; what they refuse leaves nothing behind
            catalog.create_database(unusual)
            catalog.create_table(Identifier(unusual, unusual), schema())
        except InvalidName:
            assert [d for d in catalog.databases() if catalog.tables(d)] == []
            return
        catalog.drop_database(unusual, cascade=True)
        unusual = unusual.lower()
    elif catalog.options.get("metastore") == "hive" and not unusual.isascii():
        with pytest.raises(InvalidName):
            catalog.create_table(Identifier("default", unusual), schema())
        return
    catalog.create_database(unusual)
    name = Identifier(unusual, unusual)
    catalog.create_table(name, schema())
    other = session()
    other.table(name).upsert(rows(1))
    assert (other.databases(), other.tables(unusual)) == (sorted([unusual, "default"]), [unusual])
    moved = Identifier("default", unusual + "2")
    other.rename_table(name, moved)
    assert (read(session(), moved), session().tables(unusual)) == ([1], [])
    session().drop_table(moved)
    session().drop_database(unusual)
    assert (catalog.databases(), catalog.tables("default")) == (["default"], [])


@NOT_ON_S3_EACH_TIME
@pytest.mark.parametrize("bad", ["", " ", ".", "..", "a/b", "a\\b", "a\nb", "a\0b", "x" * 241])
def test_names_that_are_paths_are_refused(catalog, bad):
    with pytest.raises(InvalidName):
        catalog.create_database(bad)
    with pytest.raises(InvalidName):
        catalog.create_table(Identifier("default", bad), schema())
    assert (catalog.databases(), catalog.tables("default")) == (["default"], [])


@NOT_ON_S3_EACH_TIME
@pytest.mark.parametrize("wild", ["t_", "t%", "%", "_"])
def test_a_name_is_no_pattern(catalog, session, wild):
    catalog.create_table(Identifier("default", "tx"), schema())
    with pytest.raises(TableNotFound):
        session().table(Identifier("default", wild))
    assert catalog.drop_table(Identifier("default", wild), if_exists=True) is False
    assert session().tables("default") == ["tx"]


# -- two sessions at once


def test_of_many_creators_one_wins(session):
    session().create_database("d")
    for turn in range(3):
        name = Identifier("d", f"t{turn}")
        done = at_once([partial(session().create_table, name, schema(f"by{i}")) for i in range(4)])
        assert sorted(str(type(x).__name__) for x in done) == ["AlreadyExists"] * 3 + ["bool"]
        winner = done.index(True)
        assert session().table(name).schema.names == ("id", "v", f"by{winner}")


def test_many_creators_of_a_database_all_find_it(session):
    done = at_once([partial(session().create_database, "d", if_not_exists=True) for _ in range(4)])
    assert [x for x in done if not isinstance(x, bool)] == []
    assert True in done  # plain directories may tell two that they made it
    assert session().databases() == ["d", "default"]


@NOT_ON_S3_EACH_TIME
def test_of_many_renames_to_one_name_one_wins(session):
    first = session()
    for i in range(4):
        first.create_table(Identifier("default", f"t{i}"), schema(f"by{i}"))
    new = Identifier("default", "new")
    done = at_once([partial(session().rename_table, Identifier("default", f"t{i}"), new) for i in range(4)])
    winner = done.index(None)
    others = [x for i, x in enumerate(done) if i != winner]
    # Between the entry and the directory of the winner, the name is that of a table that moves.
    assert [x for x in others if not isinstance(x, AlreadyExists | TableIsMoving)] == []
    assert first.table(new).schema.names == ("id", "v", f"by{winner}")
    assert first.tables("default") == sorted(["new", *(f"t{i}" for i in range(4) if i != winner)])


def test_all_changes_of_two_sessions_arrive(session):
    session().create_table(Identifier("default", "t"), schema())
    name = Identifier("default", "t")
    done = at_once([partial(session().alter_table, name, [AddColumn((f"c{i}",), "INT")]) for i in range(4)])
    assert [e for e in done if isinstance(e, Exception)] == []
    now = session().table(name).schema
    assert (sorted(now.names[2:]), now.id) == ([f"c{i}" for i in range(4)], 4)


def test_all_commits_of_two_sessions_arrive(session):
    name = Identifier("default", "t")
    session().create_table(name, schema())

    def write(table, me: int) -> int:
        for turn in range(3):
            table.upsert(rows(me * 10 + turn))
        return 3

    done = at_once([partial(write, session().table(name), i) for i in range(3)])
    assert [e for e in done if isinstance(e, CommitError)] == []
    assert read(session(), name) == sorted(i * 10 + turn for i in range(3) for turn in range(3))
    assert session().table(name).snapshots().num_rows >= 9
