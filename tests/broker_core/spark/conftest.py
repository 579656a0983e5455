"""A broker and a Spark, shared by the tests of a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from broker_core.client.blocking import BlockingSession
from broker_core.spark.session import SessionConfig, start
from broker_core.spark.wire import close_sessions
from tests.support.cluster import RunningBroker, shared_broker

__all__ = ["shared_broker"]

# A few rows need no more, and each task costs more than its rows.
FEW_TASKS = {"spark.sql.shuffle.partitions": "2", "spark.default.parallelism": "2"}
# What a Java properties file must escape.
SECRET = {"spark.gantry.test.password": "#k=: \\n\tü😀!"}


@pytest.fixture(scope="module")
def session(shared_broker: RunningBroker) -> Iterator[BlockingSession]:
    """A client of the broker."""
    with BlockingSession(shared_broker.config) as running:
        yield running


@pytest.fixture(scope="module", autouse=True)
def _no_session_outlives_its_broker() -> Iterator[None]:
    """Close the sessions that planning opened in this process: they would call a broker that is gone."""
    yield
    close_sessions()


@pytest.fixture(scope="session")
def spark_cache() -> Path:
    """The folder of the Java shim, kept between test runs."""
    return Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "gantry" / "spark"


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory, spark_cache: Path) -> Iterator[SparkSession]:
    """One Spark for all tests: starting it takes longer than most of them."""
    folder = tmp_path_factory.mktemp("spark")
    running = start(
        SessionConfig(
            app_name="tests",
            work_dir=folder,
            cache=spark_cache,
            master="local[2]",
            is_short=True,
            max_failures=2,
            extra=FEW_TASKS | SECRET,
        )
    )
    yield running
    running.stop()
