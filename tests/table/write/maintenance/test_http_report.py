"""A web service is told of partitions that are done."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from write_kit import make_table, put

from paimon_nb.base.errors import BadOptionValue, SourceUnavailable
from paimon_nb.base.named_servers import name_servers
from paimon_nb.table.write.maintenance.mark_done import mark_partitions_done

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paimon_nb.table.read.store import TableStore


class Service(HTTPServer):
    """Takes JSON and answers with `answer`."""

    def __init__(self) -> None:
        self.told: list[Any] = []
        self.answer = '{"result": "success"}'
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/done"


class _Handler(BaseHTTPRequestHandler):
    server: Service

    def do_POST(self) -> None:
        self.server.told.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.server.answer.encode())

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.05,))
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def table(tmp_path: Path, **options: str) -> TableStore:
    given = {"bucket": "-1", "partition.mark-done-action": "success-file, http-report"} | options
    name_servers(options)  # as a statement of the user does
    store = make_table(f"{tmp_path}/shop.db/t", {"k": "INT", "dt": "STRING", "h": "INT"}, (), ["dt", "h"], **given)
    put(store, [{"k": 1, "dt": "a", "h": 1}])
    return store


def test_it_is_told_beside_the_success_file(tmp_path: Path, service: Service) -> None:
    http = {"http.url": service.url, "http.params": "team=blue"}
    store = table(tmp_path, **{f"partition.mark-done-action.{k}": v for k, v in http.items()})
    assert len(mark_partitions_done(store, [{"dt": "a", "h": "1"}])) == 1
    assert (Path(store.root) / "dt=a/h=1/_SUCCESS").exists()
    assert service.told == [{"params": "team=blue", "table": "shop.t", "path": store.root, "partition": "dt=a/h=1/"}]


@pytest.mark.parametrize("answer", ['{"result": "later"}', "[]", "no json"])
def test_another_answer_is_an_error(tmp_path: Path, service: Service, answer: str) -> None:
    service.answer = answer
    store = table(tmp_path, **{"partition.mark-done-action.http.url": service.url})
    with pytest.raises(SourceUnavailable, match="dt=a/h=1/"):
        mark_partitions_done(store, [{"dt": "a", "h": "1"}])


@pytest.mark.parametrize("url", ["", "file:///etc/hostname"])
def test_an_address_is_needed(tmp_path: Path, url: str) -> None:
    store = table(tmp_path, **({"partition.mark-done-action.http.url": url} if url else {}))
    with pytest.raises(BadOptionValue, match="needs a URL"):
        mark_partitions_done(store, [{"dt": "a", "h": "1"}])
