"""Tag expressions such as ``TagA || TagB``, matched by the tag hashes in the consume queue.

A consume queue holds the 32-bit hash of a message's tag, not the tag. So a filter lets through other tags with the same
hash, and clients compare the text (protocol/README.md#tag-hash).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from broker_core.broker.errors import BadSubscription
from broker_core.protocol.string_hash import tags_code
from broker_core.store.fetch import AcceptTag

ALL: Final = "*"


def parse_tags(expression: str | None) -> tuple[str, ...]:
    """Return the tags of an expression, in order; none means every message.

    Raises BadSubscription for an expression that has separators but no tag.
    """
    if expression is None or expression in ("", ALL):
        return ()
    tags = tuple(dict.fromkeys(part.strip() for part in expression.split("||") if part.strip()))
    if not tags:
        raise BadSubscription("parse the consumer's subscription failed: no tag between the separators")
    return tags


def accept_expression(expression: str | None) -> AcceptTag | None:
    """Return the test for an expression, or None when it matches every message."""
    return accept_codes(map(tags_code, parse_tags(expression)))


def accept_codes(codes: Iterable[int]) -> AcceptTag | None:
    """Return the test for a set of tag hashes, or None when the set is empty and matches every message."""
    wanted = frozenset(codes)
    return wanted.__contains__ if wanted else None
