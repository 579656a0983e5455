"""Jobs with a separate database, Redis and data folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from broker_core.client.blocking import BlockingSession
from console.audit.record import Actor
from console.clusters.services import ensure_embedded
from console.jobs import services
from console.jobs.models import Job
from gateway.celery import app
from gateway.env import celery_url
from tests.support.cluster import RunningBroker

BY = Actor.system("test")
REPLAY: dict[str, Any] = {
    "type": "replay", "cluster": "local", "source": {"topic": "orders"}, "target": {"topic": "copy"}
}  # fmt: skip


@pytest.fixture(autouse=True)
def place(db: None, redis_of_test: str, settings: Settings, tmp_path: Path) -> Iterator[Path]:
    """A data folder, and the embedded cluster without brokers."""
    settings.GANTRY_DATA_DIR = tmp_path
    settings.GANTRY_NAME_SERVERS = ["127.0.0.1:1"]
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
