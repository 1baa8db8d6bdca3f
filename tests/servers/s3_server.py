"""A real S3 server: versitygw where it is installed (fast, a Go program), else moto's."""

from __future__ import annotations

import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from server_kit import absent, free_port, running

if TYPE_CHECKING:
    from collections.abc import Iterator

ACCESS, SECRET, BUCKET = "a-key", "s3cr3t-of-tests", "lake"


@contextmanager
def s3_server(folder: Path) -> Iterator[dict[str, str]]:
    """Catalog options of a server with the empty bucket `lake`."""
    try:
        import boto3
    except ImportError:
        absent("boto3 is not installed: pip install 'paimon-nb[test]'")
    port = free_port()
    endpoint = f"http://127.0.0.1:{port}"
    gateway = shutil.which("versitygw") or shutil.which("versitygw", path=str(Path.home() / "go" / "bin"))
    if gateway:
        (folder / "objects").mkdir()
        command = [gateway, "--access", ACCESS, "--secret", SECRET, "--port", f"127.0.0.1:{port}", "posix", str(folder / "objects")]  # fmt: skip
    else:
        try:
            import moto.server  # noqa: F401
        except ImportError:
            absent("no S3 server: pip install 'paimon-nb[test]' brings moto's")
        command = [sys.executable, str(Path(__file__).with_name("moto_server.py")), str(port)]
    client = boto3.client(
        "s3", endpoint_url=endpoint, aws_access_key_id=ACCESS, aws_secret_access_key=SECRET, region_name="us-east-1"
    )
    with running(command, folder / "s3.log", lambda: client.create_bucket(Bucket=BUCKET)):
        yield {
            "s3.endpoint": endpoint, "s3.access-key": ACCESS, "s3.secret-key": SECRET, "s3.path.style.access": "true",
        }  # fmt: skip
