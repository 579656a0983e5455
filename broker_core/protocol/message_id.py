"""Both kinds of message id, 32 upper-case hex characters with an IPv4 address, 56 with IPv6.

See protocol/README.md#message-ids.

::

    offset id   address 4 or 16 | port int32 | log offset int64                                      made by the broker
    unique id   address 4 or 16 | pid int16 | loader int32 | ms of the month int32 | counter int16   made by the client
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from broker_core.native import native
from broker_core.protocol.errors import MalformedMessageId
from broker_core.protocol.host import encode_host, split_host

if TYPE_CHECKING:
    from broker_core.protocol.message import LogOffset

IPV4_LENGTH: Final = 32
IPV6_LENGTH: Final = 56
_LOG_OFFSET: Final = struct.Struct(">q")


@dataclass(frozen=True, slots=True)
class OffsetId:
    """A broker and a log offset, as encoded in an offset id."""

    ip: str
    port: int
    log_offset: LogOffset


def format_offset_id(host: bytes, log_offset: int) -> str:
    """Return the offset id of the record at `log_offset` of the broker at `host` (8 or 20 bytes)."""
    return f"{_hex_of(host)}{log_offset:016X}"


@lru_cache(maxsize=64)
def _hex_of(host: bytes) -> str:
    return host.hex().upper()


def _format_offset_ids(host: bytes, log_offsets: list[int]) -> str:
    """Return the offset ids of several records, separated by commas, as in the answer to a batch."""
    return ",".join([format_offset_id(host, each) for each in log_offsets])


format_offset_ids: Final = native.format_ids if native else _format_offset_ids


def parse_offset_id(text: str) -> OffsetId:
    """Return the content of an offset id; raise MalformedMessageId for any other text."""
    data = _unhex(text)
    ip, port = split_host(data[:-8])
    log_offset: LogOffset = _LOG_OFFSET.unpack(data[-8:])[0]
    if log_offset < 0 or not 0 <= port <= 0xFFFF:
        raise MalformedMessageId(f"{text!r} is not an offset message id")
    return OffsetId(ip, port, log_offset)


class UniqueIds:
    """Creates unique ids for one client process; a 16-bit counter within each ms keeps them distinct."""

    def __init__(self, *, ip: str, pid: int, loader: int) -> None:
        """Start with this machine's address, the process id and a number that distinguishes clients of one process."""
        fixed = encode_host(ip, 0)[:-4] + struct.pack(">HI", pid & 0xFFFF, loader & 0xFFFFFFFF)
        self._fixed = fixed.hex().upper()
        self._counter = 0
        self._month_begin = 0
        self._month_end = 0

    def make(self, now: int) -> str:
        """Return the next id; `now` in ms since 1970."""
        if not self._month_begin <= now < self._month_end:
            self._month_begin, self._month_end = _month_of(now)
        self._counter = (self._counter + 1) & 0xFFFF
        return f"{self._fixed}{(now - self._month_begin) & 0xFFFFFFFF:08X}{self._counter:04X}"

    def make_many(self, now: int, count: int) -> list[str]:
        """Return the next ids, at most 65,535 of them."""
        first = self.make(now)
        start, begin = first[:-4], self._counter
        self._counter = (begin + count - 1) & 0xFFFF
        return [f"{start}{number & 0xFFFF:04X}" for number in range(begin, begin + count)]


def born_time_of_unique_id(text: str, now: int) -> int:
    """Return when a unique id was created, in ms: the latest time not after `now` that matches it.

    The id counts from the beginning of a month, so an id older than a month is dated to a later month.
    Raises MalformedMessageId for text of another form.
    """
    data = _unhex(text)
    since = int.from_bytes(data[-6:-2], "big")
    begin, _ = _month_of(now)
    if begin + since <= now:
        return begin + since
    return _month_of(begin - 1)[0] + since


def _unhex(text: str) -> bytes:
    if len(text) not in (IPV4_LENGTH, IPV6_LENGTH):
        raise MalformedMessageId(f"a message id has 32 or 56 characters, {text!r} has {len(text)}")
    try:
        return bytes.fromhex(text)
    except ValueError as error:
        raise MalformedMessageId(f"{text!r} is not hexadecimal") from error


def _month_of(now: int) -> tuple[int, int]:
    """Return the beginning and end of the local month around `now`, in ms."""
    begin = datetime.fromtimestamp(now / 1000).astimezone().replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    years, month = divmod(begin.month, 12)
    end = begin.replace(year=begin.year + years, month=month + 1)
    return _local_ms(begin), _local_ms(end)


def _local_ms(moment: datetime) -> int:
    # Without its zone the time is read as local time, which gives the right offset on both sides of a clock change.
    return round(moment.replace(tzinfo=None).timestamp() * 1000)
