"""``/ws/v1/produce``: a frame for each message, an answer for each frame.

::

    > {"type":"send","context":"42","topic":"orders","keys":["A17"],"body":{"encoding":"json","data":{}}}
    < {"type":"sent","context":"42","status":"stored","message_id":"AC11…","queue_id":2,"offset":1881}
    < {"type":"error","context":"43","problem":{"code":"TOPIC_NOT_FOUND","status":404}}

With an `idempotency_key` a repeated frame gets the first answer again, marked `"replayed": true`. Answers may come out
of order, except among messages of one ordering key. While 256 messages are unanswered, no further
frame is read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Any, ClassVar, Final, Literal

from msgspec import Meta, to_builtins

from console.accounts.rights import Resource
from gateway.data.messages import Draft, draft_of_entry
from gateway.data.routing import check_target
from gateway.data.schemas import Entry, Produced, decoder
from gateway.data.sending import failed, send_one
from gateway.data.stream import FrameHandler, Socket, SocketClosed
from gateway.data.stream_once import send_once
from gateway.problems import ProblemError

UNDER_WAY: Final = 256
_TIMEOUT_MS: Final = 3000
_END_SECONDS: Final = 5.0


class SendFrame(Entry, forbid_unknown_fields=True, kw_only=True):
    """One message to produce."""

    type: Literal["send"]
    topic: str
    cluster: str = "local"
    context: Annotated[str, Meta(max_length=255)] | None = None
    idempotency_key: str | None = None


class Producing:
    """The conversation of one produce socket."""

    limits: ClassVar[Mapping[str, int]] = {"in_flight": UNDER_WAY}

    def __init__(self, socket: Socket) -> None:
        self._socket = socket
        self._parts = socket.parts
        self._room = asyncio.Semaphore(UNDER_WAY)
        self._under_way: set[asyncio.Task[None]] = set()
        self._last_of_key: dict[tuple[str, str, str], asyncio.Task[None]] = {}
        self.handlers: Mapping[str, FrameHandler] = {"send": (decoder(SendFrame), self._send)}

    async def end(self) -> None:
        """Wait a limited time for running sends; their answers are dropped."""
        if self._under_way:
            await asyncio.wait(self._under_way, timeout=_END_SECONDS)

    async def _send(self, frame: SendFrame) -> None:
        parts, principal = self._parts, self._socket.principal
        check_target(frame.topic)
        principal.require("produce", Resource("topic", frame.topic))
        if frame.idempotency_key is None:  # `send_once` counts a message when it is sent, not each repetition
            parts.produce_rate.take(principal.key, 1, parts.clock())
        entry_id = frame.entry_id or frame.context or "0"
        draft = draft_of_entry(frame, frame.topic, entry_id=entry_id, at="#", sizes=parts.limits.sizes)
        await self._room.acquire()
        self._start(frame, draft)

    def _start(self, frame: SendFrame, draft: Draft) -> None:
        key = (frame.cluster, frame.topic, draft.ordering_key or "")
        before = self._last_of_key.get(key) if draft.ordering_key is not None else None
        task = asyncio.create_task(self._ship(frame, draft, before), name="socket: send a message")
        self._under_way.add(task)
        if draft.ordering_key is not None:
            self._last_of_key[key] = task

        def ended(task: asyncio.Task[None]) -> None:
            self._room.release()
            self._under_way.discard(task)
            if self._last_of_key.get(key) is task:
                del self._last_of_key[key]

        task.add_done_callback(ended)

    async def _ship(self, frame: SendFrame, draft: Draft, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.wait({before})
        with suppress(SocketClosed):
            try:
                if frame.idempotency_key is not None:
                    await self._ship_once(frame, frame.idempotency_key)
                    return
                producer = await self._parts.connections.producer(frame.cluster)
                refused = await self._parts.delays.serve(frame.cluster, [draft])
                outcome = refused.get(draft.entry_id) or await send_one(producer, draft, timeout_ms=_TIMEOUT_MS)
            except SocketClosed:
                raise
            except Exception as error:  # noqa: BLE001 - the top of a frame
                await self._refuse(frame, draft, self._socket.problem_of(error, frame.type))
                return
            if outcome.problem is not None:
                await self._answer_problem(frame, outcome.result, outcome.problem)
                return
            self._parts.metrics.messages("produced", 1)
            await self._socket.send(_frame("sent", frame, outcome.result))

    async def _ship_once(self, frame: SendFrame, key: str) -> None:
        told = await send_once(self._socket, frame, cluster=frame.cluster, topic=frame.topic, key=key)
        answer = _frame_of("error" if told.problem else "sent", frame, told.result)
        if told.problem is not None:
            answer["problem"] = told.problem
        if told.is_replayed:
            answer["replayed"] = True
        await self._socket.send(answer)

    async def _refuse(self, frame: SendFrame, draft: Draft, problem: ProblemError) -> None:
        if problem.may_be_done:
            await self._answer_problem(frame, failed(draft.entry_id, problem).result, problem)
        else:
            await self._socket.send_problem(problem, frame.context)

    async def _answer_problem(self, frame: SendFrame, result: Produced, problem: ProblemError) -> None:
        answer = _frame("error", frame, result)
        answer["problem"] = problem.told()
        await self._socket.send(answer)


def _frame(kind: str, frame: SendFrame, result: Produced) -> dict[str, Any]:
    return _frame_of(kind, frame, to_builtins(result))


def _frame_of(kind: str, frame: SendFrame, result: dict[str, Any]) -> dict[str, Any]:
    shown = {name: value for name, value in result.items() if name != "entry_id" or frame.entry_id is not None}
    return {"type": kind, "context": frame.context, **shown}
