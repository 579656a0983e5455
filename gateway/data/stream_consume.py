"""``/ws/v1/consume``: messages on lease as fast as the client gives credit.

::

    > {"type":"subscribe","group":"billing","topic":"orders","lease_ms":30000,"credit":50}
    < {"type":"message","receipt":"v1…","delivery_count":1,…}
    > {"type":"ack","receipts":["v1…"]}         < {"type":"settled","receipts":["v1…"],"results":[…]}
    > {"type":"credit","n":20}                  < {"type":"lease_expired","receipts":["v1…"]}

A socket has one subscription. Receipts are the same as over HTTP: either side can settle what the other received.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from heapq import heappop, heappush
from typing import Annotated, ClassVar, Final, Literal

from msgspec import Meta, Struct

from broker_core.client.consumer.leases import LeasedMessage
from gateway import sockets
from gateway.data import settlement
from gateway.data.consumers import Caller
from gateway.data.leases import LeaseHolder, Wanted, forget, give_back, lease_out, room
from gateway.data.reasons import last_reasons
from gateway.data.receipts import Lease, Receipt
from gateway.data.routing import check_consumer
from gateway.data.schemas import (
    EVERYTHING,
    AckRequest,
    ExtendRequest,
    Filter,
    Leased,
    NackRequest,
    Order,
    decoder,
    encode,
)
from gateway.data.settlement import SettleOutcome
from gateway.data.stream import FrameHandler, Socket, SocketClosed
from gateway.problems import (
    CONFLICT,
    GROUP_PAUSED,
    RECEIPT_EXPIRED,
    TOPIC_PAUSED,
    ProblemError,
    ProblemKind,
)

MAX_CREDIT: Final = 10_000
_BATCH: Final = 32
_WAIT_MS: Final = 15_000
_RETRY_SECONDS: Final = 2.0
_WATCH_SECONDS: Final = 0.5
# Another process may have settled a lease just before its end, and tells so a moment later.
_TOLD_SECONDS: Final = 1.0
# The socket stays open: it is somebody's decision, which ends with a resume.
_PAUSED: Final = (GROUP_PAUSED, TOPIC_PAUSED)
_Context = Annotated[str, Meta(max_length=255)] | None


class SubscribeFrame(Struct, forbid_unknown_fields=True):
    """The subscription of the socket."""

    type: Literal["subscribe"]
    group: str
    topic: str
    cluster: str = "local"
    filter: Filter = EVERYTHING
    order: Order = "none"
    lease_ms: Annotated[int, Meta(ge=1000, le=43_200_000)] = 30_000
    credit: Annotated[int, Meta(ge=0, le=MAX_CREDIT)] = 0
    body_encoding: Literal["auto", "json", "text", "base64"] = "auto"
    context: _Context = None


class CreditFrame(Struct, forbid_unknown_fields=True):
    """The client accepts this many more messages."""

    type: Literal["credit"]
    n: Annotated[int, Meta(ge=1, le=MAX_CREDIT)]
    context: _Context = None


class AckFrame(AckRequest, forbid_unknown_fields=True, kw_only=True):
    """Messages to acknowledge."""

    type: Literal["ack"]
    context: _Context = None


class NackFrame(NackRequest, forbid_unknown_fields=True, kw_only=True):
    """Messages that failed."""

    type: Literal["nack"]
    context: _Context = None


class ExtendFrame(ExtendRequest, forbid_unknown_fields=True, kw_only=True):
    """Leases to extend."""

    type: Literal["extend"]
    context: _Context = None


class Consuming:
    """The conversation of one consume socket."""

    limits: ClassVar[Mapping[str, int]] = {"credit": MAX_CREDIT}

    def __init__(self, socket: Socket) -> None:
        self._socket = socket
        self._parts = socket.parts
        self._subscribed: SubscribeFrame | None = None
        self._credit = 0
        self._has_credit = asyncio.Event()
        self._leases = _SocketLeases(self._parts.watched)
        self._tasks: list[asyncio.Task[None]] = []
        self._noted = ExitStack()
        self.handlers: Mapping[str, FrameHandler] = {
            "subscribe": (decoder(SubscribeFrame), self._subscribe),
            "credit": (decoder(CreditFrame), self._more),
            "ack": (decoder(AckFrame), self._ack),
            "nack": (decoder(NackFrame), self._nack),
            "extend": (decoder(ExtendFrame), self._extend),
        }

    async def end(self) -> None:
        """Stop asking for messages; those sent stay on lease until they are settled elsewhere or redelivered."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._leases.clear()
        self._noted.close()

    async def _subscribe(self, frame: SubscribeFrame) -> None:
        if self._subscribed is not None:
            raise ProblemError(CONFLICT, "This socket already has a subscription; open another socket.")
        check_consumer(self._socket.principal, frame.topic, frame.group)
        self._parts.consume_rate.take(self._socket.principal.key, 1, self._parts.clock())
        frame.filter.check()
        consumer = await self._parts.connections.lease_consumer(frame.cluster, frame.group)
        await self._parts.first_uses.look(frame.cluster, frame.group)
        wanted = Wanted(consumer, frame.topic, frame.lease_ms, frame.filter, frame.order)
        self._subscribed = frame
        caller = Caller.of(self._socket.principal, self._socket.address)
        self._noted.enter_context(self._parts.consumers.asking(frame.cluster, frame.group, caller))
        self._socket.idle_seconds = None
        self._add_credit(frame.credit)
        self._tasks += [
            asyncio.create_task(self._pump(frame, wanted), name="socket: lease messages"),
            asyncio.create_task(self._watch(), name="socket: watch leases"),
        ]

    async def _more(self, frame: CreditFrame) -> None:
        if self._subscribed is None:
            raise ProblemError(CONFLICT, "Subscribe first: credit is for the messages of a subscription.")
        self._add_credit(frame.n)

    async def _ack(self, frame: AckFrame) -> None:
        holder = self._admit(frame.receipts)
        await self._answer(await settlement.ack(self._parts, holder, frame.receipts), frame.context)

    async def _nack(self, frame: NackFrame) -> None:
        holder = self._admit(frame.receipts)
        request_id = self._socket.request_id
        outcomes = await settlement.nack(self._parts, holder, frame.receipts, frame, request_id)
        await self._answer(outcomes, frame.context)

    async def _extend(self, frame: ExtendFrame) -> None:
        holder = self._admit(frame.receipts)
        outcomes = await settlement.extend(self._parts, holder, frame.receipts, frame)
        for outcome in outcomes:
            if isinstance(outcome.result.new_receipt, str):
                self._watch_lease(holder, outcome.result.new_receipt, frame.lease_ms)
        await self._answer(outcomes, frame.context)

    def _admit(self, receipts: Sequence[str]) -> LeaseHolder:
        frame, parts = self._subscribed, self._parts
        if frame is None:
            raise ProblemError(CONFLICT, "Subscribe first: the receipts of a socket belong to its group and topic.")
        settlement.check_receipts(receipts, parts.limits.sizes.receipts)
        parts.consume_rate.take(self._socket.principal.key, 1, parts.clock())
        return self._holder(frame)

    def _holder(self, frame: SubscribeFrame) -> LeaseHolder:
        return LeaseHolder.of(frame.cluster, frame.group, frame.topic, self._socket.principal, self._socket.address)

    async def _answer(self, outcomes: Sequence[SettleOutcome], context: str | None) -> None:
        for outcome in outcomes:
            if outcome.problem is not None and outcome.problem.kind is RECEIPT_EXPIRED:  # the answer reports failures
                self._leases.remove(outcome.result.receipt)
        settled = [outcome.result.receipt for outcome in outcomes if outcome.problem is None]
        results = [outcome.result for outcome in outcomes]
        await self._socket.send({"type": "settled", "context": context, "receipts": settled, "results": results})

    def _add_credit(self, n: int) -> None:
        self._credit = min(self._credit + n, MAX_CREDIT)
        if self._credit:
            self._has_credit.set()

    async def _pump(self, frame: SubscribeFrame, wanted: Wanted) -> None:
        """Lease and send messages while there is credit; report a temporary refusal, a pause once, and try again."""
        holder = self._holder(frame)
        told: ProblemKind | None = None
        with suppress(SocketClosed):
            while True:
                await self._has_credit.wait()
                try:
                    await self._send(holder, frame, wanted, await self._lease(holder, wanted))
                except SocketClosed:
                    raise
                except Exception as error:  # noqa: BLE001 - the top of a task
                    problem = self._socket.problem_of(error, "consume")
                    if problem.kind not in _PAUSED or problem.kind is not told:
                        await self._socket.send_problem(problem, frame.context)
                    told = problem.kind
                    if not problem.retryable and problem.kind not in _PAUSED:
                        self._socket.close(sockets.close_code(problem), problem.detail)
                        return
                    await asyncio.sleep(_RETRY_SECONDS)
                    continue
                told = None

    async def _lease(self, holder: LeaseHolder, wanted: Wanted) -> list[LeasedMessage]:
        parts = self._parts
        most = await room(parts, holder, min(self._credit, _BATCH))
        place = holder.cluster, holder.group
        # The question that creates a group does not wait, so that the audit records it at once.
        received = await wanted.ask(most, wait_ms=0 if parts.first_uses.is_first(*place) else _WAIT_MS)
        parts.first_uses.used(*place, holder.who, self._socket.request_id)
        return received.messages

    async def _send(
        self, holder: LeaseHolder, frame: SubscribeFrame, wanted: Wanted, leased: list[LeasedMessage]
    ) -> None:
        sent = 0
        outs: list[Leased] = []
        try:
            reasons = await last_reasons(self._parts, holder, leased)
            outs = lease_out(self._parts, holder, leased, frame.body_encoding, reasons)
            for out in outs:
                self._watch_lease(holder, out.receipt, frame.lease_ms)
                await self._socket.send_text(b'{"type":"message",' + encode(out)[1:])
                sent += 1
                self._credit -= 1
        except BaseException:  # the socket closed, or this side ended the conversation
            for out in outs[sent:]:
                portion, offset = self._open(holder, out.receipt).lease
                forget(self._parts, portion, [offset])
            await give_back(wanted.consumer, leased[sent:])
            raise
        self._parts.metrics.messages("leased", len(leased))
        if self._credit <= 0:
            self._has_credit.clear()

    def _watch_lease(self, holder: LeaseHolder, text: str, lease_ms: int) -> None:
        self._leases.add(text, self._open(holder, text).lease, self._parts.clock() + lease_ms / 1000)

    def _open(self, holder: LeaseHolder, text: str) -> Receipt:
        return self._parts.receipts.open(text, cluster=holder.cluster, group=holder.group, topic=holder.topic)

    async def _watch(self) -> None:
        """Notify the client of leases that ended without being settled by this socket or over HTTP."""
        with suppress(SocketClosed):
            while True:
                await asyncio.sleep(_WATCH_SECONDS)
                ended = self._leases.take_ended(self._parts.clock() - _TOLD_SECONDS)
                if ended:
                    await self._socket.send({"type": "lease_expired", "receipts": ended})


class _SocketLeases:
    """The unsettled leases of this socket, by receipt; each entry leaves `watched` with its lease."""

    def __init__(self, watched: dict[Lease, Callable[[], None]]) -> None:
        self._watched = watched
        self._ends: dict[str, tuple[float, Lease]] = {}
        self._order: list[tuple[float, str]] = []

    def add(self, receipt: str, lease: Lease, ends_at: float) -> None:
        """Watch a lease until `ends_at` (s)."""
        self._ends[receipt] = ends_at, lease
        heappush(self._order, (ends_at, receipt))
        self._watched[lease] = partial(self.remove, receipt)

    def remove(self, receipt: str) -> None:
        """Stop watching a lease."""
        _, lease = self._ends.pop(receipt, (0.0, ("", 0)))
        self._watched.pop(lease, None)

    def take_ended(self, now: float) -> list[str]:
        """Return the receipts whose lease has ended, and forget them."""
        ended = []
        while self._order and self._order[0][0] <= now:
            ends_at, receipt = heappop(self._order)
            known = self._ends.get(receipt)
            if known is not None and known[0] == ends_at:
                self.remove(receipt)
                ended.append(receipt)
        return ended

    def clear(self) -> None:
        """Stop watching all leases."""
        for receipt in list(self._ends):
            self.remove(receipt)
