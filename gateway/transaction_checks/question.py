"""What a hook is asked about a half message, and what its answer means. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from broker_core.client.transactions import Decision
from broker_core.protocol import properties as names
from broker_core.protocol.message import StoredMessage
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


class _Members(NamedTuple):
    """An object of JSON with all of its members, repeated ones too."""

    pairs: list[tuple[str, object]]


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
    failure = outcome.error or outcome.cut
    if failure is not None:
        return Understood(Decision.UNKNOWN, failure)
    try:
        # What was sent, not what can be shown of it: a text that was mended may say what nobody said.
        return _decision_of(outcome.body.decode("utf-8"))
    except UnicodeDecodeError:
        return Understood(Decision.UNKNOWN, "the answer is not UTF-8")


def _decision_of(text: str) -> Understood:
    if len(text) > MAX_ANSWER:
        return Understood(Decision.UNKNOWN, f"the answer is longer than {MAX_ANSWER} characters")
    try:
        answer = json.loads(text, object_pairs_hook=_Members, parse_constant=_refuse)
    except (ValueError, RecursionError):
        answer = None
    words = [value for name, value in answer.pairs if name == "decision"] if isinstance(answer, _Members) else []
    if len(words) > 1:
        return Understood(Decision.UNKNOWN, "the answer has more than one decision")
    if not words or not isinstance(words[0], str):
        return Understood(Decision.UNKNOWN, 'the answer is not JSON such as {"decision": "commit"}')
    decision = _DECISIONS.get(words[0])
    if decision is None:
        known = ", ".join(_DECISIONS)
        return Understood(Decision.UNKNOWN, f"the decision {words[0][:40]!r} is not one of {known}")
    return Understood(decision, None)


def _refuse(constant: str) -> None:
    """Raise ValueError for NaN and Infinity, which Python would take for JSON."""
    raise ValueError(constant)
