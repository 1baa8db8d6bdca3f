"""A canary in every option that can hold a secret, looked for in every output."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from rest_server import HttpError, RestServer

import paimon_nb
from paimon_nb.base.errors import AccessDenied, PaimonError, SourceUnavailable
from paimon_nb.base.redact import is_secret, redact_text, remember_secrets
from paimon_nb.job_runner import JobRunner, SupervisedJob, metrics_text
from paimon_nb.mcp_server import ReadOnlyTools
from paimon_nb.notebook.errors import full, short_error_text
from paimon_nb.notebook.explore_model import Inspector
from paimon_nb.session.core.jobs import Loop, StreamJob
from paimon_nb.sql import parse

if TYPE_CHECKING:
    from pathlib import Path

CANARY = "CANARY8d1f"
SECRET_KEYS = [
    "password", "pwd", "token", "jwt", "api_key", "api-key", "cookie", "user-password", "client-secret", "passphrase",
    "s3.access-key", "s3.secret-key", "s3.session-token", "fs.s3a.secret.key", "fs.s3a.encryption.key", "fs.s3a.server-side-encryption.key",
    "fs.azure.account.key.a.blob.core.windows.net", "fs.azure.sas.token", "connection-string",
    "dlf.access-key-id", "dlf.access-key-secret", "dlf.security-token", "header.X-API-Key", "header.Cookie", "header.Authorization", "header.X-Any",
    "metadata.iceberg.rest.token", "metadata.iceberg.rest.credential", "metadata.iceberg.rest.header.X-Api-Key",
    "properties.ssl.keystore.key", "properties.ssl.key.pem", "properties.ssl.keystore.certificate.chain", "properties.ssl.truststore.certificates",
    "properties.ssl.keystore.password", "properties.ssl.key.password", "properties.ssl.truststore.password", "properties.sasl.password",
    "properties.schema.registry.basic.auth.user.info", "avro-confluent.basic-auth.user-info", "spark.hadoop.fs.s3a.secret.key",
]  # fmt: skip
PLAIN_KEYS = [
    "bucket", "bucket-key", "primary-key", "key.fields", "key.format", "csv.header", "token.provider", "token.path", "author", "full-text.tokenizer",
    "properties.bootstrap.servers", "properties.ssl.truststore.location", "properties.ssl.keystore.type", "query-auth.enabled", "bypass",
    "header.User-Agent", "header.Accept", "sequence.field", "partition.timestamp-pattern", "rowkind.field", "design", "signal.table",
]  # fmt: skip


@pytest.mark.parametrize("key", SECRET_KEYS)
def test_the_name_of_an_option_tells_that_it_is_secret(key: str) -> None:
    assert is_secret(key)
    assert is_secret(key.upper())


@pytest.mark.parametrize("key", PLAIN_KEYS)
def test_an_option_without_a_secret_is_shown(key: str) -> None:
    assert not is_secret(key)


TEXTS = {
    "'password' = 'CANARY8d1f'": "'password' = '***'",
    "TBLPROPERTIES (password 'CANARY8d1f', 'bucket' '1')": "TBLPROPERTIES (password '***', 'bucket' '1')",
    'OPTIONS (`s3.secret-key` "CANARY8d1f")': 'OPTIONS (`s3.secret-key` "***")',
    "denied for Bearer CANARY8d1f": "denied for Bearer ***",
    "Authorization: Bearer CANARY8d1f": "Authorization: Bearer ***",
    "{'Authorization': 'Basic CANARY8d1f'}": "{'Authorization': 'Basic ***'}",
    '{"password": "CANARY8d1f", "a": 1}': '{"password": "***", "a": 1}',
    "jdbc:mysql://u:CANARY@8d1f@host:3306/db": "jdbc:mysql://u:***@host:3306/db",
    "postgres://u:CANARY/8d1f@host": "postgres://u:***@host",
    "mysql://u:CANARY?8d1f@host/x": "mysql://u:***@host/x",
    "https://CANARY8d1f@host/x": "https://***@host/x",
    "https://b/x?X-Amz-Signature=CANARY8d1f": "https://b/x?X-Amz-Signature=***",
    "https://b/x?se=1&sig=CANARY8d1f": "https://b/x?se=1&sig=***",
    "jdbc:mysql://h/db?user=u&pwd=CANARY8d1f": "jdbc:mysql://h/db?user=u&pwd=***",
    'CALL sys.init_file_based_privilege("CANARY8d1f")': "CALL sys.init_file_based_privilege('***')",
    "CALL sys.create_privileged_user(\"u\", 'CANARY8d1f')": "CALL sys.create_privileged_user(\"u\", '***')",
    "-----BEGIN PRIVATE KEY-----\nCANARY8d1f\n-----END PRIVATE KEY-----": "***",
    "hdfs://nn:8020/a@b": "hdfs://nn:8020/a@b",
    "abfss://container@account.dfs.core.windows.net/x": "abfss://container@account.dfs.core.windows.net/x",
    "http://127.0.0.1:8080/x": "http://127.0.0.1:8080/x",
    "unexpected token 'SELEC'": "unexpected token 'SELEC'",
    "a bearer token is needed": "a bearer token is needed",
}


@pytest.mark.parametrize("text", TEXTS)
def test_secrets_in_texts_are_masked(text: str) -> None:
    assert redact_text(text) == TEXTS[text]


def test_a_secret_that_was_used_is_masked_in_each_of_its_forms() -> None:
    remember_secrets(
        {
            "s3.secret-key": "CANARY'9/a+b",
            "uri": "mysql://u:CANARYinurl@h/db",
            "bucket": "PLAINVALUE",
            "password": "password",
        }
    )
    text = "CANARY'9/a+b CANARY%279%2Fa%2Bb CANARY''9/a+b CANARYinurl PLAINVALUE password"
    assert redact_text(text) == "*** *** *** *** PLAINVALUE password"
    error = SourceUnavailable("refused CANARY'9/a+b", hint="not CANARYinurl")
    assert (str(error), error.one_line) == ("refused ***\n  hint: not ***", "refused ***; not ***")


@pytest.fixture
def wb(tmp_path: Path) -> paimon_nb.Workbench:
    """A table with a canary in each secret option, in its schema file and in the catalog."""
    paimon_nb.connect(str(tmp_path / "w")).run("CREATE TABLE t (id INT) WITH ('bucket' = '-1')")
    file = tmp_path / "w/default.db/t/schema/schema-0"
    stored = json.loads(file.read_text())
    stored["options"] |= {key: f"{CANARY}{n}" for n, key in enumerate(SECRET_KEYS)}
    file.write_text(json.dumps(stored))
    wb = paimon_nb.connect(
        str(tmp_path / "w"), options={k: f"{CANARY}c{n}" for n, k in enumerate(SECRET_KEYS) if k != "password"}
    )
    wb.table("t").append(pa.table({"id": pa.array([1], pa.int32())}))
    return wb


def outputs(wb: paimon_nb.Workbench) -> dict[str, Any]:
    """Everything that shows options of a table, of a catalog or of the session."""
    shown: dict[str, Any] = {
        text: wb.run(text).to_arrow().to_pylist()
        for text in (
            "SHOW CREATE TABLE t", "SHOW TBLPROPERTIES t", "SHOW TBLPROPERTIES t ('jwt')", "DESCRIBE EXTENDED t", "SHOW TABLE EXTENDED LIKE 't'",
            "SELECT * FROM `t$options`", "SELECT * FROM `t$schemas`", "SELECT * FROM sys.all_table_options", "SELECT * FROM sys.catalog_options",
            "SHOW CREATE CATALOG paimon", "DESCRIBE CATALOG paimon", "DESCRIBE DATABASE EXTENDED default",
            "SET 'paimon.*.*.*.token' = 'CANARY8d1fset'", "SET 'paimon.*.*.*.token'", "SET",
        )
    }  # fmt: skip
    shown["describe_table"] = ReadOnlyTools(wb).describe_table("t")
    shown["query"] = ReadOnlyTools(wb).query("SHOW CREATE TABLE t")
    shown["health"] = ReadOnlyTools(wb).health("t")
    table = wb.table("t")
    inspector = Inspector(table)
    shown["explore"] = [inspector.facts(node) for node in ("", "options", "schemas", "schema/0")]
    shown["repr"] = [repr(table), repr(table.options), repr(wb), str(table.schema.comment)]
    shown["configure"] = wb.configure({"metastore": "filesystem", "warehouse": wb.session.catalog.warehouse, "s3.secret-key": f"{CANARY}conf"},
                                      catalog="other").arrow.to_pylist()  # fmt: skip
    return shown


def test_no_output_shows_a_secret_option(wb: paimon_nb.Workbench) -> None:
    shown = outputs(wb)
    assert [name for name, output in shown.items() if CANARY in str(output)] == []
    assert all(
        "***" in str(shown[name])
        for name in ("SHOW CREATE TABLE t", "SELECT * FROM `t$options`", "describe_table", "explore", "configure")
    )


class Denied(Loop):
    """A stream whose source repeats the secret."""

    is_current = True

    def __init__(self, error: Exception) -> None:
        self.failure = error
        super().__init__()  # starts the thread

    def _process_until_stopped(self) -> None:
        raise self.failure


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("kind", [SourceUnavailable, RuntimeError])
def test_a_job_its_metrics_and_its_state_show_no_secret(
    kind: type[Exception], tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = f"{CANARY}ofjob"
    remember_secrets({"token": secret})
    text = f"CALL sys.mysql_sync_table(`table` => 't', mysql_conf => 'hostname=h,username=u,password={CANARY}text,database-name=d')"
    with caplog.at_level(logging.DEBUG), paimon_nb.connect(str(tmp_path / "w")) as wb:
        runner = JobRunner(wb, max_restarts=1)
        job = wb.session.jobs.add(StreamJob(text, Denied(kind(f"denied for {secret}")), lambda: 0))
        job.running.awaitTermination(30)
        (statement,) = parse(text)
        runner.jobs.append(SupervisedJob(statement, {}, job))
        runner.supervise()
        said = capsys.readouterr()
        shown = {
            "rows": runner.rows(), "metrics": metrics_text(runner.rows()), "SHOW JOBS": wb.run("SHOW JOBS").to_arrow().to_pylist(),
            "repr": repr(job), "printed": said.out + said.err, "log": caplog.text,
        }  # fmt: skip
    assert [name for name, output in shown.items() if CANARY in str(output)] == []
    assert "denied for ***" in str(shown["SHOW JOBS"])


STATEMENTS = [
    "CREATE CATALOG c WITH ('type' = 'paimon', 'metastore' = 'jdbc', 'uri' = 'jdbc:mysql://u:{c}@127.0.0.1:1/db', 'warehouse' = 'w', 'jdbc.password' = '{c}')",
    "CREATE CATALOG c WITH ('type' = 'paimon', 'metastore' = 'nothing', 'header.X-API-Key' = '{c}')",
    "CREATE TABLE x (id INT) TBLPROPERTIES (password '{c}') x",
    "CREATE TEMPORARY TABLE k (id INT) WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = '127.0.0.1:1', 'format' = 'nothing', "
    "'properties.ssl.key.pem' = '{c}'); SELECT * FROM k",
    "CALL sys.mysql_sync_table('default.x', mysql_conf => 'hostname=127.0.0.1,port=1,username=u,password={c},database-name=d,table-name=t')",
    "SELECT '{c}' FROM nowhere",
    'CALL sys.init_file_based_privilege("{c}", 1)',
]  # fmt: skip


@pytest.mark.parametrize("text", STATEMENTS)
def test_an_error_of_a_statement_shows_no_secret(tmp_path: Path, text: str, caplog: pytest.LogCaptureFixture) -> None:
    secret = f"{CANARY}{STATEMENTS.index(text)}"
    remember_secrets({"token": secret} if "nowhere" in text else {})
    with caplog.at_level(logging.DEBUG, logger="paimon_nb"), pytest.raises(PaimonError) as raised:
        paimon_nb.connect(str(tmp_path / "w")).run(text.format(c=secret))
    assert secret not in short_error_text(raised.value)
    assert secret not in full(raised.value)
    assert secret not in str(raised.value)
    assert secret not in caplog.text


@pytest.mark.parametrize("how", ["Bearer {}", "token={}", "you sent {}.", '{{"authorization": "{}"}}'])
def test_a_token_that_a_server_repeats_is_masked(tmp_path: Path, how: str) -> None:
    """Gateways quote the request that they refuse."""
    secret = f"{CANARY}echo"

    def refuse(_method: str, _path: str, _params: object, headers: Any, _body: str) -> bool:
        assert headers["Authorization"] == f"Bearer {secret}"
        raise HttpError(403, "denied for " + how.format(secret) + " key " + headers["X-Api-Key"])

    with RestServer(tmp_path / "w") as server:
        server.check = refuse
        text = (f"CREATE CATALOG r WITH ('type' = 'paimon', 'metastore' = 'rest', 'uri' = '{server.uri}', 'warehouse' = 'w', "
                f"'token.provider' = 'bear', 'token' = '{secret}', 'header.X-Api-Key' = '{secret}key')")  # fmt: skip
        with pytest.raises(AccessDenied) as raised:
            paimon_nb.connect(str(tmp_path / "local")).run(text)
    assert "denied for" in str(raised.value)
    for shown in (str(raised.value), short_error_text(raised.value), full(raised.value)):
        assert CANARY not in shown
