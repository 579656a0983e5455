"""Receipts of leased messages, and how they follow from a pop answer (broker/README.md#pop).

A receipt's text, eight words joined by spaces::

    start offset | pop time | invisible time | revive queue | retry flag | broker name | queue id | queue offset

The answer's header contains the same for all messages at once. `startOffsetInfo` is ``flag queue start;…`` and
`msgOffsetInfo` is ``flag queue offset,offset;…``, where the flag is 0 for the topic itself, 1 and 2 for its retry topic
under its older and its newer name. A broker may also put the receipt into each message, as property POP_CK; because a
sender may have set one too, it is used only where the header is ambiguous.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, NamedTuple, Self

from broker_core.protocol import properties as names
from broker_core.protocol.headers.pop import ChangeInvisibleTimeResponse, PopMessageResponse
from broker_core.protocol.message import StoredMessage
from broker_core.protocol.record import decode_many
from broker_core.protocol.topics import is_retry_topic, retry_topic
from broker_core.protocol.values import hot_value

_WORDS: Final = 8
_NORMAL: Final = "0"
_RETRY: Final = "1"
_BETWEEN_NAMES: Final = {_RETRY: "_", "2": "+"}
"""By retry flag: the separator between group and topic in the name of the retry topic."""
_TIME_DIGITS: Final = 15
_PARTS: Final = 8  # maximum length of the time in a receipt


class LeasePortion(NamedTuple):
    """What the receipts of the messages share that one pop leased from one queue."""

    group: str
    broker_name: str
    topic: str
    """The topic of the leased messages: the topic that was read, or the group's retry topic of it."""
    queue_id: int
    start_offset: int
    pop_time: int
    invisible_ms: int
    revive_queue_id: int
    flag: str = _NORMAL
    """The retry flag; "0" for the topic itself."""

    def receipt(self, queue_offset: int) -> LeaseReceipt:
        """Return the receipt of the message at an offset."""
        times = f"{self.pop_time} {self.invisible_ms} {self.revive_queue_id}"
        where = f"{self.flag} {self.broker_name} {self.queue_id} {queue_offset}"
        return LeaseReceipt(
            self.group,
            self.broker_name,
            self.topic,
            self.queue_id,
            queue_offset,
            f"{self.start_offset} {times} {where}",
            self.pop_time,
            self.invisible_ms,
        )

    @property
    def is_normal(self) -> bool:
        """Whether the messages are in the topic itself, not in a retry topic."""
        return self.flag == _NORMAL


@hot_value
class LeaseReceipt:
    """The data needed to end or extend the lease of one message; any process may use it."""

    group: str
    broker_name: str
    topic: str
    """The topic of the leased message: the topic that was read, or the group's retry topic of it."""
    queue_id: int
    queue_offset: int
    extra_info: str
    """The broker's own text of the receipt."""
    pop_time: int
    """When the lease started, ms of the broker's clock."""
    invisible_ms: int

    @property
    def expires_at(self) -> int:
        """When the lease ends, ms of the broker's clock."""
        return self.pop_time + self.invisible_ms

    @property
    def portion(self) -> LeasePortion:
        """What it shares with others of its pop; raises ValueError for a broker's text of an unknown form."""
        start, _, _, revive_queue_id, flag, _ = self.extra_info.split(" ", 5)
        numbers = int(start), self.pop_time, self.invisible_ms, int(revive_queue_id)
        return LeasePortion(self.group, self.broker_name, self.topic, self.queue_id, *numbers, flag)

    def to_text(self) -> str:
        """Return the receipt as text for `from_text`; it contains no secret and is not signed."""
        where = f"{self.group}\n{self.broker_name}\n{self.topic}\n{self.queue_id}\n{self.queue_offset}"
        return f"{where}\n{self.pop_time}\n{self.invisible_ms}\n{self.extra_info}"

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Return the receipt that `to_text` wrote; raise ValueError for any other text."""
        parts = text.split("\n")
        if len(parts) != _PARTS:
            raise ValueError(f"{text!r} is not a receipt")
        group, broker_name, topic, queue_id, queue_offset, pop_time, invisible_ms, extra_info = parts
        return cls(
            group, broker_name, topic, int(queue_id), int(queue_offset), extra_info, int(pop_time), int(invisible_ms)
        )

    def renewed(self, answer: ChangeInvisibleTimeResponse) -> LeaseReceipt:
        """Return the receipt of the same message after its lease was changed."""
        words = self.extra_info.split(" ")
        words[1:4] = str(answer.pop_time), str(answer.invisible_time), str(answer.revive_qid)
        return replace(self, extra_info=" ".join(words), pop_time=answer.pop_time, invisible_ms=answer.invisible_time)


@hot_value
class LeasedMessage:
    """A leased message, under the topic it was sent to."""

    message: StoredMessage
    receipt: LeaseReceipt
    delivery_count: int
    """1 for the first delivery."""
    first_delivered_at: int | None
    """Time of the first delivery, ms of the broker's clock; None if the broker does not report it."""


@dataclass(frozen=True, slots=True)
class LeasedRecords:
    """The leased messages of one pop answer, not decoded."""

    group: str
    topic: str
    broker_name: str
    header: PopMessageResponse
    records: bytes

    def portions(self) -> list[tuple[LeasePortion, list[int]]]:
        """Return portions with their queue offsets in the order of the records.

        Raises ValueError for an answer that only the messages explain: with those of retry topics, or without offsets.
        """
        header = self.header
        starts = _starts(header.start_offset_info)
        times = header.pop_time, header.invisible_time, header.revive_qid
        portions = []
        for part in (header.msg_offset_info or "").split(";"):
            flag, queue_id, offsets = part.split(" ")
            if flag != _NORMAL:
                raise ValueError("messages of a retry topic")
            places = [int(offset) for offset in offsets.split(",")]
            start = starts.get((flag, int(queue_id)), places[0])
            portions.append(
                (LeasePortion(self.group, self.broker_name, self.topic, int(queue_id), start, *times), places)
            )
        return portions

    def messages(self) -> list[LeasedMessage]:
        """Decode the messages; raises ProtocolError or ValueError."""
        receipts = Receipts(self.group, self.topic, self.broker_name, self.header)
        return [receipts.leased(message) for message in decode_many(self.records)]


class Receipts:
    """Builds the receipts of one pop answer."""

    def __init__(self, group: str, topic: str, broker_name: str, header: PopMessageResponse) -> None:
        self._group = group
        self._topic = topic
        self._broker_name = broker_name
        self._header = header
        self._starts = _starts(header.start_offset_info)
        self._flags = _flags(header.msg_offset_info)
        self._times = f"{header.pop_time} {header.invisible_time} {header.revive_qid}"

    def leased(self, message: StoredMessage) -> LeasedMessage:
        """Return `message` with its receipt."""
        flag = self._flag(message)
        receipt = LeaseReceipt(
            self._group,
            self._broker_name,
            message.topic if flag == _NORMAL else self._place(message.topic, flag),
            message.queue_id,
            message.queue_offset,
            self._text(message, flag),
            self._header.pop_time,
            self._header.invisible_time,
        )
        shown = message if message.topic == self._topic else replace(message, topic=self._topic)
        return LeasedMessage(shown, receipt, message.reconsume_times + 1, self._first_delivered_at(message))

    def _flag(self, message: StoredMessage) -> str:
        """Return from the header whether the message is in the topic itself or in a retry topic."""
        flags = self._flags.get((message.queue_id, message.queue_offset), ())
        if len(flags) == 1:
            return flags[0]
        if is_retry_topic(message.topic):
            return next((flag for flag in flags if flag != _NORMAL), _RETRY)
        if not flags:
            return _NORMAL
        # Both have this place, and the broker rewrites the message, so only its own receipt identifies the topic.
        words = message.properties.get(names.POP_CK, "").split(" ")
        is_of_this = len(words) >= _WORDS and words[1] == str(self._header.pop_time)
        return words[4] if is_of_this and words[4] in flags else _NORMAL

    def _place(self, topic: str, flag: str) -> str:
        """Return the topic of the lease, also for a message of a retry topic that is shown under its original topic."""
        between = _BETWEEN_NAMES.get(flag)
        if between is None or is_retry_topic(topic):
            return topic
        return retry_topic(f"{self._group}{between}{topic}")

    def _text(self, message: StoredMessage, flag: str) -> str:
        queue_id, offset = message.queue_id, message.queue_offset
        start = self._starts.get((flag, queue_id), offset)
        return f"{start} {self._times} {flag} {self._broker_name} {queue_id} {offset}"

    def _first_delivered_at(self, message: StoredMessage) -> int | None:
        """Return the time of the first pop: of this one, or the earlier one that the broker reports."""
        if not message.reconsume_times:
            return self._header.pop_time
        text = message.properties.get(names.FIRST_POP_TIME, "")
        return int(text) if text.isdecimal() and 0 < len(text) <= _TIME_DIGITS else None


def _starts(info: str | None) -> dict[tuple[str, int], int]:
    """Return (retry flag, queue id) → start offset of a pop answer's `startOffsetInfo`."""
    starts = {}
    for part in filter(None, (info or "").split(";")):
        flag, queue_id, start = part.split(" ")
        starts[flag, int(queue_id)] = int(start)
    return starts


def _flags(info: str | None) -> dict[tuple[int, int], list[str]]:
    """Return (queue id, queue offset) → retry flags of a pop answer's `msgOffsetInfo`."""
    flags: dict[tuple[int, int], list[str]] = {}
    for part in filter(None, (info or "").split(";")):
        flag, queue_id, offsets = part.split(" ")
        for offset in offsets.split(","):
            flags.setdefault((int(queue_id), int(offset)), []).append(flag)
    return flags
