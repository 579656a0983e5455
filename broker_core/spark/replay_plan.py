"""The messages that a replay copies, by queue and chunk, and its progress (spark/README.md#replay-lanes).

A lane is one source queue: its chunks run one after another and go to one target queue, which preserves the order. The
plan is made once; a resumed run continues each lane at its last checkpoint::

    chunk:     0          1          2                  done 0, partial 1 up to `next`
    queue  ────┼──────────┼─────┬────┼──────────        `target`: the target queue's offset after the last copy
                               next
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain, cycle
from typing import Any, Final

from broker_core.client.blocking import BlockingSession
from broker_core.client.errors import TopicNotFound
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.spark.bytes_read import PlanCost
from broker_core.spark.checkpoint import Checkpoint
from broker_core.spark.errors import BadRequest
from broker_core.spark.options import SourceOptions
from broker_core.spark.partitions import FilePartition, WirePartition
from broker_core.spark.reading import Partition, plan
from broker_core.spark.topic_routes import brokers_of

_CHUNK_MESSAGES: Final = 20_000
_CHUNK_BYTES: Final = 32 << 20
_WIDEST_GAP: Final = 2000
"""Between two wanted messages; fewer are read along with them."""

Positions = Mapping[tuple[str, int], Sequence[int]]
"""Queue offsets in ascending order, by broker and queue id."""


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
    key_queues: tuple[MessageQueue, ...] = ()
    """With order by key all queues of the target: a copy with a key goes to that of its hash, others to `target`."""
    key_begins: tuple[int, ...] = ()
    """Their ends before the first copy was sent."""

    def count(self, begin: int, end: int) -> int:
        """Return how many messages there are to read between two queue offsets."""
        only = self.source.only
        return end - begin if only is None else bisect_left(only, end) - bisect_left(only, begin)

    @property
    def planned(self) -> int:
        """How many messages the lane reads, also those that a filter leaves out."""
        return sum(self.count(chunk.begin, chunk.end) for chunk in self.chunks)


@dataclass(frozen=True, slots=True)
class Start:
    """Where a run continues a lane."""

    chunks: tuple[Chunk, ...]
    """The remaining chunks, the first one from where it stopped."""
    earlier: Checkpoint | None = None
    """The progress of the first of them; None if it has not begun."""
    target_from: int = 0
    targets_from: tuple[int, ...] = ()
    """With order by key instead of `target_from`: of each queue of the target."""
    is_resumed: bool = False
    """The target may contain copies that are not in a checkpoint."""


def make_plan(
    options: SourceOptions,
    session: BlockingSession,
    target_topic: str,
    positions: Positions | None = None,
    cost: PlanCost | None = None,
    *,
    by_key: bool = False,
) -> list[Lane]:
    """Return the lanes of a new replay, of all messages in the range or of those at the positions.

    With `by_key` copies of one key go to one queue. Adds to `cost` what planning took. Raises BadRequest without a
    target, and the errors of planning a read.
    """
    by_queue = plan_by_queue(options, positions, cost)
    targets = _target_queues(session, target_topic)
    ends = {queue: int(session.run(session.admin.offsets.max(queue))) for queue in targets}
    of_keys = (tuple(ends), tuple(ends.values())) if by_key else ((), ())
    lanes: list[Lane] = []
    next_id = 0
    chosen = targets_of([key[1:] for key in sorted(by_queue)], targets)
    for number, key in enumerate(sorted(by_queue)):
        partitions = by_queue[key]
        target = chosen[key[1:]]
        chunks = tuple(_chunks(partitions, next_id))
        next_id += len(chunks)
        lanes.append(Lane(number, whole_queue(partitions), target, ends[target], chunks, *of_keys))
    return lanes


def targets_of(
    sources: Sequence[tuple[str, int]], targets: Sequence[MessageQueue]
) -> dict[tuple[str, int], MessageQueue]:
    """Return the target queue of each source queue, which is named by broker and queue id.

    It is the same queue if there is one, also when only some queues are replayed; else the next one that is free. Only
    where none is left do several source queues share one.
    """
    named = {(queue.broker_name, queue.queue_id): queue for queue in targets}
    found = {source: named[source] for source in sources if source in named}
    taken = set(found.values())
    others = chain((queue for queue in targets if queue not in taken), cycle(targets))
    return found | {source: next(others) for source in sources if source not in named}


def plan_by_queue(
    options: SourceOptions, positions: Positions | None = None, cost: PlanCost | None = None
) -> dict[tuple[str, str, int], list[Partition]]:
    """Return the ranges to read by topic, broker and queue id: each as large as a chunk may be."""
    options = options if positions is None else _bounded(options, positions)
    by_queue: dict[tuple[str, str, int], list[Partition]] = {}
    for partition in plan(replace(options, max_partition_bytes=_CHUNK_BYTES), cost):
        by_queue.setdefault((partition.topic, partition.broker, partition.queue_id), []).append(partition)
    if positions is None:
        return by_queue
    return {key: list(_around(parts[0], positions[key[1:]])) for key, parts in by_queue.items()}


def _bounded(options: SourceOptions, positions: Positions) -> SourceOptions:
    """Return the options for the ranges around the positions: planning costs no more than these."""
    begins: dict[str, dict[int, int]] = {}
    ends: dict[str, dict[int, int]] = {}
    for (broker, queue_id), offsets in positions.items():
        begins.setdefault(broker, {})[queue_id] = offsets[0]
        ends.setdefault(broker, {})[queue_id] = offsets[-1] + 1
    topic = options.topics[0]
    return replace(options, queues=frozenset(positions), starting_offsets={topic: begins}, ending_offsets={topic: ends})


def _around(partition: Partition, offsets: Sequence[int]) -> Iterable[Partition]:
    """Yield the ranges around some offsets: a wide gap between two of them is not read."""
    first = 0
    for at in range(1, len(offsets) + 1):
        if at == len(offsets) or at - first == _CHUNK_MESSAGES or offsets[at] - offsets[at - 1] > _WIDEST_GAP:
            yield replace(partition, begin=offsets[first], end=offsets[at - 1] + 1, only=offsets[first:at])
            first = at


def whole_queue(partitions: Sequence[Partition]) -> Partition:
    """Return one range for all parts of a queue."""
    only: list[int] | None = None
    if any(part.only is not None for part in partitions):
        only = [at for part in partitions for at in (range(part.begin, part.end) if part.only is None else part.only)]
    return replace(partitions[0], begin=partitions[0].begin, end=partitions[-1].end, only=only)


def _target_queues(session: BlockingSession, topic: str) -> Sequence[MessageQueue]:
    try:
        queues = sorted(session.run(session.session.routes.get(topic)).write_queues)
    except TopicNotFound as error:
        session.run(brokers_of(session.admin))
        raise BadRequest(f"target {error}") from error
    if not queues:
        raise BadRequest(f"target topic {topic!r} has no queue that may be written")
    return queues


def _chunks(partitions: Iterable[Partition], next_id: int) -> Iterable[Chunk]:
    for partition in partitions:
        step = _CHUNK_MESSAGES if partition.only is None else partition.end - partition.begin
        for begin in range(partition.begin, partition.end, step):
            yield Chunk(next_id, begin, min(begin + step, partition.end))
            next_id += 1


def to_json(lanes: Sequence[Lane], request_hash: str) -> dict[str, Any]:
    """Return the plan as stored in ``plan.json``."""
    kinds = {FilePartition: "files", WirePartition: "wire"}
    first = lanes[0] if lanes else None
    return {
        "request_hash": request_hash,
        "key_queues": [asdict(queue) for queue in first.key_queues] if first else [],
        "key_begins": first.key_begins if first else [],
        "lanes": [
            {
                "number": lane.number,
                "kind": kinds[type(lane.source)],
                "source": vars(lane.source),
                "target": asdict(lane.target),
                "target_begin": lane.target_begin,
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
    # Of older releases there are none.
    of_keys = (
        tuple(MessageQueue(**queue) for queue in content.get("key_queues", ())),
        tuple(content.get("key_begins", ())),
    )
    return [
        Lane(
            lane["number"],
            kinds[lane["kind"]](**lane["source"]),
            MessageQueue(**lane["target"]),
            lane["target_begin"],
            tuple(Chunk(*chunk) for chunk in lane["chunks"]),
            *of_keys,
        )
        for lane in content["lanes"]
    ]


def find_start(lane: Lane, checkpoints: Mapping[int, Checkpoint], *, is_resumed: bool) -> Start:
    """Return where to resume a lane; `checkpoints` has the last one of each started chunk."""
    left: list[Chunk] = []
    earlier, target_from, targets_from = None, lane.target_begin, lane.key_begins
    for chunk in lane.chunks:
        known = checkpoints.get(chunk.id)
        if known is not None:
            target_from = max(target_from, known.target)
            targets_from = tuple(map(max, targets_from, known.targets)) if known.targets else targets_from
        if known is None:
            left.append(chunk)
        elif not known.is_done:
            # Chunks run one after another, so this happens once, for the first remaining one.
            left.append(replace(chunk, begin=known.next))
            earlier = known
    return Start(tuple(left), earlier, target_from, targets_from, is_resumed)
