"""Retries a send whose outcome is unknown, without sending again what the brokers already have.

Every message of a request with an Idempotency-Key has a unique id that follows from the key, so the next try can ask
the brokers for it by their index.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address
from typing import Final

from broker_core.client.admin.messages import Messages
from broker_core.client.admin.placed import PlacedMessage
from broker_core.client.admin.settled import oldest
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
_SHOWN_S: Final = 2.0


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
        topic = drafts[0].message.topic
        masters = await admin.settled.masters(topic, within_s=_SHOWN_S)
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
    try:
        await admin.settled.check(masters, topic)
    except GantryError as error:
        outcomes = [
            _still_unknown(draft, str(error)) if outcome is None else outcome
            for draft, outcome in zip(drafts, outcomes, strict=True)
        ]
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


async def find_half(parts: DataPlaneParts, cluster: str, draft: Draft) -> PlacedMessage | None:
    """Return the half message that an earlier try sent, None if no broker has it; raise SEND_UNCERTAIN if unknown."""
    try:
        admin = await parts.connections.admin(cluster)
        topic, unique_id = draft.message.topic, draft.message.properties[names.UNIQ_KEY]
        masters = await admin.settled.masters(topic, within_s=_SHOWN_S)
        # Brokers make the topic of half messages when they need it, and announce it later.
        result = await admin.messages.search(HALF_TOPIC, unique_id, on_brokers_of=topic)
        found = oldest(result, unique_id)
        if found is None:
            await admin.settled.check(masters, topic)
        return found
    except GantryError as error:
        raise _unknown(str(error)) from error


async def _find(messages: Messages, draft: Draft) -> PlacedMessage | None:
    unique_id = draft.message.properties[names.UNIQ_KEY]
    # Brokers store delayed messages in topics of their own; those that are due are in the message's topic too.
    waiting = (TIMER_TOPIC, SCHEDULE_TOPIC) if draft.asks_delay else ()
    for topic in (*waiting, draft.message.topic):
        try:
            found = oldest(await messages.search(topic, unique_id), unique_id)
        except TopicNotFound:
            if topic == TIMER_TOPIC:  # brokers without delivery times have no such topic
                continue
            raise
        if found is not None:
            return found
    return None


def _still_unknown(draft: Draft, reason: str) -> SendOutcome:
    return failed(draft.entry_id, _unknown(reason))


def _unknown(reason: str) -> ProblemError:
    detail = f"It is still unknown whether the first try stored the message: {reason}. Try again with the same key."
    return ProblemError(SEND_UNCERTAIN, detail)
