"""Many acknowledgements in one request (protocol/README.md#pop).

A receipt's own text begins with the first offset of its pop, which the bits of the request count from.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from broker_core.client.consumer.leases import LeasePortion, LeaseReceipt
from broker_core.protocol.bodies.pop import BatchAck, BatchAckMessageRequestBody

_FARTHEST = 4_096
"""Messages behind the first one of its pop; more would make a request of empty bits."""


@dataclass(frozen=True, slots=True)
class BatchOfAcks:
    """One request to one broker."""

    broker_name: str
    portions: Mapping[LeasePortion, Mapping[int, int]]
    """Queue offset → place among the receipts, by portion."""

    @property
    def body(self) -> BatchAckMessageRequestBody:
        """The body of the request."""
        return BatchAckMessageRequestBody(self.broker_name, [_ack(*each) for each in self.portions.items()])

    @property
    def places(self) -> list[int]:
        """The place of each acknowledged receipt, in the order in which the broker answers."""
        return [offsets[offset] for offsets in self.portions.values() for offset in sorted(offsets)]


def batches_of(receipts: Sequence[LeaseReceipt]) -> list[BatchOfAcks]:
    """Return one request for each broker; receipts of retry topics and those of an unknown form are left out."""
    found: dict[LeasePortion, dict[int, int]] = {}
    portions: dict[tuple[object, ...], LeasePortion | None] = {}
    for place, receipt in enumerate(receipts):
        words = receipt.extra_info.rpartition(" ")[0]
        pop = receipt.group, receipt.topic, receipt.broker_name, receipt.pop_time, receipt.invisible_ms, words
        if pop not in portions:
            portions[pop] = _portion_of(receipt)
        portion, offset = portions[pop], receipt.queue_offset
        if portion is not None and _is_near(portion, offset):
            found.setdefault(portion, {})[offset] = place
    return _by_broker(found)


def batches_of_portions(portions: Iterable[tuple[LeasePortion, Sequence[int]]]) -> list[BatchOfAcks]:
    """Do the same for the messages of portions, given by their offsets; places count on from portion to portion."""
    found: dict[LeasePortion, dict[int, int]] = {}
    place = 0
    for portion, offsets in portions:
        if portion.is_normal and offsets and _is_near(portion, min(offsets)) and _is_near(portion, max(offsets)):
            found.setdefault(portion, {}).update(zip(offsets, count(place)))
        place += len(offsets)
    return _by_broker(found)


def _by_broker(found: Mapping[LeasePortion, Mapping[int, int]]) -> list[BatchOfAcks]:
    brokers: dict[str, dict[LeasePortion, Mapping[int, int]]] = {}
    for portion, offsets in found.items():
        brokers.setdefault(portion.broker_name, {})[portion] = offsets
    return [BatchOfAcks(name, of_broker) for name, of_broker in brokers.items()]


def _is_near(portion: LeasePortion, offset: int) -> bool:
    return 0 <= offset - portion.start_offset < _FARTHEST


def _portion_of(receipt: LeaseReceipt) -> LeasePortion | None:
    try:
        portion = receipt.portion
    except ValueError:
        return None
    return portion if portion.is_normal and portion.revive_queue_id >= 0 else None


def _ack(portion: LeasePortion, offsets: Mapping[int, int]) -> BatchAck:
    first, last = min(offsets), max(offsets)
    if last - first == len(offsets) - 1:
        bits = (1 << len(offsets)) - 1 << first - portion.start_offset
    else:
        bits = sum(1 << (offset - portion.start_offset) for offset in offsets)
    octets = bits.to_bytes((bits.bit_length() + 7) // 8, "little")
    return BatchAck(
        consumer_group=portion.group,
        topic=portion.topic,
        retry=portion.flag,
        start_offset=portion.start_offset,
        queue_id=portion.queue_id,
        revive_queue_id=portion.revive_queue_id,
        pop_time=portion.pop_time,
        invisible_time=portion.invisible_ms,
        bit_set=base64.b64encode(octets).decode(),
    )
