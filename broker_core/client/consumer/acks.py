"""Many acknowledgements in one request (protocol/README.md#pop).

A receipt's own text begins with the first offset of its pop, which the bits of the request count from.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from broker_core.client.consumer.leases import LeaseReceipt
from broker_core.protocol.bodies.pop import BatchAck, BatchAckMessageRequestBody

_WORDS = 8
_NORMAL = "0"
_FARTHEST = 4_096
"""Messages behind the first one of its pop; more would make a request of empty bits."""


class _Portion(NamedTuple):
    """The messages of one queue that one pop returned."""

    group: str
    topic: str
    queue_id: int
    start_offset: int
    pop_time: int
    invisible_ms: int
    revive_queue_id: int


@dataclass(frozen=True, slots=True)
class BatchOfAcks:
    """One request to one broker."""

    broker_name: str
    portions: Mapping[_Portion, Mapping[int, int]]
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
    found: dict[str, dict[_Portion, dict[int, int]]] = {}
    portions: dict[tuple[object, ...], _Portion | None] = {}
    for place, receipt in enumerate(receipts):
        words = receipt.extra_info.rpartition(" ")[0]
        pop = receipt.group, receipt.topic, receipt.broker_name, receipt.pop_time, receipt.invisible_ms, words
        if pop not in portions:
            portions[pop] = _portion_of(receipt)
        portion, offset = portions[pop], receipt.queue_offset
        if portion is not None and 0 <= offset - portion.start_offset < _FARTHEST:
            found.setdefault(receipt.broker_name, {}).setdefault(portion, {})[offset] = place
    return [BatchOfAcks(name, of_broker) for name, of_broker in found.items()]


def _portion_of(receipt: LeaseReceipt) -> _Portion | None:
    words = receipt.extra_info.split(" ")
    if len(words) != _WORDS or words[4] != _NORMAL or not (words[0].isdecimal() and words[3].isdecimal()):
        return None
    times = receipt.pop_time, receipt.invisible_ms
    return _Portion(receipt.group, receipt.topic, receipt.queue_id, int(words[0]), *times, int(words[3]))


def _ack(portion: _Portion, offsets: Mapping[int, int]) -> BatchAck:
    bits = sum(1 << (offset - portion.start_offset) for offset in offsets)
    octets = bits.to_bytes((bits.bit_length() + 7) // 8, "little")
    return BatchAck(
        consumer_group=portion.group,
        topic=portion.topic,
        retry=_NORMAL,
        start_offset=portion.start_offset,
        queue_id=portion.queue_id,
        revive_queue_id=portion.revive_queue_id,
        pop_time=portion.pop_time,
        invisible_time=portion.invisible_ms,
        bit_set=base64.b64encode(octets).decode(),
    )
