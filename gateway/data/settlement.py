"""Settles leases as done or failed, or extends them, for HTTP and WebSocket alike.

Each receipt has its own result. Settling the same receipt twice is not an error: the second result says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from broker_core.client.consumer.pop import LeaseConsumer
from broker_core.clock import now_ms
from broker_core.errors import GantryError
from broker_core.protocol.values import hot_value
from console.moments import rfc3339
from gateway.data.dead_letters import bury
from gateway.data.leases import NOW_MS, LeaseHolder, forget, renew
from gateway.data.parts import DataPlaneParts
from gateway.data.reasons import keep_reason
from gateway.data.receipts import OpenedPortion, Receipt
from gateway.data.schemas import ExtendRequest, NackRequest, Settled, invalid
from gateway.problems import RECEIPT_EXPIRED, ProblemError, find_problem

_AT_ONCE: Final = 256
# How long storing a dead letter may take; if it fails, the message is delivered again after that.
_BURY_MS: Final = 10_000


@hot_value
class SettleOutcome:
    """The result of one receipt, with the problem if it could not be settled."""

    result: Settled
    problem: ProblemError | None = None


Act = Callable[[DataPlaneParts, LeaseHolder, LeaseConsumer, str, Receipt], Awaitable[Settled]]


async def ack(parts: DataPlaneParts, holder: LeaseHolder, texts: list[str]) -> list[SettleOutcome]:
    """Acknowledge messages."""
    return ack_outcomes(texts, await ack_results(parts, holder, texts))


def ack_outcomes(texts: Sequence[str], results: Sequence[bool | ProblemError]) -> list[SettleOutcome]:
    """Return what `ack_results` found as the results of receipts."""
    return [
        _failed(text, result)
        if isinstance(result, ProblemError)
        else SettleOutcome(Settled(text, "acked" if result else "already_acked"))
        for text, result in zip(texts, results, strict=True)
    ]


async def ack_results(parts: DataPlaneParts, holder: LeaseHolder, texts: list[str]) -> list[bool | ProblemError]:
    """Acknowledge messages; return for each whether this was its first acknowledgement, or the problem."""
    results: list[bool | ProblemError] = [True] * len(texts)
    portions = _running_portions(parts, holder, texts) or _portions_one_by_one(parts, holder, texts, results)
    consumer = await parts.connections.lease_consumer(holder.cluster, holder.group)
    told = await consumer.ack_portions([(each.portion.leased, each.offsets) for each in portions])
    if told.count(True) == len(told):
        for each in portions:
            forget(parts, each.text, each.offsets)
    else:
        _note_results(parts, portions, told, results)
    parts.metrics.messages("acked", results.count(True))
    return results


def _running_portions(parts: DataPlaneParts, holder: LeaseHolder, texts: list[str]) -> list[OpenedPortion] | None:
    """Return the receipts by portion if all of them are of this holder and have not ended."""
    portions = parts.receipts.open_all(texts, cluster=holder.cluster, group=holder.group, topic=holder.topic)
    now = now_ms()
    if portions is None or any(each.portion.expires_at <= now for each in portions):
        return None
    return portions


def _portions_one_by_one(
    parts: DataPlaneParts, holder: LeaseHolder, texts: Sequence[str], results: list[bool | ProblemError]
) -> list[OpenedPortion]:
    """Return the receipts that can be settled by portion; put the problem of each other into `results`."""
    portions: dict[str, OpenedPortion] = {}
    for place, text in enumerate(texts):
        try:
            receipt = _opened(parts, holder, text)
        except ProblemError as problem:
            results[place] = problem
            continue
        name = receipt.portion_text
        opened = portions.setdefault(name, OpenedPortion(name, receipt.portion, [], []))
        opened.offsets.append(receipt.queue_offset)
        opened.places.append(place)
    return list(portions.values())


def _note_results(
    parts: DataPlaneParts,
    portions: Sequence[OpenedPortion],
    told: Sequence[bool | GantryError],
    results: list[bool | ProblemError],
) -> None:
    answers = iter(told)
    for each in portions:
        settled = []
        for offset, place, answer in zip(each.offsets, each.places, answers, strict=False):
            if isinstance(answer, GantryError):
                results[place] = _problem_of(answer)
            else:
                results[place] = answer
                settled.append(offset)
        forget(parts, each.text, settled)


async def nack(
    parts: DataPlaneParts, holder: LeaseHolder, texts: Sequence[str], wanted: NackRequest, request_id: str
) -> list[SettleOutcome]:
    """Have messages delivered again after the given delay, or move them to the group's dead letters.

    A dead-letter topic that this makes stands in the audit with `request_id`.
    """

    async def again(
        parts: DataPlaneParts, holder: LeaseHolder, consumer: LeaseConsumer, text: str, receipt: Receipt
    ) -> Settled:
        if wanted.reason:
            await keep_reason(parts, holder, receipt.message_id, wanted.reason)
        await consumer.extend(receipt.handle, max(NOW_MS, wanted.delay_ms), failure=wanted.reason or "")
        forget(parts, receipt.portion_text, [receipt.queue_offset])
        return Settled(text, "nacked")

    async def bury_one(
        parts: DataPlaneParts, holder: LeaseHolder, consumer: LeaseConsumer, text: str, receipt: Receipt
    ) -> Settled:
        # Renewing the lease voids the receipt, so a settled or repeated receipt does not create a second dead letter.
        lease_ms = max(_BURY_MS, receipt.expires_at - now_ms())
        handle = await consumer.extend(receipt.handle, lease_ms)
        tries = receipt.delivery_count
        await bury(parts, holder, handle, deliveries=tries, reason=wanted.reason, request_id=request_id)
        await consumer.ack(handle)
        forget(parts, receipt.portion_text, [receipt.queue_offset])
        return Settled(text, "dead_lettered")

    outcomes = await _settle(parts, holder, texts, bury_one if wanted.dead_letter else again)
    done = sum(outcome.problem is None for outcome in outcomes)
    parts.metrics.messages("dead_lettered" if wanted.dead_letter else "nacked", done)
    return outcomes


async def extend(
    parts: DataPlaneParts, holder: LeaseHolder, texts: Sequence[str], wanted: ExtendRequest
) -> list[SettleOutcome]:
    """Hold messages for `lease_ms` from now; each gets a new receipt, and the old one becomes invalid."""

    async def one(
        parts: DataPlaneParts, holder: LeaseHolder, consumer: LeaseConsumer, text: str, receipt: Receipt
    ) -> Settled:
        handle = await consumer.extend(receipt.handle, wanted.lease_ms)
        renewed = renew(parts, holder, receipt, handle)
        sealed = parts.receipts.seal(renewed)
        return Settled(text, "extended", new_receipt=sealed, lease_expires_at=rfc3339(renewed.expires_at))

    return await _settle(parts, holder, texts, one)


def check_receipts(receipts: Sequence[str], limit: int) -> None:
    """Raise INVALID if there are more receipts than `limit`, or one is given twice."""
    if len(receipts) > limit:
        raise invalid("#/receipts", f"{len(receipts)} receipts; the limit is {limit}.")
    if len(set(receipts)) < len(receipts):
        raise invalid("#/receipts", "A receipt is given twice.")


async def _settle(parts: DataPlaneParts, holder: LeaseHolder, texts: Sequence[str], act: Act) -> list[SettleOutcome]:
    consumer = await parts.connections.lease_consumer(holder.cluster, holder.group)
    limit = asyncio.Semaphore(_AT_ONCE)

    async def one(text: str) -> SettleOutcome:
        try:
            receipt = _opened(parts, holder, text)
            async with limit:
                return SettleOutcome(await act(parts, holder, consumer, text, receipt))
        except (ProblemError, GantryError) as error:
            return _failed(text, _problem_of(error))

    if len(texts) == 1:
        return [await one(texts[0])]
    return await asyncio.gather(*map(one, texts))


def _opened(parts: DataPlaneParts, holder: LeaseHolder, text: str) -> Receipt:
    """Return a receipt of this holder; raise the problem of one that is invalid or has ended."""
    receipt = parts.receipts.open(text, cluster=holder.cluster, group=holder.group, topic=holder.topic)
    _check_running(receipt, now_ms())
    return receipt


def _problem_of(error: ProblemError | GantryError) -> ProblemError:
    problem = find_problem(error)
    if problem is None:
        raise error
    return problem


def _failed(text: str, problem: ProblemError) -> SettleOutcome:
    return SettleOutcome(Settled(text, "failed", problem=problem.brief()), problem)


def _check_running(receipt: Receipt, now: int) -> None:
    """Raise RECEIPT_EXPIRED if the lease has ended; Apache brokers would answer "done" and deliver again."""
    if receipt.expires_at <= now:
        ago = now - receipt.expires_at
        what_now = "a message that was neither settled nor extended may be delivered again"
        raise ProblemError(RECEIPT_EXPIRED, f"The lease of this receipt ended {ago:,} ms ago; {what_now}.")
