"""The activities that one socket watches: which events it was told of, and the frames that tell it more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import redis.asyncio

from broker_core.clock import now_ms
from console import live
from console.activity import feed
from console.activity.shapes import ActivityEvent
from console.activity.visibility import May, visible
from console.moments import rfc3339

_PREFIX: Final = "activity:"
Frame = dict[str, Any]


def is_activity(subject: str) -> bool:
    """Return whether a subject is the activity of a cluster."""
    return subject.startswith(_PREFIX)


class Activities:
    """The places of one caller in the feeds of clusters."""

    def __init__(self, may: May) -> None:
        self._may = may
        self._read_to: dict[str, int] = {}
        self._told_to: dict[str, int] = {}

    def begin(self, subject: str, after: int | None) -> None:
        """Begin with all that is kept, or after an event."""
        self.leave(subject)
        if after is not None:
            self._told_to[subject] = after

    def leave(self, subject: str) -> None:
        """Forget the place in a feed."""
        self._read_to.pop(subject, None)
        self._told_to.pop(subject, None)

    async def news(self, event: live.Event, store: redis.asyncio.Redis) -> Frame | None:
        """Return the frame of what was published; None if the caller knows it, or may not see it."""
        subject, seq = event["subject"], event["seq"]
        if event["data"]["after"] != self._read_to.get(subject):
            return await self.catch_up(subject, store)
        self._read_to[subject] = seq
        items = msgspec.convert(event["data"]["items"], list[ActivityEvent])
        return self._frame(subject, items, seq, is_complete=True)

    async def catch_up(self, subject: str, store: redis.asyncio.Redis) -> Frame | None:
        """Return the frame of what is kept and was not told yet; None if that is nothing."""
        found = await feed.aread(subject.removeprefix(_PREFIX), store=store)
        if self._read_to.get(subject) == found.last_seq:
            return None
        self._read_to[subject] = found.last_seq
        after = self._told_to.get(subject)
        if after is None:
            return self._frame(subject, found.events[::-1], found.last_seq, is_complete=True)
        return self._frame(subject, found.since(after)[::-1], found.last_seq, is_complete=found.is_complete(after))

    def _frame(self, subject: str, events: Sequence[ActivityEvent], seq: int, *, is_complete: bool) -> Frame | None:
        items = visible(events, subject.removeprefix(_PREFIX), self._may)
        after = self._told_to.get(subject)
        if after is not None and is_complete and not items:
            return None
        self._told_to[subject] = seq
        head: Frame = {"type": "state"} if after is None else {"type": "events", "after": after}
        data = {"items": items, "complete": is_complete}
        return {**head, "subject": subject, "seq": seq, "at": rfc3339(now_ms()), "data": data}
