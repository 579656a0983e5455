"""Live events: subjects, the shape of an event, and publishing.

An event carries the whole current state of its subject and a number that grows by one, so a reader that missed events
is up to date with the next one. Redis keeps the last event of each subject for readers who join late::

    {"type": "state", "subject": "overview:local", "seq": 8, "at": "2026-05-01T08:00:00.123Z", "data": {…}}

For a list of groups or topics, Redis also keeps the changes since the previous event (`console.deltas`)::

    {"type": "delta", "subject": "groups:local", "seq": 9, "at": "2026-05-01T08:00:01.123Z", "data": {…}}

`console.lag.publishing` writes the lists and the single groups of a cluster, everything else goes by `Publisher`.
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
from msgspec import Struct

from broker_core.client.blocking import CallTimedOut
from broker_core.clock import now_ms
from broker_core.structs import decoded
from console import deltas
from console.clusters import connections
from console.moments import rfc3339

S = TypeVar("S")

KEEP_SECONDS: Final = 60
"""How long the last event waits for late readers, unless its publisher says otherwise."""
_SEQ_KEEP_SECONDS: Final = 7 * 24 * 3600
_STATE_KEY: Final = "gantry:live:"
_SEQ_KEY: Final = "gantry:live-seq:"
_DELTA_KEY: Final = "gantry:live-delta:"
_DETAILS_KEY: Final = "gantry:live-groups:"
MOMENTS: Final = ""
"""The field of the details that says when they were measured; no group has this name."""
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


def activity(cluster: str) -> str:
    """Subject: what happens in a cluster, event by event (`console.activity`); none of its events is a whole state."""
    return f"activity:{cluster}"


def replicas(cluster: str, broker: str) -> str:
    """Subject: the replicas of a broker name, as the sampler asks them while somebody watches."""
    return f"replicas:{cluster}:{broker}"


def controllers(cluster: str) -> str:
    """Subject: the controllers of a cluster, whenever the sampler asked them."""
    return f"controllers:{cluster}"


def decisions(cluster: str) -> str:
    """Return where the masters and in-sync sets of a cluster are kept, for metrics; nobody subscribes to it."""
    return f"decisions:{cluster}"


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


@decoded
class Moments(Struct, frozen=True, kw_only=True):
    """When the details of groups were published, and when each was measured."""

    at: str
    measured: deltas.Moments


class Publisher:
    """Publishes whole states, each a struct or what JSON holds."""

    def __init__(self, store: redis.asyncio.Redis, *, keep_seconds: int = KEEP_SECONDS) -> None:
        """`keep_seconds`: so long the last event of a subject is kept if no other one follows."""
        self._store = store
        self._keep_seconds = keep_seconds

    async def publish(self, states: Mapping[str, Any]) -> set[str]:
        """Publish in two round trips to Redis, plus one for each subject with subscribers; return these subjects."""
        if not states:
            return set()
        numbers = await number(states, self._store)
        at = rfc3339(now_ms())
        events = [event(subject, numbers[subject], at, data) for subject, data in states.items()]
        watched = await _keep(events, self._store, self._keep_seconds)
        layer = get_channel_layer()
        assert layer is not None
        for each in events:
            if each["subject"] in watched:
                await layer.group_send(channel_group(each["subject"]), dict(each))
        return watched


async def last_state(subject: str, *, store: redis.asyncio.Redis) -> Event | None:
    """Return the last event of the subject, or None if none is kept any more."""
    kept = await store.get(_STATE_KEY + subject)
    if kept is not None:
        found: Event = orjson.loads(kept)
        return found
    kind, _, rest = subject.partition(":")
    cluster, _, name = rest.partition(":")
    if kind != "group" or not name:
        return None
    fields: Any = await store.hmget(details_key(cluster), [MOMENTS, name])
    detail = detail_of(name, *fields)
    if detail is None:
        return None
    seq = await store.get(_SEQ_KEY + subject)
    return Event(type="state", subject=subject, seq=int(seq or 0), at=detail["at"], data=detail)


def last_state_sync(subject: str, *, store: redis.Redis) -> Event | None:
    """Return the last event of a subject, or None if none is kept any more; see `last_detail` for a group."""
    kept = store.get(_STATE_KEY + subject)
    return None if kept is None else orjson.loads(kept)


def last_detail(cluster: str, name: str, *, store: redis.Redis) -> dict[str, Any] | None:
    """Return one group, queue by queue, as it was published last; None if it was not for a minute."""
    found: Any = store.hmget(details_key(cluster), [MOMENTS, name])
    return detail_of(name, *found)


def detail_of(name: str, moments: bytes | None, kept: bytes | None) -> dict[str, Any] | None:
    """Return the details of a group with the time of their measurement, from two fields of the cluster's hash."""
    if moments is None or kept is None:
        return None
    last = msgspec.json.decode(moments, type=Moments)
    detail: dict[str, Any] = orjson.loads(kept)
    detail["at"] = last.at
    if detail["measured_at"] is not None:
        detail["measured_at"] = deltas.moment_in(last.measured, name)
    return detail


async def number_of(subject: str, *, store: redis.asyncio.Redis) -> int:
    """Return the number of the last event of a subject; 0 if there was none."""
    return int(await store.get(_SEQ_KEY + subject) or 0)


def read(data: Any, shape: type[S]) -> S | None:
    """Return the data of a state as a struct; None if a process of another version published another shape."""
    try:
        return msgspec.convert(data, shape)
    except msgspec.ValidationError as error:
        _log.warning("a published %s could not be read: %s", shape.__name__, error)
        return None


async def _publish_here(subject: str, data: Any) -> None:
    of_loop = _stores.setdefault(asyncio.get_running_loop(), {})
    url = settings.GANTRY_REDIS_URL
    if url not in of_loop:
        of_loop[url] = redis.asyncio.Redis.from_url(url, socket_timeout=5, socket_connect_timeout=2)
    await Publisher(of_loop[url]).publish({subject: data})


def event(
    subject: str, seq: int, at: str, data: Any, *, kind: Literal["state", "delta"] = "state", plain: bool = True
) -> Event:
    """Return an event; `plain` makes its data JSON types, otherwise structs stay."""
    return Event(type=kind, subject=subject, seq=seq, at=at, data=msgspec.to_builtins(data) if plain else data)


async def number(subjects: Iterable[str], store: redis.asyncio.Redis) -> dict[str, int]:
    """Return the next number of each subject."""
    subjects = list(subjects)
    if not subjects:
        return {}
    pipe = store.pipeline(transaction=False)
    for subject in subjects:
        pipe.incr(_SEQ_KEY + subject)
        pipe.expire(_SEQ_KEY + subject, _SEQ_KEEP_SECONDS)
    answers: list[int] = await pipe.execute()
    return dict(zip(subjects, answers[::2], strict=True))


def keep(pipe: Any, subject: str, encoded: bytes, seconds: int = KEEP_SECONDS) -> None:
    """Store an event for late joiners."""
    pipe.set(_STATE_KEY + subject, encoded, ex=seconds)


def delta_key(subject: str) -> str:
    """Return where the last change of a list is kept."""
    return _DELTA_KEY + subject


def seq_key(subject: str) -> str:
    """Return where the number of the last event of a subject is."""
    return _SEQ_KEY + subject


def state_key(subject: str) -> str:
    """Return where the last event of a subject is kept."""
    return _STATE_KEY + subject


def details_key(cluster: str) -> str:
    """Return the hash of the details of a cluster's groups, by name."""
    return _DETAILS_KEY + cluster


def watchers_key(subject: str) -> str:
    """Return the key that exists while somebody subscribes to a subject."""
    prefix = settings.CHANNEL_LAYERS["default"]["CONFIG"]["prefix"]
    return f"{prefix}:group:{channel_group(subject)}"


async def _keep(events: Iterable[Event], store: redis.asyncio.Redis, seconds: int) -> set[str]:
    """Store the events for late joiners; return the subjects with subscribers."""
    pipe = store.pipeline(transaction=False)
    subjects = []
    for each in events:
        subjects.append(each["subject"])
        keep(pipe, each["subject"], orjson.dumps(each), seconds)
        pipe.exists(watchers_key(each["subject"]))
    answers: list[int] = await pipe.execute()
    return {subject for subject, watchers in zip(subjects, answers[1::2], strict=True) if watchers}
