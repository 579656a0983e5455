"""Sending back messages that could not be consumed (broker/README.md#retries-and-dead-letters)."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable

from broker_core.broker.access.permits import Permits
from broker_core.broker.arrivals import Arrivals
from broker_core.broker.errors import MessageGone, TopicUnwritable
from broker_core.broker.groups import Groups
from broker_core.broker.intake import Intake
from broker_core.broker.processors.handlers import Handlers
from broker_core.broker.processors.rights import WriteRights
from broker_core.broker.processors.topic_creation import max_times_of
from broker_core.broker.retries import GroupTopics, send_back
from broker_core.broker.sent_answer import mark
from broker_core.broker.stats import Stats
from broker_core.broker.waits import Waits
from broker_core.protocol.codes import PERM_WRITE, RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.send import ConsumerSendMessageBackRequest
from broker_core.protocol.record import decode_one
from broker_core.remoting.connection import Connection, Result


class SendBackProcessor:
    """Answers 36."""

    def __init__(
        self,
        *,
        rights: WriteRights,
        groups: Groups,
        permits: Permits,
        group_topics: GroupTopics,
        arrivals: Arrivals,
        intake: Intake,
        waits: Waits,
        stats: Stats,
        clock: Callable[[], int],
    ) -> None:
        self._rights = rights
        self._groups = groups
        self._permits = permits
        self._group_topics = group_topics
        self._arrivals = arrivals
        self._intake = intake
        self._waits = waits
        self._stats = stats
        self._clock = clock
        self._next_queue = itertools.count()

    def handlers(self) -> Handlers:
        return {RequestCode.CONSUMER_SEND_MSG_BACK: self.send_back}

    def send_back(self, request: Command, connection: Connection) -> Result:
        """Store a message again for its group's next attempt, or as a dead letter.

        The group counts it as consumed then. So where controllers decide who is master, the answer waits for all
        replicas in sync.
        """
        header = request.header(ConsumerSendMessageBackRequest)
        now = self._clock()
        account = self._permits.account_of(request, connection)
        group = self._groups.get_or_create(header.group, now=now, account=account)
        self._rights.check_broker()
        if group.retry_queue_nums <= 0:
            return Command.response(ResponseCode.SUCCESS)
        record = self._arrivals.find_named(header.offset)
        if record is None:
            raise MessageGone(f"look message by offset failed, {header.offset}")
        stored = decode_one(record, decompress=False)
        max_times = max_times_of(request, header.max_reconsume_times, group.retry_max_times)
        retry = send_back(stored, header.group, delay_level=header.delay_level, max_times=max_times)
        topic = self._group_topics.get_or_create(
            retry.message.topic, queues=1 if retry.is_dead_letter else group.retry_queue_nums, now=now
        )
        if not topic.perm & PERM_WRITE:
            raise TopicUnwritable(topic.topic_name)
        queue_id = next(self._next_queue) % max(topic.write_queue_nums, 1)
        origin = self._intake.origin_of_copy(stored, now=now, reconsume_times=retry.reconsume_times)
        if self._waits.are_for_all:
            self._waits.check_room()
        put = self._intake.put_message(retry.message, queue_id, origin, delay_level=retry.delay_level)
        self._stats.count_sent_back(header.group, stored.topic)
        response = Command.response(ResponseCode.SUCCESS)
        return self._settled(response, put.end, now) if self._waits.are_for_all else response

    async def _settled(self, response: Command, end: int, now: int) -> Command:
        settled: asyncio.Future[ResponseCode] = asyncio.get_running_loop().create_future()
        self._waits.wait(end, settled.set_result, now=now)
        return mark(response, await settled)
