"""Messages that wait for their delivery time: recall, reschedule, list, count (broker/README.md#delivery-times)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from broker_core.broker.errors import IllegalArgument, IllegalHandle, RecallsRefused
from broker_core.broker.processors.handlers import Handlers
from broker_core.broker.sent_answer import mark
from broker_core.broker.settings import Settings
from broker_core.broker.timer.reads import TimerReads, Wanted
from broker_core.broker.timer.records import Parked
from broker_core.broker.timer.timer import Timer
from broker_core.broker.topics import Topics
from broker_core.broker.waits import Waits
from broker_core.protocol import bodies
from broker_core.protocol import properties as names
from broker_core.protocol.bodies.timers import DueInBucket, TimerList, TimerSummary, WaitingInTopic, WaitingMessage
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.errors import MalformedHandle
from broker_core.protocol.headers import timers as headers
from broker_core.protocol.recall_handle import RecallHandle
from broker_core.protocol.record import decode_one
from broker_core.remoting.connection import Connection
from broker_core.store import MessageStore
from broker_core.store.errors import MessageDamaged

MAX_LISTED: Final = 500
MIN_BUCKET_MS: Final = 60_000


class TimerProcessor:
    """Answers 370 and the codes 30101 to 30103, which are this broker's own."""

    def __init__(
        self,
        *,
        timer: Timer,
        reads: TimerReads,
        store: MessageStore,
        topics: Topics,
        waits: Waits,
        settings: Settings,
        clock: Callable[[], int],
    ) -> None:
        self._timer = timer
        self._reads = reads
        self._store = store
        self._topics = topics
        self._waits = waits if waits.are_needed else None
        self._settings = settings
        self._clock = clock

    def handlers(self) -> Handlers:
        return {
            RequestCode.RECALL_MESSAGE: self.recall,
            RequestCode.RESCHEDULE_MESSAGE: self.reschedule,
            RequestCode.LIST_TIMERS: self.list,
            RequestCode.SUMMARIZE_TIMERS: self.summarize,
        }

    async def recall(self, request: Command, _: Connection) -> Command:
        """Take back a message; doing it twice succeeds."""
        header = request.header(headers.RecallMessageRequest)
        if not self._settings.config.timer.recalls:
            raise RecallsRefused
        self._topics.get(header.topic)
        handle = self._handle_of(header)
        stored = self._timer.recall(handle.topic, handle.unique_id)
        answer = headers.RecallMessageResponse(handle.unique_id)
        return await self._answer(answer, None if stored is None else stored.end)

    def _handle_of(self, header: headers.RecallMessageRequest) -> RecallHandle:
        try:
            handle = RecallHandle.parse(header.recall_handle)
        except MalformedHandle as error:
            raise IllegalHandle(f"recall failed, {error}") from error
        mine = self._settings.config.identity.name
        if handle.topic != header.topic or handle.broker_name != mine:
            raise IllegalHandle(
                f"recall failed, the handle is of topic {handle.topic[:80]} at broker {handle.broker_name[:80]}, "
                f"the request of topic {header.topic[:80]} at broker {mine}"
            )
        return handle

    async def reschedule(self, request: Command, _: Connection) -> Command:
        """Give a waiting message another delivery time."""
        header = request.header(headers.RescheduleMessageRequest)
        now = self._clock()
        due = max(self._settings.config.timer.check(header.deliver_ms, now), now)
        stored = self._timer.reschedule(header.topic, header.msg_id, due)
        return await self._answer(headers.RescheduleMessageResponse(header.msg_id, due), stored.end)

    async def _answer(self, header: object, end: int | None) -> Command:
        """Answer when everything before log offset `end` is where it shall be, if senders wait for that."""
        response = Command.response(ResponseCode.SUCCESS, header)
        if end is None and self._waits is not None and self._waits.are_for_all:
            end = self._store.appended_log_offset  # it was done before, somewhere in the log
        if self._waits is None or end is None:
            return response
        settled: asyncio.Future[ResponseCode] = asyncio.get_running_loop().create_future()
        self._waits.wait(end, settled.set_result, now=self._clock())
        return mark(response, await settled, "done")

    async def list(self, request: Command, _: Connection) -> Command:
        """Return a page of waiting messages, without their bodies."""
        header = request.header(headers.ListTimersRequest)
        if not 1 <= header.limit <= MAX_LISTED:
            raise IllegalArgument(f"limit {header.limit} is not between 1 and {MAX_LISTED}")
        self._timer.catch_up()
        wanted = Wanted(
            header.begin,
            header.end,
            (header.after_due, header.after_seq),
            header.topic,
            header.key,
            header.msg_id,
            header.limit + 1,
        )
        rows = await self._reads.list(wanted)
        page = rows[: header.limit]
        last = page[-1] if page else None
        body = TimerList(
            [message for row in page if (message := self._message_of(row)) is not None],
            len(rows) <= header.limit,
            last.due if last else header.after_due,
            last.seq if last else header.after_seq,
        )
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(body))

    def _message_of(self, row: Parked) -> WaitingMessage | None:
        """Return a message of a page; None when its record has gone in the meantime or is damaged."""
        try:
            record = self._store.find_raw(row.log_offset)
        except MessageDamaged:
            return None
        if record is None:
            return None
        stored = decode_one(record, decompress=False)
        queue_id = stored.properties.get(names.REAL_QID, "")
        return WaitingMessage(
            seq=row.seq,
            due=row.due,
            topic=row.topic,
            queue_id=int(queue_id) if queue_id.isdecimal() else 0,
            msg_id=stored.message_id,
            keys=stored.properties.get(names.KEYS),
            tags=stored.properties.get(names.TAGS),
            stored_at=row.stored_at,
            born_at=stored.born_timestamp,
            born_host=stored.born_host,
            log_offset=row.log_offset,
            body_size=len(stored.body),
        )

    async def summarize(self, request: Command, _: Connection) -> Command:
        """Return how many messages wait, by topic and by time."""
        header = request.header(headers.SummarizeTimersRequest)
        if header.bucket_ms < MIN_BUCKET_MS or header.end <= header.begin:
            raise IllegalArgument(
                f"buckets of {header.bucket_ms} ms in [{header.begin}, {header.end}): a bucket has at least "
                f"{MIN_BUCKET_MS} ms, and the end comes after the begin"
            )
        self._timer.catch_up()
        found = await self._reads.summary(header.begin, header.end, header.bucket_ms, self._clock())
        day = found.last_day
        body = TimerSummary(
            [WaitingInTopic(*each) for each in found.topics],
            [DueInBucket(*each) for each in found.buckets],
            found.is_partial,
            *day,
            max_delay_ms=self._settings.config.timer.max_delay_ms,
        )
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(body))
