"""The options of a file in the form of a new table: what the reader guessed, what the user chose, and the SQL that says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.sql_quoting import text_literal
from paimon_nb.files import formats
from paimon_nb.files.options import BOOL, OPTIONS, file_options
from paimon_nb.files.user_types import engine_type_of

if TYPE_CHECKING:
    from collections.abc import Mapping

FORM_OPTIONS: Mapping[str, tuple[str, ...]] = {
    formats.CSV: (
        "header", "skip", "comment", "delim", "quote", "escape", "decimal_separator", "thousands", "dateformat", "timestampformat", "encoding",
        "nullstr", "all_varchar", "types", "null_padding", "strict_mode", "ignore_errors", "multiline", "sample_size",
    ),
    formats.JSON: (
        "format", "dateformat", "timestampformat", "encoding", "all_varchar", "types", "maximum_depth", "map_inference_threshold", "ignore_errors", "multiline",
    ),
    formats.EXCEL: ("sheet", "header", "skip", "all_varchar"),
}  # fmt: skip
"""Kind of a file -> the options that the form shows; other kinds have a schema of their own."""
_FUNCTIONS = {formats.CSV: "read_csv", formats.JSON: "read_json", formats.EXCEL: "read_xlsx"}
_EMPTY = "''"
"""What a user writes for the empty text: no quotation mark, no comments."""


@dataclass(frozen=True, slots=True)
class OptionLine:
    """An option as the form shows it.

    Args:
        name: DuckDB's name. guess: the reader's, as text; '': none. choice: the user's, as text; '': none.
        values: what can be chosen; (): any text. doc: what it does.
    """

    name: str
    guess: str
    choice: str
    values: tuple[str, ...]
    doc: str


def option_lines(kind: str, guess: Mapping[str, str], choices: Mapping[str, str]) -> list[OptionLine]:
    """The options of a kind of file, with guess and choice."""
    return [
        OptionLine(
            name, _visible(guess.get(name, "")), choices.get(name, ""), ("true", "false") if OPTIONS[name].value == BOOL else (), OPTIONS[name].doc
        )
        for name in FORM_OPTIONS.get(kind, ())
    ]  # fmt: skip


def _visible(text: str) -> str:
    """A guess whose letters can be seen and typed: a tab is \\t."""
    return text.replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def options_of_choices(choices: Mapping[str, Any]) -> dict[str, str]:
    """The choices that are no blank, by the options' own names. Raises BadOptionValue: an option or a value that does not exist."""
    written = {str(k): str(v) for k, v in choices.items() if str(v) != ""}
    named = {k: "" if v.strip() == _EMPTY else v for k, v in written.items()}
    file_options(named)
    return named


def reference(path: str, kind: str, options: Mapping[str, str]) -> str:
    """How FROM names a file with its options: `read_csv('a.csv', header = false)`, or only its path."""
    if not options:
        return text_literal(path)
    written = ", ".join(f"{name} = {_literal(name, value)}" for name, value in options.items())
    return f"{_FUNCTIONS[kind]}({text_literal(path)}, {written})"


def _literal(name: str, value: str) -> str:
    """The value of an option as SQL: booleans, numbers, lists and mappings as they are, all else in quotes."""
    plain = value.strip()
    if OPTIONS[name].value == BOOL and plain.lower() in ("true", "false"):
        return plain.lower()
    if plain.lstrip("-").isdigit() or (plain[:1] + plain[-1:]) in ("[]", "{}"):
        return plain
    return text_literal(_visible(value))


def types_option(types: Mapping[str, str], before: str = "") -> tuple[str, dict[str, str]]:
    """The option `types` for columns whose type the user changed, and those that no text can be read as, which need a CAST.

    Args:
        types: column -> type. before: the value of `types` that the user wrote.
    """
    readable, others = dict(file_options({"types": before}).get("types")) if before else {}, {}
    for column, type in types.items():
        try:
            engine_type_of(type)
            readable[column] = type
        except BadOptionValue:
            others[column] = type
    pairs = ", ".join(f"{text_literal(c)}: {text_literal(t)}" for c, t in readable.items())
    return f"{{{pairs}}}" if readable else "", others


def options_of_words(words: list[str]) -> dict[str, str]:
    """`header=false delim=;` of a command line as options. Raises BadOptionValue."""
    pairs = dict(word.split("=", 1) for word in words)
    return options_of_choices(pairs)
