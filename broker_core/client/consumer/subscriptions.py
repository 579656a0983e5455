"""Subscriptions of a topic: tag expressions and SQL92 (client/README.md#subscriptions)."""

from __future__ import annotations

from typing import Final

from broker_core.protocol.bodies.heartbeat import SubscriptionData
from broker_core.protocol.message import StoredMessage
from broker_core.protocol.string_hash import string_hash

EVERYTHING: Final = "*"
TAG: Final = "TAG"
SQL92: Final = "SQL92"


def subscription(topic: str, expression: str = EVERYTHING, *, kind: str = TAG, version: int = 0) -> SubscriptionData:
    """Return a subscription as sent to brokers; `version` is the time in ms at which it was made or changed."""
    if kind != TAG:
        return SubscriptionData(topic=topic, sub_string=expression, expression_type=kind, sub_version=version)
    tags = tags_of(expression)
    return SubscriptionData(
        topic=topic,
        sub_string=expression.strip() if tags else EVERYTHING,
        tags_set=tags,
        code_set=[string_hash(tag) for tag in tags],
        sub_version=version,
    )


def tags_of(expression: str) -> list[str]:
    """Return the tags of ``created || paid``; none for ``*`` or an empty text, which match every message."""
    if expression.strip() in ("", EVERYTHING):
        return []
    return list(dict.fromkeys(tag for tag in (part.strip() for part in expression.split("||")) if tag))


def wants(data: SubscriptionData, message: StoredMessage) -> bool:
    """Return whether `message` really has one of the tags: brokers compare hashes only, and hashes collide."""
    return not data.tags_set or message.tag in data.tags_set
