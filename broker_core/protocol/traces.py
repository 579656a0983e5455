"""The text of message traces (protocol/README.md#traces): records ended by U+0002, their fields separated by U+0001.

Nothing is escaped, and a missing text is written as ``null``. Clients of several ages write them, so a record may have
fewer or more fields than ours. Reading never fails: what cannot be read is an `UnreadTrace` among the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from broker_core.protocol.properties import split_keys

TRACE_GROUP_PREFIX: Final = "_INNER_TRACE_PRODUCER"
"""Begins the producer groups of clients that write traces."""

_FIELD_END: Final = "\x01"
RECORD_END: Final = "\x02"
_NULL: Final = "null"
_NUMBER: Final = re.compile(r"-?[0-9]{1,18}")
_SEPARATORS: Final = str.maketrans({_FIELD_END: "\N{REPLACEMENT CHARACTER}", RECORD_END: "\N{REPLACEMENT CHARACTER}"})

MESSAGE_TYPES: Final = ("normal", "half", "end", "delayed", "ordered")
"""By the numbers that traces have for them; ``end`` is the decision on a transaction."""
OUTCOMES: Final = ("success", "timeout", "exception", "returned_null", "failed")
"""By the codes of `HandledTrace`: how the call of a consumer's listener ended."""


@dataclass(frozen=True, slots=True)
class SentTrace:
    """``Pub``: a producer got the answer to a send. Sends without an answer leave no trace."""

    timestamp: int
    """When the send began (ms)."""
    region: str | None
    group: str | None
    topic: str | None
    message_id: str
    """The unique id; of a batch, those of all its messages, separated by commas."""
    tags: str | None
    keys: str | None
    store_host: str | None
    body_bytes: int
    cost_ms: int
    message_type: int
    """An index of MESSAGE_TYPES, or a number that is not known yet."""
    offset_id: str | None
    is_success: bool
    """Whether the message was stored as safely as the broker promises."""
    client_host: str | None = None
    """Written only by old clients; others are known by who sent the trace."""


@dataclass(frozen=True, slots=True)
class DeliveredTrace:
    """``SubBefore``: a consumer passes a message to its listener."""

    timestamp: int
    region: str | None
    group: str | None
    request_id: str
    """Joins it with its `HandledTrace`."""
    message_id: str
    retry_times: int
    keys: str | None


@dataclass(frozen=True, slots=True)
class HandledTrace:
    """``SubAfter``: the listener has returned."""

    request_id: str
    message_id: str
    cost_ms: int
    """Of a call with several messages, the share of each."""
    is_success: bool
    keys: str | None
    code: int | None
    """An index of OUTCOMES, or a number that is not known yet; None from old clients."""
    timestamp: int | None
    """When it was written (ms); None, like `group`, from old clients."""
    group: str | None


@dataclass(frozen=True, slots=True)
class EndedTrace:
    """``EndTransaction``: a producer decided on a transaction, or could not."""

    timestamp: int
    region: str | None
    group: str | None
    topic: str | None
    message_id: str
    tags: str | None
    keys: str | None
    store_host: str | None
    message_type: int
    transaction_id: str | None
    state: str
    """``COMMIT_MESSAGE``, ``ROLLBACK_MESSAGE`` or ``UNKNOW``."""
    from_check: bool
    """Whether the broker had asked."""


@dataclass(frozen=True, slots=True)
class RecalledTrace:
    """``Recall`` (5.x): a producer recalled a message that waited for its delivery time."""

    timestamp: int
    region: str | None
    group: str | None
    topic: str | None
    message_id: str
    is_success: bool


@dataclass(frozen=True, slots=True)
class UnreadTrace:
    """A record of an unknown kind, or one whose fields cannot be read."""

    text: str
    reason: str


KnownTrace = SentTrace | DeliveredTrace | HandledTrace | EndedTrace | RecalledTrace
Trace = KnownTrace | UnreadTrace


def decode_traces(text: str) -> list[Trace]:
    """Return the records of a trace message in their order."""
    return [_decode(record) for record in text.split(RECORD_END) if record]


def encode_trace(trace: KnownTrace) -> str:
    """Return one record as current Java clients write it; separators within its texts are replaced by U+FFFD."""
    kind, values = _fields_of(trace)
    return _FIELD_END.join([kind, *map(_text_of, values)]) + RECORD_END


def keys_of(trace: KnownTrace) -> list[str]:
    """Return the index keys by which a trace message with this record is found: message ids and message keys."""
    keys = None if isinstance(trace, RecalledTrace) else trace.keys
    return [key.translate(_SEPARATORS) for key in (*trace.message_id.split(","), *split_keys(keys)) if key]


def concerns(trace: KnownTrace, message_id: str) -> bool:
    """Return whether a record is about the message with this unique id; a trace message has records of many."""
    return message_id in trace.message_id.split(",")


def outcome_of(trace: HandledTrace) -> str | None:
    """Return how the listener's call ended; None if the client did not say, or used a code that is not known."""
    return OUTCOMES[trace.code] if trace.code is not None and 0 <= trace.code < len(OUTCOMES) else None


def _decode(record: str) -> Trace:
    kind, *values = record.split(_FIELD_END)
    if kind not in _READERS:
        return UnreadTrace(record, f"a record of the unknown kind {kind[:40]!r}")
    fewest, read = _READERS[kind]
    if len(values) < fewest:
        return UnreadTrace(record, f"{kind} has {len(values)} fields instead of at least {fewest}")
    try:
        return read(values)
    except ValueError as error:
        return UnreadTrace(record, f"{kind}: {error}")


def _sent(values: Sequence[str]) -> SentTrace:
    times, region, group, topic, message_id, tags, keys, host, size, cost, kind, *rest = values
    # The oldest form has no offset id, a later one also the client's address.
    offset_id, success = (None, rest[0]) if len(rest) == 1 else (rest[0], rest[1])
    return SentTrace(
        _number(times), _text(region), _text(group), _text(topic), message_id, _text(tags), _text(keys), _text(host),
        _number(size), _number(cost), _number(kind), _text(offset_id), _truth(success),
        _text(rest[2]) if len(rest) > 2 else None,
    )  # fmt: skip


def _delivered(values: Sequence[str]) -> DeliveredTrace:
    times, region, group, request_id, message_id, retries, keys = values[:7]
    return DeliveredTrace(
        _number(times), _text(region), _text(group), request_id, message_id, _number(retries), _text(keys)
    )


def _handled(values: Sequence[str]) -> HandledTrace:
    request_id, message_id, cost, success, keys, *rest = values
    code = _number(rest[0]) if rest else None
    timestamp, group = (_number(rest[1]), _text(rest[2])) if len(rest) > 2 else (None, None)
    return HandledTrace(request_id, message_id, _number(cost), _truth(success), _text(keys), code, timestamp, group)


def _ended(values: Sequence[str]) -> EndedTrace:
    times, region, group, topic, message_id, tags, keys, host, kind, transaction_id, state, from_check = values[:12]
    return EndedTrace(
        _number(times), _text(region), _text(group), _text(topic), message_id, _text(tags), _text(keys), _text(host),
        _number(kind), _text(transaction_id), state, _truth(from_check),
    )  # fmt: skip


def _recalled(values: Sequence[str]) -> RecalledTrace:
    times, region, group, topic, message_id, success = values[:6]
    return RecalledTrace(_number(times), _text(region), _text(group), _text(topic), message_id, _truth(success))


_PUB, _SUB_BEFORE, _SUB_AFTER, _END_TRANSACTION, _RECALL = "Pub", "SubBefore", "SubAfter", "EndTransaction", "Recall"
_READERS: Final[dict[str, tuple[int, Callable[[Sequence[str]], KnownTrace]]]] = {
    _PUB: (12, _sent),
    _SUB_BEFORE: (7, _delivered),
    _SUB_AFTER: (5, _handled),
    _END_TRANSACTION: (12, _ended),
    _RECALL: (6, _recalled),
}
"""The fewest fields of each kind, and how they are read."""


def _fields_of(trace: KnownTrace) -> tuple[str, Iterable[object]]:
    match trace:
        case SentTrace() as t:
            first = t.timestamp, t.region, t.group, t.topic, t.message_id, t.tags, t.keys, t.store_host
            return _PUB, (*first, t.body_bytes, t.cost_ms, t.message_type, t.offset_id, t.is_success)
        case DeliveredTrace() as t:
            return _SUB_BEFORE, (t.timestamp, t.region, t.group, t.request_id, t.message_id, t.retry_times, t.keys)
        case HandledTrace() as t:
            always = t.request_id, t.message_id, t.cost_ms, t.is_success, t.keys
            if t.code is None:
                return _SUB_AFTER, always
            return _SUB_AFTER, (*always, t.code) if t.timestamp is None else (*always, t.code, t.timestamp, t.group)
        case EndedTrace() as t:
            first = t.timestamp, t.region, t.group, t.topic, t.message_id, t.tags, t.keys, t.store_host
            return _END_TRANSACTION, (*first, t.message_type, t.transaction_id, t.state, t.from_check)
        case RecalledTrace() as t:
            return _RECALL, (t.timestamp, t.region, t.group, t.topic, t.message_id, t.is_success)


def _text_of(value: object) -> str:
    if value is None:
        return _NULL
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).translate(_SEPARATORS)


def _text(field: str | None) -> str | None:
    return None if field in (None, _NULL, "") else field


def _number(field: str) -> int:
    if _NUMBER.fullmatch(field) is None:
        raise ValueError(f"{field[:40]!r} is not a number")
    return int(field)


def _truth(field: str) -> bool:
    lower = field.lower()
    if lower not in ("true", "false"):
        raise ValueError(f"{field[:40]!r} is neither true nor false")
    return lower == "true"
