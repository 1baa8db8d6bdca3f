"""Connections to an S3 store from a catalog's options: boto3 for requests, Arrow's own client for reading data files."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import field
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from paimon_nb.base.errors import EnvironmentError_, MissingFile, StoreError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.options import TableOptions
from paimon_nb.options import catalog as opt

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

REQUESTS_AT_ONCE = 32
"""Requests of one process that wait for replies side by side, at least."""
_CONNECT_S, _READ_S = 10, 60
"""Seconds until a request without an answer is repeated."""
_TRIES = 10
"""Of one request that fails with 500, 503, a timeout or a lost connection; pauses grow to 20 seconds."""
_ANY_REGION = "us-east-1"
"""Region for servers other than Amazon's."""


@dataclass(frozen=True)
class S3Settings:
    """Endpoint and credentials of the store. None uses boto3's defaults: environment, profile, instance role."""

    endpoint: str | None = None
    access_key: str | None = None
    secret_key: str | None = field(default=None, repr=False)
    session_token: str | None = field(default=None, repr=False)
    region: str | None = None
    path_style: bool = False

    @classmethod
    def of(cls, options: Mapping[str, str]) -> S3Settings:
        """From `s3.*` options, or Hadoop's `fs.s3a.*`."""
        table_options = TableOptions(options)
        endpoint = table_options.get(opt.S3_ENDPOINT)
        if endpoint and "://" not in endpoint:
            endpoint = f"https://{endpoint}"
        return cls(
            endpoint,
            table_options.get(opt.S3_ACCESS_KEY),
            table_options.get(opt.S3_SECRET_KEY),
            table_options.get(opt.S3_SESSION_TOKEN),
            table_options.get(opt.S3_REGION) or (_ANY_REGION if endpoint else None),
            bool(table_options.get(opt.S3_PATH_STYLE_ACCESS)),
        )


def client(settings: S3Settings) -> Any:
    """This process's boto3 client; threads may share it."""
    return _s3_client(settings, os.getpid())


@cache
def _s3_client(settings: S3Settings, _process_id: int) -> Any:
    """Keyed by process: connections must not be shared across a fork, as in Spark's workers."""
    try:
        import boto3
        from botocore.config import Config
    except ImportError:
        raise EnvironmentError_(
            "tables on S3 need the Python package boto3", hint="pip install 'paimon-nb[s3]'", package="boto3"
        ) from None
    return boto3.session.Session().client(
        "s3",
        endpoint_url=settings.endpoint,
        aws_access_key_id=settings.access_key,
        aws_secret_access_key=settings.secret_key,
        aws_session_token=settings.session_token,
        region_name=settings.region,
        config=Config(
            s3={"addressing_style": "path" if settings.path_style else "auto"},
            retries={"mode": "standard", "total_max_attempts": _TRIES},
            connect_timeout=_CONNECT_S,
            read_timeout=_READ_S,
            tcp_keepalive=True,
            max_pool_connections=2 * REQUESTS_AT_ONCE,
            # Servers other than Amazon's do not support the newer checksums.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        ),
    )


def arrow_store(settings: S3Settings) -> Any:
    """This process's Arrow file system: it reads ranges in parallel, outside of Python."""
    return _arrow_store(settings, os.getpid())


@cache
def _arrow_store(settings: S3Settings, _process_id: int) -> Any:
    import pyarrow as pa
    from pyarrow.fs import AwsStandardS3RetryStrategy, S3FileSystem

    pa.set_io_thread_count(max(pa.io_thread_count(), REQUESTS_AT_ONCE))  # the default is 8
    return S3FileSystem(
        access_key=settings.access_key,
        secret_key=settings.secret_key,
        session_token=settings.session_token,
        region=settings.region,
        endpoint_override=settings.endpoint,
        force_virtual_addressing=settings.endpoint is not None and not settings.path_style,
        connect_timeout=_CONNECT_S,
        request_timeout=_READ_S,
        retry_strategy=AwsStandardS3RetryStrategy(max_attempts=_TRIES),
    )


class StoredObject(NamedTuple):
    """An object of a listing."""

    key: str
    size: int
    etag: str


def split_uri(path: str) -> tuple[str, str]:
    """`s3://bucket/some/key` -> ('bucket', 'some/key')."""
    bucket, _, key = path.split("://", 1)[-1].partition("/")
    return bucket, key.rstrip("/")


def directory_prefix(path: str) -> str:
    """Key prefix of a directory; '' for the bucket itself."""
    key = split_uri(path)[1]
    return f"{key}/" if key else ""


@cache
def request_threads(_process_id: int, purpose: str = "files") -> ThreadPoolExecutor:
    """Threads that wait for replies: their number does not depend on that of the cores.

    Those that upload whole files wait for those that upload `parts`, so these are others.
    """
    return ThreadPoolExecutor(REQUESTS_AT_ONCE, thread_name_prefix=f"paimon-s3-{purpose}")


def bucket_and_key(path: str) -> dict[str, str]:
    bucket, key = split_uri(path)
    return {"Bucket": bucket, "Key": key}


def http_status(error: Any) -> int:
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


@contextmanager
def translate_errors(path: str) -> Iterator[None]:
    """The client's errors as ours."""
    from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

    try:
        yield
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "")
        if code == "NoSuchBucket":
            bucket = split_uri(path)[0]
            raise StoreError(
                f"bucket {bucket!r} does not exist", hint="create it first, or check its name", path=path
            ) from None
        if http_status(error) == 404:
            raise MissingFile(path) from None
        hint = "check the credentials and their permissions" if http_status(error) in (401, 403) else "try again"
        status = http_status(error)
        raise StoreError(f"{path}: the store refused: {error}", hint=hint, path=path, status=status) from None
    except NoCredentialsError:
        raise StoreError(
            f"{path}: no credentials for the store",
            hint="set 's3.access-key' and 's3.secret-key', or the environment's AWS_ variables",
            path=path,
        ) from None
    except BotoCoreError as error:
        raise StoreError(f"{path}: {error}", hint="check 's3.endpoint' and the network", path=path) from None
