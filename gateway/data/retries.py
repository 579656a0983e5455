"""Retries a send whose outcome is unknown, without sending again what the brokers already have.

Every message of a request with an Idempotency-Key has a unique id that follows from the key, so the next try can ask
the brokers for it by their index.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address
from typing import Final

from broker_core.client.admin import Admin, BrokerRuntime
from broker_core.client.admin.messages import Messages, SearchResult
from broker_core.client.admin.placed import PlacedMessage
from broker_core.client.errors import TopicNotFound
from broker_core.errors import GantryError
from broker_core.protocol import properties as names
from broker_core.protocol.message_id import UniqueIds
from broker_core.protocol.topics import HALF_TOPIC, SCHEDULE_TOPIC, TIMER_TOPIC
from gateway.data.idempotency import Claim
from gateway.data.messages import Draft
from gateway.data.parts import DataPlaneParts
from gateway.data.sending import SendOutcome, already_stored, failed
from gateway.problems import SEND_UNCERTAIN, ProblemError

_AT_ONCE: Final = 32
_INDEXED_S: Final = 2.0
_LOOK_S: Final = 0.02


def identify(drafts: Sequence[Draft], claim: Claim) -> None:
    """Give messages unique ids, which are the same in every try under this claim."""
    seed = claim.seed
    ids = UniqueIds(
        ip=str(IPv4Address(seed[:4])), pid=int.from_bytes(seed[4:6], "big"), loader=int.from_bytes(seed[6:10], "big")
    )
    for draft in drafts:
        draft.message.properties[names.UNIQ_KEY] = ids.make(claim.since_ms)


async def find_ended(parts: DataPlaneParts, cluster: str, drafts: Sequence[Draft]) -> dict[str, SendOutcome]:
    """Return by entry id the outcomes of messages that an earlier try sent.

    Messages that no broker has are left out and may be sent; if a broker does not answer, the outcome stays unknown.
    """
    limit = asyncio.Semaphore(_AT_ONCE)
    try:
        admin = await parts.connections.admin(cluster)
        await _until_indexed(admin, drafts[0].message.topic)
    except GantryError as error:
        return {draft.entry_id: _still_unknown(draft, str(error)) for draft in drafts}

    async def one(draft: Draft) -> SendOutcome | None:
        async with limit:
            try:
                stored = await _find(admin.messages, draft)
            except GantryError as error:
                return _still_unknown(draft, str(error))
        return None if stored is None else already_stored(draft, stored)

    outcomes = await asyncio.gather(*map(one, drafts))
    ended = {outcome.result.entry_id: outcome for outcome in outcomes if outcome is not None}
    return ended | _after_unknown(drafts, ended)


def _after_unknown(drafts: Sequence[Draft], ended: Mapping[str, SendOutcome]) -> dict[str, SendOutcome]:
    """Return outcomes for messages not to be sent now: within an ordering key none may overtake an unknown one."""
    unknown = [draft for draft in drafts if draft.entry_id in ended and ended[draft.entry_id].problem is not None]
    keys = {draft.ordering_key for draft in unknown if draft.ordering_key is not None}
    reason = "an earlier message with the same ordering key is unknown too"
    return {
        draft.entry_id: _still_unknown(draft, reason)
        for draft in drafts
        if draft.ordering_key in keys and draft.entry_id not in ended
    }


async def _until_indexed(admin: Admin, topic: str) -> None:
    """Return when what the log of each master of a topic has now is in its index; raise what a broker fails with.

    A new master has what the first try sent, and shows it only when the other replicas have all of its log.
    """
    masters = (await admin.topics.route(topic)).masters.values()
    await asyncio.gather(*(_until_indexed_on(admin, addr) for addr in masters))


async def _until_indexed_on(admin: Admin, addr: str) -> None:
    ends = time.monotonic() + _INDEXED_S
    figures = await admin.clusters.runtime_of(addr)
    end = figures.log_end
    while _indexed(figures) < (end or 0):
        if time.monotonic() > ends:
            raise _NotAllAnswered(f"{addr} has not yet indexed all that it has")
        await asyncio.sleep(_LOOK_S)
        figures = await admin.clusters.runtime_of(addr)


def _indexed(figures: BrokerRuntime) -> int:
    """Return the log offset up to which a broker's index is complete."""
    return (figures.log_end or 0) - (figures.dispatch_behind_bytes or 0)


class _NotAllAnswered(GantryError):
    """A broker that may have the message did not answer, or searched only a part."""


async def find_half(parts: DataPlaneParts, cluster: str, draft: Draft) -> PlacedMessage | None:
    """Return the half message that an earlier try sent, None if no broker has it; raise SEND_UNCERTAIN if unknown."""
    try:
        admin = await parts.connections.admin(cluster)
        await _until_indexed(admin, draft.message.topic)
        unique_id = draft.message.properties[names.UNIQ_KEY]
        # Brokers make the topic of half messages when they need it, and announce it later.
        result = await admin.messages.search(HALF_TOPIC, unique_id, on_brokers_of=draft.message.topic)
        return _oldest(result, unique_id)
    except GantryError as error:
        raise _unknown(str(error)) from error


async def _find(messages: Messages, draft: Draft) -> PlacedMessage | None:
    unique_id = draft.message.properties[names.UNIQ_KEY]
    # Brokers store delayed messages in topics of their own; those that are due are in the message's topic too.
    waiting = (TIMER_TOPIC, SCHEDULE_TOPIC) if draft.asks_delay else ()
    for topic in (*waiting, draft.message.topic):
        try:
            found = _oldest(await messages.search(topic, unique_id), unique_id)
        except TopicNotFound:
            if topic == TIMER_TOPIC:  # brokers without delivery times have no such topic
                continue
            raise
        if found is not None:
            return found
    return None


def _oldest(result: SearchResult, unique_id: str) -> PlacedMessage | None:
    """Return the oldest record of a message; raise if there is none and not every broker was searched."""
    found = [each for each in result.messages if each.message.unique_id == unique_id]
    if found:
        return found[-1]
    if not result.complete:
        raise _NotAllAnswered("; ".join(map(str, result.failed.values())) or "the search was cut short")
    return None


def _still_unknown(draft: Draft, reason: str) -> SendOutcome:
    return failed(draft.entry_id, _unknown(reason))


def _unknown(reason: str) -> ProblemError:
    detail = f"It is still unknown whether the first try stored the message: {reason}. Try again with the same key."
    return ProblemError(SEND_UNCERTAIN, detail)
