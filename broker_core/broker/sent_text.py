"""The properties of a send as text: what a broker takes out and puts in, without taking the text apart.

Nearly every send comes with a few pairs that are stored as they are. Only those that ask for something else - a delay,
a transaction, a timer - or that speak of a delivery that is over are worth a dictionary (`is_plain`, `settled_pairs`).
"""

from __future__ import annotations

from typing import Final

from broker_core.broker.errors import MessageIllegal, TransactionsRefused
from broker_core.native import native
from broker_core.protocol import properties as names
from broker_core.protocol.properties import PAIR_END, mark_of, parse_properties

_WAIT: Final = mark_of(names.WAIT)
_DELAY: Final = mark_of(names.DELAY)
_TRAN_MSG: Final = mark_of(names.TRAN_MSG)
_CLUSTER: Final = mark_of(names.CLUSTER)
# Beginnings of names; the rare other names that begin so pass through a dictionary for nothing.
_POP_CK: Final = PAIR_END + names.POP_CK
_FIRST_POP_TIME: Final = PAIR_END + names.FIRST_POP_TIME
_TIMER: Final = f"{PAIR_END}TIMER_DEL"


def _settle(text: str, pair: str) -> tuple[str, bool] | None:
    """Return what is stored of the property string `text`, with `pair` behind it, and whether the sender waits.

    None for a text that asks for something else than to be stored, or that is odd.
    """
    rest, waits = take_wait(text)
    return (with_pair(rest, pair), waits) if is_plain(rest) else None


settle: Final = native.settle_text if native else _settle


def is_plain(text: str) -> bool:
    """Say whether a send with the property string `text` asks for nothing but to be stored."""
    return asks_for_nothing(text) and _CLUSTER not in PAIR_END + text


def asks_for_nothing(text: str) -> bool:
    """Say the same of a text that may name a cluster already."""
    marked = PAIR_END + text
    return (
        _DELAY not in marked
        and _TRAN_MSG not in marked
        and _POP_CK not in marked
        and _FIRST_POP_TIME not in marked
        and _TIMER not in marked
    )


def settled_pairs(text: str) -> dict[str, str]:
    """Return the pairs that may be stored; raise MessageIllegal or TransactionsRefused for what is not served."""
    pairs = parse_properties(text)
    if pairs.get(names.TRAN_MSG, "").lower() == "true":
        raise TransactionsRefused("this broker takes no transactional messages")
    for name in names.TIMERS:
        if name in pairs:
            raise MessageIllegal(f"{name} asks for a time of its own; served are delay levels ({names.DELAY})")
    for name in names.OF_DELIVERIES:
        pairs.pop(name, None)
    return pairs


def take_wait(text: str) -> tuple[str, bool]:
    """Return `text` without its WAIT pair, and whether the sender waits for the disk, as it does unless it says no."""
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
    """Return `text` with `pair`, which is ``name U+0001 value``, behind it."""
    if not text:
        return pair
    return text + pair if text.endswith(PAIR_END) else f"{text}{PAIR_END}{pair}"
