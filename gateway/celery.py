"""The Celery application: ``celery -A gateway.celery worker -Q spark,default`` and ``celery -A gateway.celery beat``.

Redis has two heartbeats for ``/readyz``: the worker writes one at each heartbeat of its event loop, the scheduler one
whenever it sends a task. Both expire.
"""

from __future__ import annotations

import logging
import os
from logging.config import dictConfig
from typing import Any, Final

import redis
from celery import Celery, signals

from broker_core.clock import now_ms

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gateway.settings")
# Django's checks import every view of the gateway, which neither worker nor scheduler serves; the tests run them.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

WORKER_BEAT_KEY: Final = "gantry:worker:beat"
SCHEDULER_BEAT_KEY: Final = "gantry:beat:beat"
_BEAT_TTL_SECONDS: Final = 60

app = Celery("gantry")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["console.jobs", "console.alerts"])


def _write_beat(key: str) -> None:
    from django.conf import settings

    # A failed heartbeat must not stop the process; readyz reports the silence.
    try:
        with redis.Redis.from_url(settings.GANTRY_REDIS_URL, socket_timeout=1) as store:
            store.set(key, now_ms(), ex=_BEAT_TTL_SECONDS)
    except redis.RedisError:
        return


@signals.setup_logging.connect
def _log_as_everywhere(loglevel: int, **_: Any) -> None:
    """Log as every process does, instead of in Celery's forms, where a name with a line break begins a line."""
    from django.conf import settings

    dictConfig(settings.LOGGING)
    logging.getLogger().setLevel(loglevel)


@signals.heartbeat_sent.connect
def _note_worker(sender: Any = None, **_: Any) -> None:
    # Django's apps are loaded only with the worker itself.
    from console.jobs import workers

    _write_beat(WORKER_BEAT_KEY)
    if sender is not None:
        workers.note(sender.eventer.hostname)


@signals.beat_init.connect
def _watch_scheduler(**_: Any) -> None:
    # The first task is sent only when it is due.
    _write_beat(SCHEDULER_BEAT_KEY)
    signals.after_task_publish.connect(_note_scheduler)


def _note_scheduler(**_: Any) -> None:
    _write_beat(SCHEDULER_BEAT_KEY)
