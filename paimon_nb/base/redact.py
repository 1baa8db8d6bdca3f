"""Redaction: masks secret option values, and secrets inside free text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MASK = "***"
# Texts, because compiling them takes longer than importing ten modules; `re` keeps what it compiled.
_SECRET_KEY = "(?i)(pass(word|wd)?|secret|token|credential|access[-._]?key|private[-._]?key|sas[-._]?key|auth)"
_NOT_SECRET = r"(?i)(query-auth\.enabled|token[.-](provider|path|loader|ecs-[\w-]+|enabled))$"
_ASSIGNMENT = r"""(?P<key>'[^']*'|"[^"]*"|`[^`]*`|[\w.\-]+)(?P<mid>\s*(?:=>|=|:)\s*)(?P<value>'(?:[^']|'')*(?:'|$)|"[^"]*(?:"|$)|[^\s,)'"]+)"""
_TEXT = r"'(?:[^']|'')*(?:'|$)"
_CALLED = rf"""(?i)(?P<head>\binit_file_based_privilege\W*\(\s*|\bcreate_privileged_user\W*\(\s*{_TEXT}\s*,\s*)(?P<value>{_TEXT})"""
"""Procedures with a password at a fixed position."""
_URL_PASSWORD = r"(?P<head>\w+://[^/\s:@]+:)[^@\s/]+(?=@)"


def is_secret(key: str) -> bool:
    """Whether an option of this key holds a secret."""
    return bool(re.search(_SECRET_KEY, key)) and not re.search(_NOT_SECRET, key)


def redact_options(options: Mapping[str, str]) -> dict[str, str]:
    """A copy of `options` with secret values masked."""
    return {k: MASK if is_secret(k) else redact_text(v) for k, v in options.items()}


def redact_text(text: str) -> str:
    """`text` with the values of `'secret-key' = '...'` assignments and passwords in URLs masked.

    Also assignments inside a value (`mysql_conf => 'password=...'`), unterminated strings, and passwords in positional
    procedure arguments.
    """

    def mask_secret_value(match: re.Match[str]) -> str:
        value = match["value"]
        edge = value[0] if value[0] in "'\"" else ""
        if is_secret(match["key"].strip("'\"`")):
            return f"{match['key']}{match['mid']}{edge}{MASK}{edge}"
        end = edge if len(value) > 1 and value.endswith(edge) else ""
        inside = value[len(edge) : len(value) - len(end)]
        return f"{match['key']}{match['mid']}{edge}{redact_text(inside)}{end}"

    text = re.sub(_CALLED, rf"\g<head>'{MASK}'", text)
    return re.sub(_URL_PASSWORD, rf"\g<head>{MASK}", re.sub(_ASSIGNMENT, mask_secret_value, text))
