"""What push and lite pull consumers share: the queues that are read here, and the calls from the session."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import ClassVar, Final, Self

from broker_core.client.config import PushConfig
from broker_core.client.consumer.offsets import OffsetStore
from broker_core.client.consumer.reader import QueueReader
from broker_core.client.consumer.sharing import Sharing
from broker_core.client.consumer.subscriptions import TAG, subscription
from broker_core.client.errors import FilterNotServed, NameIllegal, SubscriptionRefused
from broker_core.client.session import Session
from broker_core.client.tasks import Tasks
from broker_core.client.traces import TraceWriter
from broker_core.errors import GantryError
from broker_core.logs import get_logger
from broker_core.protocol.bodies import coder
from broker_core.protocol.bodies.heartbeat import (
    CheckClientRequestBody,
    ConsumeFromWhere,
    ConsumerData,
    ConsumeType,
    MessageModel,
    SubscriptionData,
)
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.running import ConsumerRunningInfo, ProcessQueueInfo
from broker_core.protocol.codes import VERSION_DESC
from broker_core.protocol.headers.clients import CheckClientConfigRequest
from broker_core.protocol.topics import MAX_GROUP_NAME, is_group_name

_FROM_WHERE: Final = {
    "first": ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET,
    "last": ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET,
    "time": ConsumeFromWhere.CONSUME_FROM_TIMESTAMP,
}
_MIB: Final = 1024 * 1024


class GroupMember(ABC):
    """One member of a consumer group; `client/members.py` describes the calls from its session."""

    consume_type: ClassVar[ConsumeType]

    def __init__(
        self, session: Session, group: str, config: PushConfig, *, committed: OffsetStore, progress: OffsetStore
    ) -> None:
        """`committed` holds the group's stored offsets; readers record their progress in `progress`, possibly the same.

        Raises NameIllegal for an invalid group name.
        """
        if not is_group_name(group):
            raise NameIllegal(f"{group!r}: a group has 1 to {MAX_GROUP_NAME} letters, digits, '_', '-', '%' or '|'")
        self.config = config
        self._group = group
        self._session = session
        self._committed = committed
        self._progress = progress
        self.traces = TraceWriter(session, group, "CONSUME", config.trace_topic) if config.trace else None
        self._log = get_logger(__name__, f"group={group}")
        self._tasks = Tasks(f"group {group}")
        self._sharing = Sharing(session, group, config)
        self._subscriptions: dict[str, SubscriptionData] = {}
        self._readers: dict[MessageQueue, QueueReader] = {}
        self._wake = asyncio.Event()
        self._started_at = 0

    @property
    def group(self) -> str:
        """The consumer group."""
        return self._group

    @property
    def assigned(self) -> tuple[MessageQueue, ...]:
        """The queues that are currently read here."""
        return tuple(sorted(self._readers))

    @abstractmethod
    async def start(self) -> Self:
        """Join the group and start reading; raise GroupTaken if this session has a consumer of the group."""

    @abstractmethod
    async def close(self) -> None:
        """Leave the group."""

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # ---- called by the session ---------------------------------------------------------------------------------------

    def describe(self) -> ConsumerData:
        """Return this consumer's part of the heartbeat."""
        return ConsumerData(
            group_name=self._group,
            consume_type=self.consume_type,
            message_model=MessageModel.BROADCASTING if self.config.broadcasting else MessageModel.CLUSTERING,
            consume_from_where=_FROM_WHERE[self.config.start_from],
            subscription_data_set=list(self._subscriptions.values()),
        )

    def members_changed(self) -> None:
        """Rebalance soon."""
        self._wake.set()

    def reset_offsets(self, topic: str, offsets: Mapping[MessageQueue, int]) -> None:
        """Move to these offsets in the queues that are read here."""
        for queue, offset in offsets.items():
            reader = self._readers.get(queue)
            if queue.topic == topic and reader is not None:
                # The old reader may still wait at the broker for a long time: a new one replaces it.
                reader.drop()
                self._start_reader(queue, offset)
                self._committed.note(queue, offset, may_go_back=True)
        self._tasks.start("store reset offsets", self._persist())

    def positions(self, topic: str) -> dict[MessageQueue, int]:
        """Return the committed offset of each queue that is read here."""
        found = {queue: self._committed.find(queue) for queue in self._readers if queue.topic == topic}
        return {queue: offset for queue, offset in found.items() if offset is not None}

    def running_info(self) -> ConsumerRunningInfo:
        """Return its inner state for operators; rates are not recorded, so no topic has a status."""
        return ConsumerRunningInfo(
            properties={
                "PROP_NAMESERVER_ADDR": ";".join(self._session.config.name_servers),
                "PROP_CONSUME_TYPE": self.consume_type,
                "PROP_CONSUMEORDERLY": "true" if self.config.orderly else "false",
                "PROP_THREADPOOL_CORE_SIZE": str(self.config.concurrency),
                "PROP_CONSUMER_START_TIMESTAMP": str(self._started_at),
                "PROP_CLIENT_VERSION": VERSION_DESC,
            },
            subscription_set=list(self._subscriptions.values()),
            mq_table={queue: _of_queue(reader, self._committed.find(queue)) for queue, reader in self._readers.items()},
        )

    # ---- changing queues ---------------------------------------------------------------------------------------------

    @abstractmethod
    def _arrived(self, reader: QueueReader) -> None:
        """Called when `reader` has new messages."""

    def _start_reader(self, queue: MessageQueue, offset: int) -> QueueReader:
        reader = QueueReader(
            self._session,
            self._group,
            queue,
            offset,
            config=self.config,
            offsets=self._progress,
            # A pull may still be running after the application has unsubscribed the topic.
            subscription=lambda topic: self._subscriptions.get(topic) or subscription(topic),
            on_arrival=self._arrived,
            is_lite=self.consume_type is ConsumeType.CONSUME_ACTIVELY,
        )
        # Store the start offset at once, so that brokers know the group's offset in empty queues too.
        self._progress.note(queue, offset, may_go_back=True)
        self._readers[queue] = reader
        name = f"read {queue.topic} {queue.broker_name}/{queue.queue_id}"
        reader.reading = self._tasks.start(name, reader.run())
        return reader

    async def _drop(self, queues: Iterable[MessageQueue]) -> list[QueueReader]:
        readers = [self._readers.pop(queue) for queue in queues]
        for reader in readers:
            reader.drop()
        await self._committed.give_up([reader.queue for reader in readers])
        return readers

    async def _persist(self) -> None:
        await self._committed.persist(list(self._readers))

    async def _check_filters(self) -> None:
        """Have a broker compile what is no tag expression; raises SubscriptionRefused or FilterNotServed.

        Each pull would be refused otherwise, which only the log would tell.
        """
        for wanted in self._subscriptions.values():
            if wanted.expression_type not in (None, TAG):
                try:
                    await self._check_filter(wanted)
                except (SubscriptionRefused, FilterNotServed):
                    raise
                except GantryError as error:
                    self._log.warning("topic=%s: the filter was not checked: %s", wanted.topic, error)

    async def _check_filter(self, wanted: SubscriptionData) -> None:
        route = await self._session.routes.get(wanted.topic)
        body = coder.encode(CheckClientRequestBody(self._session.client_id, self._group, wanted))
        for address in list(route.masters.values())[:1]:
            await self._session.call(address, CheckClientConfigRequest(), body)


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
