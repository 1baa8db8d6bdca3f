"""moto's S3 server with atomic writes: `python moto_server.py PORT`.

moto checks `If-None-Match` and stores the object in two steps, so of two writers at once both can win. S3 lets one win.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import run_simple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class OneWriteAtATime:
    """A WSGI application whose PUT, POST and DELETE requests run one after the other."""

    def __init__(self, application: Callable[..., Iterable[bytes]]) -> None:
        self.application = application
        self.lock = threading.Lock()

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] not in ("PUT", "POST", "DELETE"):
            return self.application(environ, start_response)
        with self.lock:
            return list(self.application(environ, start_response))


if __name__ == "__main__":
    application = OneWriteAtATime(DomainDispatcherApplication(create_backend_app))
    run_simple("127.0.0.1", int(sys.argv[1]), application, threaded=True, request_handler=MotoRequestHandler)
