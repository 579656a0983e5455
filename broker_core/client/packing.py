"""Converting a message to its send request: unique id, compression, properties, flags (client/README.md#packing)."""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from broker_core.client.config import ProducerConfig
from broker_core.client.errors import MessageRefused, MessageTooLarge
from broker_core.protocol import properties as names
from broker_core.protocol import sys_flag as flags
from broker_core.protocol.batch import encode_batch, encode_entries
from broker_core.protocol.errors import MalformedProperties
from broker_core.protocol.message import Message
from broker_core.protocol.message_id import UniqueIds
from broker_core.protocol.properties import format_properties
from broker_core.protocol.topics import is_dead_letter_topic, is_retry_topic

_ALONE: Final = frozenset({names.DELAY, names.TRAN_MSG, *names.TIMERS, *names.OF_DELIVERIES})
"""Properties that a broker takes only from a plain send."""
_OF_THE_PRODUCER: Final = ~(flags.COMPRESSED | flags.COMPRESSOR_MASK)
_LONG_PROPERTIES: Final = 8_000
"""Characters; near the limit of a broker a message travels alone, so that a refusal concerns no other one."""
_NO_RETRY_BATCH: Final = "a batch cannot be sent to a retry topic"


@dataclass(slots=True)
class Packed:
    """One send body with its header values. A message is packed once, so all attempts have the same unique ids."""

    topic: str
    body: bytes
    properties: str
    message_ids: tuple[str, ...]
    flag: int = 0
    sys_flag: int = 0
    born_timestamp: int = 0
    reconsume_times: int = 0
    max_reconsume_times: int | None = None
    is_batch: bool = False
    may_share: bool = False
    """Whether it may travel in one batch with other messages of its topic."""
    waits_for_store: bool = True


class Packer:
    """Packs the messages of one producer."""

    def __init__(self, config: ProducerConfig, *, ip: str, loader: int) -> None:
        self._config = config
        self._ids = UniqueIds(ip=ip, pid=os.getpid(), loader=loader)

    def pack(self, message: Message, *, now: int) -> Packed:
        """Pack one message; raise MessageTooLarge or MessageRefused."""
        body, topic = message.body, message.topic
        _check_body(body)
        if len(body) > self._config.max_body_bytes:
            raise MessageTooLarge(len(body), self._config.max_body_bytes)
        properties, unique_id = self._identified(message, now)
        sys_flag = message.sys_flag & _OF_THE_PRODUCER
        if len(body) >= self._config.compress_from_bytes:
            compressed = zlib.compress(body, self._config.compress_level)
            # A body that does not shrink is sent uncompressed: near the limit, compression could make it too large.
            if len(compressed) < len(body):
                body = compressed
                sys_flag |= flags.COMPRESSED | flags.COMPRESSOR_ZLIB
        if properties.get(names.TRAN_MSG) == "true":
            sys_flag |= flags.TRANSACTION_PREPARED
        packed = Packed(topic, body, "", (unique_id,), message.flag, sys_flag, now)
        if is_retry_topic(topic) or is_dead_letter_topic(topic):
            _move_retry_counts(packed, properties)
            packed.properties = _text(properties)
            return packed
        if names.WAIT in properties:
            packed.waits_for_store = message.waits_for_store
        packed.properties = text = _text(properties)
        packed.may_share = not sys_flag and len(text) <= _LONG_PROPERTIES and _ALONE.isdisjoint(properties)
        return packed

    def pack_batch(self, topic: str, messages: Sequence[Message], *, now: int) -> Packed:
        """Pack messages as one batch; raise MessageTooLarge or MessageRefused (client/README.md#batches)."""
        _check_batch(topic, messages)
        identified = [(message, *self._identified(message, now)) for message in messages]
        try:
            body = encode_batch(Message(topic, m.body, pairs, m.flag) for m, pairs, _ in identified)
        except MalformedProperties as error:
            raise MessageRefused(str(error)) from error
        if len(body) > self._config.max_body_bytes:
            raise MessageTooLarge(len(body), self._config.max_body_bytes)
        ids = tuple(unique_id for _, _, unique_id in identified)
        return Packed(topic, body, _of_batch(messages[0].waits_for_store), ids, born_timestamp=now, is_batch=True)

    def make_ids(self, count: int, *, now: int) -> list[str]:
        """Return unique ids for messages that the caller encodes itself."""
        return self._ids.make_many(now, count)

    def pack_encoded(self, topic: str, body: bytes, ids: Sequence[str], *, waits_for_store: bool, now: int) -> Packed:
        """Pack a batch whose entries are encoded and have these ids; raise MessageTooLarge or MessageRefused."""
        if is_retry_topic(topic):
            raise MessageRefused(_NO_RETRY_BATCH)
        if len(body) > self._config.max_body_bytes:
            raise MessageTooLarge(len(body), self._config.max_body_bytes)
        return Packed(topic, body, _of_batch(waits_for_store), tuple(ids), born_timestamp=now, is_batch=True)

    def _identified(self, message: Message, now: int) -> tuple[dict[str, str], str]:
        properties = dict(message.properties)
        unique_id = properties.get(names.UNIQ_KEY)
        if unique_id is None:
            unique_id = properties[names.UNIQ_KEY] = self._ids.make(now)
        return properties, unique_id


def join(packed: Sequence[Packed]) -> Packed:
    """Return one batch of messages of one topic that may share a request and agree in `waits_for_store`."""
    first = packed[0]
    body = encode_entries([(each.flag, each.body, each.properties) for each in packed])
    ids = tuple([each.message_ids[0] for each in packed])
    text = _of_batch(first.waits_for_store)
    return Packed(first.topic, body, text, ids, born_timestamp=first.born_timestamp, is_batch=True)


def _of_batch(waits_for_store: bool) -> str:
    """Return the properties of a whole batch: brokers append them to every entry, so they repeat nothing of those."""
    return "" if waits_for_store else _text({names.WAIT: "false"})


def _check_batch(topic: str, messages: Sequence[Message]) -> None:
    if not messages:
        raise MessageRefused("a batch needs at least one message")
    if is_retry_topic(topic):
        raise MessageRefused(_NO_RETRY_BATCH)
    for message in messages:
        if message.topic != topic:
            raise MessageRefused(f"messages of a batch must have the same topic, not {topic!r} and {message.topic!r}")
        _check_body(message.body)
        if message.delay_level:
            raise MessageRefused("a batch cannot be delayed")
        if message.properties.get(names.TRAN_MSG) == "true":
            raise MessageRefused("a batch cannot be transactional")
        if message.waits_for_store != messages[0].waits_for_store:
            raise MessageRefused("waits_for_store must be the same for all messages of a batch")


def _check_body(body: object) -> None:
    """Refuse a str: an error while writing would fail every request in the same write."""
    if not isinstance(body, bytes | bytearray | memoryview):
        raise MessageRefused(f"a body must be bytes, not {type(body).__name__}")


def _move_retry_counts(packed: Packed, properties: dict[str, str]) -> None:
    """Move both retry counts from the properties to the header, as brokers expect them (protocol/README.md#sending)."""
    packed.reconsume_times = int(properties.pop(names.RECONSUME_TIME, "0"))
    maximum = properties.pop(names.MAX_RECONSUME_TIMES, None)
    packed.max_reconsume_times = None if maximum is None else int(maximum)


def _text(properties: dict[str, str]) -> str:
    try:
        return format_properties(properties)
    except MalformedProperties as error:
        raise MessageRefused(str(error)) from error
