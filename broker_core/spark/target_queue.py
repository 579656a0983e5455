"""The target queue of a lane: sends to it, and determines which copies arrived.

A batch is stored completely or not at all, and only one is in flight. The end of the queue therefore shows whether a
send without an answer arrived, and where an earlier run was killed (spark/README.md#checkpoints-and-exact-counts).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from broker_core.client.blocking import BlockingSession
from broker_core.client.config import ProducerConfig
from broker_core.client.consumer.pull import PullConsumer, PullStatus
from broker_core.client.errors import (
    BrokerBusy,
    BrokerRefused,
    BrokerUnavailable,
    ClientError,
    MessageRefused,
    MessageTooLarge,
    SendUncertain,
    Unreachable,
)
from broker_core.client.retry import backoff
from broker_core.client.sending import SendResult
from broker_core.protocol.batch import encode_entries
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.errors import MalformedProperties
from broker_core.protocol.message import Message
from broker_core.protocol.properties import UNIQ_KEY, mark_of, parse_properties
from broker_core.spark.copies import Copier, Copy
from broker_core.spark.replay_plan import Lane

_GIVE_UP_AFTER_S: Final = 60.0
_FIRST_PAUSE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 5.0
_SEND_TIMEOUT_MS: Final = 10_000
_UNIQUE_ID: Final = mark_of(UNIQ_KEY)

Pair = tuple[int, Copy]
"""A copy and the queue offset of its original."""


class LaneFailed(Exception):
    """The lane cannot continue now; its copies so far are confirmed."""


class Stopped(Exception):
    """The driver has stopped the lane."""


class TargetQueue:
    """Sends to one queue, and determines which copies arrived."""

    def __init__(self, session: BlockingSession, lane: Lane, copier: Copier, end: int) -> None:
        """`end` is a target queue offset; no copy of this lane is known at or after it."""
        self._session, self._queue, self._copier = session, lane.target, copier
        self._producer = session.producer(config=ProducerConfig(compress_from_bytes=1 << 30))
        self.end = end

    def send(self, pairs: Sequence[Pair], is_wanted: Callable[[], bool]) -> None:
        """Store all copies in order; retry for a minute while the broker is busy or unreachable.

        Raises MessageTooLarge or MessageRefused if nothing was stored, LaneFailed after a minute, and Stopped if the
        driver stops the lane during a pause.
        """
        failure: ClientError | None = None
        for pause_s in backoff(first_s=_FIRST_PAUSE_S, longest_s=_LONGEST_PAUSE_S, within_s=_GIVE_UP_AFTER_S):
            if failure is not None:
                time.sleep(pause_s)
                if not is_wanted():
                    raise Stopped from failure
            try:
                if isinstance(failure, SendUncertain):
                    # Nothing is sent again before the end of the queue was read.
                    pairs = self._not_arrived(pairs)
                    if not pairs:
                        return
                    failure = None
                self._send_once(pairs)
            except (BrokerBusy, BrokerUnavailable, Unreachable, SendUncertain) as error:
                failure = failure if isinstance(failure, SendUncertain) else error
            except (MessageTooLarge, MessageRefused):
                raise
            except ClientError as error:
                if isinstance(error, BrokerRefused) and error.code == ResponseCode.MESSAGE_ILLEGAL:
                    raise MessageRefused(str(error)) from error
                raise LaneFailed(str(error)) from error
            else:
                return
        raise LaneFailed(str(failure)) from failure

    def _send_once(self, pairs: Sequence[Pair]) -> None:
        new_ids = self._producer.make_ids(len(pairs))
        ids = [copy.unique_id or new for (_, copy), new in zip(pairs, new_ids, strict=True)]
        entries = [
            (copy.flag, copy.body, f"{copy.properties}{_UNIQUE_ID}{unique_id}")
            for (_, copy), unique_id in zip(pairs, ids, strict=True)
        ]
        result = self._session.run(self._deliver(entries, ids))
        self.end = result.queue_offset + len(pairs)

    async def _deliver(self, entries: list[tuple[int, bytes, str]], ids: Sequence[str]) -> SendResult:
        topic = self._queue.topic
        if len(entries) == 1:
            # Alone, so that what no broker accepts in a batch may still be accepted.
            [(flag, body, text)] = entries
            message = Message(topic, body, parse_properties(text), flag)
            return await self._producer.send(message, queue=self._queue, timeout_ms=_SEND_TIMEOUT_MS)
        try:
            encoded = encode_entries(entries)
        except MalformedProperties as error:
            raise MessageRefused(str(error)) from error
        return await self._producer.submit_encoded(topic, encoded, ids, queue=self._queue, timeout_ms=_SEND_TIMEOUT_MS)

    def _not_arrived(self, pairs: Sequence[Pair]) -> Sequence[Pair]:
        arrived = self.find_arrived()
        return [pair for pair in pairs if arrived is None or pair[0] > arrived]

    def find_arrived(self) -> int | None:
        """Return the last source offset whose copy is in the target queue from `end` on, and advance `end` past it."""
        consumer = PullConsumer(self._session.session)
        found, at = None, self.end
        while True:
            answer = self._session.run(consumer.pull(self._queue, at))
            for message in answer.messages:
                offset = self._copier.source_offset(message.properties)
                if offset is not None:
                    found, self.end = offset, message.queue_offset + 1
            if answer.status is PullStatus.NO_NEW or answer.next_offset == at:
                return found
            at = answer.next_offset
