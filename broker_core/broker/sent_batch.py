"""The messages of a batch, which ask for as little as those that are sent alone (`sent_text.py`)."""

from __future__ import annotations

from typing import Final

from broker_core.broker import sent_text
from broker_core.broker.errors import MessageIllegal
from broker_core.native import native
from broker_core.protocol import properties as names
from broker_core.protocol.batch import decode_batch, encode_batch
from broker_core.protocol.errors import MalformedBatch
from broker_core.protocol.message import Message


def _asks_for_nothing(body: bytes) -> bool:
    """Say whether the messages of a batch ask for nothing but to be stored, as far as their properties say.

    True for a body that cannot be read too: whoever stores it says what is wrong with it.
    """
    try:
        entries = decode_batch(body)
    except MalformedBatch:
        return True
    return all(sent_text.asks_for_nothing(entry.properties) for entry in entries)


asks_for_nothing: Final = native.batch_asks_for_nothing if native else _asks_for_nothing


def settled_batch(body: bytes) -> bytes:
    """Return the batch with what may be stored of its messages; raise like `settled_pairs`, and for a delay."""
    if asks_for_nothing(body):
        return body
    entries = decode_batch(body)
    pairs = [sent_text.settled_pairs(entry.properties) for entry in entries]
    if any(names.DELAY in each for each in pairs):
        raise MessageIllegal("a message of a batch asks for a delay; it has to be sent alone")
    return encode_batch(Message("", entry.body, each, entry.flag) for entry, each in zip(entries, pairs, strict=True))
