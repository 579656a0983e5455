"""A message as an application sends it, and as a broker stores it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import NewType, Self

from broker_core.protocol import properties as names
from broker_core.protocol import sys_flag as flags
from broker_core.protocol.host import encode_host, parse_host
from broker_core.protocol.message_id import format_offset_id
from broker_core.protocol.values import hot_value

QueueOffset = NewType("QueueOffset", int)
"""A position in a queue, counted in messages."""

LogOffset = NewType("LogOffset", int)
"""A position in the commit log, counted in bytes."""

_LEVEL_DIGITS = 10  # of a 32-bit number


class _Named:
    """The values that the properties of a message contain."""

    __slots__ = ()
    properties: dict[str, str]

    @property
    def keys(self) -> list[str]:
        """The index keys, without the unique id."""
        return names.split_keys(self.properties.get(names.KEYS))

    @property
    def tag(self) -> str | None:
        """The tag, if the message has one."""
        return self.properties.get(names.TAGS)

    @property
    def unique_id(self) -> str | None:
        """The id assigned by the producing client, if any."""
        return self.properties.get(names.UNIQ_KEY)


@hot_value
class Message(_Named):
    """A message to send: body bytes for a topic, with properties."""

    topic: str
    body: bytes
    properties: dict[str, str] = field(default_factory=dict)
    flag: int = 0
    sys_flag: int = 0

    @classmethod
    def create(
        cls,
        topic: str,
        body: bytes,
        *,
        keys: Sequence[str] = (),
        tag: str | None = None,
        properties: Mapping[str, str] | None = None,
        delay_level: int = 0,
        flag: int = 0,
    ) -> Self:
        """Return a message with checked properties; raise MalformedProperties for values that cannot be sent."""
        if isinstance(keys, str):
            raise TypeError(f"keys must be a list of strings, not the string {keys!r}")
        pairs = dict(properties or {})
        if keys:
            pairs[names.KEYS] = names.join_keys(keys)
        if tag:
            pairs[names.TAGS] = tag
        if delay_level:
            pairs[names.DELAY] = str(delay_level)
        names.check_properties(pairs)
        return cls(topic, body, pairs, flag)

    @property
    def delay_level(self) -> int:
        """The delay level, 0 for none; text that is not a number counts as none."""
        text = self.properties.get(names.DELAY, "")
        return int(text) if text.isdecimal() and len(text) <= _LEVEL_DIGITS else 0

    @property
    def waits_for_store(self) -> bool:
        """Whether the producer requires its answer only after flush and replication (the default without WAIT)."""
        return self.properties.get(names.WAIT, "true").lower() == "true"


@hot_value
class StoredMessage(_Named):
    """A message as stored and delivered by a broker, with its positions, times and hosts.

    Times are ms since 1970, hosts are `ip:port` (`[ip]:port` for IPv6). `body` is decompressed unless the reader
    disabled it; `sys_flag`, `body_crc` and `store_size` (bytes of the whole record) always describe the stored bytes.
    A body that does not decompress is damaged: then `body` has the stored bytes and `damage` the reason.
    """

    topic: str
    queue_id: int
    queue_offset: QueueOffset
    log_offset: LogOffset
    body: bytes
    properties: dict[str, str]
    flag: int
    sys_flag: int
    born_timestamp: int
    born_host: str
    store_timestamp: int
    store_host: str
    reconsume_times: int
    prepared_transaction_offset: int
    body_crc: int
    store_size: int
    damage: str | None = None

    @property
    def offset_id(self) -> str:
        """The id that names broker address and log offset."""
        return format_offset_id(encode_host(*parse_host(self.store_host)), self.log_offset)

    @property
    def message_id(self) -> str:
        """The unique id, or the offset id if the message has none."""
        return self.unique_id or self.offset_id

    @property
    def is_compressed(self) -> bool:
        """Whether the stored body is compressed."""
        return bool(self.sys_flag & flags.COMPRESSED)
