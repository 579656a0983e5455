"""Message properties as text: ``name U+0001 value U+0002 name U+0001 value`` (protocol/README.md#properties).

Nothing is escaped. Old writers end the text with U+0002, new ones do not; readers accept both. Pairs with an empty name
or value are left out by writers and dropped by readers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from broker_core.native import native
from broker_core.protocol.errors import MalformedProperties

NAME_END: Final = "\x01"
PAIR_END: Final = "\x02"
MAX_PROPERTIES_BYTES: Final = 32767

KEYS: Final = "KEYS"
TAGS: Final = "TAGS"
WAIT: Final = "WAIT"
DELAY: Final = "DELAY"
UNIQ_KEY: Final = "UNIQ_KEY"
RETRY_TOPIC: Final = "RETRY_TOPIC"
REAL_TOPIC: Final = "REAL_TOPIC"
REAL_QID: Final = "REAL_QID"
TRAN_MSG: Final = "TRAN_MSG"
PGROUP: Final = "PGROUP"
MIN_OFFSET: Final = "MIN_OFFSET"
MAX_OFFSET: Final = "MAX_OFFSET"
ORIGIN_MESSAGE_ID: Final = "ORIGIN_MESSAGE_ID"
RECONSUME_TIME: Final = "RECONSUME_TIME"
MAX_RECONSUME_TIMES: Final = "MAX_RECONSUME_TIMES"
MSG_REGION: Final = "MSG_REGION"
TRACE_ON: Final = "TRACE_ON"
CONSUME_START_TIME: Final = "CONSUME_START_TIME"
TRAN_PREPARED_QUEUE_OFFSET: Final = "TRAN_PREPARED_QUEUE_OFFSET"
TRANSACTION_CHECK_TIMES: Final = "TRANSACTION_CHECK_TIMES"
TRAN_FIRST_QUEUE_OFFSET: Final = "TRAN_FIRST_QUEUE_OFFSET"
TRAN_FIRST_STORE_MS: Final = "TRAN_FIRST_STORE_MS"
TRAN_COPY_CHECKS: Final = "TRAN_COPY_CHECKS"
TRAN_CHECKED_SINCE_MS: Final = "TRAN_CHECKED_SINCE_MS"
TRAN_CHECKS_BEFORE: Final = "TRAN_CHECKS_BEFORE"
CHECK_IMMUNITY_TIME_IN_SECONDS: Final = "CHECK_IMMUNITY_TIME_IN_SECONDS"
INSTANCE_ID: Final = "INSTANCE_ID"
CORRELATION_ID: Final = "CORRELATION_ID"
REPLY_TO_CLIENT: Final = "REPLY_TO_CLIENT"
PUSH_REPLY_TIME: Final = "PUSH_REPLY_TIME"
TTL: Final = "TTL"
MSG_TYPE: Final = "MSG_TYPE"
CLUSTER: Final = "CLUSTER"
INNER_MULTI_DISPATCH: Final = "INNER_MULTI_DISPATCH"
INNER_MULTI_QUEUE_OFFSET: Final = "INNER_MULTI_QUEUE_OFFSET"
SHARDING_KEY: Final = "__SHARDINGKEY"
TRANSACTION_ID: Final = "__transactionId__"
FIRST_POP_TIME: Final = "1ST_POP_TIME"
POP_CK: Final = "POP_CK"
POP_CK_OFFSET: Final = "POP_CK_OFFSET"
TIMER_DELAY_MS: Final = "TIMER_DELAY_MS"
TIMER_DELAY_SEC: Final = "TIMER_DELAY_SEC"
TIMER_DELIVER_MS: Final = "TIMER_DELIVER_MS"
TIMER_OUT_MS: Final = "TIMER_OUT_MS"
TIMER_ENQUEUE_MS: Final = "TIMER_ENQUEUE_MS"
TIMER_SEQ: Final = "TIMER_SEQ"
TIMER_RECALLED: Final = "TIMER_RECALLED"
TIMER_DONE_MS: Final = "TIMER_DONE_MS"
TIMER_DONE_UPTO: Final = "TIMER_DONE_UPTO"

OF_DELIVERIES: Final = (POP_CK, POP_CK_OFFSET, FIRST_POP_TIME)
"""Properties of one delivery by lease: in a sent message they would refer to a different delivery."""

TIMERS: Final = (TIMER_DELAY_MS, TIMER_DELAY_SEC, TIMER_DELIVER_MS)
"""Properties that request delivery at a certain time (5.x)."""

OF_TIMER: Final = (TIMER_OUT_MS, TIMER_ENQUEUE_MS, TIMER_SEQ, TIMER_RECALLED, TIMER_DONE_MS, TIMER_DONE_UPTO)
"""Properties that a broker's timer sets (broker/README.md#delivery-times); they mean nothing in a sent message."""

# Names that clients must not use for their own properties; brokers do not enforce this.
RESERVED: Final = frozenset(
    {
        KEYS, TAGS, WAIT, DELAY, UNIQ_KEY, RETRY_TOPIC, REAL_TOPIC, REAL_QID, TRAN_MSG, PGROUP, MIN_OFFSET, MAX_OFFSET,
        "BUYER_ID", "TRANSFER_FLAG", "CORRECTION_FLAG", "MQ2_FLAG", ORIGIN_MESSAGE_ID, RECONSUME_TIME,
        MAX_RECONSUME_TIMES, MSG_REGION, TRACE_ON, CONSUME_START_TIME, TRAN_PREPARED_QUEUE_OFFSET,
        TRANSACTION_CHECK_TIMES, TRAN_FIRST_QUEUE_OFFSET, TRAN_FIRST_STORE_MS, TRAN_COPY_CHECKS, TRAN_CHECKED_SINCE_MS,
        TRAN_CHECKS_BEFORE, CHECK_IMMUNITY_TIME_IN_SECONDS, INSTANCE_ID, CORRELATION_ID, REPLY_TO_CLIENT, TTL, MSG_TYPE,
        "ARRIVE_TIME",
        PUSH_REPLY_TIME, CLUSTER, INNER_MULTI_DISPATCH, INNER_MULTI_QUEUE_OFFSET,
    }
)  # fmt: skip


def parse_properties(text: str) -> dict[str, str]:
    """Return the pairs of a property string; as in Java, broken pairs are dropped and the last duplicate wins."""
    pairs = {}
    for pair in text.split(PAIR_END):
        name, _, value = pair.partition(NAME_END)
        if name and value:
            pairs[name] = value
    return pairs


def mark_of(name: str) -> str:
    """Return the text before the value of `name` in a marked text, for `value_after`."""
    return f"{PAIR_END}{name}{NAME_END}"


def value_after(mark: str, marked: str) -> str:
    """Return the value after `mark` (from `mark_of`) in a marked text; as in Java, the last duplicate wins.

    A marked text is a property string with U+0002 in front. Searching it for a few names is much faster than parsing
    it. Returns an empty string if the name is missing.
    """
    before, found, behind = marked.rpartition(mark)
    if not found:
        return ""
    # A duplicate without a value does not count, so look for an earlier one.
    return behind.partition(PAIR_END)[0] or value_after(mark, before)


def _format_properties(properties: Mapping[str, str]) -> str:
    """Return the property string; pairs with an empty name or value are left out.

    There is no separator at its end, unless it would end with U+0000: readers take such a text for one that a crash cut
    off. Raises MalformedProperties if a name or value contains U+0002, since the text would be read as other pairs.
    """
    pairs = []
    # A plain loop: this runs for every message, and a comprehension would cost a call.
    for name, value in properties.items():
        if name and value:
            pairs.append(f"{name}\x01{value}")
    text = PAIR_END.join(pairs)
    if pairs and text.count(PAIR_END) >= len(pairs):
        raise MalformedProperties(f"a property name or value holds U+0002: {_first_with(PAIR_END, properties)!r}")
    return text if text[-1:] != "\0" else text + PAIR_END


def _format_with_twin(properties: Mapping[str, str]) -> str:
    text = _compiled(properties)
    return _format_properties(properties) if text is None else text


if native:
    _compiled: Final = native.format_properties
    format_properties = _format_with_twin
else:
    format_properties = _format_properties


def check_properties(properties: Mapping[str, str]) -> None:
    """Raise MalformedProperties unless every pair can be read back from a property string."""
    for name, value in properties.items():
        if not name or not value:
            raise MalformedProperties(f"property {name!r} has an empty name or value")
        if NAME_END in name or PAIR_END in name or PAIR_END in value:
            raise MalformedProperties(f"property {name!r} holds U+0001 or U+0002")


def split_keys(text: str | None) -> list[str]:
    """Return the index keys of a KEYS property: the non-empty parts between spaces."""
    return [key for key in text.split(" ") if key] if text else []


def join_keys(keys: Iterable[str]) -> str:
    """Return the KEYS property for these keys; raise MalformedProperties for a key that is empty or has a space."""
    keys = list(keys)
    for key in keys:
        if not key or " " in key:
            raise MalformedProperties(f"message key {key!r} is empty or holds a space, which separates keys")
    return " ".join(keys)


def _first_with(character: str, properties: Mapping[str, str]) -> str:
    return next(name for name, value in properties.items() if character in name or character in value)
