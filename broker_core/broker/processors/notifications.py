"""Announcing that there are messages to pop, without popping them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from broker_core.broker.access.permits import Permits
from broker_core.broker.errors import IllegalArgument
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.pop.popper import Popper
from broker_core.broker.processors.handlers import Handlers
from broker_core.broker.processors.parked import REQUEST_BYTES, Parked, without_payload
from broker_core.broker.processors.rights import ReadRights
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.pop import NotificationRequest, NotificationResponse
from broker_core.remoting.connection import Connection
from broker_core.remoting.memory import ConnectionMemory

MAX_WAIT_MS: Final = 60_000
STEP_MS: Final = 200
"""How often ended leases are checked; a new message is announced at once."""


@dataclass(frozen=True, slots=True, eq=False)
class ParkedNotification:
    """A request that waits for a message to pop until `deadline` (ms)."""

    request: Command
    header: NotificationRequest
    connection: Connection
    deadline: int
    account: str

    @property
    def place(self) -> tuple[str, str]:
        """Topic and group."""
        return self.header.topic, self.header.consumer_group

    @property
    def size_bytes(self) -> int:
        """The memory that it takes while it waits."""
        return REQUEST_BYTES


class NotificationProcessor:
    """Answers 200054."""

    def __init__(
        self,
        *,
        rights: ReadRights,
        permits: Permits,
        popper: Popper,
        limits: BrokerLimits,
        memory: ConnectionMemory,
        clock: Callable[[], int],
    ) -> None:
        self._rights = rights
        self._permits = permits
        self._popper = popper
        self._clock = clock
        self._parked: Parked[ParkedNotification] = Parked(limits, "parked_pops", memory)
        self._waiting: dict[str, set[str]] = {}

    def handlers(self) -> Handlers:
        return {RequestCode.NOTIFICATION: self.ask}

    def ask(self, request: Command, connection: Connection) -> Command | None:
        """Answer whether there is a message to pop, or return None while the request waits for one."""
        header = request.header(NotificationRequest)
        now = self._clock()
        account = self._permits.account_of(request, connection)
        self._check(header, account, now)
        if self._has_message(header, now):
            return _answer(True)
        if header.poll_time <= 0:
            return _answer(False)
        deadline = now + min(header.poll_time, MAX_WAIT_MS)
        parked = ParkedNotification(without_payload(request), header, connection, deadline, account)
        if not self._parked.has_room(account) or not self._parked.park(parked):
            return _answer(False, polling_full=True)
        self._waiting.setdefault(header.topic, set()).add(header.consumer_group)
        return None

    def waiting(self) -> int:
        """Return how many requests wait."""
        return len(self._parked)

    def arrived(self, topic: str, _queue_id: int) -> None:
        """Notify the groups that wait for this topic."""
        for group in list(self._waiting.get(topic, ())):
            self._notify(topic, group, self._clock())

    def step(self, now: int) -> None:
        """Announce messages whose lease ended, and end the waits whose time is over."""
        for topic, groups in list(self._waiting.items()):
            for group in list(groups):
                self._notify(topic, group, now)
        for parked in self._parked.expire(now):
            parked.connection.answer(parked.request, _answer(False))

    def drain(self) -> None:
        """End all waits: the broker stops."""
        for parked in self._parked.drain():
            parked.connection.answer(parked.request, _answer(False))

    def _notify(self, topic: str, group: str, now: int) -> None:
        for parked in self._parked.at((topic, group)):
            if self._has_message(parked.header, now):
                self._parked.remove(parked)
                parked.connection.answer(parked.request, _answer(True))
        if not self._parked.waits_at((topic, group)):
            self._waiting[topic].discard(group)
            if not self._waiting[topic]:
                del self._waiting[topic]

    def _has_message(self, header: NotificationRequest, now: int) -> bool:
        group, topic, queue_id = header.consumer_group, header.topic, header.queue_id
        return self._popper.has_message(group, topic, queue_id, is_ordered=header.order, now=now)

    def _check(self, header: NotificationRequest, account: str, now: int) -> None:
        self._rights.check_broker()
        topic = self._rights.get_topic(header.topic)
        if header.queue_id >= topic.read_queue_nums:
            raise IllegalArgument(
                f"queueId {header.queue_id} of topic {header.topic}: it has {topic.read_queue_nums} queues"
            )
        self._rights.get_group(header.consumer_group, account, now=now)


def _answer(has_message: bool, *, polling_full: bool = False) -> Command:
    return Command.response(ResponseCode.SUCCESS, NotificationResponse(has_message, polling_full))
