"""The Celery application: ``celery -A gateway.celery worker -Q spark,default`` and ``celery -A gateway.celery beat``.

Two heartbeats are kept in Redis for ``/readyz``: the worker's on every beat of its own event loop, and the scheduler's
whenever it sends a task. Both expire, so silence reads as silence.
"""

from __future__ import annotations

import os
from typing import Any, Final

import redis
from celery import Celery, signals

from broker_core.clock import now_ms

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gateway.settings")

WORKER_BEAT_KEY: Final = "gantry:worker:beat"
SCHEDULER_BEAT_KEY: Final = "gantry:beat:beat"
_BEAT_TTL_SECONDS: Final = 60

app = Celery("gantry")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["console.jobs"])


def _keep_beat(key: str) -> None:
    from django.conf import settings

    # A heart that cannot be heard must not stop the body: readyz shows the silence.
    try:
        with redis.Redis.from_url(settings.GANTRY_REDIS_URL, socket_timeout=1) as store:
            store.set(key, now_ms(), ex=_BEAT_TTL_SECONDS)
    except redis.RedisError:
        return


@signals.heartbeat_sent.connect
def _worker_lives(**_: Any) -> None:
    _keep_beat(WORKER_BEAT_KEY)


@signals.beat_init.connect
def _watch_scheduler(**_: Any) -> None:
    # The first task is sent only when its time has come.
    _keep_beat(SCHEDULER_BEAT_KEY)
    signals.after_task_publish.connect(_scheduler_lives)


def _scheduler_lives(**_: Any) -> None:
    _keep_beat(SCHEDULER_BEAT_KEY)
