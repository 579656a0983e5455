"""Receipts of leased messages, and how a pop answer tells them (broker/README.md#pop).

A receipt's text, eight words joined by spaces::

    start offset | pop time | invisible time | revive queue | retry flag | broker name | queue id | queue offset

The answer's header says the same for all messages at once. `startOffsetInfo` is ``flag queue start;…`` and
`msgOffsetInfo` is ``flag queue offset,offset;…``, where the flag is 0 for the topic itself, 1 and 2 for its retry topic
under its older and its newer name. A broker may also put the receipt into each message, as property POP_CK; but a
sender may have put one there too, so it counts only where the header leaves a choice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Self

from broker_core.protocol import properties as names
from broker_core.protocol.headers.pop import ChangeInvisibleTimeResponse, PopMessageResponse
from broker_core.protocol.message import StoredMessage
from broker_core.protocol.topics import is_retry_topic, retry_topic

_WORDS: Final = 8
_NORMAL: Final = "0"
_RETRY: Final = "1"
_BETWEEN_NAMES: Final = {_RETRY: "_", "2": "+"}
"""By retry flag: what stands between group and topic in the name of the retry topic."""
_TIME_DIGITS: Final = 15
_PARTS: Final = 8  # of a receipt as text


@dataclass(frozen=True, slots=True)
class LeaseReceipt:
    """What it takes to end or to lengthen the lease of one message; any process may use it."""

    group: str
    broker_name: str
    topic: str
    """Where the leased message is: the topic that was read, or the group's retry topic of it."""
    queue_id: int
    queue_offset: int
    extra_info: str
    """The broker's own text of the receipt."""
    pop_time: int
    """When the lease began, ms of the broker's clock."""
    invisible_ms: int

    @property
    def expires_at(self) -> int:
        """When the lease ends, ms of the broker's clock."""
        return self.pop_time + self.invisible_ms

    def to_text(self) -> str:
        """Return the receipt as text that `from_text` reads; it holds no secret and proves nothing."""
        words = (self.group, self.broker_name, self.topic, self.queue_id, self.queue_offset, self.pop_time)
        return "\n".join((*map(str, words), str(self.invisible_ms), self.extra_info))

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Return the receipt that `to_text` wrote; raise ValueError for any other text."""
        parts = text.split("\n")
        if len(parts) != _PARTS:
            raise ValueError(f"{text!r} is no receipt")
        group, broker_name, topic, queue_id, queue_offset, pop_time, invisible_ms, extra_info = parts
        return cls(
            group, broker_name, topic, int(queue_id), int(queue_offset), extra_info, int(pop_time), int(invisible_ms)
        )

    def renewed(self, answer: ChangeInvisibleTimeResponse) -> LeaseReceipt:
        """Return the receipt of the same message after its lease was changed."""
        words = self.extra_info.split(" ")
        words[1:4] = str(answer.pop_time), str(answer.invisible_time), str(answer.revive_qid)
        return replace(self, extra_info=" ".join(words), pop_time=answer.pop_time, invisible_ms=answer.invisible_time)


@dataclass(frozen=True, slots=True)
class LeasedMessage:
    """A message in lease, under the topic it was sent to."""

    message: StoredMessage
    receipt: LeaseReceipt
    delivery_count: int
    """1 for the first delivery."""
    first_delivered_at: int | None
    """When it was lent for the first time, ms of the broker's clock; None if the broker does not know."""


class Receipts:
    """Makes the receipts of one pop answer."""

    def __init__(self, group: str, topic: str, broker_name: str, header: PopMessageResponse) -> None:
        self._group = group
        self._topic = topic
        self._broker_name = broker_name
        self._header = header
        self._starts = _starts(header.start_offset_info)
        self._flags = _flags(header.msg_offset_info)

    def leased(self, message: StoredMessage) -> LeasedMessage:
        """Return `message` with its receipt."""
        flag = self._flag(message)
        receipt = LeaseReceipt(
            group=self._group,
            broker_name=self._broker_name,
            topic=self._place(message.topic, flag),
            queue_id=message.queue_id,
            queue_offset=message.queue_offset,
            extra_info=self._text(message, flag),
            pop_time=self._header.pop_time,
            invisible_ms=self._header.invisible_time,
        )
        shown = message if message.topic == self._topic else replace(message, topic=self._topic)
        return LeasedMessage(shown, receipt, message.reconsume_times + 1, self._first_delivered_at(message))

    def _flag(self, message: StoredMessage) -> str:
        """Return whether the message lies in the topic itself or in a retry topic, as the header says."""
        told = self._flags.get((message.queue_id, int(message.queue_offset)), ())
        if len(told) == 1:
            return told[0]
        if is_retry_topic(message.topic):
            return next((flag for flag in told if flag != _NORMAL), _RETRY)
        if not told:
            return _NORMAL
        # The same place in both; the broker built the message again, and only its own receipt tells which it is.
        words = message.properties.get(names.POP_CK, "").split(" ")
        is_of_this = len(words) >= _WORDS and words[1] == str(self._header.pop_time)
        return words[4] if is_of_this and words[4] in told else _NORMAL

    def _place(self, topic: str, flag: str) -> str:
        """Return the topic where the lease is, also for a message of a retry topic that is shown under its own."""
        between = _BETWEEN_NAMES.get(flag)
        if between is None or is_retry_topic(topic):
            return topic
        return retry_topic(f"{self._group}{between}{topic}")

    def _text(self, message: StoredMessage, flag: str) -> str:
        header = self._header
        start = self._starts.get((flag, message.queue_id), int(message.queue_offset))
        words = (start, header.pop_time, header.invisible_time, header.revive_qid, flag)
        return " ".join(map(str, (*words, self._broker_name, message.queue_id, message.queue_offset)))

    def _first_delivered_at(self, message: StoredMessage) -> int | None:
        """Return the time of the first pop: this one, or what the broker says of one before."""
        if not message.reconsume_times:
            return self._header.pop_time
        told = message.properties.get(names.FIRST_POP_TIME, "")
        return int(told) if told.isdecimal() and 0 < len(told) <= _TIME_DIGITS else None


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
