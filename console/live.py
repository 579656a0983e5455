"""Live events: subjects, the shape of an event, and publishing.

An event carries the whole current state of its subject and a number that grows by one, so a reader that missed events
is up to date with the next one. Redis keeps the last event of each subject for readers who join late::

    {"type": "state", "subject": "overview:local", "seq": 8, "at": "2026-05-01T08:00:00.123Z", "data": {…}}

For a list of groups or topics, subscribers get the changes since the previous event (`console.deltas`)::

    {"type": "delta", "subject": "groups:local", "seq": 9, "at": "2026-05-01T08:00:01.123Z", "data": {…}}
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final, Literal, TypedDict, TypeVar
from weakref import WeakKeyDictionary

import msgspec
import orjson
import redis
import redis.asyncio
from channels.layers import get_channel_layer
from django.conf import settings

from broker_core.client.blocking import CallTimedOut
from broker_core.clock import now_ms
from console.clusters import connections
from console.deltas import difference
from console.moments import rfc3339

S = TypeVar("S")

KEEP_SECONDS: Final = 60
_SEQ_KEEP_SECONDS: Final = 7 * 24 * 3600
_STATE_KEY: Final = "gantry:live:"
_SEQ_KEY: Final = "gantry:live-seq:"
_LISTS: Final = ("groups:", "topics:")
_PUBLISH_SECONDS: Final = 10.0
# A connection belongs to the loop that opened it.
_stores: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, redis.asyncio.Redis]] = WeakKeyDictionary()

_log = logging.getLogger(__name__)


class Event(TypedDict):
    """The message of the channel layer, which goes to the browser unchanged."""

    type: Literal["state", "delta"]
    subject: str
    seq: int
    at: str
    data: Any


def overview(cluster: str) -> str:
    """Subject: the key figures of a cluster, once a second."""
    return f"overview:{cluster}"


def groups(cluster: str) -> str:
    """Subject: the summary of every consumer group of a cluster, once a second."""
    return f"groups:{cluster}"


def group(cluster: str, name: str) -> str:
    """Subject: one consumer group, queue by queue, once a second."""
    return f"group:{cluster}:{name}"


def topics(cluster: str) -> str:
    """Subject: the rates of every topic of a cluster, once a second."""
    return f"topics:{cluster}"


def job(job_id: str) -> str:
    """Subject: one job, whenever it changes."""
    return f"job:{job_id}"


JOBS: Final = "jobs"


@lru_cache(maxsize=4096)
def channel_group(subject: str) -> str:
    """Return the name of the subject's group in the channel layer, which allows only short plain names."""
    return "live." + hashlib.sha256(subject.encode()).hexdigest()[:40]


def publish_sync(subject: str, data: Any) -> None:
    """Publish the whole state `data` (a struct, or what JSON holds) from a thread: a view, a service or a task.

    Raises RedisError or OSError. It happens on the one loop of the process, whose connections to Redis stay open.
    """
    try:
        connections.loop_thread().run(_publish_here(subject, data), timeout_s=_PUBLISH_SECONDS)
    except CallTimedOut as error:
        raise redis.TimeoutError(str(error)) from None


class Publisher:
    """Publishes whole states, each a struct or what JSON holds.

    Subscribers of a list get only the changes since it last published.
    """

    def __init__(self, store: redis.asyncio.Redis) -> None:
        self._store = store
        self._last: dict[str, Event] = {}

    async def publish(self, states: Mapping[str, Any]) -> set[str]:
        """Publish in two round trips to Redis, plus one for each subject with subscribers; return these subjects."""
        if not states:
            return set()
        events = await _number(states, self._store)
        watched = await _keep(events, self._store)
        layer = get_channel_layer()
        assert layer is not None
        for event in events:
            if event["subject"] in watched:
                await layer.group_send(channel_group(event["subject"]), dict(self._shortened(event)))
        self._last = {event["subject"]: event for event in events if event["subject"].startswith(_LISTS)}
        return watched

    def _shortened(self, event: Event) -> Event:
        """Return the event as a delta if this process also published the event before it."""
        last = self._last.get(event["subject"])
        if last is None or last["seq"] + 1 != event["seq"]:
            return event
        return {**event, "type": "delta", "data": difference(last["data"], event["data"])}


async def last_state(subject: str, *, store: redis.asyncio.Redis) -> Event | None:
    """Return the last event of the subject, or None if there was none for a minute."""
    kept = await store.get(_STATE_KEY + subject)
    return None if kept is None else orjson.loads(kept)


def last_state_sync(subject: str, *, store: redis.Redis) -> Event | None:
    """Return the last event of the subject, or None if there was none for a minute."""
    kept = store.get(_STATE_KEY + subject)
    return None if kept is None else orjson.loads(kept)


def read(event: Event, shape: type[S]) -> S | None:
    """Return the data of a state as a struct; None if a process of another version published another shape."""
    try:
        return msgspec.convert(event["data"], shape)
    except msgspec.ValidationError as error:
        _log.warning("subject=%s: the last state could not be read: %s", event["subject"], error)
        return None


async def _publish_here(subject: str, data: Any) -> None:
    of_loop = _stores.setdefault(asyncio.get_running_loop(), {})
    url = settings.GANTRY_REDIS_URL
    if url not in of_loop:
        of_loop[url] = redis.asyncio.Redis.from_url(url, socket_timeout=5, socket_connect_timeout=2)
    await Publisher(of_loop[url]).publish({subject: data})


async def _number(states: Mapping[str, Any], store: redis.asyncio.Redis) -> list[Event]:
    pipe = store.pipeline(transaction=False)
    for subject in states:
        pipe.incr(_SEQ_KEY + subject)
    numbers: list[int] = await pipe.execute()
    at = rfc3339(now_ms())
    return [
        Event(type="state", subject=subject, seq=seq, at=at, data=msgspec.to_builtins(data))
        for (subject, data), seq in zip(states.items(), numbers, strict=True)
    ]


async def _keep(events: Iterable[Event], store: redis.asyncio.Redis) -> set[str]:
    """Store the events for late joiners; return the subjects with subscribers."""
    pipe = store.pipeline(transaction=False)
    subjects = []
    prefix = settings.CHANNEL_LAYERS["default"]["CONFIG"]["prefix"]
    for event in events:
        subjects.append(event["subject"])
        pipe.set(_STATE_KEY + event["subject"], orjson.dumps(event), ex=KEEP_SECONDS)
        pipe.expire(_SEQ_KEY + event["subject"], _SEQ_KEEP_SECONDS)
        pipe.exists(f"{prefix}:group:{channel_group(event['subject'])}")
    answers: list[int] = await pipe.execute()
    return {subject for subject, watchers in zip(subjects, answers[2::3], strict=True) if watchers}
