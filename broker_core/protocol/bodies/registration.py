"""The body of a broker's registration in its two forms (protocol/README.md#name-servers).

Plain, it is RegisterBrokerBody as JSON. Compressed, it is one zlib stream over::

    int32 length + JSON of DataVersion
    int32 number of topics
    per topic: int32 length + text  "Orders 4 4 6 SINGLE_TAG"   name, read queues, write queues, permission, filter
    int32 length + JSON array of filter servers
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from typing import Final

import orjson

from broker_core.protocol.bodies.coder import decode
from broker_core.protocol.bodies.routes import RegisterBrokerBody
from broker_core.protocol.bodies.topics import DataVersion, TopicConfig, TopicConfigSerializeWrapper
from broker_core.protocol.errors import MalformedBody

# A broker with 100,000 topics of 127-character names registers with about 15 MB.
MAX_UNPACKED_BYTES: Final = 64 * 1024 * 1024
_LOOSE_BYTES: Final = 1024  # a version is three numbers
_INT = struct.Struct(">i")


def decode_registration(
    body: bytes, *, compressed: bool, check_topics: Callable[[int], None] = lambda _: None
) -> RegisterBrokerBody:
    """Return the decoded registration of a broker; raises MalformedBody. An empty body is a broker without topics.

    `check_topics` is called with how many topics a compressed one has before they are read, and may raise an error.
    """
    if not body:
        return RegisterBrokerBody()
    return _decode_compressed(body, check_topics) if compressed else decode(RegisterBrokerBody, body)


def checksum(body: bytes) -> int:
    """Return the value of `bodyCrc32` for a body as transmitted."""
    return zlib.crc32(body) & 0x7FFFFFFF


def _decode_compressed(body: bytes, check_topics: Callable[[int], None]) -> RegisterBrokerBody:
    try:
        unpacker = zlib.decompressobj()
        reader = _Reader(unpacker.decompress(body, MAX_UNPACKED_BYTES))
        if unpacker.unconsumed_tail:
            raise MalformedBody(f"a registration of more than {MAX_UNPACKED_BYTES} bytes")
        version = decode(DataVersion, reader.text(), _LOOSE_BYTES)
        count = reader.integer()
        check_topics(count)
        topics = [_topic(reader.text().decode()) for _ in range(count)]
        filters = orjson.loads(reader.text() or b"[]")
        if not isinstance(filters, list):
            raise MalformedBody("the filter servers of a registration are not a list")
    except (zlib.error, struct.error, ValueError, UnicodeDecodeError) as error:
        raise MalformedBody(f"a compressed registration cannot be read: {error}") from error
    table = TopicConfigSerializeWrapper(version, {topic.topic_name: topic for topic in topics})
    return RegisterBrokerBody(table, [str(each) for each in filters])


def _topic(text: str) -> TopicConfig:
    name, read_queues, write_queues, permission, filter_type = text.split(" ")
    return TopicConfig(name, int(read_queues), int(write_queues), int(permission), filter_type)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def integer(self) -> int:
        (value,) = _INT.unpack_from(self._data, self._at)
        self._at += _INT.size
        return int(value)

    def text(self) -> bytes:
        length = self.integer()
        if length < 0 or self._at + length > len(self._data):
            raise ValueError(f"a length of {length} with {len(self._data) - self._at} bytes left")
        self._at += length
        return self._data[self._at - length : self._at]
