"""What a row must be to become a message: it is refused for whatever HTTP refuses.

The texts name the column and what is wrong, and quote no value of the message: Spark writes them into logs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from broker_core.client.admin.timers import TimerLimits
from broker_core.client.admin.topic_facts import TopicKind, kind_of
from broker_core.client.config import MAX_BODY_BYTES
from broker_core.clock import now_ms
from broker_core.protocol import properties as names
from broker_core.protocol.applications import DELAY_LEVELS, body_fault, is_reserved, separator_fault, tag_fault
from broker_core.protocol.copies import PREFIX, kept_properties
from broker_core.protocol.topics import MAX_TOPIC_NAME, is_topic_name

MAX_PROPERTIES_BYTES: Final = 30_000
"""Of a row, as over HTTP: brokers take 32,767, with those that client and broker add."""
_SOURCE: Final = re.compile(r"([^/]+/){3}[0-9]{1,10}/[0-9]{1,19}")
_EPOCH: Final = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
_MILLISECOND: Final = timedelta(milliseconds=1)


class NotAMessage(Exception):
    """A row cannot be sent; the text says why, without its values."""


def checked_topic(topic: str | None) -> str:
    """Return the name of a topic that can be written to."""
    if topic is None:
        raise NotAMessage("it names no topic, and the option topic is not set")
    if not is_topic_name(topic):
        raise NotAMessage(f"column topic: no name has other than 1 to {MAX_TOPIC_NAME} letters, digits, _, -, % or |")
    if kind_of(topic) is TopicKind.SYSTEM:
        raise NotAMessage(f"column topic: the name {topic!r} is reserved by brokers")
    return topic


def checked_body(body: bytes | str | None) -> bytes:
    """Return the bytes of a body that brokers accept."""
    if body is None:
        raise NotAMessage("column body: it is null")
    if isinstance(body, str):
        body = body.encode()
    fault = body_fault(body)
    if fault is not None:
        raise NotAMessage(f"column body: it {fault}")
    if len(body) > MAX_BODY_BYTES:
        raise NotAMessage(f"column body: it has {len(body):,} bytes; brokers accept at most {MAX_BODY_BYTES:,}")
    return body


def checked_properties(pairs: Iterable[tuple[str, str | None]] | None) -> dict[str, str]:
    """Return the properties that a row sets; one that is null is not set."""
    found: dict[str, str] = {}
    for name, value in pairs or ():
        if is_reserved(name):
            raise NotAMessage(
                f"column properties: the name {name!r} is reserved; with the option copyProperties=true the properties "
                "of a message that was read are written without such"
            )
        if value is None:
            continue
        if not name or not value:
            raise NotAMessage("column properties: a property needs a name and a value that are not empty")
        fault = separator_fault(name) or separator_fault(value)
        if fault is not None:
            raise NotAMessage(f"column properties: {fault}")
        found[name] = value
    return found


def properties_of_copy(pairs: Iterable[tuple[str, str | None]] | None) -> dict[str, str]:
    """Return what a copy keeps of the properties of a message that was read: keys and tag, too, and no provenance."""
    kept = kept_properties({name: value for name, value in pairs or () if value})
    found = {name: value for name, value in kept.items() if name[: len(PREFIX)].upper() != PREFIX}
    for name, value in found.items():
        fault = separator_fault(name) or separator_fault(value)
        if fault is not None or not name:
            raise NotAMessage(f"column properties: {fault or 'a property needs a name'}")
    return found


def checked_keys(column: str, keys: Sequence[str]) -> Sequence[str]:
    """Return the keys of a message."""
    for key in keys:
        if not key or " " in key:
            raise NotAMessage(
                f"column {column}: a key must not be empty or contain a space, because spaces separate keys"
            )
        fault = separator_fault(key)
        if fault is not None:
            raise NotAMessage(f"column {column}: {fault}")
    return keys


def checked_source(source: str) -> str:
    """Return where a copy comes from, as copies of replays tell it."""
    if separator_fault(source) is not None or _SOURCE.fullmatch(source) is None:
        raise NotAMessage("column source: it is no cluster/broker/topic/queue/offset of a message")
    return source


def check_tag(tag: str | None) -> None:
    """Refuse a tag that no filter could name."""
    fault = None if tag is None else tag_fault(tag) or separator_fault(tag)
    if fault is not None:
        raise NotAMessage(f"column tag: {fault}")


def check_room(properties: dict[str, str]) -> None:
    """Refuse properties that are larger than a record allows."""
    characters = sum(map(len, properties)) + sum(map(len, properties.values()))
    if 4 * characters <= MAX_PROPERTIES_BYTES:  # in any case of letters
        return
    size = sum(len(name.encode()) + len(value.encode()) + 2 for name, value in properties.items())
    if size > MAX_PROPERTIES_BYTES:
        raise NotAMessage(
            f"properties, keys and tag have {size:,} bytes together with their names and separators; the limit is "
            f"{MAX_PROPERTIES_BYTES:,}"
        )


def checked_delay(level: int | None, at: datetime | None, limits: Callable[[], TimerLimits]) -> dict[str, str]:
    """Return the property by which brokers deliver a message later; none for level 0, or a time that has passed."""
    if level is not None and at is not None:
        raise NotAMessage("give delay_level or deliver_at, not both")
    if level is not None:
        if not 0 <= level <= DELAY_LEVELS:
            raise NotAMessage(f"column delay_level: brokers have the levels 1 to {DELAY_LEVELS}, and 0 is none")
        return {names.DELAY: str(level)} if level else {}
    if at is None:
        return {}
    deliver_ms = (at - _EPOCH) // _MILLISECOND
    wait_ms = deliver_ms - now_ms()
    if wait_ms <= 0:
        return {}
    served = limits()
    if served.max_delay_ms is None:
        raise NotAMessage(f"column deliver_at: the cluster has delay levels only (delay_level): {served.reason}")
    if wait_ms > served.max_delay_ms:
        raise NotAMessage(
            f"column deliver_at: it is further away than the cluster keeps messages "
            f"(timerMaxDelaySec={served.max_delay_ms // 1000})"
        )
    return {names.TIMER_DELIVER_MS: str(deliver_ms)}
