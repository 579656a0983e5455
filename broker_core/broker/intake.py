"""The one way of a message into the store: room on the disk, delay, counting, and the word that something arrived.

A message with a delay level goes to the schedule topic and remembers where it wants to go
(store/README.md#delayed-messages); `delay.py` brings it there. Its answer names the queue that the client asked for,
and the offset in the schedule queue.
"""

from __future__ import annotations

from broker_core.broker.arrivals import Arrivals
from broker_core.broker.errors import DiskFull
from broker_core.broker.stats import Stats
from broker_core.protocol import properties as names
from broker_core.protocol.message import Message
from broker_core.protocol.topics import SCHEDULE_TOPIC
from broker_core.store import MessageStore, PutResult, PutSeries

Host = tuple[str, int]


def parked_by_delay(message: Message, queue_id: int, level: int) -> Message:
    """Return what is stored of `message` until its delay of `level` is over."""
    pairs = message.properties | {
        names.DELAY: str(level),
        names.REAL_TOPIC: message.topic,
        names.REAL_QID: str(queue_id),
    }
    return Message(SCHEDULE_TOPIC, message.body, pairs, message.flag, message.sys_flag)


class Intake:
    """Puts messages into the store of one broker, whose address they carry."""

    def __init__(
        self,
        store: MessageStore,
        arrivals: Arrivals,
        stats: Stats,
        *,
        store_host: Host,
        delay_levels: int,
    ) -> None:
        self._store = store
        self._arrivals = arrivals
        self._stats = stats
        self._store_host = store_host
        self._delay_levels = delay_levels
        # Why no message is taken, while the disk is full.
        self.refusal: str | None = None

    @property
    def store_host(self) -> Host:
        """The address that records carry, from which message ids are made."""
        return self._store_host

    def put(
        self,
        message: Message,
        queue_id: int,
        *,
        born_timestamp: int,
        born_host: Host,
        now: int,
        reconsume_times: int = 0,
        delay_level: int = 0,
    ) -> PutResult:
        """Store a message, in the schedule topic if it has a delay level; raises DiskFull and what the store raises."""
        if self.refusal is not None:
            raise DiskFull(self.refusal)
        if delay_level > 0:
            level = min(delay_level, self._delay_levels)
            message, queue_id = parked_by_delay(message, queue_id, level), level - 1
        result = self._store.put(
            message,
            queue_id=queue_id,
            born_timestamp=born_timestamp,
            born_host=born_host,
            store_host=self._store_host,
            reconsume_times=reconsume_times,
            now=now,
        )
        self._stats.count_put(message.topic, 1, result.size)
        self._arrivals.expect()
        return result

    def put_text(
        self,
        topic: str,
        queue_id: int,
        body: bytes,
        text: str,
        *,
        flag: int,
        sys_flag: int,
        born_timestamp: int,
        born_host: Host,
        now: int,
        reconsume_times: int = 0,
    ) -> PutResult:
        """Store a message without a delay whose properties are the text of a request; raises like `put`."""
        if self.refusal is not None:
            raise DiskFull(self.refusal)
        result = self._store.put_text(
            topic,
            queue_id,
            body,
            text,
            flag=flag,
            sys_flag=sys_flag,
            born_timestamp=born_timestamp,
            born_host=born_host,
            store_host=self._store_host,
            now=now,
            reconsume_times=reconsume_times,
        )
        self._stats.count_put(topic, 1, result.size)
        self._arrivals.expect()
        return result

    def put_batch(
        self,
        topic: str,
        queue_id: int,
        body: bytes,
        *,
        common: str,
        sys_flag: int,
        born_timestamp: int,
        born_host: Host,
        now: int,
    ) -> PutSeries:
        """Store the messages of a batch's body side by side, all or none, each with the property text `common` as well.

        Raises like `put`.
        """
        if self.refusal is not None:
            raise DiskFull(self.refusal)
        series = self._store.put_batch(
            topic,
            queue_id,
            body,
            common=common,
            sys_flag=sys_flag,
            born_timestamp=born_timestamp,
            born_host=born_host,
            store_host=self._store_host,
            now=now,
        )
        self._stats.count_put(topic, len(series.log_offsets), series.end - series.log_offsets[0])
        self._arrivals.expect()
        return series
