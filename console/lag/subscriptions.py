"""What each member of a group subscribes to, and whether the members agree.

Brokers keep one subscription of a group to a topic, that of the client that reported last: members that differ take
messages from each other that they then drop. Only the members themselves say what each of them wants.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from broker_core.protocol.bodies import SubscriptionData
from broker_core.protocol.topics import is_retry_topic


@dataclass(frozen=True, slots=True, order=True)
class Subscription:
    """A topic with the expression that selects its messages."""

    topic: str
    expression: str
    type: str


def subscriptions_of(reported: Iterable[SubscriptionData]) -> frozenset[Subscription]:
    """Return the subscriptions of one member, without that to the retry topic; tags in any order are the same."""
    return frozenset(
        Subscription(data.topic, _normal(data.sub_string, data.expression_type or "TAG"), data.expression_type or "TAG")
        for data in reported
        if not is_retry_topic(data.topic)
    )


def agree(members: Mapping[str, frozenset[Subscription]]) -> bool:
    """Return whether all members, by client id, subscribe to the same."""
    return len(set(members.values())) < 2


def _normal(expression: str, type_: str) -> str:
    if type_ != "TAG":
        return expression
    return " || ".join(sorted({tag.strip() for tag in expression.split("||")})) or "*"
