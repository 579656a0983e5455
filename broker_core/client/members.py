"""The producer and consumer groups of one client, as reported to brokers (client/README.md#heartbeats)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple, Protocol

from broker_core.client.errors import GroupTaken
from broker_core.protocol.bodies.heartbeat import ConsumerData, HeartbeatData, ProducerData
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.running import ConsumeMessageDirectlyResult, ConsumerRunningInfo
from broker_core.protocol.headers.transactions import EndTransactionRequest
from broker_core.protocol.message import LogOffset, QueueOffset, StoredMessage


class Prepared(NamedTuple):
    """Where a half message is stored: what a decision on it names."""

    broker_name: str
    queue_offset: QueueOffset
    log_offset: LogOffset
    message_id: str
    """The unique id."""


class Member(Protocol):
    """A consumer as seen by its session: heartbeats, and requests of brokers (client/README.md#calls-from-brokers)."""

    @property
    def group(self) -> str:
        """The consumer group."""

    def describe(self) -> ConsumerData:
        """Return its part of the heartbeat."""

    def members_changed(self) -> None:
        """Schedule a rebalance."""

    def reset_offsets(self, topic: str, offsets: Mapping[MessageQueue, int]) -> None:
        """Move to these offsets in the queues that are read here."""

    def positions(self, topic: str) -> dict[MessageQueue, int]:
        """Return the committed offset of each queue that is read here."""

    def running_info(self) -> ConsumerRunningInfo:
        """Return its inner state, for operators."""

    async def consume_directly(self, message: StoredMessage) -> ConsumeMessageDirectlyResult:
        """Handle one message now, outside any queue."""


class Checker(Protocol):
    """A transactional producer as seen by its session."""

    @property
    def group(self) -> str:
        """The producer group."""

    async def answer(self, asked: StoredMessage, prepared: Prepared) -> EndTransactionRequest | None:
        """Return the decision on a half message, None if there is none now."""


class ClientMembers:
    """The groups of one client."""

    def __init__(self, client_id: str) -> None:
        self._client_id = client_id
        self._producers: Counter[str] = Counter()
        self.consumers: dict[str, Member] = {}
        self.checkers: dict[str, Checker] = {}

    def __bool__(self) -> bool:
        """Whether there is any group."""
        return bool(self._producers or self.consumers)

    def add_producer(self, group: str) -> None:
        """Add a producer of `group`."""
        self._producers[group] += 1

    def remove_producer(self, group: str) -> bool:
        """Remove a producer of `group`; return whether it was the last."""
        self._producers[group] -= 1
        if self._producers[group] > 0:
            return False
        del self._producers[group]
        return True

    def add_checker(self, checker: Checker) -> None:
        """Let brokers ask this producer; raise GroupTaken if another one of its group is asked here."""
        if checker.group in self.checkers:
            raise GroupTaken(f"client {self._client_id} has a transactional producer of group {checker.group!r}")
        self.checkers[checker.group] = checker

    def remove_checker(self, checker: Checker) -> None:
        """Let brokers no longer ask this producer."""
        if self.checkers.get(checker.group) is checker:
            del self.checkers[checker.group]

    def add_consumer(self, member: Member) -> None:
        """Add a consumer; raise GroupTaken if the group already has one."""
        if member.group in self.consumers:
            raise GroupTaken(f"client {self._client_id} already has a consumer of group {member.group!r}")
        self.consumers[member.group] = member

    def remove_consumer(self, member: Member) -> None:
        """Remove a consumer."""
        if self.consumers.get(member.group) is member:
            del self.consumers[member.group]

    def heartbeat(self) -> HeartbeatData:
        """Return the body of a heartbeat."""
        return HeartbeatData(
            client_id=self._client_id,
            producer_data_set=[ProducerData(group) for group in sorted(self._producers)],
            consumer_data_set=[member.describe() for member in self.consumers.values()],
        )
