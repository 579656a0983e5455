"""What a push consumer tells of its inside when an operator asks (remoting-protocol.md 3.16)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from broker_core.client.config import ClientConfig, PushConfig
from broker_core.client.consumer.reader import QueueReader
from broker_core.protocol.bodies.heartbeat import ConsumeType, SubscriptionData
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.running import ConsumerRunningInfo, ProcessQueueInfo
from broker_core.protocol.codes import VERSION_DESC

_MIB: Final = 1024 * 1024


def running_info(
    config: PushConfig,
    client: ClientConfig,
    *,
    started_at: int,
    subscriptions: list[SubscriptionData],
    readers: Iterable[QueueReader],
    committed: Callable[[MessageQueue], int | None],
    kind: ConsumeType = ConsumeType.CONSUME_PASSIVELY,
) -> ConsumerRunningInfo:
    """Return the state of a consumer; rates are not kept here, so no topic has a status."""
    return ConsumerRunningInfo(
        properties={
            "PROP_NAMESERVER_ADDR": ";".join(client.name_servers),
            "PROP_CONSUME_TYPE": kind,
            "PROP_CONSUMEORDERLY": "true" if config.orderly else "false",
            "PROP_THREADPOOL_CORE_SIZE": str(config.concurrency),
            "PROP_CONSUMER_START_TIMESTAMP": str(started_at),
            "PROP_CLIENT_VERSION": VERSION_DESC,
        },
        subscription_set=subscriptions,
        mq_table={reader.queue: _of_queue(reader, committed(reader.queue)) for reader in readers},
    )


def _of_queue(reader: QueueReader, committed: int | None) -> ProcessQueueInfo:
    buffer = reader.buffer
    first, last = buffer.bounds or (0, 0)
    return ProcessQueueInfo(
        commit_offset=committed or 0,
        cached_msg_min_offset=first,
        cached_msg_max_offset=last,
        cached_msg_count=len(buffer),
        cached_msg_size_in_mib=buffer.size_bytes // _MIB,
        locked=reader.is_locked,
        droped=buffer.dropped,
        last_pull_timestamp=buffer.last_pull,
        last_consume_timestamp=buffer.last_consume,
    )
