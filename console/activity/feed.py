"""The feed of one cluster in Redis: its last events, the newest first, numbered by a sequence that only grows.

One writer, the sampler that leads; any number of readers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import msgspec
import redis
import redis.asyncio
from channels.layers import get_channel_layer
from django.conf import settings
from msgspec.structs import replace

from broker_core.clock import now_ms
from console import live
from console.activity.shapes import ActivityEvent
from console.moments import rfc3339

_EVENTS_KEY: Final = "gantry:activity:"
_SEQ_KEY: Final = "gantry:activity-seq:"
_PLACE_KEY: Final = "gantry:activity-audit:"
_DECODER: Final = msgspec.json.Decoder(ActivityEvent)


@dataclass(frozen=True, slots=True)
class Feed:
    """The kept events of a cluster, the newest first."""

    events: Sequence[ActivityEvent]
    last_seq: int

    def since(self, after: int) -> list[ActivityEvent]:
        """Return the events after a number, the newest first."""
        return list(self.events) if after > self.last_seq else [each for each in self.events if each.seq > after]

    def is_complete(self, after: int) -> bool:
        """Return whether all events after a number are still kept."""
        if after > self.last_seq:
            return False  # numbers of a feed that was lost
        return after == self.last_seq or (bool(self.events) and self.events[-1].seq <= after + 1)


def read(cluster: str, *, store: redis.Redis) -> Feed:
    """Return the feed of a cluster; raise RedisError."""
    pipe = store.pipeline(transaction=True)
    _ask(pipe, cluster)
    return _feed(pipe.execute())


async def aread(cluster: str, *, store: redis.asyncio.Redis) -> Feed:
    """Do the same in a coroutine."""
    pipe = store.pipeline(transaction=True)
    _ask(pipe, cluster)
    return _feed(await pipe.execute())


def _ask(pipe: Any, cluster: str) -> None:
    pipe.lrange(_EVENTS_KEY + cluster, 0, -1)
    pipe.get(_SEQ_KEY + cluster)


def _feed(answers: Sequence[Any]) -> Feed:
    kept, seq = answers
    return Feed([_DECODER.decode(each) for each in cast("list[bytes]", kept)], int(seq or 0))


async def forget(cluster: str, *, store: redis.asyncio.Redis) -> None:
    """Delete the feed of a deleted cluster: another one may get its name."""
    await store.delete(_EVENTS_KEY + cluster, _PLACE_KEY + cluster)


async def kept_place(cluster: str, *, store: redis.asyncio.Redis) -> bytes | None:
    """Return what `append` kept last beside the events; None if that is lost."""
    return cast("bytes | None", await store.get(_PLACE_KEY + cluster))


async def append(
    cluster: str, events: Iterable[ActivityEvent], place: bytes | None, *, store: redis.asyncio.Redis
) -> None:
    """Number and keep events in their order, together with a place of the writer, and tell the subscribers."""
    events = list(events)
    if not events:
        return
    key = _SEQ_KEY + cluster
    # After a loss of Redis the numbers go on above all that were ever given: no feed has an event each millisecond.
    await store.set(key, now_ms(), nx=True)
    last = int(await store.incrby(key, len(events)))
    before = last - len(events)
    numbered = [replace(event, seq=before + place) for place, event in enumerate(events, 1)]
    subject = live.activity(cluster)
    pipe = store.pipeline(transaction=True)
    pipe.lpush(_EVENTS_KEY + cluster, *(msgspec.json.encode(event) for event in numbered))
    pipe.ltrim(_EVENTS_KEY + cluster, 0, settings.GANTRY_ACTIVITY_KEPT - 1)
    if place is not None:
        pipe.set(_PLACE_KEY + cluster, place)
    pipe.exists(live.watchers_key(subject))
    if not (await pipe.execute())[-1]:
        return
    layer = get_channel_layer()
    assert layer is not None
    told = live.Event(
        type="delta",
        subject=subject,
        seq=last,
        at=rfc3339(now_ms()),
        data={"after": before, "items": msgspec.to_builtins(numbered)},
    )
    await layer.group_send(live.channel_group(subject), dict(told))
