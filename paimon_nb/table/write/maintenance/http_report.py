"""Reports a complete partition to a web service: the action `http-report` of `partition.mark-done-action`.

Source: Paimon `partition/actions/HttpReportMarkDoneAction.java`.
"""

from __future__ import annotations

import http.client
import json
from typing import TYPE_CHECKING
from urllib.error import URLError
from urllib.request import Request, urlopen

from paimon_nb.base.errors import BadOptionValue, SourceUnavailable
from paimon_nb.base.named_servers import check_is_named
from paimon_nb.base.redact import redact_text
from paimon_nb.options import table as opt

if TYPE_CHECKING:
    from paimon_nb.table.read.store import TableStore

_PATIENCE_S = 60.0


def report_partition_done(store: TableStore, partition: str) -> None:
    """POST the partition ('dt=1/h=2/'), the table, its path and the table's own parameters as JSON.

    Raises: BadOptionValue: no address. UnsupportedOperation: only the table names the service. SourceUnavailable: the service does not answer {"result": "SUCCESS"}.
    """
    url = store.options.get(opt.PARTITION_MARK_DONE_ACTION_HTTP_URL)
    if not url or not url.lower().startswith(("http://", "https://")):
        raise BadOptionValue(
            f"{store.name}: the action http-report needs a URL",
            hint="set 'partition.mark-done-action.http.url' = 'http://host/path'",
            option=opt.PARTITION_MARK_DONE_ACTION_HTTP_URL.key,
            value=url,
        )
    check_is_named(url, store.name, opt.PARTITION_MARK_DONE_ACTION_HTTP_URL.key)
    database = store.root.rsplit("/", 2)[-2].removesuffix(".db")
    body = {
        "params": store.options.get(opt.PARTITION_MARK_DONE_ACTION_HTTP_PARAMS),
        "table": f"{database}.{store.name}",
        "path": store.root,
        "partition": partition,
    }
    try:
        request = Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urlopen(request, timeout=_PATIENCE_S) as answer:
            result = json.loads(answer.read()).get("result")
    except (URLError, OSError, http.client.HTTPException, ValueError, AttributeError) as error:
        raise SourceUnavailable(
            f"{store.name}: {redact_text(url)} reporting {partition} failed: {error}",
            hint='the service must answer {"result": "SUCCESS"}',
        ) from error
    if str(result).upper() != "SUCCESS":
        raise SourceUnavailable(
            f"{store.name}: {redact_text(url)} reporting {partition} returned {result!r}",
            hint='the service must answer {"result": "SUCCESS"}',
        )
