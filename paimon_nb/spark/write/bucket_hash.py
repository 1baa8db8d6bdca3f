"""Java's bucket number of integer keys as one Spark SQL expression, so that the shuffle needs no Python.

The default bucket function is Murmur3 (x86, 32 bit, seed 42) over the 32-bit words of the key's BinaryRow: two words of
header and null bits, then two for each field (docs/spec/format.md section 10). The arithmetic is in BIGINT and never
overflows, so the result is the same with `spark.sql.ansi.enabled` on and off.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from paimon_nb.base.identifier import quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.types import DataField

_ALL = 2**32 - 1
_AFTER_HEADER = 0x11737B65  # Murmur's state after the seed 42 and the header's two zero words
_C1, _C2, _STEP = 0xCC9E2D51, 0x1B873593, 0xE6546B64
_F1, _F2 = 0x85EBCA6B, 0xC2B2AE35

# The two words of a field by its type, low word first. {0}: the column.
_WORDS = {
    "TINYINT": ("(cast({0} as bigint) & 255L)", "0L"),
    "SMALLINT": ("(cast({0} as bigint) & 65535L)", "0L"),
    "INT": ("cast({0} as bigint)", "0L"),
    "DATE": ("cast(unix_date({0}) as bigint)", "0L"),
    "BIGINT": ("{0}", "shiftright({0}, 32)"),
}
_MAX_FIELDS = 3  # the last steps contain the hash eight times, so each field adds eight copies of its steps


def bucket_expression(fields: Sequence[DataField], count: int) -> str | None:
    """SQL of the bucket number, INT in [0, count); None if a field is nullable or of another type.

    Args:
        fields: the bucket key, in the order of the option `bucket-key`.
        count: number of buckets, at least 1.
    """
    if len(fields) > _MAX_FIELDS or any(f.type.nullable for f in fields):
        return None
    kinds = [str(f.type.with_nullable(True)) for f in fields]
    if not set(kinds) <= set(_WORDS):
        return None
    words: list[str] = []
    for kind, field in zip(kinds, fields, strict=True):
        words += [word.format(quote(field.name)) for word in _WORDS[kind]]
    hashed = _murmur_finalize(reduce(_murmur_mix, words, f"{_AFTER_HEADER}L"), 4 * (2 + len(words)))
    return f"cast(abs({hashed}) % {count}L as int)"


def _murmur_mix(state: str, word: str) -> str:
    """Murmur's `mixH1(state, mixK1(word))`; the input and the result are unsigned."""
    rotated = _rotate_left(_low_32_of_product(word, _C1), 15)
    return _low_32_bits(f"{_rotate_left(f'({state} ^ {_low_32_of_product(rotated, _C2)})', 13)} * 5L + {_STEP}L")


def _murmur_finalize(state: str, length: int) -> str:
    """Murmur's `fmix`: a signed 32-bit number."""
    first = _low_32_of_product(_shift_right(f"({state} ^ {length}L)", 16), _F1)
    return _to_signed_32(_shift_right(_low_32_of_product(_shift_right(first, 13), _F2), 16))


def _low_32_of_product(value: str, constant: int) -> str:
    """The low 32 bits of a product. Both factors are signed, so the product fits 63 bits."""
    return _low_32_bits(f"{_to_signed_32(value)} * {constant - 2**32 if constant >= 2**31 else constant}L")


def _rotate_left(value: str, by: int) -> str:
    """A 32-bit rotation with one reference to the value: times 2^by modulo 2^32 - 1, but all ones stay all ones."""
    return f"(({value} * {1 << by}L - 1L) % {_ALL}L + 1L)"


def _shift_right(value: str, by: int) -> str:
    return f"({value} ^ shiftrightunsigned({value}, {by}))"


def _low_32_bits(value: str) -> str:
    return f"(({value}) & {_ALL}L)"


def _to_signed_32(value: str) -> str:
    return f"shiftright(shiftleft({value}, 32), 32)"
