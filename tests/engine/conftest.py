"""One Spark for all tests of the engine."""

from collections.abc import Iterator

import pytest

from paimon_nb.engine.session import spark_session, stop


@pytest.fixture(scope="session")
def spark() -> Iterator[object]:
    conf = {
        "spark.master": "local[2]",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "2g",
        "spark.sql.session.timeZone": "America/New_York",
    }
    session = spark_session(conf=conf)
    yield session
    stop(session)
