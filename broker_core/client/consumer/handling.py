"""Calling the application with messages: concurrently, or one by one per queue (client/README.md#handling)."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from broker_core.client.config import PushConfig
from broker_core.client.consumer.buffer import QueueBuffer
from broker_core.client.consumer.offsets import OffsetStore
from broker_core.client.consumer.reader import QueueReader
from broker_core.client.consumer.send_back import SendBack, as_sent
from broker_core.client.tasks import Tasks
from broker_core.client.traces import TraceWriter
from broker_core.clock import now_ms
from broker_core.logs import get_logger
from broker_core.protocol.message import StoredMessage
from broker_core.protocol.traces import OUTCOMES

MessageHandler = Callable[[StoredMessage], Awaitable[object]]
"""The application's handler. Returning means that the message is consumed; raising requests it again."""

_NO_LOCK_PAUSE_MS: Final = 100
_SUCCESS, _TIMEOUT, _EXCEPTION, _FAILED = (
    OUTCOMES.index(each) for each in ("success", "timeout", "exception", "failed")
)
_DEAD_LETTER: Final = -1
"""The delay level that makes a message a dead letter at once."""


class RetryLater(Exception):
    """Raised by a handler to request its message again; any other error has the same effect and is logged."""

    def __init__(self, *, delay_level: int = 0) -> None:
        super().__init__(f"delay level {delay_level}")
        self.delay_level = delay_level
        """0: by the retry count; below 0: a dead letter at once. An orderly consumer waits briefly in any case."""


class _Running:
    """Counts the messages being handled, so that a consumer can wait for them when it closes."""

    def __init__(self) -> None:
        self.is_closing = False
        self._count = 0
        self._idle = asyncio.Event()
        self._idle.set()

    def __enter__(self) -> None:
        self._count += 1
        self._idle.clear()

    def __exit__(self, *_: object) -> None:
        self._count -= 1
        if not self._count:
            self._idle.set()

    async def finish(self, timeout_ms: int) -> None:
        """Wait until no message is being handled."""
        self.is_closing = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_ms / 1000):
                await self._idle.wait()


@dataclass(frozen=True, slots=True)
class _Called:
    """The outcome of a handler call."""

    outcome: int
    """An index of `protocol.traces.OUTCOMES`."""
    delay_level: int = 0

    @property
    def done(self) -> bool:
        """Whether the message is consumed."""
        return self.outcome == _SUCCESS


async def call(handler: MessageHandler, message: StoredMessage, *, timeout_ms: int, group: str) -> _Called:
    """Call the application with one message under its original topic; an exception requests the message again.

    A damaged message counts as failed without a call: the application would take its stored bytes for the sent ones.
    """
    log = get_logger(__name__, f"group={group} topic={message.topic}")
    if message.damage is not None:
        where = message.queue_id, message.queue_offset
        log.error("queue=%d offset=%d: the message is damaged and not handled: %s", *where, message.damage)
        return _Called(_FAILED)
    timer = asyncio.timeout(timeout_ms / 1000)
    try:
        async with timer:
            handled = handler(as_sent(message))
            if not inspect.isawaitable(handled):
                raise TypeError(f"a handler must be an async function; this one returned {handled!r}")
            await handled
    except RetryLater as later:
        return _Called(_FAILED, delay_level=later.delay_level)
    except asyncio.CancelledError:
        if _is_being_cancelled():
            raise
        # The handler was cancelled from within: that ends the handler, not the worker that called it.
        log.error("%s was not handled: the handler cancelled itself", message.message_id)
        return _Called(_EXCEPTION)
    except Exception:
        log.exception("%s was not handled", message.message_id)
        return _Called(_TIMEOUT if timer.expired() else _EXCEPTION)
    return _Called(_SUCCESS)


def _is_being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class Handling:
    """How a consumer calls its handler."""

    _may_go_back: ClassVar[bool]
    """Whether a queue may be committed at a lower offset than before."""

    def __init__(
        self,
        handler: MessageHandler,
        tasks: Tasks,
        offsets: OffsetStore,
        send_back: SendBack,
        *,
        group: str,
        config: PushConfig,
        traces: TraceWriter | None = None,
    ) -> None:
        self._handler = handler
        self._tasks = tasks
        self._offsets = offsets
        self._send_back = send_back
        self._group = group
        self._config = config
        self._running = _Running()
        self._traces = traces

    def start(self) -> None:
        """Start handling messages."""

    def arrived(self, reader: QueueReader) -> None:
        """Called when `reader` has new messages."""

    def added(self, reader: QueueReader) -> None:
        """Called when a queue is read from now on."""

    async def finish(self, *, timeout_ms: int) -> None:
        """Start nothing new and wait up to `timeout_ms` for messages that are being handled."""
        await self._running.finish(timeout_ms)

    async def _call(self, buffer: QueueBuffer, message: StoredMessage) -> _Called:
        buffer.last_consume = now_ms()
        # A damaged message is not passed to the application, so there is nothing to trace.
        traced = None if self._traces is None or message.damage is not None else self._traces.delivered(message)
        called = await call(self._handler, message, timeout_ms=self._config.consume_timeout_ms, group=self._group)
        if self._traces is not None and traced is not None:
            self._traces.handled(message, traced, called.outcome)
        return called

    def _done(self, buffer: QueueBuffer, message: StoredMessage) -> None:
        offset = buffer.done(message)
        if offset is not None and not buffer.dropped:
            self._offsets.note(buffer.queue, offset, may_go_back=self._may_go_back)


class Concurrent(Handling):
    """A fixed number of workers handles the messages of all queues; failed messages go back to the broker."""

    _may_go_back = False

    def __init__(
        self,
        handler: MessageHandler,
        tasks: Tasks,
        offsets: OffsetStore,
        send_back: SendBack,
        *,
        group: str,
        config: PushConfig,
        traces: TraceWriter | None = None,
    ) -> None:
        super().__init__(handler, tasks, offsets, send_back, group=group, config=config, traces=traces)
        # The buffers' limits apply here too: each message in this queue is also in its buffer.
        self._work: asyncio.Queue[tuple[QueueBuffer, StoredMessage]] = asyncio.Queue()

    def start(self) -> None:
        """Start the workers."""
        for number in range(self._config.concurrency):
            self._tasks.start(f"worker {number}", self._worker())

    def arrived(self, reader: QueueReader) -> None:
        """Pass all waiting messages to the workers."""
        while not self._running.is_closing and (message := reader.buffer.take()) is not None:
            self._work.put_nowait((reader.buffer, message))

    async def _worker(self) -> None:
        while True:
            buffer, message = await self._work.get()
            if not buffer.dropped and not self._running.is_closing:
                with self._running:
                    await self._handle(buffer, message)

    async def _handle(self, buffer: QueueBuffer, message: StoredMessage) -> None:
        called = await self._call(buffer, message)
        if buffer.dropped:
            return  # the member that reads the queue now gets the message again
        if called.done or self._config.broadcasting or await self._give_back(buffer, message, called):
            self._done(buffer, message)
        else:
            self._tasks.start("handle again", self._handle_again(buffer, message))

    async def _give_back(self, buffer: QueueBuffer, message: StoredMessage, called: _Called) -> bool:
        return await self._send_back.send_back(message, buffer.queue.broker_name, delay_level=called.delay_level)

    async def _handle_again(self, buffer: QueueBuffer, message: StoredMessage) -> None:
        await asyncio.sleep(self._config.retry_local_ms / 1000)
        self._work.put_nowait((buffer, replace(message, reconsume_times=message.reconsume_times + 1)))


class Orderly(Handling):
    """One message of a queue at a time, in queue order; a failed message is handled again before the next one."""

    _may_go_back = True

    def added(self, reader: QueueReader) -> None:
        """Start the lane of a queue."""
        self._tasks.start(f"lane {reader.queue.broker_name}/{reader.queue.queue_id}", self._lane(reader))

    async def _lane(self, reader: QueueReader) -> None:
        while not reader.is_dropped and not self._running.is_closing:
            reader.arrived.clear()
            buffer = reader.buffer
            message = buffer.take()
            if message is None:
                await reader.arrived.wait()
            elif not reader.is_locked:
                buffer.put_back(message)
                await asyncio.sleep(_NO_LOCK_PAUSE_MS / 1000)
            else:
                reader.idle.clear()
                done = await self._handle(buffer, message)
                reader.idle.set()
                if not done:
                    await asyncio.sleep(self._config.suspend_queue_ms / 1000)

    async def _handle(self, buffer: QueueBuffer, message: StoredMessage) -> bool:
        """Call the handler; return False if the same message must be handled again."""
        with self._running:
            called = await self._call(buffer, message)
            if called.done or await self._is_dead(buffer, message):
                self._done(buffer, message)
                return True
        buffer.put_back(replace(message, reconsume_times=message.reconsume_times + 1))
        return False

    async def _is_dead(self, buffer: QueueBuffer, message: StoredMessage) -> bool:
        """Send a message that failed too often, or is damaged, to the dead letters; return whether that was done."""
        if message.damage is not None:  # it would fail as often as it is handled, and the queue would wait for it
            if self._config.broadcasting:
                return True
            return await self._send_back.send_back(message, buffer.queue.broker_name, delay_level=_DEAD_LETTER)
        if not 0 <= self._config.max_reconsume_times <= message.reconsume_times:
            return False
        return await self._send_back.send_copy(message)
