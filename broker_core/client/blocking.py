"""The synchronous interface to the client: through an event loop in its own thread, or through a running loop.

Threads of web requests, Celery tasks and commands have no loop, and a connection belongs to the loop it was opened on.
So they share one loop, in a thread that starts with the first call. A forked child does not have that thread: its first
call starts a new one, and a `BlockingSession` opens new connections.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import os
import threading
import weakref
from collections.abc import Coroutine
from dataclasses import replace
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from broker_core.client.admin import Admin
from broker_core.client.config import ClientConfig, ProducerConfig, new_client_id
from broker_core.client.errors import ClientError
from broker_core.client.producer import Producer
from broker_core.client.session import Session

T = TypeVar("T")

_STOP_SECONDS: Final = 5.0

_to_forget: weakref.WeakSet[LoopThread | BlockingSession] = weakref.WeakSet()


class CallEnded(ClientError):
    """The call was cancelled before it finished; the operation may have been carried out."""


class CallTimedOut(CallEnded):
    """The call did not finish in the given time; the operation may have been carried out."""

    def __init__(self, timeout_s: float) -> None:
        super().__init__(f"not finished within {timeout_s:g} s; the operation may have been carried out")
        self.timeout_s = timeout_s


class LoopThread:
    """Runs coroutines for threads without a loop, and waits for them."""

    def __init__(self, name: str = "client loop") -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._calls: set[concurrent.futures.Future[Any]] = set()
        self._process = os.getpid()
        _to_forget.add(self)

    @classmethod
    def on(cls, loop: asyncio.AbstractEventLoop) -> Self:
        """Return the interface to a loop that another thread runs; `close` does not stop that loop."""
        door = cls()
        door._loop = loop
        return door

    @property
    def process(self) -> int:
        """The id of the process that runs this loop; it changes with a fork."""
        return self._process

    def run(self, work: Coroutine[Any, Any, T], *, timeout_s: float | None = None) -> T:
        """Run `work` on the loop and return its result or raise its error; after `timeout_s` raise CallTimedOut.

        Raises CallEnded if another thread calls `close` first. Must not be called on the loop's own thread, where it
        would wait forever.
        """
        future = self._begin(work)
        try:
            return future.result(timeout_s)
        except concurrent.futures.CancelledError:
            if future in self._calls:  # `work` cancelled itself
                raise
            raise CallEnded("closed during the call; the operation may have been carried out") from None
        except concurrent.futures.TimeoutError:
            if future.done():  # `work` itself raised a TimeoutError
                raise
            future.cancel()
            raise CallTimedOut(timeout_s or 0.0) from None
        except BaseException:
            future.cancel()
            raise
        finally:
            self._calls.discard(future)

    def close(self) -> None:
        """Stop the loop and its thread, and end running calls; a later `run` starts new ones."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
            calls, self._calls = self._calls, set()
        if loop is not None and thread is not None:
            for call in calls:  # otherwise the threads that wait for them would never wake up
                call.cancel()
            loop.call_soon_threadsafe(loop.stop)
            thread.join(_STOP_SECONDS)

    def _begin(self, work: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        with self._lock:
            loop = self._running_loop()
            if threading.current_thread() is self._thread or _is_running_here(loop):
                work.close()
                raise RuntimeError("called from the event loop that must do the work; await it instead")
            # In a separate context: the work must not wait for resources of the calling thread, such as Django's
            # thread for synchronous work, because that thread waits for the work.
            future = contextvars.Context().run(asyncio.run_coroutine_threadsafe, work, loop)
            self._calls.add(future)
            return future

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=_run, args=(self._loop,), name=self._name, daemon=True)
            self._thread.start()
        return self._loop

    def forget(self) -> None:
        """Reset in a forked child: it does not have the loop's thread, and a lock may be locked."""
        self._lock = threading.Lock()
        self._loop = self._thread = None
        self._calls = set()
        self._process = os.getpid()


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def _is_running_here(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False


class BlockingSession:
    """A session for code without an event loop: the usual objects, whose coroutines are passed to `run`.

    ``with BlockingSession(config) as session: session.run(session.admin.topics.list())``
    """

    def __init__(self, config: ClientConfig, *, door: LoopThread | None = None) -> None:
        """Without `door` the session has its own loop thread, which stops with `close`."""
        self._config = config
        self._own_door = door is None
        self._door = door or LoopThread(f"client {config.client_id}")
        self._lock = threading.Lock()
        self._session: Session | None = None
        self._admin: Admin | None = None
        self._producers: dict[str, Producer] = {}
        _to_forget.add(self)

    @property
    def session(self) -> Session:
        """The session, started at its first use."""
        with self._lock:
            if self._session is None:
                self._session = self._door.run(_started(self._config))
            return self._session

    @property
    def admin(self) -> Admin:
        """Administration; pass its coroutines to `run`."""
        session = self.session
        if self._admin is None or self._admin.session is not session:
            self._admin = Admin(session)
        return self._admin

    def producer(self, group: str = "GANTRY_PRODUCER", config: ProducerConfig | None = None) -> Producer:
        """Return the producer of a group, created and started at the first use of that group."""
        session = self.session
        with self._lock:
            producer = self._producers.get(group)
            if producer is None:
                producer = self._producers[group] = self._door.run(_producer(session, group, config))
            return producer

    def run(self, work: Coroutine[Any, Any, T], *, timeout_s: float | None = None) -> T:
        """Run `work` on the session's loop; see `LoopThread.run`."""
        return self._door.run(work, timeout_s=timeout_s)

    def close(self) -> None:
        """Close producers, the session and, if it is the session's own, the loop thread."""
        with self._lock:
            session, self._session, self._admin = self._session, None, None
            producers, self._producers = list(self._producers.values()), {}
        if session is not None:
            for producer in producers:
                self._door.run(producer.close())
            self._door.run(session.close())
        if self._own_door:
            self._door.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def forget(self) -> None:
        """Reset in a forked child: the connections and the client id belong to the parent."""
        if self._session is not None:
            self._session.abandon()  # a producer of the parent may still be used here
        self._config = replace(self._config, client_id=new_client_id())
        self._lock = threading.Lock()
        self._session = self._admin = None
        self._producers = {}


def _forget_all() -> None:
    for each in list(_to_forget):
        each.forget()


os.register_at_fork(after_in_child=_forget_all)


async def _started(config: ClientConfig) -> Session:
    return await Session(config).start()


async def _producer(session: Session, group: str, config: ProducerConfig | None) -> Producer:
    return await Producer(session, group, config).start()
