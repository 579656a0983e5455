"""Jobs with a separate database, Redis and data folder.

They run on SQLite and on PostgreSQL (`runs_as`): there those marked ``sample`` each time, with SERVICES=1 all.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from pytest_django import DjangoDbBlocker, Settings

from broker_core.client.blocking import BlockingSession
from console.audit.record import Actor
from console.clusters.services import ensure_embedded
from console.jobs import drivers, services
from console.jobs.models import Job
from gateway.celery import app
from gateway.env import celery_url
from tests.gateway.services import PROCESS, SERVICES, is_left_out
from tests.support.cluster import RunningBroker
from tests.support.databases import Database, default_database, postgres_of
from tests.support.postgres import NOT_INSTALLED, find_programs, postgres_server

BY = Actor.system("test")
REPLAY: dict[str, Any] = {
    "type": "replay", "cluster": "local", "source": {"topic": "orders"}, "target": {"topic": "copy"}
}  # fmt: skip


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what PostgreSQL is not asked for, unless all is wanted."""
    if left_out := [item for item in items if is_left_out(item)]:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not is_left_out(item)]


@pytest.fixture(scope="module", params=[PROCESS, SERVICES])
def runs_as(request: pytest.FixtureRequest) -> str:
    """Whether a test runs on SQLite, or on the database of the services."""
    return str(request.param)


@pytest.fixture(scope="session")
def postgres(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Database]:
    """A PostgreSQL; its first database stays empty, a second one has the tables."""
    if (programs := find_programs()) is None:
        pytest.skip(NOT_INSTALLED)
    with postgres_server(programs) as server:
        database = postgres_of(server.url)
        with django_db_blocker.unblock(), default_database(database):
            connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
        yield database


@pytest.fixture(scope="module", autouse=True)
def database_url(runs_as: str, request: pytest.FixtureRequest) -> Iterator[str | None]:
    """The address of an empty database for other processes, if it is no file; this process uses one beside it."""
    if runs_as == PROCESS:
        yield None
        return
    database: Database = request.getfixturevalue("postgres")
    with default_database(database):
        assert connection.vendor == "postgresql"
        yield database.url


@pytest.fixture(autouse=True)
def place(database_url: str | None, db: None, redis_of_test: str, settings: Settings, tmp_path: Path) -> Iterator[Path]:
    """A data folder, and the embedded cluster without brokers."""
    settings.GANTRY_DATA_DIR = tmp_path
    settings.GANTRY_NAME_SERVERS = ["127.0.0.1:1"]
    settings.GANTRY_SPARK_WARM = 0
    before = app.conf.broker_url
    app.conf.update(broker_url=celery_url(redis_of_test))
    ensure_embedded()
    yield tmp_path
    app.conf.update(broker_url=before)


@pytest.fixture
def job() -> Job:
    """A replay that waits for a worker."""
    return services.create(BY, REPLAY)


@pytest.fixture
def claimed() -> Callable[[Job], Job]:
    """Claim a job for a worker."""

    def claim(job: Job) -> Job:
        mine = services.claim(job.id, worker="w", host="h")
        assert mine is not None
        return mine

    return claim


@pytest.fixture
def embedded(shared_broker: RunningBroker, settings: Settings) -> Iterator[BlockingSession]:
    """A client of a broker that is the embedded one of these jobs."""
    settings.GANTRY_DATA_DIR = shared_broker.data
    settings.GANTRY_NAME_SERVERS = [shared_broker.name_server]
    settings.GANTRY_SPARK_MASTER = "local[2]"
    kept = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "gantry" / "spark"
    kept.mkdir(parents=True, exist_ok=True)
    cache = shared_broker.data / "cache" / "spark"
    cache.parent.mkdir(exist_ok=True)
    if not cache.is_symlink():
        cache.symlink_to(kept)
    with BlockingSession(shared_broker.config) as running:
        yield running


@pytest.fixture
def pool(settings: Settings, monkeypatch: pytest.MonkeyPatch, place: Path) -> Iterator[drivers.Pool]:
    """Drivers stay between jobs: none of another test, and none after this one."""
    settings.GANTRY_SPARK_WARM = 600
    kept = drivers.Pool()
    monkeypatch.setattr(drivers, "POOL", kept)
    yield kept
    kept.close()
