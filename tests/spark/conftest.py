"""A session of the tests' Spark whose clock is New York's, for all tests of the engine: a zone that is forgotten shows."""

import pytest


@pytest.fixture(scope="session")
def spark(spark):
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "America/New_York")
    return session
