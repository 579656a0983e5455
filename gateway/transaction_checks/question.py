"""What a hook is asked about a half message, and what its answer means. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from broker_core.client.transactions import Decision
from broker_core.protocol import properties as names
from broker_core.protocol.message import StoredMessage
from broker_core.structs import decoded
from console.alerts.outcome import MAX_ANSWER, Outcome
from console.moments import Moment, rfc3339
from console.transaction_hooks.shapes import HookDecision
from gateway.control.message_shapes import StoredBody, body_of
from gateway.data.schemas import encode
from gateway.transaction_ids import HalfPlace

EVENT: Final = "transaction_check"
WORDS: Final[Mapping[Decision, HookDecision]] = {
    Decision.COMMIT: "commit", Decision.ROLLBACK: "rollback", Decision.UNKNOWN: "unknown",
}  # fmt: skip
_DECISIONS: Final[Mapping[str, Decision]] = {word: decision for decision, word in WORDS.items()}


class CheckQuestion(Struct, frozen=True, kw_only=True):
    """The JSON that is posted."""

    delivery: str
    event: str
    hook: str
    cluster: str
    transaction_id: str
    message_id: str
    topic: str
    group: str
    broker: str
    keys: Sequence[str]
    tag: str | None
    properties: Mapping[str, str]
    body: StoredBody
    body_bytes: int
    born_at: Moment
    checks: int


class Understood(NamedTuple):
    """A decision, and why it is UNKNOWN without the hook having said so."""

    decision: Decision
    failure: str | None


@decoded
class _Answer(Struct, frozen=True):
    decision: str


def checks_of(asked: StoredMessage) -> int:
    """Return the how manyth check it is; 0 if the broker does not say."""
    text = asked.properties.get(names.TRANSACTION_CHECK_TIMES, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 10 else 0


def delivery_of(place: HalfPlace, asked: StoredMessage) -> str:
    """Return the id of a question: the same check has the same one."""
    return f"{place.message_id}-{checks_of(asked)}"


def question(hook: str, transaction_id: str, place: HalfPlace, asked: StoredMessage) -> bytes:
    """Return the body to post."""
    return encode(
        CheckQuestion(
            delivery=delivery_of(place, asked),
            event=EVENT,
            hook=hook,
            cluster=place.cluster,
            transaction_id=transaction_id,
            message_id=place.message_id,
            topic=place.topic,
            group=place.group,
            broker=place.broker,
            keys=asked.keys,
            tag=asked.tag,
            properties=asked.properties,
            body=body_of(asked),
            body_bytes=len(asked.body),
            born_at=rfc3339(asked.born_timestamp),
            checks=checks_of(asked),
        )
    )


def understood(outcome: Outcome) -> Understood:
    """Return what a hook decided; UNKNOWN, with the reason, for whatever is not one of its three answers."""
    if outcome.error is not None:
        return Understood(Decision.UNKNOWN, outcome.error)
    if len(outcome.answer) >= MAX_ANSWER:
        return Understood(Decision.UNKNOWN, f"the answer is longer than {MAX_ANSWER} characters")
    try:
        answer = msgspec.json.decode(outcome.answer, type=_Answer)
    except msgspec.DecodeError:
        return Understood(Decision.UNKNOWN, 'the answer is not JSON such as {"decision": "commit"}')
    decision = _DECISIONS.get(answer.decision)
    if decision is None:
        known = ", ".join(_DECISIONS)
        return Understood(Decision.UNKNOWN, f"the decision {answer.decision[:40]!r} is not one of {known}")
    return Understood(decision, None)
