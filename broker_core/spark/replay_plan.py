"""The messages that a replay copies, by queue and chunk, and its progress (spark/README.md#replay-lanes).

A lane is one source queue: its chunks run one after another and go to one target queue, which preserves the order. The
plan is made once; a resumed run continues each lane at its last checkpoint::

    chunk:     0          1          2                  done 0, partial 1 up to `next`
    queue  ────┼──────────┼─────┬────┼──────────        `target`: the target queue's offset after the last copy
                               next
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from broker_core.client.blocking import BlockingSession
from broker_core.client.errors import TopicNotFound
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.spark.checkpoint import Checkpoint
from broker_core.spark.errors import BadRequest
from broker_core.spark.options import SourceOptions
from broker_core.spark.partitions import FilePartition, WirePartition
from broker_core.spark.reading import Partition, count_wanted, plan

# Counting the matches of a filter costs a microsecond per message; above this number they are only counted in the run.
_MOST_COUNTED: Final = 1_000_000
_CHUNK_MESSAGES: Final = 20_000
_CHUNK_BYTES: Final = 32 << 20


@dataclass(frozen=True, slots=True)
class Chunk:
    """A range of a source queue, in queue offsets."""

    id: int
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Lane:
    """One source queue, the target queue of its copies, and its chunks in order."""

    number: int
    source: Partition
    target: MessageQueue
    target_begin: int
    """The end of the target queue before the first copy was sent."""
    chunks: tuple[Chunk, ...]
    wanted: int | None = None
    """The number of messages that match the filter; None if it is known only after reading them."""

    def planned(self, done: Mapping[str, int]) -> int:
        """Return how many messages the lane will copy, as far as known with the counters `done`."""
        if self.wanted is not None:
            return self.wanted
        length = sum(chunk.end - chunk.begin for chunk in self.chunks)
        return length - done["filtered"] - done["damaged"]


@dataclass(frozen=True, slots=True)
class Start:
    """Where a run continues a lane."""

    chunks: tuple[Chunk, ...]
    """The remaining chunks, the first one from where it stopped."""
    earlier: Checkpoint | None = None
    """The progress of the first of them; None if it has not begun."""
    target_from: int = 0
    is_resumed: bool = False
    """The target may contain copies that are not in a checkpoint."""


def make_plan(options: SourceOptions, session: BlockingSession, target_topic: str) -> list[Lane]:
    """Return the lanes of a new replay; raises BadRequest without a target, and the errors of planning a read."""
    sized = replace(options, max_partition_bytes=_CHUNK_BYTES)
    by_queue: dict[tuple[str, str, int], list[Partition]] = {}
    for partition in plan(sized):
        by_queue.setdefault((partition.topic, partition.broker, partition.queue_id), []).append(partition)
    targets = _target_queues(session, target_topic)
    wanted = _counts(options, by_queue)
    lanes: list[Lane] = []
    next_id = 0
    for number, key in enumerate(sorted(by_queue)):
        partitions = by_queue[key]
        target = targets[number % len(targets)]
        chunks = tuple(_chunks(partitions, next_id))
        next_id += len(chunks)
        whole = replace(partitions[0], begin=partitions[0].begin, end=partitions[-1].end)
        begin = int(session.run(session.admin.offsets.max(target)))
        lanes.append(Lane(number, whole, target, begin, chunks, wanted.get(key)))
    return lanes


def _counts(
    options: SourceOptions, by_queue: Mapping[tuple[str, str, int], Sequence[Partition]]
) -> dict[tuple[str, str, int], int]:
    """Return how many messages of each queue match the filter; nothing if counting would take too long."""
    total = sum(each.end - each.begin for partitions in by_queue.values() for each in partitions)
    if not options.stores or total > _MOST_COUNTED or (options.tags is None and options.keys is None):
        return {}
    return {key: sum(count_wanted(each, options) for each in partitions) for key, partitions in by_queue.items()}


def _target_queues(session: BlockingSession, topic: str) -> Sequence[MessageQueue]:
    try:
        queues = sorted(session.run(session.session.routes.get(topic)).write_queues)
    except TopicNotFound as error:
        raise BadRequest(f"target {error}") from error
    if not queues:
        raise BadRequest(f"target topic {topic!r} has no queue that may be written")
    return queues


def _chunks(partitions: Iterable[Partition], next_id: int) -> Iterable[Chunk]:
    for partition in partitions:
        for begin in range(partition.begin, partition.end, _CHUNK_MESSAGES):
            yield Chunk(next_id, begin, min(begin + _CHUNK_MESSAGES, partition.end))
            next_id += 1


def to_json(lanes: Sequence[Lane], request_hash: str) -> dict[str, Any]:
    """Return the plan as stored in ``plan.json``."""
    kinds = {FilePartition: "files", WirePartition: "wire"}
    return {
        "request_hash": request_hash,
        "lanes": [
            {
                "number": lane.number,
                "kind": kinds[type(lane.source)],
                "source": vars(lane.source),
                "target": asdict(lane.target),
                "target_begin": lane.target_begin,
                "wanted": lane.wanted,
                "chunks": [[chunk.id, chunk.begin, chunk.end] for chunk in lane.chunks],
            }
            for lane in lanes
        ],
    }


def from_json(content: Mapping[str, Any], request_hash: str) -> list[Lane]:
    """Return the lanes in ``plan.json``; raise BadRequest if it belongs to another request."""
    if content["request_hash"] != request_hash:
        raise BadRequest("plan.json belongs to another request; start a new job")
    kinds: dict[str, type[FilePartition] | type[WirePartition]] = {"files": FilePartition, "wire": WirePartition}
    return [
        Lane(
            lane["number"],
            kinds[lane["kind"]](**lane["source"]),
            MessageQueue(**lane["target"]),
            lane["target_begin"],
            tuple(Chunk(*chunk) for chunk in lane["chunks"]),
            lane.get("wanted"),
        )
        for lane in content["lanes"]
    ]


def find_start(lane: Lane, checkpoints: Mapping[int, Checkpoint], *, is_resumed: bool) -> Start:
    """Return where to resume a lane; `checkpoints` has the last one of each started chunk."""
    left: list[Chunk] = []
    earlier, target_from = None, lane.target_begin
    for chunk in lane.chunks:
        known = checkpoints.get(chunk.id)
        target_from = max(target_from, known.target if known else 0)
        if known is None:
            left.append(chunk)
        elif not known.is_done:
            # Chunks run one after another, so this happens once, for the first remaining one.
            left.append(replace(chunk, begin=known.next))
            earlier = known
    return Start(tuple(left), earlier, target_from, is_resumed)
