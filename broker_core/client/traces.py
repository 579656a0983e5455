"""Writing message traces: what a producer or consumer did, as records for the trace topic (client/README.md#traces)."""

from __future__ import annotations

import asyncio
import itertools
import uuid
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from broker_core.client.config import ProducerConfig
from broker_core.client.errors import ClientError
from broker_core.client.sending import SendResult, SendStatus
from broker_core.client.session import Session
from broker_core.client.tasks import Tasks
from broker_core.clock import now_ms
from broker_core.logs import get_logger
from broker_core.protocol import properties as names
from broker_core.protocol.message import Message, StoredMessage
from broker_core.protocol.traces import (
    TRACE_GROUP_PREFIX,
    DeliveredTrace,
    EndedTrace,
    HandledTrace,
    KnownTrace,
    SentTrace,
    encode_trace,
    keys_of,
)

if TYPE_CHECKING:
    from broker_core.client.producer import Producer

MOST_WAITING: Final = 2_048
"""Records that wait to be sent; further ones are dropped and counted."""
_PAUSE_MS: Final = 500
_MOST_CHARACTERS: Final = 118_000
_MOST_KEYS_CHARACTERS: Final = 16_000
_TIMEOUT_MS: Final = 5_000
_NORMAL, _HALF, _END, _DELAYED, _ORDERED = range(5)
_SUCCESS: Final = 0
_DEFAULT_REGION: Final = "DefaultRegion"

Role = Literal["PRODUCE", "CONSUME"]

_numbers: Final = itertools.count(1)


@dataclass(slots=True)
class TraceCounts:
    """What became of the records of one producer or consumer."""

    written: int = 0
    dropped: int = 0
    """Too many waited."""
    failed: int = 0
    """Brokers did not take them."""


class TraceWriter:
    """Collects the records of one group and sends them in the background; no call of it waits or fails."""

    def __init__(self, session: Session, group: str, role: Role, topic: str) -> None:
        self.counts = TraceCounts()
        self.topic = topic
        self.group = group
        self._session = session
        self._producer_group = f"{TRACE_GROUP_PREFIX}-{group}-{role}-{next(_numbers)}"
        self._waiting: deque[KnownTrace] = deque()
        self._producer: Producer | None = None
        self._sending: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()
        self._tasks = Tasks(f"traces of {group}")
        self._log = get_logger(__name__, f"group={group} topic={topic}")

    # -- what is traced

    def sent(self, message: Message, body_bytes: int, began: int, result: SendResult) -> None:
        """Note that a send which began at `began` (ms) was answered; a broker may have asked not to trace it."""
        if not result.is_traced or message.topic == self.topic:
            return
        self._note(
            SentTrace(
                began,
                result.region,
                self.group,
                message.topic,
                ",".join(result.message_ids) or result.message_id,
                message.tag,
                message.properties.get(names.KEYS),
                self._session.routes.master(result.queue.broker_name),
                body_bytes,
                now_ms() - began,
                _type_of(message),
                result.offset_id or None,
                result.status is SendStatus.SEND_OK,
            )
        )

    def ended(self, message: Message | StoredMessage, message_id: str, broker: str, state: str, *, check: bool) -> None:
        """Note the decision on a transaction."""
        region = message.properties.get(names.MSG_REGION, _DEFAULT_REGION)
        keys, host = message.properties.get(names.KEYS), self._session.routes.master(broker)
        of_message = message.topic or None, message_id, message.tag, keys, host
        self._note(EndedTrace(now_ms(), region, self.group, *of_message, _END, message_id, state, check))

    def delivered(self, message: StoredMessage) -> Call | None:
        """Note that a message is passed to the application; return what its end is noted with, if it is traced."""
        if message.properties.get(names.TRACE_ON) == "false" or message.topic == self.topic:
            return None
        call = Call(uuid.uuid4().hex.upper(), now_ms())
        region, keys = message.properties.get(names.MSG_REGION), message.properties.get(names.KEYS)
        self._note(
            DeliveredTrace(
                call.began, region, self.group, call.request_id, message.message_id, message.reconsume_times, keys
            )
        )
        return call

    def handled(self, message: StoredMessage, call: Call, code: int) -> None:
        """Note how a call of the application ended; `code` is an index of `protocol.traces.OUTCOMES`."""
        now, keys = now_ms(), message.properties.get(names.KEYS)
        cost = now - call.began
        ended = code == _SUCCESS, keys, code, now, self.group
        self._note(HandledTrace(call.request_id, message.message_id, cost, *ended))

    # -- sending

    async def close(self) -> None:
        """Send what waits, as far as that is possible within a few seconds."""
        try:
            async with asyncio.timeout(_TIMEOUT_MS / 1000):
                await self._send_waiting()
        except TimeoutError:
            self._fail(len(self._waiting), "they were not sent in time")
            self._waiting.clear()
        self._sending = None
        await self._tasks.close()

    def _note(self, trace: KnownTrace) -> None:
        if len(self._waiting) >= MOST_WAITING:
            if not self.counts.dropped:
                self._log.warning("more than %d trace records wait: further ones are dropped", MOST_WAITING)
            self.counts.dropped += 1
            return
        self._waiting.append(trace)
        if self._sending is None:
            self._sending = self._tasks.every("write traces", _PAUSE_MS, self._send_waiting)

    async def _send_waiting(self) -> None:
        async with self._turn:  # `close` waits for what is on its way
            while self._waiting:
                segment = _Segment()
                while self._waiting and segment.has_room:
                    segment.add(self._waiting.popleft())
                await self._send(segment)

    async def _send(self, segment: _Segment) -> None:
        try:
            message = Message(self.topic, segment.body, {names.KEYS: " ".join(segment.keys)})
            await self._find_producer().send(message)
        except asyncio.CancelledError:
            self.counts.failed += segment.records
            raise
        except (ClientError, UnicodeEncodeError) as error:
            self._fail(segment.records, error)
        else:
            self.counts.written += segment.records

    def _fail(self, records: int, reason: object) -> None:
        self.counts.failed += records
        self._log.warning("%d trace records are lost: %s", records, reason)

    def _find_producer(self) -> Producer:
        from broker_core.client.producer import Producer  # here: producers trace, and one of them sends the traces

        if self._producer is None:
            # It joins no heartbeat: brokers need not know it. As in Java, the first trace may create the topic.
            config = ProducerConfig(timeout_ms=_TIMEOUT_MS, create_topics=True)
            self._producer = Producer(self._session, self._producer_group, config)
        return self._producer


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the application with a message."""

    request_id: str
    began: int


@dataclass(slots=True)
class _Segment:
    """The records of one trace message."""

    texts: list[str] = field(default_factory=list)
    keys: dict[str, None] = field(default_factory=dict)
    characters: int = 0
    key_characters: int = 0
    records: int = 0

    @property
    def has_room(self) -> bool:
        return self.characters < _MOST_CHARACTERS and self.key_characters < _MOST_KEYS_CHARACTERS

    @property
    def body(self) -> bytes:
        return "".join(self.texts).encode()

    def add(self, trace: KnownTrace) -> None:
        """Add a record; the keys of a message that has very many do not all find its traces, its id does."""
        text = encode_trace(trace)
        self.texts.append(text)
        self.records += 1
        self.characters += len(text)
        for key in _short(keys_of(trace)):
            if key not in self.keys:
                self.keys[key] = None
                self.key_characters += len(key) + 1


def _short(keys: Sequence[str]) -> list[str]:
    """Return the first keys, as many as a message may have."""
    ends = itertools.accumulate(len(key) + 1 for key in keys)
    return [key for key, end in zip(keys, ends, strict=True) if end <= _MOST_KEYS_CHARACTERS // 2]


def _type_of(message: Message) -> int:
    if message.properties.get(names.TRAN_MSG) == "true":
        return _HALF
    if names.DELAY in message.properties or any(name in message.properties for name in names.TIMERS):
        return _DELAYED
    return _ORDERED if names.SHARDING_KEY in message.properties else _NORMAL
