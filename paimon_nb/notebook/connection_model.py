"""What the connection form asks for: kinds of catalogs with their options, the statement that opens one, what a folder has."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import BadOptionValue, UnknownName
from paimon_nb.base.identifier import quote
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.redact import is_secret
from paimon_nb.base.sql_quoting import text_literal
from paimon_nb.catalog.state_tables import visible_tables
from paimon_nb.table.tables.inspect.formatting import count_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.session import Session


@dataclass(frozen=True, slots=True)
class Field:
    """An option that the form asks for.

    Args:
        option: its name in SQL. hint: an example of a value.
    """

    option: str
    label: str
    hint: str = ""
    required: bool = False

    @property
    def secret(self) -> bool:
        """Whether its value must not be stored in a notebook."""
        return is_secret(self.option)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of catalog.

    Args:
        label: what a person calls it. about: one sentence. options: those that the kind itself decides.
    """

    label: str
    about: str
    fields: tuple[Field, ...]
    options: tuple[tuple[str, str], ...] = ()


_S3 = (
    Field("s3.endpoint", "endpoint", "https://s3.example.com; empty for Amazon S3"),
    Field("s3.access-key", "access key"),
    Field("s3.secret-key", "secret key"),
)
KINDS = {
    "filesystem": Kind(
        "a folder",
        "The tables are folders below this one, on this computer or on a mounted disk. A new warehouse is made with its first table.",
        (Field("warehouse", "folder", "warehouse", required=True),),
    ),
    "s3": Kind(
        "an object store (S3)",
        "The tables are in a bucket; no other server has their names.",
        (Field("warehouse", "address", "s3://bucket/path", required=True), *_S3),
    ),
    "jdbc": Kind(
        "a SQL database (JDBC)",
        "A SQLite, PostgreSQL, MySQL or MariaDB database has the names of the tables; their files are in the warehouse.",
        (
            Field("uri", "database", "jdbc:postgresql://host:5432/lake", required=True),
            Field("jdbc.user", "user"),
            Field("jdbc.password", "password"),
            Field("warehouse", "warehouse", "folder or s3://bucket/path", required=True),
            *_S3,
        ),
        (("metastore", "jdbc"),),
    ),
    "hive": Kind(
        "a Hive metastore",
        "A Hive metastore has the names of the tables, together with those of other engines.",
        (
            Field("uri", "metastore", "thrift://host:9083", required=True),
            Field("warehouse", "warehouse", "folder or s3://bucket/path", required=True),
            *_S3,
        ),
        (("metastore", "hive"),),
    ),
    "rest": Kind(
        "a REST catalog",
        "A server that implements Paimon's REST protocol has the names of the tables and of the places of their files.",
        (
            Field("uri", "address", "https://catalog.example.com", required=True),
            Field("warehouse", "instance", "name of the catalog on the server"),
            Field("token", "token"),
            Field(
                "data-file.external-paths",
                "local folders",
                "folders on this computer that the server may name; usually empty",
            ),
        ),
        (("metastore", "rest"), ("token.provider", "bear")),
    ),
}
"""The order is that of the form."""
_NAME = re.compile(r"[^\W\d]\w*")


def catalog_options(kind: str, values: Mapping[str, str]) -> dict[str, str]:
    """The options that the form's values stand for; empty ones are left out.

    Raises:
        UnknownName: the kind is not one of `KINDS`. BadOptionValue: a required value is empty.
    """
    if kind not in KINDS:
        raise UnknownName(f"no kind of catalog {kind!r}", hint=f"one of {', '.join(KINDS)}", name=kind)
    described = KINDS[kind]
    found = {field.option: values.get(field.option, "").strip() for field in described.fields}
    for field in described.fields:
        if field.required and not found[field.option]:
            raise BadOptionValue(f"{field.label} is empty", hint=f"such as {field.hint}")
    if kind == "s3" and not re.match(r"s3[an]?://.", found["warehouse"]):
        raise BadOptionValue(f"{found['warehouse']!r} is not the address of a bucket", hint="such as s3://bucket/path")
    if kind == "filesystem":
        found["warehouse"] = str(Path(found["warehouse"]).expanduser())
    options = {"type": "paimon", **dict(described.options), **{k: v for k, v in found.items() if v}}
    if "token" not in options:
        options.pop("token.provider", None)
    return options


def catalog_name(name: str, taken: Mapping[str, Any]) -> str:
    """The typed name, or a free one.

    Raises:
        UnknownName: it cannot be a name in SQL.
    """
    name = name.strip()
    if name and not _NAME.fullmatch(name):
        raise UnknownName(f"{name!r} cannot be the name of a catalog", hint="letters, digits and _", name=name)
    number, free = 2, "lake"
    while free in taken:
        free, number = f"lake_{number}", number + 1
    return name or free


def create_statement(name: str, options: Mapping[str, str], secrets: Mapping[str, str] | None = None) -> str:
    """CREATE CATALOG with these options. `secrets`: the SQL text that replaces the values of some."""
    pairs = [f"{text_literal(k)} = {(secrets or {}).get(k) or text_literal(v)}" for k, v in options.items()]
    return f"CREATE CATALOG {quote(name)} WITH (\n  " + ",\n  ".join(pairs) + "\n)"


def cell_of(kind: str, name: str, options: Mapping[str, str]) -> str:
    """A cell that opens the same catalog. A secret is read from the environment: a stored notebook has none."""
    if kind == "filesystem":
        path = options["warehouse"]
        return "%paimon connect " + (path if re.fullmatch(r"[\w./~:-]+", path) else f"'{path}'")
    hidden = {k: f"'{{os.environ[\"{environment_variable(k)}\"]}}'" for k in options if is_secret(k)}
    if not hidden:
        return f"%%paimon\n{create_statement(name, options)};\nUSE CATALOG {quote(name)}"
    escaped = {k: v.replace("{", "{{").replace("}", "}}") for k, v in options.items()}
    text = create_statement(name, escaped, hidden)
    return f'import os\n\nwb = %paimon workbench\nwb.run(f"""{text}""")\nwb.run("USE CATALOG {quote(name)}")'


def environment_variable(option: str) -> str:
    """The environment variable from which the cell reads a secret option: `S3_SECRET_KEY`."""
    return re.sub(r"\W", "_", option).upper()


def folder_note(path: str) -> str:
    """What a folder has, in one sentence: it is opened or made."""
    path = path.strip()
    if not path or re.match(r"\w{2,}:", path):
        return ""
    folder = Path(path).expanduser()
    if folder.is_file():
        return "This is a file, not a folder."
    if not folder.exists():
        return "This folder does not exist yet: it is made with the first table."
    databases = sum(1 for entry in folder.iterdir() if entry.name.endswith(".db") and entry.is_dir())
    if not databases:
        return "This folder has no tables yet: they come into it."
    tables = sum(1 for entry in folder.glob("*.db/*/schema") if entry.is_dir())
    return f"This folder is a warehouse: {count_text(tables, 'table')} in {count_text(databases, 'database')}."


def opened_sentence(session: Session) -> str:
    """What was opened, in one sentence."""
    catalog = session.catalog
    databases = list(catalog.databases())
    tables = sum(len(visible_tables(catalog, database)) for database in databases[:20])
    more = " or more" if len(databases) > 20 else ""
    return f"Connected to {catalog.warehouse}: {count_text(tables, 'table')}{more} in {count_text(len(databases), 'database')}."
