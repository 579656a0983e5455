"""The offsets of a stream: where it is in each queue, as Spark keeps it in the checkpoint, and how far a batch goes.

The text is compared by Spark, so queues are always in the same order. ``began`` has the queues that the batch reads for
the first time, with the place where that begins: neither a repeated first batch nor a queue that is added later
depends on what the queue looks like by then.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from broker_core.spark.errors import BadOption, DataLoss, QueueGone
from broker_core.spark.places import QueuePlace, Reach, by_topic
from broker_core.store.columns import Ints

_VERSION: Final = 1
Offsets = Mapping[QueuePlace, int]
_MOST_SIZED: Final = 1 << 20
"""Messages of a queue whose sizes are summed for one batch."""


@dataclass(frozen=True, slots=True)
class Position:
    """A place in all queues of a stream."""

    cluster: str
    offsets: Offsets
    began: Offsets = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return what Spark writes into the checkpoint."""
        text: dict[str, Any] = {"v": _VERSION, "cluster": self.cluster, "topics": _texts(self.offsets)}
        return text | {"began": _texts(self.began)} if self.began else text

    @classmethod
    def from_json(cls, found: Mapping[str, Any], *, cluster: str, topics: Collection[str]) -> Position:
        """Return the position; raise BadOption for a checkpoint of another cluster or of topics not chosen now."""
        if found.get("v") != _VERSION:
            raise BadOption("checkpointLocation", found.get("v"), f"was written in another form, not {_VERSION}")
        if found["cluster"] != cluster:
            raise BadOption("cluster", cluster, f"the checkpoint belongs to cluster {found['cluster']!r}")
        foreign = sorted(set(found["topics"]) - set(topics))
        if foreign:
            raise BadOption(
                "topic", ",".join(topics), f"the checkpoint belongs to {', '.join(foreign)}; use another checkpoint"
            )
        return cls(cluster, _offsets(found["topics"]), _offsets(found.get("began", {})))

    def begins(self, before: Position) -> dict[QueuePlace, int]:
        """Return where a batch that ends here begins, given where the one before ended."""
        return {place: self.began.get(place, before.offsets.get(place, end)) for place, end in self.offsets.items()}


def _texts(offsets: Offsets) -> dict[str, Any]:
    return {
        topic: {broker: {str(queue): at for queue, at in queues.items()} for broker, queues in brokers.items()}
        for topic, brokers in by_topic(offsets).items()
    }


def _offsets(texts: Mapping[str, Any]) -> dict[QueuePlace, int]:
    return {
        QueuePlace(topic, broker, int(queue)): int(at)
        for topic, brokers in texts.items()
        for broker, queues in brokers.items()
        for queue, at in queues.items()
    }


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a batch may have; at least one message of each queue that has any."""

    messages: int | None = None
    record_bytes: int | None = None

    def cut(
        self, begins: Offsets, ends: Offsets, sizes: Callable[[QueuePlace, int, int], Ints]
    ) -> dict[QueuePlace, int]:
        """Return the ends of a batch; every queue gets a share of the limit in proportion to what waits in it."""
        waiting = {place: ends[place] - begin for place, begin in begins.items() if ends[place] > begin}
        counts = dict(waiting)
        if self.messages is not None:
            counts = _shared(waiting, self.messages)
        if self.record_bytes is not None:
            sums = {
                place: np.cumsum(sizes(place, begins[place], begins[place] + min(count, _MOST_SIZED)))
                for place, count in counts.items()
            }
            shares = _shared({place: int(each[-1]) for place, each in sums.items() if len(each)}, self.record_bytes)
            counts |= {
                place: min(counts[place], max(1, int(np.searchsorted(sums[place], share, side="right"))))
                for place, share in shares.items()
            }
        return {place: begin + counts.get(place, 0) for place, begin in begins.items()}


def _shared(wanted: Offsets, most: int) -> dict[QueuePlace, int]:
    total = sum(wanted.values())
    if total <= most:
        return dict(wanted)
    return {place: max(1, each * most // total) for place, each in wanted.items()}


def starts(position: Position, reaches: Mapping[QueuePlace, Reach], *, may_lose: bool) -> tuple[Offsets, Offsets]:
    """Return where the next batch begins in each queue, and which of these places are new to the stream.

    Raises QueueGone for a queue that vanished and DataLoss for one that ends before the position, unless losses are
    allowed: then it is kept as it is, or read anew from its beginning.
    """
    new = {
        place: begin for place, begin in position.began.items() if position.offsets.get(place) == begin
    }  # nothing of them was read yet
    found = dict(position.offsets)
    for place, reach in reaches.items():
        at = found.get(place)
        if at is None:
            found[place] = new[place] = reach.begin
        elif at > reach.end:
            if not may_lose:
                raise _loss(place, f"the stream is at {at}, the queue ends at {reach.end}")
            found[place] = new[place] = reach.begin
        elif at < reach.begin:
            if not may_lose:
                raise _loss(place, f"the stream is at {at}, the first message available is {reach.begin}")
            found[place] = reach.begin
    for place in position.offsets:
        if place not in reaches and not may_lose:
            raise _loss(place, "the queue does not exist any more, or its broker is away", QueueGone)
    return found, new


def _loss(place: QueuePlace, reason: str, kind: type[DataLoss] = DataLoss) -> DataLoss:
    return kind(
        f"{place.broker} topic={place.topic} queue={place.queue_id}: {reason}; failOnDataLoss=false goes on with what "
        "is left"
    )
