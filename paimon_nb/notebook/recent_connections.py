"""The warehouses and catalogs that were opened last, for the connection form. Never a secret."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paimon_nb.base.redact import is_secret, redact_text
from paimon_nb.notebook.connection_model import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_CONNECTIONS = 8
_MAX_BYTES = 64 << 10


def _file() -> Path:
    """In IPython's folder, beside its history."""
    from IPython.paths import get_ipython_dir

    return Path(get_ipython_dir()) / "paimon-nb-connections.json"


def recent() -> list[dict[str, Any]]:
    """The last connections, newest first: kind, name, values of the form. A file that cannot be read has none."""
    with contextlib.suppress(OSError, ValueError):
        file = _file()
        if file.stat().st_size <= _MAX_BYTES:
            return [found for found in json.loads(file.read_text("utf-8")) if _is_whole(found)][:MAX_CONNECTIONS]
    return []


def remember(kind: str, name: str, values: Mapping[str, str]) -> None:
    """Put a connection in front. A folder is kept with its absolute path. Where nothing can be written, nothing is kept."""
    stored = {k: v for k, v in values.items() if v and not is_secret(k) and redact_text(v) == v}
    if kind == "filesystem":
        stored["warehouse"] = str(Path(stored.get("warehouse", "")).expanduser().absolute())
    new = {"kind": kind, "name": name, "values": stored}
    others = [found for found in recent() if (found["kind"], found["values"]) != (kind, stored)]
    with contextlib.suppress(OSError):
        file = _file()
        file.parent.mkdir(parents=True, exist_ok=True)
        written = file.with_suffix(f".{os.getpid()}.tmp")
        written.write_text(json.dumps([new, *others][:MAX_CONNECTIONS], ensure_ascii=False), "utf-8")
        written.chmod(0o600)
        written.replace(file)


def _is_whole(found: Any) -> bool:
    match found:
        case {"kind": str(kind), "name": str(), "values": dict(values)} if kind in KINDS:
            return all(isinstance(k, str) and isinstance(v, str) for k, v in values.items())
    return False
