"""Django as an ASGI application that answers a request in one thread, and keeps the thread for the next request.

Django's own handler calls each middleware in the mode that it knows, so a chain of both kinds changes between event
loop and thread at every border. It also starts a thread for each request, with a database connection of its own.
Both took more time than the views.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.db import connections
from django.http import HttpRequest, HttpResponseBase

KEPT_THREADS: Final = 16
"""How many threads wait for requests, each with its database connection; more are started while more are needed."""


class DjangoApplication(ASGIHandler):
    """Runs middleware and view one after another in a thread; all of them are synchronous here."""

    def __init__(self) -> None:
        super().__init__()
        self._threads = Threads()

    def load_middleware(self, is_async: bool = False) -> None:
        """Build the chain without steps between the two modes."""
        super().load_middleware(is_async=False)

    async def __call__(
        self,
        scope: dict[str, Any],
        receive: Callable[[], Awaitable[Mapping[str, Any]]],
        send: Callable[[Mapping[str, Any]], Awaitable[None]],
    ) -> None:
        """Answer one HTTP request."""
        with self._threads.lent() as thread:
            async with ThreadSensitiveContext(executor=thread):
                await self.handle(scope, receive, send)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """Return the answer of the chain."""
        return await sync_to_async(self.get_response)(request)


class Threads:
    """Threads that each serve one request at a time."""

    def __init__(self, kept: int = KEPT_THREADS) -> None:
        self._kept = kept
        self._free: deque[_Thread] = deque()

    @contextmanager
    def lent(self) -> Iterator[ThreadPoolExecutor]:
        """Lend a thread that does nothing else; one whose request was left is lent again when it has finished."""
        thread = self._free.pop() if self._free else _Thread()
        try:
            yield thread
        finally:
            thread.when_idle(lambda _: self._take_back(thread))

    def _take_back(self, thread: _Thread) -> None:
        if len(self._free) < self._kept:
            self._free.append(thread)
        else:
            # A connection that its thread leaves behind stays open until the garbage collector meets it.
            thread.submit(connections.close_all)
            thread.shutdown(wait=False)


class _Thread(ThreadPoolExecutor):
    def __init__(self) -> None:
        super().__init__(max_workers=1, thread_name_prefix="request")
        self._last: Future[Any] | None = None

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self._last = super().submit(fn, *args, **kwargs)
        return self._last

    def when_idle(self, then: Callable[[Future[Any] | None], None]) -> None:
        if self._last is None:
            then(None)
        else:
            self._last.add_done_callback(then)
