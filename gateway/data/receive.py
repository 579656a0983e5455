"""Receive: lease messages of a group; wait for the first one if the request says so.

A client that disconnects while it waits takes no messages.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

from broker_core.client.consumer.leases import LeasedRecords
from broker_core.client.consumer.pop import Received
from broker_core.client.errors import Unreachable
from console.clusters.reasons import reason_of
from console.idempotency import length_fault
from gateway.data import idempotency
from gateway.data.consumers import Caller
from gateway.data.leased_json import write_leased
from gateway.data.leases import LeaseHolder, Wanted, give_back, lease_out, room
from gateway.data.ordering import ask_if_locked
from gateway.data.parts import Answer, ClientGone, DataPlaneParts, Request
from gateway.data.reasons import last_reasons
from gateway.data.routing import check_consumer
from gateway.data.schemas import (
    EVERYTHING,
    Reason,
    ReceiveAnswer,
    ReceiveRequest,
    UnheardBroker,
    decode,
    decoder,
    encode,
    invalid,
)

_REQUEST: Final = decoder(ReceiveRequest)
_NOT_LISTED: Final = "no name server lists it now"


async def receive(parts: DataPlaneParts, request: Request) -> Answer:
    """Lease messages; with an attempt id, the same ones again for as long as their leases run."""
    wanted = decode(_REQUEST, request.body)
    caller = Caller.of(request.principal, request.address)
    with parts.consumers.asking(request.route.cluster, request.route.group, caller):
        attempt = _attempt(request, wanted)
        if attempt is None:
            return await _receive(parts, request, wanted)

        async def run(parts: DataPlaneParts, request: Request, _: idempotency.Claim) -> Answer:
            return await _receive(parts, request, wanted)

        def keep_ms(answer: Answer) -> int:
            return wanted.lease_ms if answer.leased else 0

        return await idempotency.remembered(parts, request, attempt, run, keep_ms=keep_ms)


def _attempt(request: Request, wanted: ReceiveRequest) -> bytes | None:
    """Return the id under which the same messages can be requested again; an Idempotency-Key counts as one."""
    key = request.headers.get(idempotency.HEADER)
    if key is None:
        return None if wanted.attempt_id is None else wanted.attempt_id.encode()
    fault = length_fault(key)
    if wanted.attempt_id is not None:
        fault = "The request already has an attempt_id; leave the key out."
    if fault is not None:
        raise invalid("Idempotency-Key", fault)
    return key


async def _receive(parts: DataPlaneParts, request: Request, wanted: ReceiveRequest) -> Answer:
    route, started = request.route, parts.clock()
    holder = LeaseHolder.of(route.cluster, route.group, route.topic, request.principal, request.address)
    headers = parts.consume_rate.take(holder.caller, 1, started)
    wanted.filter.check()
    most = await room(parts, holder, wanted.max_messages)
    consumer = await parts.connections.lease_consumer(route.cluster, route.group)
    await parts.first_uses.look(route.cluster, route.group)
    asked = Wanted(consumer, route.topic, wanted.lease_ms, wanted.filter, wanted.order)
    records = await asked.ask_records(most) if _may_be_usual(request, wanted) else None
    written = write_leased(parts, holder, records) if records is not None and records.records else None
    if written is not None:
        parts.first_uses.used(route.cluster, route.group, holder.who, request.id)
        messages_text, count = written
        parts.metrics.messages("leased", count)
        waited_ms = int((parts.clock() - started) * 1000)
        text = b'{"messages":[%b],"waited_ms":%d,"reason":"messages","missing":[]}' % (messages_text, waited_ms)
        return Answer(200, text, headers, leased=count)
    received = await asked.ask(most, wait_ms=0) if records is None else await _decoded(asked, most, records)
    parts.first_uses.used(route.cluster, route.group, holder.who, request.id)
    reason: Reason = _reason_of(received)
    # Damaged messages may have taken time already.
    left_ms = wanted.wait_ms - int((parts.clock() - started) * 1000)
    waits = not received.messages and left_ms > 0
    if waits:
        received, reason = await _wait(parts, request, asked, most, left_ms)
    leased = received.messages
    if reason == "timeout" and wanted.order == "fifo":
        leased, is_locked = await ask_if_locked(parts, route.cluster, asked, most)
        reason = "ordering_locked" if is_locked else "messages" if leased else "timeout"
    try:
        if waits and leased:
            await _check_again(parts, request)
        reasons = await last_reasons(parts, holder, leased)
    except BaseException:
        await give_back(consumer, leased)
        raise
    messages = lease_out(parts, holder, leased, wanted.body_encoding, reasons)
    parts.metrics.messages("leased", len(messages))
    if request.wants_text_offsets:
        for message in messages:
            message.offset = str(message.offset)
    missing = _shown(received.missing) if reason == "incomplete" else []
    answer = ReceiveAnswer(messages, int((parts.clock() - started) * 1000), reason, missing)
    return Answer(200, encode(answer), headers, leased=len(messages))


def _may_be_usual(request: Request, wanted: ReceiveRequest) -> bool:
    """Return whether the answer can be written from the records as they are."""
    return (
        wanted.filter == EVERYTHING
        and wanted.order == "none"
        and wanted.body_encoding == "auto"
        and not request.wants_text_offsets
    )


async def _decoded(asked: Wanted, room: int, records: LeasedRecords) -> Received:
    """Return the intact messages of an answer; if all were damaged, those behind them."""
    leased = await asked.consumer.decoded(records)
    return await asked.ask(room, wait_ms=0) if records.records and not leased else Received(leased)


def _reason_of(received: Received) -> Reason:
    if received.messages:
        return "messages"
    return "incomplete" if received.missing else "timeout"


def _shown(missing: Mapping[str, Unreachable | None]) -> list[UnheardBroker]:
    return [
        UnheardBroker(name, _NOT_LISTED if error is None else reason_of(error))
        for name, error in sorted(missing.items())
    ]


async def _check_again(parts: DataPlaneParts, request: Request) -> None:
    """Raise a problem if the caller lost its rights during the wait, which may take half a minute."""
    principal = await parts.auth.of_request(request.headers, request.address)
    check_consumer(principal, request.route.topic, request.route.group)


async def _wait(
    parts: DataPlaneParts, request: Request, wanted: Wanted, room: int, wait_ms: int
) -> tuple[Received, Reason]:
    """Return the first messages, or why there are none; raise ClientGone if the client has disconnected.

    A cancelled request takes no messages: it ends at the broker, and messages that already arrived are returned.
    """
    asked = asyncio.create_task(wanted.ask(room, wait_ms=wait_ms), name="receive: ask the broker")
    gone = asyncio.create_task(_client_gone(request), name="receive: watch the client")
    draining = asyncio.create_task(parts.draining.wait(), name="receive: watch for the end")
    try:
        await asyncio.wait({asked, gone, draining}, return_when=asyncio.FIRST_COMPLETED)
        if gone.done():
            if asked.done():
                await give_back(wanted.consumer, asked.result().messages)
            raise ClientGone
        if asked.done():
            return asked.result(), _reason_of(asked.result())
        return Received(), "draining"
    finally:
        for task in (asked, gone, draining):
            task.cancel()


async def _client_gone(request: Request) -> None:
    while (await request.next_event())["type"] != "http.disconnect":
        pass
