from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def s3(tmp_path_factory) -> Iterator[dict[str, str]]:
    """Options of a real S3 server with an empty bucket `lake`."""
    from s3_server import s3_server

    with s3_server(tmp_path_factory.mktemp("s3")) as options:
        yield options
