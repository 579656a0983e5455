"""The messages of a batch, which ask for as little as those that are sent alone (`sent_text.py`)."""

from __future__ import annotations

from typing import Final

from broker_core.broker.errors import MessageIllegal
from broker_core.broker.sent_text import settled_pairs
from broker_core.protocol import properties as names
from broker_core.protocol.batch import decode_batch, encode_batch
from broker_core.protocol.message import Message
from broker_core.protocol.properties import parse_properties

# Where none of these bytes is, no message has such a property; a body may hold them by chance, and costs a look.
_SIGNS: Final = (b"POP_CK", b"1ST_POP_TIME", b"TIMER_DEL", b"DELAY\x01", b"TRAN_MSG\x01")


def settled_batch(body: bytes) -> bytes:
    """Return the batch with what may be stored of its messages; raise like `settled_pairs`, and for a delay.

    Raises MalformedBatch too, for a body that cannot be read.
    """
    if not any(sign in body for sign in _SIGNS):
        return body
    entries = decode_batch(body)
    pairs = [settled_pairs(entry.properties) for entry in entries]
    if any(names.DELAY in each for each in pairs):
        raise MessageIllegal("a message of a batch asks for a delay; it has to be sent alone")
    if all(each == parse_properties(entry.properties) for entry, each in zip(entries, pairs, strict=True)):
        return body
    return encode_batch(Message("", entry.body, each, entry.flag) for entry, each in zip(entries, pairs, strict=True))
