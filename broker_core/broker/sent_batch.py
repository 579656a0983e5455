"""The messages of a batch, which are plain under the same conditions as single ones (`sent_text.py`)."""

from __future__ import annotations

from typing import Final

from broker_core.broker import sent_text
from broker_core.broker.errors import MessageIllegal
from broker_core.broker.transactions.records import is_transactional
from broker_core.native import native
from broker_core.protocol import properties as names
from broker_core.protocol.batch import decode_batch, encode_batch
from broker_core.protocol.errors import MalformedBatch
from broker_core.protocol.message import Message


def _asks_for_nothing(body: bytes) -> bool:
    """Return whether the messages of a batch only need to be stored, judging by their properties.

    Also true for an unreadable body: storing it raises the error.
    """
    try:
        entries = decode_batch(body)
    except MalformedBatch:
        return True
    return all(sent_text.asks_for_nothing(entry.properties) for entry in entries)


asks_for_nothing: Final = native.batch_asks_for_nothing if native else _asks_for_nothing


def settled_batch(body: bytes) -> bytes:
    """Return the batch without properties that may not be stored; raises MessageIllegal for what asks for more."""
    if asks_for_nothing(body):
        return body
    entries = decode_batch(body)
    pairs = [sent_text.settled_pairs(entry.properties) for entry in entries]
    if any(is_transactional(each) for each in pairs):
        raise MessageIllegal("a message of the batch is of a transaction; such a message is sent by itself")
    for name in (names.DELAY, *names.TIMERS):
        if any(name in each for each in pairs):
            raise MessageIllegal(f"a message of the batch has {name}; a delayed message is sent by itself")
    return encode_batch(Message("", entry.body, each, entry.flag) for entry, each in zip(entries, pairs, strict=True))
