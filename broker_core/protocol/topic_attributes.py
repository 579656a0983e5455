"""Attributes of a topic, which RocketMQ 5 keeps beside its settings (protocol/README.md#topic-attributes)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, get_args

MessageType = Literal["NORMAL", "FIFO", "DELAY", "TRANSACTION", "MIXED", "UNSPECIFIED"]
MESSAGE_TYPE: Final = "message.type"
MESSAGE_TYPES: Final[tuple[MessageType, ...]] = get_args(MessageType)

SERVED: Final[Mapping[str, Sequence[str]]] = {
    MESSAGE_TYPE: MESSAGE_TYPES,
    "queue.type": ("SimpleCQ",),
    "cleanup.policy": ("DELETE",),
    "reserve.time": ("-1",),
}
"""The attributes that RocketMQ 5.3 defines, with the values that Gantry acts on: others would promise too much."""


def declare(message_type: MessageType) -> str:
    """Return the header field that gives a topic its message type."""
    return f"+{MESSAGE_TYPE}={message_type}"


def message_type_of(attributes: Mapping[str, str] | None) -> MessageType | None:
    """Return the message type that was declared; None if none was, or one that RocketMQ does not define."""
    said = (attributes or {}).get(MESSAGE_TYPE)
    return next((each for each in MESSAGE_TYPES if each == said), None)


def changed(before: Mapping[str, str] | None, text: str | None) -> dict[str, str] | None:
    """Return attributes after a change ``+key=value,-key``; without a text they stay.

    Raises ValueError for another form, an unknown or repeated key, or a value that is not served.
    """
    if not text:
        return None if before is None else dict(before)
    found, seen = dict(before or {}), set[str]()
    for part in text.split(","):
        key, is_given, value = part.strip().partition("=")
        name = key[1:]
        if key[:1] != ("+" if is_given else "-"):
            raise ValueError(f"attribute {part!r} is neither +key=value nor -key")
        if name not in SERVED or name in seen:
            raise ValueError(f"attribute {name!r} is repeated" if name in seen else f"unsupported attribute {name!r}")
        seen.add(name)
        if is_given and value not in SERVED[name]:
            raise ValueError(f"attribute {name}={value!r} is not supported, only {' or '.join(SERVED[name])}")
        if is_given:
            found[name] = value
        else:
            found.pop(name, None)
    return found


def text_of(changes: Mapping[str, str] | None) -> str | None:
    """Return the text of changes in the form of a list of topics (18): a map of ``+key`` to value and ``-key``."""
    if not changes:
        return None
    return ",".join(f"{key}={value}" if key.startswith("+") else key for key, value in changes.items())
