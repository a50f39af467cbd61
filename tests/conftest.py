"""What tests share: one Spark session for all of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from penstock.runtime.session import SparkSession, spark_session


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A small local Spark."""
    session = spark_session((("spark.driver.memory", "1500m"), ("spark.sql.shuffle.partitions", "2")), name="tests")
    yield session
    session.stop()
