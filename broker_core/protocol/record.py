"""One stored message as bytes, on disk and on the wire (protocol/README.md#records).

::

     0 TOTALSIZE   4 MAGIC       8 BODYCRC    12 QUEUEID         16 FLAG        20 QUEUEOFFSET (8)   28 LOGOFFSET (8)
    36 SYSFLAG    40 BORN (8)   48 BORNHOST (8 or 20)            56 STORED (8)  64 STOREHOST (8 or 20)
    72 RECONSUMETIMES           76 PREPAREDTRANSACTIONOFFSET (8) 84 BODYLENGTH (4)
    88 body | topic length int8 (V2: int16) | topic | properties length int16 | properties

The positions are those for two IPv4 hosts. The sys flag marks IPv6 hosts, each of which shifts the rest by 12 bytes, so
it is always read first. V1 is written; V2, which Apache RocketMQ 5 writes for long topic names, is read too.
"""

from __future__ import annotations

import struct
import zlib
from typing import Final, NamedTuple

from broker_core.native import native
from broker_core.protocol import sys_flag as flags
from broker_core.protocol.compression import decompress as decompress_body
from broker_core.protocol.errors import MalformedCompression, MalformedRecord, UnknownCompression
from broker_core.protocol.host import decode_host
from broker_core.protocol.message import LogOffset, QueueOffset, StoredMessage
from broker_core.protocol.properties import parse_properties

Buffer = bytes | bytearray | memoryview
"""A buffer to read records from; also a memory map, which type checkers do not accept as either."""

MAGIC_V1: Final = 0xDAA320A7 - (1 << 32)
MAGIC_V2: Final = 0xDAA320AB - (1 << 32)
MAGIC_BLANK: Final = 0xCBD43194 - (1 << 32)

QUEUE_OFFSET_AT: Final = 20
LOG_OFFSET_AT: Final = 28
SYS_FLAG_AT: Final = 36
BORN_HOST_AT: Final = 48
MAX_TOPIC_BYTES: Final = 127
# Two IPv4 hosts, no body, no topic, no properties.
MIN_RECORD_BYTES: Final = 91

_CRC_MASK: Final = 0x7FFFFFFF
_INT: Final = struct.Struct(">i")
_BYTE: Final = struct.Struct(">b")
_SHORT: Final = struct.Struct(">h")
_SIZE_AND_MAGIC: Final = struct.Struct(">ii")
_SIZE_AND_FLAG: Final = struct.Struct(">i32xi")
_HOST_SHIFT: Final = 4
_HOST_BITS_OF: Final = {
    (8, 8): 0,
    (20, 8): flags.BORN_HOST_IPV6,
    (8, 20): flags.STORE_HOST_IPV6,
    (20, 20): flags.HOSTS_MASK,
}
# All fixed parts except the hosts and the length byte of the topic.
_UNHOSTED_BYTES: Final = 74


def _fixed(born_host: int, store_host: int) -> struct.Struct:
    return struct.Struct(f">iiiiiqqiq{born_host}sq{store_host}siqi")


# Everything up to the body length; the index is the two host bits of the sys flag.
FIXED: Final = (_fixed(8, 8), _fixed(20, 8), _fixed(8, 20), _fixed(20, 20))


class RecordHead(NamedTuple):
    """The fields of one record, with variable parts as positions in its buffer."""

    size: int
    magic: int
    body_crc: int
    queue_id: int
    flag: int
    queue_offset: int
    log_offset: int
    sys_flag: int
    born_timestamp: int
    born_host: bytes
    store_timestamp: int
    store_host: bytes
    reconsume_times: int
    prepared_transaction_offset: int
    body_length: int
    body_begin: int
    topic_begin: int
    topic_end: int
    properties_begin: int
    properties_end: int


crc32: Final = native.crc32 if native else zlib.crc32


def crc_of(body: bytes | memoryview) -> int:
    """Return the checksum of a body for its record."""
    return crc32(body) & _CRC_MASK


class MessageOrigin(NamedTuple):
    """Where and when the messages of one request were born and stored; hosts as `host.encode_host` writes them."""

    born_timestamp: int
    born_host: bytes
    store_timestamp: int
    store_host: bytes
    reconsume_times: int = 0
    prepared_transaction_offset: int = 0


def encode_topic(topic: str) -> bytes:
    """Return the topic of a V1 record, preceded by its length; raise MalformedRecord if it is too long."""
    encoded = topic.encode()
    if len(encoded) > MAX_TOPIC_BYTES:
        raise MalformedRecord(f"a topic of {len(encoded)} bytes; a record has room for {MAX_TOPIC_BYTES}")
    return bytes((len(encoded),)) + encoded


def size_of(topic: bytes, body: bytes, properties: bytes, origin: MessageOrigin) -> int:
    """Return the size in bytes of a V1 record with these parts; `topic` is encoded."""
    return _UNHOSTED_BYTES + len(origin.born_host) + len(origin.store_host) + len(body) + len(topic) + len(properties)


def encode(
    topic: bytes,
    body: bytes,
    properties: bytes,
    origin: MessageOrigin,
    size: int,
    queue_id: int,
    queue_offset: int,
    log_offset: int,
    sys_flag: int = 0,
    flag: int = 0,
) -> bytes:
    """Return one V1 record of `size` bytes (from `size_of`); `topic` is encoded.

    The host bits of the sys flag are set from the hosts. Raises MalformedRecord for numbers that do not fit
    their fields, and for properties of more than 32767 bytes.
    """
    born_timestamp, born_host, store_timestamp, store_host, reconsume_times, prepared = origin
    # Nearly always both hosts are IPv4, and this runs for every message.
    host_bits = 0 if len(born_host) + len(store_host) == 16 else _HOST_BITS_OF[len(born_host), len(store_host)]
    try:
        head = FIXED[host_bits >> _HOST_SHIFT].pack(
            size,
            MAGIC_V1,
            crc32(body) & _CRC_MASK,
            queue_id,
            flag,
            queue_offset,
            log_offset,
            sys_flag & ~flags.HOSTS_MASK | host_bits,
            born_timestamp,
            born_host,
            store_timestamp,
            store_host,
            reconsume_times,
            prepared,
            len(body),
        )
        properties_length = _SHORT.pack(len(properties))
    except struct.error as error:
        raise MalformedRecord(f"a number does not fit its field: {error}") from error
    return b"".join((head, body, topic, properties_length, properties))


def read_head(buffer: Buffer, position: int = 0) -> RecordHead:
    """Return the head of the record at `position`; raise MalformedRecord unless its lengths are consistent."""
    try:
        sys_flag = _INT.unpack_from(buffer, position + SYS_FLAG_AT)[0]
        fixed = FIXED[(sys_flag & flags.HOSTS_MASK) >> _HOST_SHIFT]
        fields = fixed.unpack_from(buffer, position)
        size, magic, body_length = fields[0], fields[1], fields[14]
        body_begin = position + fixed.size
        length_at = body_begin + body_length
        if body_length < 0 or size < MIN_RECORD_BYTES or position + size > len(buffer):
            raise MalformedRecord(f"a size of {size} with a body of {body_length} bytes", position=position)
        topic_begin, topic_end = _topic_span(buffer, length_at, magic)
        properties_begin = topic_end + 2
        properties_end = properties_begin + _SHORT.unpack_from(buffer, topic_end)[0]
    except struct.error as error:
        raise MalformedRecord("it is cut off", position=position) from error
    if properties_end != position + size or properties_end < properties_begin:
        raise MalformedRecord(f"its parts do not match its size of {size}", position=position)
    return RecordHead._make((*fields, body_begin, topic_begin, topic_end, properties_begin, properties_end))


def decode_one(buffer: Buffer, position: int = 0, *, decompress: bool = True) -> StoredMessage:
    """Return the message of the record at `position`.

    A body that does not decompress stays as it is stored, with the reason in `damage`: brokers store such bodies
    unseen, and the other messages of an answer must be readable. Raises MalformedRecord for a damaged record.
    """
    head = read_head(buffer, position)
    body = bytes(buffer[head.body_begin : head.body_begin + head.body_length])
    damage = None
    if decompress and head.sys_flag & flags.COMPRESSED:
        try:
            body = decompress_body(body, head.sys_flag)
        except (MalformedCompression, UnknownCompression) as error:
            damage = str(error)
    return StoredMessage(
        str(buffer[head.topic_begin : head.topic_end], "utf-8", "replace"),
        head.queue_id,
        QueueOffset(head.queue_offset),
        LogOffset(head.log_offset),
        body,
        parse_properties(str(buffer[head.properties_begin : head.properties_end], "utf-8", "replace")),
        head.flag,
        head.sys_flag,
        head.born_timestamp,
        decode_host(head.born_host),
        head.store_timestamp,
        decode_host(head.store_host),
        head.reconsume_times,
        head.prepared_transaction_offset,
        head.body_crc,
        head.size,
        damage,
    )


def decode_many(buffer: Buffer, *, decompress: bool = True) -> list[StoredMessage]:
    """Return the messages of consecutive records, as in a pull answer; raise like `decode_one`."""
    messages: list[StoredMessage] = []
    position = 0
    while position < len(buffer):
        if native is not None:
            position = native.decode_messages(StoredMessage, buffer, position, messages)
            if position >= len(buffer):
                break
        message = decode_one(buffer, position, decompress=decompress)
        messages.append(message)
        position += message.store_size
    return messages


def compressed_bytes(buffer: Buffer) -> int:
    """Return how many bytes of consecutive records are in those with a compressed body; what is no record is none."""
    found = position = 0
    while position + MIN_RECORD_BYTES <= len(buffer):
        size, sys_flag = _SIZE_AND_FLAG.unpack_from(buffer, position)
        if size < MIN_RECORD_BYTES:
            break
        found += size if sys_flag & flags.COMPRESSED else 0
        position += size
    return found


def size_and_magic(buffer: Buffer, position: int) -> tuple[int, int]:
    """Return size and magic of the record at `position`, where at least eight bytes must follow."""
    size, magic = _SIZE_AND_MAGIC.unpack_from(buffer, position)
    return size, magic


def encode_blank(size: int) -> bytes:
    """Return the eight bytes that declare the remaining `size` bytes of a segment unused."""
    return _SIZE_AND_MAGIC.pack(size, MAGIC_BLANK)


def body_is_sound(buffer: Buffer, head: RecordHead) -> bool:
    """Return whether the stored body matches the checksum in its record."""
    return crc_of(memoryview(buffer)[head.body_begin : head.body_begin + head.body_length]) == head.body_crc


def _topic_span(buffer: Buffer, length_at: int, magic: int) -> tuple[int, int]:
    if magic == MAGIC_V1:
        # Java reads the length as a signed byte.
        length = _BYTE.unpack_from(buffer, length_at)[0]
        begin = length_at + 1
    elif magic == MAGIC_V2:
        length = _SHORT.unpack_from(buffer, length_at)[0]
        begin = length_at + 2
    else:
        raise MalformedRecord(f"magic {magic & 0xFFFFFFFF:08X} is not that of a message")
    if length < 0:
        raise MalformedRecord(f"a topic of {length} bytes")
    return begin, begin + length
