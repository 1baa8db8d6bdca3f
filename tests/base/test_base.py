"""Names, registries, errors and redaction."""

import json
import pickle

import pytest

from paimon_nb.base.errors import CorruptFile, InvalidName, PaimonError, UnknownName
from paimon_nb.base.identifier import Identifier, check_name, split_name
from paimon_nb.base.redact import redact_options, redact_text
from paimon_nb.base.registry import LazyRegistry, Registry


@pytest.mark.parametrize("text", ["", " ", ".", "..", "a/b", "a\\b", "a\0b", "a\nb", "x" * 241, "\ud800"])
def test_a_name_that_is_no_directory_entry_is_refused(text):
    with pytest.raises(InvalidName):
        check_name(text, "table")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("t", Identifier("db", "t")),
        ("t$files", Identifier("db", "t", system="files")),
        ("t$branch_b", Identifier("db", "t", "b")),
        ("t$branch_b$files", Identifier("db", "t", "b", "files")),
    ],
)
def test_object_names_parse_and_print(text, name):
    assert Identifier.parse_object("db", text) == name
    assert name.object == text


def test_a_registry_suggests_the_nearest_name():
    with pytest.raises(UnknownName, match="did you mean 'deduplicate'"):
        Registry("merge engine", {"deduplicate": 1, "first-row": 2}).find("dedupliate")


def test_a_lazy_registry_imports_an_entry_when_it_is_looked_up():
    missing = LazyRegistry("codec", "no_such_package", {"gzip": "gzip:open", "bz2": "bz2:open"})
    assert (list(missing), len(missing), "gzip" in missing, "zip" in missing) == (["gzip", "bz2"], 2, True, False)
    with pytest.raises(UnknownName, match="did you mean 'gzip'"):
        missing.find("gzi")
    with pytest.raises(ModuleNotFoundError, match="no_such_package"):
        missing.find("gzip")
    present = LazyRegistry("decoder", "json", {"plain": "decoder:JSONDecoder"})
    assert present.find("plain") is present["plain"] is present.get("plain") is json.JSONDecoder


def test_errors_survive_pickling_with_their_facts():
    error = pickle.loads(pickle.dumps(CorruptFile("a/b", "cut short", snapshot=3)))
    assert (type(error), error.path, error.why, error.snapshot) == (CorruptFile, "a/b", "cut short", 3)
    assert isinstance(error, PaimonError)


def test_secrets_are_masked_in_options_and_text():
    assert redact_options({"s3.secret-key": "canary", "uri": "jdbc:x://u:canary@h/d", "bucket": "4"}) == {
        "s3.secret-key": "***",
        "uri": "jdbc:x://u:***@h/d",
        "bucket": "4",
    }
    sql = "CREATE CATALOG c WITH ('jdbc.password' = 'canary', 'uri' = 'u', `token` = \"canary\")"
    assert "canary" not in redact_text(sql)
    assert "'uri' = 'u'" in redact_text(sql)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("CALL sys.x(conf => 'user=u,password=canary,port=1')", "CALL sys.x(conf => 'user=u,password=***,port=1')"),
        ("""'jaas' = 'Module username="u" password="canary";'""", """'jaas' = 'Module username="u" password="***";'"""),
        ("SET 's3.secret-key' = 'canary and no end", "SET 's3.secret-key' = '***'"),
        ("'a' = 'it''s', 'token' = 'ca''nary'", "'a' = 'it''s', 'token' = '***'"),
        ("a = '", "a = '"),
        ("CALL sys.init_file_based_privilege('canary')", "CALL sys.init_file_based_privilege('***')"),
        ("CALL create_privileged_user ('it''s', 'ca''nary')", "CALL create_privileged_user ('it''s', '***')"),
        ("CALL sys.create_privileged_user('u', 'canary", "CALL sys.create_privileged_user('u', '***'"),
        (
            "create_privileged_user(username => 'u', password => 'canary')",
            "create_privileged_user(username => 'u', password => '***')",
        ),
    ],
)
def test_secrets_are_masked_inside_values(text, shown):
    assert redact_text(text) == shown


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a.`b.c`.d", ("a", "b.c", "d")),
        ("`a``b`.x", ("a`b", "x")),
        ("default.``````", ("default", "``")),
        ("```a`.`b```", ("`a", "b`")),
        ("`open", ("open",)),
    ],
)
def test_quoted_names_fall_apart_at_their_dots(text, parts):
    assert split_name(text) == parts
