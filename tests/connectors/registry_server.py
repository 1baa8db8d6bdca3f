"""A schema registry in this process: the part of Confluent's HTTP API that readers and writers of Avro use."""

from __future__ import annotations

import base64
import itertools
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_IDS = itertools.count(1000)
"""A schema has an id that no other registry of this process gives: readers keep schemas by address and id, and a port may come again."""


class Registry:
    """Schemas by id. `late`: requests that get 503 first; `user`: 'user:password' that is asked for."""

    def __init__(self, user: str | None = None) -> None:
        self.schemas: dict[str, int] = {}
        self.subjects: dict[str, list[int]] = {}
        self.late = 0
        self.hidden: set[int] = set()
        """Ids that are answered with 404."""
        self.requests: list[str] = []
        self.redirect_to: str | None = None
        registry = self
        expected = None if user is None else "Basic " + base64.b64encode(user.encode()).decode()

        class Handler(BaseHTTPRequestHandler):
            def answer(self, code: int, body: Any) -> None:
                data = json.dumps(body).encode()
                self.send_response(code)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def refused(self) -> bool:
                registry.requests.append(self.path)
                if expected is not None and self.headers.get("Authorization") != expected:
                    self.answer(401, {"error_code": 401, "message": "Unauthorized"})
                    return True
                if registry.redirect_to is not None:
                    self.send_response(302)
                    self.send_header("Location", registry.redirect_to + self.path)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return True
                if registry.late > 0:
                    registry.late -= 1
                    self.answer(503, {"error_code": 503, "message": "starting"})
                    return True
                return False

            def do_GET(self) -> None:
                if self.refused():
                    return
                number = int(self.path.rsplit("/", 1)[-1])
                schema = next((s for s, n in registry.schemas.items() if n == number), None)
                if schema is None or number in registry.hidden:
                    self.answer(404, {"error_code": 40403, "message": "Schema not found"})
                else:
                    self.answer(200, {"schema": schema})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if not self.refused():
                    self.answer(200, {"id": registry.add(self.path.split("/")[2], body["schema"])})

            def log_message(self, *_: object) -> None:
                """Nothing is printed."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def add(self, subject: str, schema: str) -> int:
        """The id of a schema."""
        if schema not in self.schemas:
            self.schemas[schema] = next(_IDS)
        number = self.schemas[schema]
        self.subjects.setdefault(subject, []).append(number)
        return number

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
