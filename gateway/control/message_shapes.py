"""JSON shapes of messages for operators, made from stored messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Final, Literal, get_args

from msgspec import Meta, Raw, Struct
from msgspec.structs import asdict

from broker_core.client.admin.messages import DeliveryState
from broker_core.client.admin.placed import PlacedMessage
from broker_core.client.admin.replica_reads import FromSlave
from broker_core.protocol.applications import CONTENT_TYPE
from broker_core.protocol.message import StoredMessage
from console.clusters.reasons import reason_of
from console.lag.shapes import MissingBroker
from console.moments import Moment, rfc3339
from gateway.data.bodies import present

Encoding = Literal["json", "text", "base64"]
Verdict = Literal["match", "no_match", "partial", "failed"]
ENCODINGS: Final = list(get_args(Encoding))
VERDICTS: Final = list(get_args(Verdict))
DELIVERY_STATES: Final = [state.value for state in DeliveryState]


class ReadFromSlave(Struct, frozen=True, kw_only=True):
    """A slave that was read because the master of its broker does not answer; it may lack the newest messages."""

    broker: str
    broker_id: int
    reason: Annotated[str, Meta(description="Why the master did not answer.")]

    @classmethod
    def of(cls, slave: FromSlave) -> ReadFromSlave:
        """Return it as it is shown."""
        return cls(broker=slave.broker_name, broker_id=slave.broker_id, reason=reason_of(slave.why))


class MessageSummary(Struct, kw_only=True):
    """A message in one line."""

    message_id: str
    topic: str
    queue_id: int
    queue_offset: int
    broker: str
    keys: Sequence[str]
    tag: str | None
    stored_at: Moment
    size_bytes: Annotated[int, Meta(description="Size of the whole record.")]
    reconsume_times: int
    damage: Annotated[str | None, Meta(description="Why the stored body cannot be unpacked; null if it can.")]


class StoredBody(Struct, frozen=True):
    """A body as JSON can carry it; `data` is a value for json, else text.

    `data` has numbers and members exactly as they were stored. Most JSON readers nevertheless round numbers and drop
    repeated members; `text` is for them.
    """

    encoding: Encoding
    data: Raw
    text: Annotated[str | None, Meta(description="The stored JSON as text; null for other encodings.")]


class MessageDetail(MessageSummary, kw_only=True):
    """A whole message."""

    body: StoredBody | None
    properties: Mapping[str, str] | None
    hidden: Annotated[str | None, Meta(description="Why body and properties are null: the right that is missing.")]
    born_at: Moment
    born_host: str
    store_host: str
    log_offset: int
    offset_id: str
    body_bytes: int
    from_slave: ReadFromSlave | None


class ReadMessage(MessageSummary, kw_only=True):
    """A message that was read; body and properties only if the request wants `bodies`."""

    body: StoredBody | None = None
    properties: Mapping[str, str] | None = None


class Searched(Struct, frozen=True, kw_only=True, rename={"begin": "from"}):
    """The extent of a search; null where a broker does not report it."""

    index_files: int | None
    index_files_skipped_by_time: int | None
    entries_visited: int | None
    collisions_dropped: int | None
    expired_messages: int | None
    begin: Moment
    to: Moment
    elapsed_ms: int


class Search(Struct, frozen=True, kw_only=True):
    """The result of a search, and whether it is complete.

    The verdict is `partial` if something was not searched, because a known broker did not answer or the search was too
    large, and if a slave was, which may lack the newest messages. Only `next_cursor` says whether there are more pages.
    """

    verdict: Verdict
    complete: Annotated[bool, Meta(description="Whether everything known was searched, up to the end of the page.")]
    missing: list[MissingBroker]
    from_slaves: list[ReadFromSlave]
    items: list[MessageSummary]
    next_cursor: Annotated[str | None, Meta(description="Of the page with older messages; null if there are none.")]
    prev_cursor: Annotated[str | None, Meta(description="Of the page with newer messages; null if there are none.")]
    searched: Searched


class FoundKey(Struct, frozen=True, kw_only=True):
    """The newest messages of one key."""

    key: str
    items: list[MessageSummary]
    has_more: Annotated[bool, Meta(description="Whether there are older ones; a search by this key alone has them.")]


class PartialKey(Struct, frozen=True, kw_only=True):
    """A key that was not looked up everywhere."""

    key: str
    reason: str


class KeyLookupAnswer(Struct, frozen=True, kw_only=True):
    """The messages of many keys.

    A key in `partial` may have more messages than `found` shows for it; one in `missing` has none in this time.
    """

    verdict: Verdict
    complete: bool
    found: list[FoundKey]
    missing: list[str]
    partial: list[PartialKey]
    missing_brokers: list[MissingBroker]
    from_slaves: list[ReadFromSlave]
    searched: Searched


class Browse(Struct, frozen=True, kw_only=True):
    """Messages by time, the newest first; messages of the brokers in `missing` are not included, and of those in
    `from_slaves` the newest may not be.
    """

    items: list[MessageSummary]
    next_cursor: Annotated[str | None, Meta(description="Of the page with older messages; null if there are none.")]
    prev_cursor: Annotated[str | None, Meta(description="Of the page with newer messages; null if there are none.")]
    missing: list[MissingBroker]
    from_slaves: list[ReadFromSlave]


class QueuePage(Struct, frozen=True, kw_only=True):
    """Messages of a queue of one broker from an offset on, and the bounds of the queue, as the slave has them if it is
    one that was read.
    """

    broker: str
    from_slave: ReadFromSlave | None
    items: list[ReadMessage]
    next_offset: int
    min_offset: int
    max_offset: int


class Delivery(Struct, frozen=True):
    """The position of a group relative to one message."""

    group: str
    state: DeliveryState
    behind: int | None


class Deliveries(Struct, frozen=True):
    """The position of each group relative to one message."""

    items: list[Delivery]


def summary_of(placed: PlacedMessage) -> MessageSummary:
    """Return the summary of a message."""
    message = placed.message
    return MessageSummary(
        message_id=message.message_id,
        topic=message.topic,
        queue_id=message.queue_id,
        queue_offset=message.queue_offset,
        broker=placed.broker_name,
        keys=message.keys,
        tag=message.tag,
        stored_at=rfc3339(message.store_timestamp),
        size_bytes=message.store_size,
        reconsume_times=message.reconsume_times,
        damage=message.damage,
    )


def detail_of(placed: PlacedMessage, *, hidden: str | None = None) -> MessageDetail:
    """Return the whole message; if `hidden` says that a right is missing, without body and properties."""
    message = placed.message
    return MessageDetail(
        **asdict(summary_of(placed)),
        body=None if hidden else body_of(message),
        properties=None if hidden else message.properties,
        hidden=hidden,
        born_at=rfc3339(message.born_timestamp),
        born_host=message.born_host,
        store_host=message.store_host,
        log_offset=message.log_offset,
        offset_id=message.offset_id,
        body_bytes=len(message.body),
        from_slave=None if placed.slave is None else ReadFromSlave.of(placed.slave),
    )


def slaves_shown(slaves: Mapping[str, FromSlave]) -> list[ReadFromSlave]:
    """Return the slaves that were read, by the names of their brokers."""
    return [ReadFromSlave.of(slave) for _, slave in sorted(slaves.items())]


def body_of(message: StoredMessage) -> StoredBody:
    """Return the body; JSON is included unchanged, a damaged body as its stored bytes."""
    body = present(message.body, message.properties.get(CONTENT_TYPE), "auto" if message.damage is None else "base64")
    text = message.body.decode() if body.encoding == "json" else None
    return StoredBody(body.encoding, body.data, text)


def read_message_of(placed: PlacedMessage, *, bodies: bool) -> ReadMessage:
    """Return a message with body and properties, or without."""
    if not bodies:
        return ReadMessage(**asdict(summary_of(placed)))
    message = placed.message
    return ReadMessage(**asdict(summary_of(placed)), body=body_of(message), properties=message.properties)
