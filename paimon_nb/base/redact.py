"""Redaction: masks secret option values, secrets inside free text, and secrets that this process has used, wherever they come back."""

from __future__ import annotations

import json
import re
import threading
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

MASK = "***"
# Texts, because compiling them takes longer than importing ten modules; `re` keeps what it compiled.
_SECRET_KEY = (
    "(?i)(passw(or)?d|passphrase|(?<![a-z])pass(?![a-z])|(?<![a-z])pwd|secret|token(?!i[sz])|credential|access[-._]?key|private[-._]?key|account[-._]?key|shared[-._]?key"
    r"|sas([-._]?(key|token))?$|auth(?!or)|api[-._]?key|cookie|jwt|bearer|signature|connection[-._]?string|(^|[.\-_])sig$|keytab[-._]?content"
    r"|(^|\.)headers?\.|x-amz-(signature|credential|security-token))"
)
_KEY_MATERIAL = r"(?i)[-._](key|keys|pem|certificate|certificates|chain)$"
_KEY_OWNER = r"(?i)(keystore|truststore|ssl|tls|client|encryption|signing)[-._]"
_MAX_KEY = 256
"""Characters at the end of a key that decide. Names of options are shorter; texts of others need not be."""
_NOT_SECRET = r"(?i)(query-auth\.enabled|token[.-](provider|path|loader|ecs-[\w-]+|enabled)|(csv|text)\.headers?\.[\w.-]+|headers?\.(user-agent|accept[\w-]*|content-type|host|traceparent|x-request-id)|ssl\.(key|truststore|keystore)\.(type|location))$"
# Each run of characters is tried once, from its beginning: a text of others, however long, takes time in proportion to its length.
_KEY = r"""(?P<key>'[^']*'|"[^"]*"|`[^`]*`|(?<![\w.\-])[\w.\-]++)"""
_ASSIGNED = rf"{_KEY}(?P<mid>\s*+(?:=>|=|:)\s*+)"
_VALUE = r"""'(?:[^']|'')*+(?:'|$)|"[^"]*+(?:"|$)|[^\s,)'"]++"""
_PAIR = r"""(?P<mid>[(,]\s*+)(?P<key>'[^']*'|"[^"]*"|`[^`]*`|[\w.\-]++)(?P<space>\s++)(?P<value>'(?:[^']|'')*(?:'|$)|"[^"]*(?:"|$))"""
"""TBLPROPERTIES (password 'x'): Spark needs no `=`."""
_TEXT = r"""(?:'(?:[^']|'')*(?:'|$)|"[^"]*(?:"|$))"""
_CALLED = rf"""(?i)(?P<head>\binit_file_based_privilege\W*\(\s*|\bcreate_privileged_user\W*\(\s*{_TEXT}\s*,\s*)(?P<value>{_TEXT})"""
"""Procedures with a password at a fixed position."""
_URL_PASSWORD = (
    r"""(?P<head>(?<![\w+.-])[\w+.-]++://[^\s/@:'"?#]*:)(?!\d{1,5}(?:[/'"\s]|$))(?:[^\s'"?#]*(?=@)|[^@\s'"]+(?=@))"""
)
"""Up to the last @: a password may contain one. Digits and a slash are a port."""
_WORD = r"""[^\s'"]++"""
_URL_USER = r"""(?i)(?P<head>\bhttps?://)[^\s/@:'"?#]+(?=@)"""
"""A token in place of a user."""
_BEARER = r"""(?i)(?P<head>\b(?:bearer|authorization['"]?\s*[:=]\s*['"]?(?:basic|digest|negotiate|bearer))\s+)(?!tokens?\b|auth)[\w.~+/=-]{3,}"""
_PRIVATE_KEY = r"-----BEGIN (?P<kind>[A-Z ]*(?:PRIVATE KEY|CERTIFICATE))-----.*?(?:-----END (?P=kind)-----|$)"

_MIN_LENGTH, _MIN_INSIDE_WORDS = 6, 8
"""Shorter values are masked by name only; those of 6 and 7 characters are masked as whole words."""
_MAX_KNOWN = 2_000
_COMMON = frozenset(
    {"anonymous", "bearer", "default", "disabled", "enabled", "hadoop", "localhost", "paimon", "password", "postgres", "private", "public", "secret",
     "simple", "unknown", "warehouse"}
)  # fmt: skip
"""Words that are no secret, whatever the option."""
_known: dict[str, None] = {}
_pattern: re.Pattern[str] | None = None
_lock = threading.Lock()


def is_secret(key: str) -> bool:
    """Whether an option of this key holds a secret."""
    key = key[-_MAX_KEY:]
    is_named = bool(re.search(_SECRET_KEY, key)) or _is_key_material(key)
    return is_named and not re.search(_NOT_SECRET, key)


def _is_key_material(key: str) -> bool:
    """Keys and certificates: `ssl.keystore.certificate.chain`."""
    found = re.search(_KEY_MATERIAL, key)
    return found is not None and re.search(_KEY_OWNER, key[: found.start() + 1]) is not None


def remember_secrets(options: Mapping[str, object]) -> None:
    """Mask the secret values of these options from now on in every text, also where no key names them.

    Call it where secrets enter the process: options of a catalog, a file system or a connector, headers of a request.
    """
    values: list[str] = []
    for key, value in options.items():
        if isinstance(value, str) and value:
            values += [value] if is_secret(key) else _passwords_in(value)
    if values:
        remember_secret_values(values)


def remember_secret_values(values: Iterable[str]) -> None:
    """As `remember_secrets`, for the values themselves."""
    global _pattern
    new = {form for value in values for part in _parts(value) for form in _forms(part)}
    with _lock:
        if new <= _known.keys():
            return
        for form in new:
            _known[form] = None
        while len(_known) > _MAX_KNOWN:
            del _known[next(iter(_known))]
        longest_first = sorted(_known, key=len, reverse=True)
        _pattern = re.compile("|".join(map(_pattern_of, longest_first)))


def _parts(value: str) -> Iterable[str]:
    """The secret itself, without `Bearer` before it, and the secrets in `username="a" password="b"`."""
    bare = re.sub(r"(?i)^(bearer|basic)\s+", "", value.strip())
    yield from (p for p in (bare, *_passwords_in(bare)) if len(p) >= _MIN_LENGTH and p.lower() not in _COMMON)


def _passwords_in(text: str) -> list[str]:
    """Secrets in a text that is a list of options or a URL."""
    found = [text[begin:end].strip("'\"") for begin, end, secret in _assigned_values(text) if secret]
    urls = (re.search(_URL_PASSWORD, token) for token in _url_tokens(text))
    return [*found, *(u[0][len(u["head"]) :] for u in urls if u)]


def _assigned_values(text: str) -> Iterator[tuple[int, int, bool]]:
    """Where the value of each `key = value` begins and ends, and whether the key is that of a secret. Bare values of other
    keys are empty here: what is in them follows."""
    key, value = re.compile(_ASSIGNED), re.compile(_VALUE)
    at = 0
    while found := key.search(text, at):
        secret, at = is_secret(found["key"].strip("'\"`")), found.end()
        if secret or text[at : at + 1] in ("'", '"'):
            held = value.match(text, at)
            if held is not None:
                yield at, held.end(), secret
                at = held.end()


def _url_tokens(text: str) -> Iterator[str]:
    """The words of a text that may be URLs with passwords, up to their last @: a password is not looked for after it."""
    for word in re.findall(_WORD, text) if "://" in text else ():
        if "@" in word:
            yield word[: word.rindex("@") + 1]


def _forms(value: str) -> set[str]:
    """The value as texts have it: in URLs, JSON and SQL."""
    return {value, quote(value, safe=""), json.dumps(value)[1:-1], value.replace("'", "''")}


def _pattern_of(value: str) -> str:
    escaped = re.escape(value)
    return escaped if len(value) >= _MIN_INSIDE_WORDS else rf"(?<!\w){escaped}(?!\w)"


def mask_known(text: str) -> str:
    """The text without the secrets that this process has used."""
    pattern = _pattern
    return text if pattern is None else pattern.sub(MASK, text)


def redact_options(options: Mapping[str, str]) -> dict[str, str]:
    """A copy of `options` with secret values masked."""
    return {k: MASK if is_secret(k) else redact_text(v) for k, v in options.items()}


def redact_text(text: str) -> str:
    """`text` with the values of `'secret-key' = '...'` assignments, credentials in URLs and headers, private keys, and known secrets masked.

    Also assignments inside a value (`mysql_conf => 'password=...'`), unterminated strings, and passwords in positional
    procedure arguments.
    """

    def mask_secret_pair(match: re.Match[str]) -> str:
        if not is_secret(match["key"].strip("'\"`")):
            return match[0]
        edge = match["value"][0]
        return f"{match['mid']}{match['key']}{match['space']}{edge}{MASK}{edge}"

    text = mask_known(text)
    if "-----BEGIN" in text:
        text = re.sub(_PRIVATE_KEY, MASK, text, flags=re.DOTALL)
    text = re.sub(_CALLED, rf"\g<head>'{MASK}'", text)
    text = re.sub(_BEARER, rf"\g<head>{MASK}", text)
    if "://" in text:
        text = re.sub(_URL_USER, rf"\g<head>{MASK}", re.sub(_WORD, _mask_url_password, text))
    return re.sub(_PAIR, mask_secret_pair, _mask_assigned(text))


def _mask_url_password(token: re.Match[str]) -> str:
    """A word without the passwords of its URLs: nothing after its last @ is looked at."""
    end = token[0].rfind("@") + 1
    return re.sub(_URL_PASSWORD, rf"\g<head>{MASK}", token[0][:end]) + token[0][end:] if end else token[0]


def _mask_assigned(text: str) -> str:
    """The text without values of secret keys, also inside of the quoted values of other keys."""
    out, done = [], 0
    for begin, end, secret in _assigned_values(text):
        value = text[begin:end]
        edge = value[0] if value[0] in "'\"" else ""
        closing = edge if len(value) > 1 and value.endswith(edge) else ""
        inside = MASK if secret else redact_text(value[len(edge) : len(value) - len(closing)])
        out += [text[done:begin], edge, inside, edge if secret else closing]
        done = end
    return "".join([*out, text[done:]])
