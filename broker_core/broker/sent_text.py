"""The properties of a send as text: what the broker removes and adds without parsing the text.

Nearly every send has a few pairs that are stored unchanged. Only those with a special request (a delay, a transaction,
a timer) or with properties of an earlier delivery are parsed into a dictionary (`is_plain`, `settled_pairs`).
"""

from __future__ import annotations

from typing import Final

from broker_core.native import native
from broker_core.protocol import properties as names
from broker_core.protocol.bodies.topics import TopicConfig
from broker_core.protocol.properties import PAIR_END, mark_of, parse_properties
from broker_core.protocol.sys_flag import MULTI_TAGS

_MULTI_TAG: Final = "MULTI_TAG"
_WAIT: Final = mark_of(names.WAIT)
_DELAY: Final = mark_of(names.DELAY)
_TRAN_MSG: Final = mark_of(names.TRAN_MSG)
_CLUSTER: Final = mark_of(names.CLUSTER)
# Prefixes of names; the rare other names with these prefixes are parsed unnecessarily.
_POP_CK: Final = PAIR_END + names.POP_CK
_FIRST_POP_TIME: Final = PAIR_END + names.FIRST_POP_TIME
_TIMER: Final = f"{PAIR_END}TIMER_"


def sys_flag_in(topic: TopicConfig, sys_flag: int) -> int:
    """Return the system flag of a message sent with `sys_flag`; those of some topics may have several tags."""
    return sys_flag | MULTI_TAGS if topic.topic_filter_type == _MULTI_TAG else sys_flag


def _settle(text: str, pair: str) -> tuple[str, bool] | None:
    """Return the property string to store, `text` followed by `pair`, and whether the sender waits for the disk.

    None for a text with a special request, or an unusual one.
    """
    rest, waits = take_wait(text)
    return (with_pair(rest, pair), waits) if is_plain(rest) else None


def settle(text: str, pair: str) -> tuple[str, bool] | None:
    """Return what `_settle` returns."""
    return (native.settle_text(text, pair) if native else None) or _settle(text, pair)


def is_plain(text: str) -> bool:
    """Return whether a send with the property string `text` only needs to be stored."""
    return asks_for_nothing(text) and _CLUSTER not in PAIR_END + text


def asks_for_nothing(text: str) -> bool:
    """Return the same for a text that may already name a cluster."""
    marked = PAIR_END + text
    return (
        _DELAY not in marked
        and _TRAN_MSG not in marked
        and _POP_CK not in marked
        and _FIRST_POP_TIME not in marked
        and _TIMER not in marked
    )


def settled_pairs(text: str) -> dict[str, str]:
    """Return the pairs to store, without those that only a broker sets."""
    pairs = parse_properties(text)
    for name in (*names.OF_DELIVERIES, *names.OF_TIMER):
        pairs.pop(name, None)
    return pairs


def take_wait(text: str) -> tuple[str, bool]:
    """Return `text` without its WAIT pair, and whether the sender waits for the disk, which is the default."""
    marked = PAIR_END + text
    waits = True
    while (at := marked.find(_WAIT)) >= 0:
        begin = at + len(_WAIT)
        end = marked.find(PAIR_END, begin)
        value = marked[begin:] if end < 0 else marked[begin:end]
        waits = value.lower() == "true" if value else waits
        marked = marked[:at] + ("" if end < 0 else marked[end:])
    return marked[1:], waits


def with_pair(text: str, pair: str) -> str:
    """Return `text` followed by `pair`, which is ``name U+0001 value``."""
    if not text:
        return pair
    return text + pair if text.endswith(PAIR_END) else f"{text}{PAIR_END}{pair}"
