"""Names of databases, tables, branches and system tables: validated once, quoted in one place, never a path."""

from __future__ import annotations

from dataclasses import field, replace
from functools import lru_cache

from paimon_nb.base.errors import InvalidName
from paimon_nb.base.lazy_dataclass import dataclass

MAIN_BRANCH = "main"
_FORBIDDEN = frozenset("/\\\0\n\r\t")


def check_name(text: str, what: str) -> str:
    """`text` if it can name one directory entry, else `InvalidName`.

    Refused: empty or blank, '.' and '..', path separators, control characters, and names longer than 240 UTF-8 bytes.
    """
    bad = (
        f"is a {type(text).__name__}, not text"
        if not isinstance(text, str)
        else "is empty"
        if not text or not text.strip()
        else "is a directory reference"
        if text in (".", "..")
        else "holds a path separator or control character"
        if any(c in _FORBIDDEN or ord(c) < 32 for c in text)
        else "is longer than 240 bytes"
        if len(text.encode("utf-8", "surrogatepass")) > 240
        else "is not valid Unicode"
        if any(0xD800 <= ord(c) <= 0xDFFF for c in text)
        else None
    )
    if bad:
        raise InvalidName(f"{what} name {text!r} {bad}", hint="use letters, digits, '_' and '-'", name=text)
    return text


def quote(identifier: str) -> str:
    """`identifier` as a backtick-quoted SQL identifier."""
    return "`" + identifier.replace("`", "``") + "`"


def split_name(text: str) -> tuple[str, ...]:
    """`` a.`b.c`.d `` -> ('a', 'b.c', 'd')."""
    parts: list[str] = []
    rest = text.strip()
    while rest:
        if rest.startswith("`"):
            end = 1 + rest[1:].replace("``", "\0\0").find("`")  # the opening one may precede a doubled one
            end = end or len(rest)
            parts.append(rest[1:end].replace("``", "`"))
            rest = rest[end + 1 :].removeprefix(".")
        else:
            head, _, rest = rest.partition(".")
            parts.append(head)
    return tuple(parts)


@dataclass(frozen=True, slots=True)
class Identifier:
    """A table's full name: `database.table[$branch_b][$system]`. Grammar: Paimon's Identifier."""

    database: str
    table: str
    branch: str = MAIN_BRANCH
    system: str | None = None
    text: str = field(init=False, repr=False, compare=False)
    """The name as users write it: `db.t$files`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", f"{self.database}.{self.object}")
        check_name(self.database, "database")
        check_name(self.table, "table")
        check_name(self.branch, "branch")
        if "$" in self.table:
            raise InvalidName(
                f"table name {self.table!r} holds '$'", hint="'$' separates system tables: t$files", name=self.table
            )

    @classmethod
    @lru_cache(maxsize=1024)
    def parse_object(cls, database: str, text: str) -> Identifier:
        """Parse the object part: `t`, `t$files`, `t$branch_b`, `t$branch_b$files`."""
        table, *rest = text.split("$")
        branch = MAIN_BRANCH
        if rest and rest[0].startswith("branch_"):
            branch = rest.pop(0)[len("branch_") :]
        if len(rest) > 1:
            raise InvalidName(f"{text!r} has too many '$'", hint="t[$branch_b][$system_table]", name=text)
        return cls(database, table, branch, rest[0] if rest else None)

    def of_table(self) -> Identifier:
        """The name without its system table."""
        return replace(self, system=None)

    @property
    def object(self) -> str:
        """The part after the database, as users write it."""
        branch = "" if self.branch == MAIN_BRANCH else f"$branch_{self.branch}"
        return self.table + branch + (f"${self.system}" if self.system else "")

    def quoted(self) -> str:
        """The name as SQL: `` `db`.`t$files` ``."""
        return f"{quote(self.database)}.{quote(self.object)}"

    def __str__(self) -> str:
        return self.text
