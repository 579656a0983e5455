"""The answer of a usual receive, written from the records as the broker sent them.

This is the compiled twin of `leases.lease_out` and the encoder: it makes the same text without an object for each
message. What is unusual is left to them: messages that were delivered before, compressed ones, odd bodies.
"""

from __future__ import annotations

from typing import Final

from broker_core.client.consumer.leases import LeasedRecords
from broker_core.clock import now_ms
from broker_core.native import native
from broker_core.protocol.applications import SYSTEM_PROPERTIES
from console.moments import rfc3339
from gateway.data.leases import LeaseHolder, count
from gateway.data.parts import DataPlaneParts
from gateway.data.receipts import Portion, text_of
from gateway.data.schemas import encode

_HIDDEN: Final = tuple(sorted(name.encode() for name in SYSTEM_PROPERTIES))


def write_leased(parts: DataPlaneParts, holder: LeaseHolder, records: LeasedRecords) -> tuple[bytes, int] | None:
    """Count the leases of an answer; return its messages as JSON with commas between them, and their number.

    Returns None, and counts nothing, if one of them is unusual.
    """
    if native is None:
        return None
    try:
        portions = records.portions()
    except ValueError:
        return None
    lease_ms, topic, data, key = records.header.invisible_time, records.topic, records.records, parts.receipts.key
    # By our clock: the broker's may differ, and ours decides whether the receipt is still valid.
    expires_at = now_ms() + lease_ms
    names = b'"topic":%b,"broker":%b,"queue_id":' % (encode(topic), encode(records.broker_name))
    expires, first = encode(rfc3339(expires_at)), encode(rfc3339(records.header.pop_time))
    texts, topic_name, position = [], topic.encode(), 0
    counted: list[tuple[str, list[int]]] = []
    for portion, offsets in portions:
        text, queue = text_of(Portion(holder.cluster, holder.topic, expires_at, portion)), portion.queue_id
        fixed = names + b"%d" % queue
        written = native.write_leased(
            data, position, key, text, topic_name, queue, fixed, expires, _HIDDEN, first, offsets
        )
        if written is None:
            return None
        messages, position = written
        texts.append(messages)
        counted.append((text, offsets))
    if position != len(data):
        return None
    for text, offsets in counted:
        count(parts, holder, text, offsets, lease_ms)
    return b",".join(texts), sum(len(offsets) for _, offsets in counted)
