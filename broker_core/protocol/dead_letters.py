"""What a dead letter says about itself: why it was given up and where it came from; and which ones a filter chooses."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, get_args

from msgspec import Struct

from broker_core.protocol import properties as names
from broker_core.protocol.message import StoredMessage

REASON: Final = "DEAD_LETTER_REASON"
"""The property with the reason that a consumer gave for a message that it refused."""
LEASE_ENDED: Final = "The lease ended before the message was acknowledged."
"""The reason of a dead letter whose consumers never said why they did not acknowledge it."""
NO_SEPARATORS: Final = {1: " ", 2: " "}
"""For `str.translate`: a reason without the characters that separate properties."""
EXCEPTIONS: Final = ("DEAD_LETTER_EXCEPTION", "EXCEPTION", "exception", "x-exception-message")
"""Properties in which clients and frameworks leave the error of a failed message; the first one counts."""

ReadFrom = Literal["reason", "exception", "none"]
SOURCES: Final[tuple[ReadFrom, ...]] = get_args(ReadFrom)


class Cause(NamedTuple):
    """Why a message became a dead letter, and which property says so; None and ``none`` if nothing does."""

    text: str | None
    read_from: ReadFrom


def cause_of(message: StoredMessage) -> Cause:
    """Return the reason that a consumer gave, else the exception."""
    reason = message.properties.get(REASON)
    if reason:
        return Cause(reason, "reason")
    exception = next(filter(None, map(message.properties.get, EXCEPTIONS)), None)
    return Cause(exception, "exception" if exception else "none")


def origin_of(message: StoredMessage) -> str | None:
    """Return the topic that a dead letter was consumed from, if it says so."""
    return message.properties.get(names.RETRY_TOPIC) or None


class DeadLetterFilter(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Chooses dead letters: those that fulfil every given condition."""

    causes: tuple[str | None, ...] | None = None
    """Any of these; None among them stands for no cause given."""
    topics: tuple[str, ...] | None = None
    """Any of the topics they came from."""
    ids: frozenset[str] | None = None
    """Any of these message ids or offset ids."""
    key: str | None = None
    begin_ms: int | None = None
    """Stored as a dead letter at this moment or later."""
    end_ms: int | None = None
    """Stored as a dead letter before this moment."""

    @property
    def last_ms(self) -> int:
        """The last store time that it chooses."""
        return 2**63 - 1 if self.end_ms is None else self.end_ms - 1

    def chooses(self, message: StoredMessage) -> bool:
        """Return whether a dead letter fulfils every condition."""
        if self.begin_ms is not None and message.store_timestamp < self.begin_ms:
            return False
        if self.end_ms is not None and message.store_timestamp >= self.end_ms:
            return False
        if self.key is not None and self.key not in message.keys:
            return False
        if self.topics is not None and origin_of(message) not in self.topics:
            return False
        if self.causes is not None and cause_of(message).text not in self.causes:
            return False
        return self.ids is None or message.message_id in self.ids or message.offset_id in self.ids
