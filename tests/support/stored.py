"""Builder of stored messages: a test says what matters."""

from __future__ import annotations

from collections.abc import Mapping

from broker_core.protocol.message import LogOffset, QueueOffset, StoredMessage


def stored(
    *,
    topic: str = "orders",
    queue_id: int = 0,
    queue_offset: int = 0,
    log_offset: int = 0,
    body: bytes = b"hi",
    tag: str | None = None,
    properties: Mapping[str, str] | None = None,
    store_timestamp: int = 1_700_000_000_000,
    reconsume_times: int = 0,
) -> StoredMessage:
    """Return a message as a broker would hand it out."""
    pairs = dict(properties or {})
    if tag is not None:
        pairs["TAGS"] = tag
    return StoredMessage(
        topic=topic,
        queue_id=queue_id,
        queue_offset=QueueOffset(queue_offset),
        log_offset=LogOffset(log_offset),
        body=body,
        properties=pairs,
        flag=0,
        sys_flag=0,
        born_timestamp=store_timestamp - 1,
        born_host="10.0.0.9:51234",
        store_timestamp=store_timestamp,
        store_host="10.0.0.5:10911",
        reconsume_times=reconsume_times,
        prepared_transaction_offset=0,
        body_crc=0,
        store_size=100 + len(body),
    )
