"""Makes the message to send from a request; each error points at its place in the request."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from msgspec import UNSET

from broker_core.moments import EXAMPLE, NoMoment, read_moment
from broker_core.protocol import properties as names
from broker_core.protocol.applications import (
    CONTENT_TYPE,
    SYSTEM_PROPERTIES,
    body_fault,
    is_reserved,
    separator_fault,
    tag_fault,
)
from broker_core.protocol.message import Message
from console.pointers import escaped
from gateway.data.bodies import body_bytes
from gateway.data.schemas import Entry, invalid
from gateway.limits import Sizes
from gateway.problems import MESSAGE_TOO_LARGE, FieldError, ProblemError

_LEVELS_S: Final = (1, 5, 10, 30, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600, 1200, 1800, 3600, 7200)
DELAY_LEVELS: Final = {seconds * 1000: level for level, seconds in enumerate(_LEVELS_S, start=1)}
"""Delay in ms → RocketMQ's delay level, by its default list (broker_core/broker/README.md#delay-levels)."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
_NO_MOMENT: Final = f"Must be a time with date and offset, such as {EXAMPLE}."
_PROPERTY_HEADER: Final = b"mq-property-"


@dataclass(slots=True)
class Draft:
    """One message ready to send, and the entry id of its result."""

    entry_id: str
    message: Message
    ordering_key: str | None
    delay_ms: int = 0
    deliver_ms: int | None = None
    """When to deliver it, ms since 1970; excludes a delay."""
    delay_at: str = ""
    """Where the request says so, also if that means at once; empty if it says nothing."""

    @property
    def asks_delay(self) -> bool:
        """Whether it is to be delivered later; `delays.py` says whether its cluster can do that."""
        return self.delay_ms > 0 or self.deliver_ms is not None

    def is_due(self, now_ms: int) -> bool:
        """Return whether it asks for a time that has passed, which means at once.

        It asks for a delay all the same: an earlier try of the request may have stored it to wait.
        """
        return self.deliver_ms is not None and self.deliver_ms <= now_ms

    @property
    def size(self) -> int:
        """Bytes it takes in a batch, at most."""
        properties = self.message.properties
        characters = sum(map(len, properties)) + sum(map(len, properties.values()))
        return len(self.message.body) + 4 * characters + 128


class _Delay(NamedTuple):
    """A delay, or a time, and where the request asks for it."""

    delay_ms: int
    deliver_ms: int | None
    at: str


def user_properties(stored: dict[str, str]) -> dict[str, str]:
    """Return the properties that the producing application set, without those of brokers, clients and gateway."""
    return {name: value for name, value in stored.items() if name not in SYSTEM_PROPERTIES}


def draft_of_entry(entry: Entry, topic: str, *, entry_id: str, at: str, sizes: Sizes) -> Draft:
    """Return the message of a JSON entry; `at` is its pointer. Raises a problem that points at the fault."""
    if entry.body is UNSET:
        raise invalid(f"{at}/body", "A message needs a body.")
    body, content_type = body_bytes(entry.body, f"{at}/body")
    properties = checked_properties(entry.properties, f"{at}/properties")
    delay = _checked_delay(entry.delay_ms, entry.deliver_at, f"{at}/delay_ms", f"{at}/deliver_at")
    _add_keys(properties, entry.keys, f"{at}/keys", sizes)
    if entry.tag is not None:
        properties[names.TAGS] = _checked_tag(entry.tag, f"{at}/tag")
    if content_type is not None:
        properties[CONTENT_TYPE] = content_type
    return _draft(entry_id, topic, body, properties, entry.ordering_key, delay, at, sizes)


def draft_of_raw(headers: Iterable[tuple[bytes, bytes]], body: bytes, topic: str, *, sizes: Sizes) -> Draft:
    """Return the message whose body is the request's own, with attributes in MQ-… headers (names become lower case)."""
    keys: list[str] = []
    given: dict[str, str] = {}
    properties: dict[str, str] = {}
    content_type = None
    for name, value in headers:
        if name == b"content-type":
            content_type = value.decode("latin-1")
        elif name == b"mq-key":
            keys.append(_header_text(name, value))
        elif name.startswith(_PROPERTY_HEADER):
            properties[name[len(_PROPERTY_HEADER) :].decode("latin-1")] = _header_text(name, value)
        elif name.startswith(b"mq-"):
            given[name.decode("latin-1")] = _header_text(name, value)
    properties = checked_properties(properties, "MQ-Property-")
    _add_keys(properties, keys, "MQ-Key", sizes)
    tag, ordering_key = given.pop("mq-tag", None), given.pop("mq-ordering-key", None)
    if tag is not None:
        properties[names.TAGS] = _checked_tag(tag, "MQ-Tag")
    if content_type:
        properties[CONTENT_TYPE] = _checked_text(content_type, "Content-Type")
    if ordering_key == "":
        raise invalid("MQ-Ordering-Key", "An ordering key must not be empty.")
    delay = given.pop("mq-delay-ms", None)
    if delay is not None and not (delay.isascii() and delay.isdigit() and len(delay) < 16):
        raise invalid("MQ-Delay-Ms", "Must be whole milliseconds.")
    wanted_delay = _checked_delay(
        None if delay is None else int(delay), given.pop("mq-deliver-at", None), "MQ-Delay-Ms", "MQ-Deliver-At"
    )
    if given:
        known = "MQ-Key, -Tag, -Ordering-Key, -Delay-Ms, -Deliver-At, -Property-…"
        raise invalid(next(iter(given)), f"Unknown header; known: {known}.")
    return _draft("0", topic, body, properties, ordering_key, wanted_delay, None, sizes)


def _draft(
    entry_id: str,
    topic: str,
    body: bytes,
    properties: dict[str, str],
    ordering_key: str | None,
    delay: _Delay,
    at: str | None,
    sizes: Sizes,
) -> Draft:
    """Return the message; `at` is the pointer of its entry, None if it is the whole body and headers describe it."""
    if len(body) > sizes.message_bytes:
        detail = f"The message has {len(body):,} bytes; brokers accept at most {sizes.message_bytes:,}."
        raise ProblemError(MESSAGE_TOO_LARGE, detail, errors=[FieldError(at or "#", "MESSAGE_TOO_LARGE", detail)])
    fault = body_fault(body)
    if fault is not None:
        raise invalid(f"{at}/body" if at else "#", f"The body {fault}.")
    if ordering_key is not None:
        properties[names.SHARDING_KEY] = _checked_text(ordering_key, f"{at}/ordering_key" if at else "MQ-Ordering-Key")
    if delay.delay_ms:
        properties[names.TIMER_DELAY_MS] = str(delay.delay_ms)
    elif delay.deliver_ms is not None:
        properties[names.TIMER_DELIVER_MS] = str(delay.deliver_ms)
    _check_room(properties, f"{at}/properties" if at else "MQ-Property-", sizes)
    return Draft(entry_id, Message(topic, body, properties), ordering_key, *delay)


def checked_properties(given: dict[str, str], at: str) -> dict[str, str]:
    """Return a copy of the properties; raise INVALID for a reserved name, or a pair that the wire would lose."""
    if not given:
        return {}
    for name, value in given.items():
        where = f"{at}/{escaped(name)}" if at.startswith("#") else at + name
        if is_reserved(name):
            raise invalid(where, f"The property name {name!r} is reserved.")
        if not name or not value:
            raise invalid(where, "A property needs a name and a value.")
        _checked_text(name, where)
        _checked_text(value, where)
    return dict(given)


def _check_room(properties: dict[str, str], at: str, sizes: Sizes) -> None:
    """Raise INVALID if all properties of a message together are larger than a record allows."""
    characters = sum(map(len, properties)) + sum(map(len, properties.values()))
    if 4 * characters <= sizes.properties_bytes:  # in any case of letters
        return
    size = sum(len(name.encode()) + len(value.encode()) + 2 for name, value in properties.items())
    if size > sizes.properties_bytes:
        counted = "Properties, keys, tag, ordering key, delay and content type"
        detail = f"{counted} have {size:,} bytes together with their names and separators"
        raise invalid(at, f"{detail}; the limit is {sizes.properties_bytes:,}.")


def _add_keys(properties: dict[str, str], keys: list[str], at: str, sizes: Sizes) -> None:
    if not keys:
        return
    if len(keys) > sizes.keys:
        raise invalid(at, f"{len(keys)} keys; the limit is {sizes.keys}.")
    for index, key in enumerate(keys):
        if not key or " " in key:
            raise invalid(f"{at}/{index}", "A key must not be empty or contain a space, because spaces separate keys.")
        _checked_text(key, f"{at}/{index}")
    properties[names.KEYS] = " ".join(keys)


def _checked_tag(tag: str, at: str) -> str:
    fault = tag_fault(tag)
    if fault is not None:
        raise invalid(at, fault)
    return _checked_text(tag, at)


def _checked_text(text: str, at: str) -> str:
    fault = separator_fault(text)
    if fault is not None:
        raise invalid(at, fault)
    return text


def _checked_delay(delay_ms: int | None, deliver_at: str | None, delay_at: str, moment_at: str) -> _Delay:
    """Return the delay that a request asks for, and where it does; raise INVALID for two, or for no point in time."""
    if deliver_at is None:
        return _Delay(delay_ms or 0, None, "" if delay_ms is None else delay_at)
    if delay_ms is not None:
        raise invalid(moment_at, "deliver_at and delay_ms exclude each other.")
    try:
        moment = read_moment(deliver_at)
    except NoMoment:
        raise invalid(moment_at, _NO_MOMENT) from None
    return _Delay(0, (moment - _EPOCH) // _MILLISECOND, moment_at)


def _header_text(name: bytes, value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise invalid(name.decode("latin-1"), "The header's value is not UTF-8.") from None
