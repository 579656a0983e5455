"""What a group has consumed of a topic, as a side.

RocketMQ keeps no acknowledgement of a single message: below the offset of the group it was consumed or sent back. So
the copies that were sent back are followed, by the id that they keep: to the retry topic of the group, on their way
there (in the topic of delayed messages), and to the dead letters. A dead letter that goes back to the group gets an
id of its own, and is followed by the origin that it keeps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, NamedTuple

import pyarrow as pa

from broker_core.client.blocking import BlockingSession
from broker_core.protocol import properties as names
from broker_core.protocol.topics import SCHEDULE_TOPIC, dead_letter_topic, retry_topic
from broker_core.spark.comparing.sides import PLACE_FIELDS, Ranges, RowPlace, TopicSide
from broker_core.spark.errors import BadRequest, UnknownOption, Unreachable
from broker_core.spark.options import SourceOptions
from broker_core.spark.reading import plan, read_rows
from broker_core.spark.wire import session_of
from broker_core.spark.wire_place import WirePlace

WAITING: Final = "waiting"
IN_RETRY: Final = "in retry"
DEAD: Final = "dead"
_ID: Final = "message_id"
_COLUMNS: Final = (
    "message_id", "broker", "queue_id", "queue_offset", "reconsume_times", "store_timestamp", "properties",
    "_error",
)  # fmt: skip

Queue = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Fates:
    """What became of the messages that a group sent back, by their id."""

    open: Mapping[str, str]
    """`IN_RETRY` or `DEAD`, for those that were not consumed."""
    retried: int = 0
    """How many were consumed after retries."""


@dataclass(frozen=True, slots=True)
class GroupSide:
    """The messages of a range of a topic that a group has consumed; the others are noted with what they wait for."""

    topic: TopicSide
    committed: Mapping[Queue, int]
    """The offset of the group in each queue; 0 where it has none."""
    fates: Fates

    @property
    def parts(self) -> Sequence[Any]:
        """The planned ranges of the topic."""
        return self.topic.parts

    @property
    def known_rows(self) -> int:
        """The number of messages in the planned ranges."""
        return self.topic.known_rows

    def names(self) -> Sequence[str]:
        """Return the columns of a topic."""
        return self.topic.names()

    def fields(self, columns: Sequence[str]) -> list[Any]:
        """Return the Arrow fields of columns."""
        return self.topic.fields(columns)

    def read(self, number: int, columns: Sequence[str], ranges: Ranges | None = None) -> Iterator[Any]:
        """Yield the messages of a range of a queue, noted unless the group consumed them."""
        part = self.topic.parts[number]
        end = self.committed.get((part.broker, part.queue_id), 0) - part.begin
        kept = [*(each.name for each in PLACE_FIELDS), *columns]
        for batch in self.topic.read(number, tuple(dict.fromkeys((*columns, _ID))), ranges):
            offsets, ids = batch.column("_offset").to_pylist(), batch.column(_ID).to_pylist()
            notes = [
                WAITING if offset >= end else self.fates.open.get(each or "")
                for offset, each in zip(offsets, ids, strict=True)
            ]
            place = batch.schema.get_field_index("_note")
            yield batch.set_column(place, batch.schema.field(place), pa.array(notes, pa.string())).select(kept)

    def place_of(self, number: int, offset: int) -> RowPlace:
        """Return queue and offset of a message."""
        return self.topic.place_of(number, offset)

    def again(self) -> GroupSide:
        """Return this side, not counted."""
        return replace(self, topic=self.topic.again())


def group_side(name: str, group: str, topic: TopicSide, place: WirePlace) -> GroupSide:
    """Return the side of a group; raise BadRequest without a name server, Unreachable for a broker that is silent."""
    if not place.name_servers:
        raise BadRequest(f"{name}.group: offsets are asked from the brokers, and no name server is known")
    wanted = topic.options.topics[0]
    everywhere = replace(topic.options, starting_timestamp=None, ending_timestamp=None, count_to=None)
    session = session_of(place)
    committed = _offsets(session, group, wanted)
    of_retries = _offsets(session, group, retry_topic(group))
    return GroupSide(topic, committed, fates_of(group, wanted, everywhere, of_retries))


def _offsets(session: BlockingSession, group: str, topic: str) -> dict[Queue, int]:
    stats = session.run(session.admin.groups.consume_stats(group, topic=topic))
    if stats.failed:
        broker, error = next(iter(stats.failed.items()))
        raise Unreachable(f"the offsets of group {group!r} are not known: {broker}: {error}")
    return {(queue.broker_name, queue.queue_id): max(0, each.consumer_offset) for queue, each in stats.queues.items()}


def fates_of(group: str, topic: str, everywhere: SourceOptions, of_retries: Mapping[Queue, int]) -> Fates:
    """Return what became of the messages of a topic that the group sent back.

    `everywhere` says how a whole topic is read, `of_retries` how far the group is in each queue of its retry topic.
    """
    dead = [_copy_of(row) for row in _sent_back(everywhere, dead_letter_topic(group), topic)]
    last = _Last(_ids_of_origins(dead))
    for row in _sent_back(everywhere, SCHEDULE_TOPIC, topic):
        if row["properties"].get(names.REAL_TOPIC) == retry_topic(group):
            last.keep(_copy_of(row), IN_RETRY)
    for row in _sent_back(everywhere, retry_topic(group), topic):
        is_waiting = row["queue_offset"] >= of_retries.get((row["broker"], row["queue_id"]), 0)
        last.keep(_copy_of(row), IN_RETRY if is_waiting else None)
    for copy in dead:
        last.keep(copy, DEAD)
    still_open = {each: fate for each, (_, fate) in last.found.items() if fate is not None}
    return Fates(still_open, len(last.found) - len(still_open))


class _Copy(NamedTuple):
    """A copy of a message of the topic."""

    message_id: str
    """That of the message, but of a dead letter that went back to the group its own."""
    origin: str | None
    """Where the message was stored first: all copies of it keep this, also those of its dead letter."""
    stored: datetime
    tries: int


def _copy_of(row: Mapping[str, Any]) -> _Copy:
    found = row["properties"]
    origin = found.get(names.ORIGIN_MESSAGE_ID)
    message_id = found.get(names.UNIQ_KEY) or origin or row["message_id"]
    return _Copy(message_id, origin, row["store_timestamp"], row["reconsume_times"])


def _ids_of_origins(dead: Sequence[_Copy]) -> dict[str, str]:
    """Return the id of each message that died: its first dead letter has it, as only later ones are of copies."""
    latest_first = sorted(dead, key=lambda copy: (copy.stored, copy.tries), reverse=True)
    return {copy.origin: copy.message_id for copy in latest_first if copy.origin}


@dataclass(frozen=True, slots=True)
class _Last:
    """The fate of the copy of each message that was stored last: a delayed one is stored anew when it is due."""

    ids: Mapping[str, str]
    found: dict[str, tuple[Any, str | None]] = field(default_factory=dict)

    def keep(self, copy: _Copy, fate: str | None) -> None:
        """Note a copy, unless a later one is known."""
        known_as = self.ids.get(copy.origin or "", copy.message_id)
        # The tries of a dead letter that went back begin again, and it may go back in the millisecond of its death.
        order = copy.stored, known_as != copy.message_id, copy.tries
        if known_as not in self.found or order >= self.found[known_as][0]:
            self.found[known_as] = order, fate


def _sent_back(everywhere: SourceOptions, place: str, topic: str) -> Iterator[dict[str, Any]]:
    """Yield the copies of messages of a topic in one of the topics that they go through."""
    for row in _rows(everywhere, place):
        row["properties"] = dict(row["properties"] or ())
        if row["properties"].get(names.RETRY_TOPIC) == topic:
            yield row


def _rows(everywhere: SourceOptions, topic: str) -> Iterator[dict[str, Any]]:
    """Yield the sound messages of a topic; none if there is no such topic."""
    options = replace(everywhere, topics=(topic,))
    try:
        parts = plan(options)
    except UnknownOption:
        return
    for part in parts:
        for batch in read_rows(part, options, _COLUMNS):
            yield from (row for row in batch.to_pylist() if row["_error"] is None)
