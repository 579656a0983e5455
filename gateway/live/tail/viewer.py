"""One viewer of a tail: sample, filter, rate, and what it counts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Final

from broker_core.client.admin.placed import PlacedMessage
from broker_core.clock import now_ms
from broker_core.protocol.applications import CONTENT_TYPE
from broker_core.protocol.bodies import MessageQueue
from broker_core.protocol.message import StoredMessage
from console.moments import rfc3339
from gateway.data.bodies import present
from gateway.data.schemas import Body
from gateway.live.tail import places
from gateway.live.tail.filters import FAILS, Judge, Judgement
from gateway.live.tail.frames import (
    Counts,
    DropReason,
    MessageFrame,
    Phase,
    PhaseFrame,
    ProgressFrame,
    StartFrame,
    UnknownFrame,
)
from gateway.live.tail.outbox import Gap, Outbox

_CUT: Final = "the body has {:,} bytes, more than max_body_bytes; read the message by its id"
NO_RIGHT: Final = "needs the right to read the bodies of {!r}"


class Allowance:
    """So many messages a second, and at most those of one second at once."""

    def __init__(self, per_second: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._clock = clock
        self._left = float(per_second)
        self._at = clock()

    def take(self) -> bool:
        """Take one; return False if none is left."""
        self._refill()
        if self._left < 1:
            return False
        self._left -= 1
        return True

    async def wait(self) -> None:
        """Take one when it is due."""
        self._refill()
        self._left -= 1
        if self._left < 0:
            await asyncio.sleep(-self._left / self._per_second)

    def _refill(self) -> None:
        now = self._clock()
        self._left = min(self._per_second, self._left + (now - self._at) * self._per_second)
        self._at = now


class Viewer:
    """Takes what readers read, and fills the outbox."""

    def __init__(self, wanted: StartFrame, *, shows_bodies: Callable[[str], bool], outbox: Outbox) -> None:
        self._wanted = wanted
        self._shows_bodies = {topic: shows_bodies(topic) for topic in wanted.topics}
        self._judge = Judge(wanted.filter)
        self._allowance = Allowance(wanted.max_rate)
        self._outbox = outbox
        self._counts = Counts()
        self._gaps: dict[DropReason, Gap] = {}
        self._places: dict[MessageQueue, int] = {}

    def take_live(self, messages: Sequence[PlacedMessage]) -> None:
        """Show messages as they come; drop those above the rate."""
        for placed in messages:
            judged = self._judged(placed)
            if not judged.passes:
                continue
            if self._allowance.take():
                self._show(placed, judged.unjudged)
            else:
                self._drop(1, placed.message.store_timestamp, "max_rate")

    async def take_all(self, messages: Sequence[PlacedMessage]) -> None:
        """Show messages at the rate; drop none."""
        for placed in messages:
            judged = self._judged(placed)
            if judged.passes:
                await self._allowance.wait()
                await self._outbox.room()
                self._show(placed, judged.unjudged)

    def skip(self, queue: MessageQueue, to: int, n: int, reason: DropReason) -> None:
        """Note that `n` messages of a queue before the offset `to` were not read."""
        self._counts.stored += n
        self._drop(n, None, reason)
        self._places[queue] = to

    def at(self, queue: MessageQueue, offset: int) -> None:
        """Note the offset from which a queue is read on."""
        self._places[queue] = offset

    def failed(self, topic: str, broker: str | None, reason: str | None) -> None:
        """Say that a topic or a broker of it cannot be read; None: that it is read again."""
        self._outbox.put(UnknownFrame(topic=topic, broker=broker, reason=reason))

    def enters(self, phase: Phase, topics: Sequence[str]) -> None:
        """Say that topics are read up to their end first, or that what comes is new."""
        self._outbox.put(PhaseFrame(phase=phase, topics=topics))

    def report(self) -> None:
        """Say what was dropped, and the counts."""
        self._tell_gaps()
        counts = {name: getattr(self._counts, name) for name in Counts.__struct_fields__}
        frame = ProgressFrame(**counts, at=rfc3339(now_ms()), resume=places.write(self._places))
        self._outbox.put(frame)

    def _judged(self, placed: PlacedMessage) -> Judgement:
        message = placed.message
        self._counts.stored += 1
        self._places[placed.queue] = message.queue_offset + 1
        if message.queue_offset % self._wanted.sample:
            return FAILS
        self._counts.read += 1
        self._counts.bytes += message.store_size
        judged = self._judge.judge(message)
        self._counts.matched += judged.passes
        return judged

    def _show(self, placed: PlacedMessage, unjudged: str | None) -> None:
        self._tell_gaps()
        lost = self._outbox.put(self._frame(placed, unjudged), placed.message.store_timestamp)
        self._counts.shown += 1 - lost
        self._counts.dropped += lost

    def _drop(self, n: int, stored_at: int | None, reason: DropReason) -> None:
        self._gaps.setdefault(reason, Gap(reason)).add(n, stored_at)
        self._counts.dropped += n

    def _tell_gaps(self) -> None:
        gaps, self._gaps = self._gaps, {}
        for gap in gaps.values():
            self._outbox.put(gap.frame())

    def _frame(self, placed: PlacedMessage, unjudged: str | None) -> MessageFrame:
        message = placed.message
        hidden = self._hidden(message.topic, len(message.body))
        is_allowed = self._shows_bodies[message.topic]
        return MessageFrame(
            message_id=message.message_id,
            topic=message.topic,
            broker=placed.broker_name,
            queue_id=message.queue_id,
            offset=message.queue_offset,
            stored_at=rfc3339(message.store_timestamp),
            tag=message.tag,
            keys=message.keys,
            size_bytes=message.store_size,
            reconsume_times=message.reconsume_times,
            properties=message.properties if is_allowed else None,
            body=None if hidden else _body(message),
            body_hidden=hidden,
            unjudged=unjudged,
        )

    def _hidden(self, topic: str, size: int) -> str | None:
        if not self._shows_bodies[topic]:
            return NO_RIGHT.format(topic)
        return _CUT.format(size) if size > self._wanted.max_body_bytes else None


def _body(message: StoredMessage) -> Body:
    return present(message.body, message.properties.get(CONTENT_TYPE), "auto" if message.damage is None else "base64")
