"""Dispatch: a table from code to handler, hooks, and a table of errors (protocol/README.md#malformed-input)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from broker_core.errors import GantryError
from broker_core.logs import get_logger
from broker_core.protocol import unsupported
from broker_core.protocol.codes import ResponseCode, name_of_request
from broker_core.protocol.command import Command
from broker_core.remoting.connection import Connection, Result

Handler: TypeAlias = Callable[[Command, Connection], Result]
"""Answers a request: at once, by an awaitable, or later through `Connection.answer` (then it returns None)."""

BeforeHook: TypeAlias = Callable[[Command, Connection], None]
"""Sees a request before its handler; an error that it raises is the answer."""

AfterHook: TypeAlias = Callable[[Command, Command | None, Connection], None]
"""Sees a request with its response, or None if there is none yet."""

_log: Final = get_logger(__name__)


class Dispatch:
    """Maps request codes to handlers, and errors to response codes."""

    def __init__(self, errors: Mapping[type[Exception], ResponseCode] | None = None) -> None:
        """`errors` maps errors to codes; an error is looked up by its class, then by its base classes."""
        self._errors = dict(errors or {})
        self._handlers: dict[int, Handler] = {}
        self._before: list[BeforeHook] = []
        self._after: list[AfterHook] = []

    def register(self, code: int, handler: Handler) -> None:
        """Register `handler` for requests with `code`; the last registration wins."""
        self._handlers[int(code)] = handler

    @property
    def codes(self) -> frozenset[int]:
        """The codes that have a handler."""
        return frozenset(self._handlers)

    def before(self, hook: BeforeHook) -> None:
        """Call `hook` before each handler, in the order of registration."""
        self._before.append(hook)

    def after(self, hook: AfterHook) -> None:
        """Call `hook` after a handler has answered or failed, also for one-way requests."""
        self._after.append(hook)

    def handle(self, request: Command, connection: Connection) -> Result:
        """Return the response, None, or an awaitable whose outcome must be passed to `finish`. Never raises."""
        handler = self._handlers.get(request.code)
        try:
            for hook in self._before:
                hook(request, connection)
            response = _not_supported(request) if handler is None else handler(request, connection)
        except Exception as error:  # noqa: BLE001 - the top of a request: whatever a handler raises becomes its answer
            response = self.refuse(request, error)
        if self._after and (response is None or type(response) is Command):
            self._run_after(request, response, connection)
        return response

    def finish(self, request: Command, ended: asyncio.Future[Command | None], connection: Connection) -> Command | None:
        """Return the response of an awaitable returned by `handle`. Never raises."""
        if ended.cancelled():
            return None
        error = ended.exception()
        if error is None:
            response = ended.result()
        elif isinstance(error, Exception):
            response = self.refuse(request, error)
        else:
            return None
        self._run_after(request, response, connection)
        return response

    def refuse(self, request: Command, error: Exception) -> Command:
        """Return the response for an error; an unexpected error is logged with its traceback."""
        code = find_code(self._errors, error)
        if code is not None:
            return Command.response(code, remark=str(error))
        if isinstance(error, GantryError):
            return Command.response(ResponseCode.SYSTEM_ERROR, remark=str(error))
        _log.error("request=%s opaque=%d: failed", name_of_request(request.code), request.opaque, exc_info=error)
        return Command.response(ResponseCode.SYSTEM_ERROR, remark=f"{type(error).__name__}: {error}")

    def _run_after(self, request: Command, response: Command | None, connection: Connection) -> None:
        for hook in self._after:
            try:
                hook(request, response, connection)
            except Exception:  # noqa: BLE001 - a hook that only looks on must not spoil the answer
                _log.exception("request=%s: a hook failed", name_of_request(request.code))


def find_code(codes: Mapping[type[Exception], ResponseCode], error: Exception) -> ResponseCode | None:
    """Return the code of an error's class, or of its nearest base class."""
    return next((codes[kind] for kind in type(error).__mro__ if kind in codes), None)


def _not_supported(request: Command) -> Command:
    return Command.response(ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark=unsupported.remark_of(request.code))
