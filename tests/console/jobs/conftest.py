"""Jobs with a database, a Redis and a data folder of the test's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from console.audit.record import Actor
from console.clusters.services import ensure_embedded
from console.jobs import services
from console.jobs.models import Job
from gateway.celery import app
from gateway.env import celery_url

BY = Actor.system("test")
REPLAY: dict[str, Any] = {
    "type": "replay", "cluster": "local", "source": {"topic": "orders"}, "target": {"topic": "copy"}
}  # fmt: skip


@pytest.fixture(autouse=True)
def place(db: None, redis_of_test: str, settings: Settings, tmp_path: Path) -> Iterator[Path]:
    """A data folder, and the embedded cluster with nobody in it."""
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
    """Make a worker's run of a job."""

    def claim(job: Job) -> Job:
        mine = services.claim(job.id, worker="w", host="h")
        assert mine is not None
        return mine

    return claim
