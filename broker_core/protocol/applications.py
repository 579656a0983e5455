"""What applications may give a message: the names of its properties, and its tag; one rule for HTTP and Spark."""

from __future__ import annotations

from typing import Final

from broker_core.protocol import properties as names
from broker_core.protocol.copies import PREFIX

CONTENT_TYPE: Final = "CONTENT_TYPE"
"""The gateway's property that says what the bytes of a body are."""

SYSTEM_PROPERTIES: Final = names.RESERVED | {
    names.SHARDING_KEY, names.TRANSACTION_ID, *names.OF_DELIVERIES, *names.TIMERS, *names.OF_TIMER,
    "__STARTDELIVERTIME", CONTENT_TYPE,
}  # fmt: skip
"""Properties of brokers, clients and gateway: applications neither set nor see them."""

DELAY_LEVELS: Final = 18
"""How many levels RocketMQ's default list has (broker_core/broker/README.md#delay-levels); brokers use the last one
for any larger number."""


def is_reserved(name: str) -> bool:
    """Return whether applications may not set the property: it is a system property, or one that only copies have."""
    return name in SYSTEM_PROPERTIES or name[: len(PREFIX)].upper() == PREFIX


def tag_fault(tag: str) -> str | None:
    """Return why no filter could name the tag, None for one that can be sent."""
    if "||" in tag or tag != tag.strip() or tag in ("", "*"):
        return "A tag must not be '*', contain '||' or have blanks at its ends: no filter could name it."
    return None


class TagsMalformed(ValueError):
    """The text chooses no tags; the message says why, behind the name of the field."""


def tags_of(text: str) -> frozenset[str] | None:
    """Return the tags that ``a || b`` chooses, of which a message has one; None for ``*``, that is all messages.

    Raises TagsMalformed.
    """
    found = frozenset(tag.strip() for tag in text.split("||") if tag.strip())
    if not found:
        raise TagsMalformed("names no tag; leave it out to choose messages with any tag and with none")
    if "*" not in found:
        return found
    if len(found) > 1:
        raise TagsMalformed("has '*' beside a tag; it stands alone, and chooses all messages")
    return None


def body_fault(body: bytes) -> str | None:
    """Return why no broker takes the body, whatever its own limits are; None for one that can be sent."""
    return None if body else "is empty; brokers accept no empty message"


def separator_fault(text: str) -> str | None:
    """Return why a text cannot be the name or value of a property, None for one that can."""
    if names.NAME_END in text or names.PAIR_END in text:
        return "U+0001 and U+0002 are not allowed: they separate properties on the wire."
    return None
