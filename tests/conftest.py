"""What tests share: one Spark session for all of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from penstock.runtime.session import SparkSession, spark_session

_SETTINGS = (
    ("spark.driver.memory", "1500m"),
    ("spark.sql.shuffle.partitions", "2"),
    # What runs for a moment is not worth the second compiler, nor collecting garbage with many threads. The first one
    # alone has little room for what it makes, and gives up when that is full.
    ("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=512m"),
)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A small local Spark."""
    session = spark_session(_SETTINGS, name="tests")
    yield session
    session.stop()
