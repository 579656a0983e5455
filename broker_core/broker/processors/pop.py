"""Consuming by lease: pop, wait for messages to pop, peek without a lease (broker/README.md#pop).

The client builds a message's receipt from the header of the answer::

    startOffsetInfo  "0 3 17;0 4 9"          retry flag, queue id, first offset of the portion
    msgOffsetInfo    "0 3 17,18,20;0 4 9"    retry flag, queue id, offsets of the messages
    receipt          "17 <pop time> <invisible ms> <revive queue> 0 <broker> 3 18"

`ack.py` reads the receipts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from broker_core.broker.access.permits import Permits
from broker_core.broker.answers import refusal
from broker_core.broker.clients import Clients
from broker_core.broker.errors import (
    IllegalArgument,
)
from broker_core.broker.filters.expressions import accept_of
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.names import check_names
from broker_core.broker.pop.popper import Popped, Popper, PopRequest
from broker_core.broker.pop.queue_leases import QueueLeases
from broker_core.broker.processors.handlers import Handlers, answer_with
from broker_core.broker.processors.parked import Parked, size_of_wait, without_payload
from broker_core.broker.processors.rights import ReadRights
from broker_core.broker.replication.standing import Standing
from broker_core.broker.retries import GroupTopics
from broker_core.broker.stats import Stats
from broker_core.errors import GantryError
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers import pop as headers
from broker_core.remoting.connection import Connection
from broker_core.remoting.memory import ConnectionMemory

MAX_WAIT_MS: Final = 60_000
MAX_LEASE_MS: Final = 30 * 86_400_000
"""Thirty days: ten times the default retention of messages."""

ANY_QUEUE: Final = -1
_REVIVE_QUEUE: Final = 0
_NORMAL: Final = "0"


@dataclass(frozen=True, slots=True, eq=False)
class ParkedPop:
    """A pop that waits for a message until `deadline` (ms)."""

    request: Command
    wanted: PopRequest
    expression: str
    connection: Connection
    deadline: int
    poll_id: str
    account: str

    @property
    def place(self) -> tuple[str, str]:
        """Topic and group."""
        return self.wanted.topic, self.wanted.group

    @property
    def size_bytes(self) -> int:
        """The memory that it takes while it waits."""
        return size_of_wait(self.expression) + len(self.poll_id)

    @property
    def sees(self) -> tuple[int, str]:
        """What it can match; if one pop finds nothing, another with the same value finds nothing either."""
        return self.wanted.queue_id, self.expression


class PopProcessor:
    """Answers 200050, 200052, 200055, and 30107, which is this broker's own."""

    def __init__(
        self,
        *,
        rights: ReadRights,
        standing: Standing,
        permits: Permits,
        group_topics: GroupTopics,
        clients: Clients[Connection],
        popper: Popper,
        stats: Stats,
        limits: BrokerLimits,
        serves_sql: bool,
        memory: ConnectionMemory,
        clock: Callable[[], int],
    ) -> None:
        self._rights = rights
        self._standing = standing
        self._permits = permits
        self._group_topics = group_topics
        self._clients = clients
        self._popper = popper
        self._stats = stats
        self._limits = limits
        self._serves_sql = serves_sql
        self._clock = clock
        self._parked: Parked[ParkedPop] = Parked(limits, "parked_pops", memory, self._forget_poll)
        self._polls: dict[tuple[Connection, str], ParkedPop] = {}
        self._waiting_groups: defaultdict[str, set[str]] = defaultdict(set)

    def handlers(self) -> Handlers:
        return {
            RequestCode.POP_MESSAGE: self.pop,
            RequestCode.PEEK_MESSAGE: self.peek,
            RequestCode.POLLING_INFO: self.polling_info,
            RequestCode.END_POP_WAIT: self.end_wait,
        }

    # -- taking

    def pop(self, request: Command, connection: Connection) -> Command | None:
        """Return leased messages, or None while the request waits for the first one."""
        header = request.header(headers.PopMessageRequest)
        check_names(attemptId=header.attempt_id or "")
        now = self._clock()
        self._check_queue(header.topic, header.queue_id)
        wanted = PopRequest(
            header.consumer_group,
            header.topic,
            header.queue_id,
            self._count(header.max_msg_nums),
            header.invisible_time,
            accept_of(header.exp_type, header.exp, serves_sql=self._serves_sql),
            header.order,
            header.init_mode,
            header.attempt_id or "",
        )
        if not 0 < header.invisible_time <= MAX_LEASE_MS:
            raise IllegalArgument(f"invisibleTime {header.invisible_time} is not between 1 and {MAX_LEASE_MS} ms")
        self._clients.note_pop(wanted.group, connection, wanted.topic)
        again = self._popper.take_again(wanted, now=now)
        if again is not None:
            return self._answer(wanted, again)
        account = self._permits.account_of(request, connection)
        popped = self._take(wanted, account, now)
        if popped.messages:
            return self._answer(wanted, popped)
        if header.poll_time <= 0:
            return Command.response(ResponseCode.PULL_NOT_FOUND, remark="no message to lease")
        deadline = now + min(header.poll_time, MAX_WAIT_MS)
        poll_id = header.poll_id or ""
        self._park(
            ParkedPop(without_payload(request), wanted, header.exp or "", connection, deadline, poll_id, account)
        )
        return None

    def end_wait(self, request: Command, connection: Connection) -> Command:
        """End the wait of a pop whose caller has left; if it was already answered, the client returns the messages."""
        parked = self._polls.get((connection, request.header(headers.EndPopWaitRequest).poll_id))
        if parked is not None:
            self._parked.remove(parked)
            connection.answer(parked.request, _nothing_yet())
        return Command.response(ResponseCode.SUCCESS)

    def peek(self, request: Command, _: Connection) -> Command:
        """Return the next messages of a queue without a lease."""
        header = request.header(headers.PeekMessageRequest)
        self._check_queue(header.topic, header.queue_id)
        queue_id = max(header.queue_id, 0)
        count = self._count(header.max_msg_nums)
        found = self._popper.peek(header.consumer_group, header.topic, queue_id, count=count)
        now = self._clock()
        if not found.records:
            return Command.response(ResponseCode.PULL_NOT_FOUND, remark=found.status.value)
        rest = found.max_offset - found.next_offset
        position = headers.PopMessageResponse(now, 0, _REVIVE_QUEUE, rest)
        return answer_with(ResponseCode.SUCCESS, position, found.records, None)

    def _take(self, wanted: PopRequest, account: str, now: int) -> Popped:
        group = self._rights.get_group(wanted.group, account, now=now)
        self._group_topics.ensure_retry(group, now=now)
        if not self._standing.is_settled():  # a group may have read further than what is confirmed here
            return Popped(now, wanted.invisible_ms)
        return self._popper.take(wanted, max_deliveries=group.retry_max_times + 1, now=now)

    def _answer(self, wanted: PopRequest, popped: Popped) -> Command:
        self._stats.count_got(wanted.group, wanted.topic, popped.messages, popped.bytes)
        starts = ";".join(f"{_NORMAL} {portion.queue_id} {portion.offsets[0]}" for portion in popped.portions)
        offsets = ";".join(
            f"{_NORMAL} {portion.queue_id} {','.join(map(str, portion.offsets))}" for portion in popped.portions
        )
        header = headers.PopMessageResponse(
            popped.pop_time, popped.invisible_ms, _REVIVE_QUEUE, popped.rest, starts, offsets
        )
        records = [record for portion in popped.portions for record in portion.records]
        return answer_with(ResponseCode.SUCCESS, header, records, None)

    # -- waiting

    def waiting(self) -> int:
        """Return how many pops wait for a message."""
        return len(self._parked)

    def _park(self, parked: ParkedPop) -> None:
        self._parked.check_room(parked.account, "too many pops are waiting for messages")
        if not self._parked.park(parked):
            raise self._limits.refuse("memory_bytes", "no memory left for another waiting pop")
        self._waiting_groups[parked.wanted.topic].add(parked.wanted.group)
        if parked.poll_id:
            self._polls[parked.connection, parked.poll_id] = parked

    def _forget_poll(self, parked: ParkedPop) -> None:
        place = parked.connection, parked.poll_id
        if self._polls.get(place) is parked:
            del self._polls[place]

    def arrived(self, topic: str, _queue_id: int) -> None:
        """Serve the groups that wait for this topic."""
        groups = self._waiting_groups.get(topic)
        if groups:
            for group in list(groups):
                self._serve(topic, group)

    def _serve(self, topic: str, group: str) -> None:
        """Give the waiting pops of a group the available messages, the longest waiting first."""
        now = self._clock()
        in_vain: set[tuple[int, str]] = set()
        for parked in self._parked.at((topic, group)):
            if parked.connection.is_closing:
                self._parked.remove(parked)
            elif parked.sees not in in_vain:
                response = self._try(parked, now)
                if response is None:
                    in_vain.add(parked.sees)
                else:
                    self._parked.remove(parked)
                    parked.connection.answer(parked.request, response)
        if not self._parked.waits_at((topic, group)):
            waiting = self._waiting_groups[topic]
            waiting.discard(group)
            if not waiting:
                del self._waiting_groups[topic]

    def _try(self, parked: ParkedPop, now: int) -> Command | None:
        """Return the answer to a waiting pop, or None if there is still nothing for it."""
        try:
            popped = self._take(parked.wanted, parked.account, now)
        except (GantryError, OSError) as error:
            return refusal(error)
        return self._answer(parked.wanted, popped) if popped.messages else None

    def settled(self, queue: QueueLeases) -> None:
        """Serve an ordered group that waits for this queue after one of its messages was settled."""
        waiting = self._parked.first((queue.topic, queue.group))
        if waiting is not None and waiting.wanted.is_ordered:
            self._serve(queue.topic, queue.group)

    def step(self, now: int) -> None:
        """Make messages due again whose lease ended, and end the waits whose time is over."""
        for place in self._popper.end_leases(now):
            self._serve(*place)
        for parked in self._parked.expire(now):
            parked.connection.answer(parked.request, _nothing_yet())

    def drain(self) -> None:
        """End all waits: the broker stops."""
        for parked in self._parked.drain():
            parked.connection.answer(parked.request, _nothing_yet())

    def polling_info(self, request: Command, _: Connection) -> Command:
        """Return how many pops of a group wait for a topic."""
        header = request.header(headers.PollingInfoRequest)
        count = len(self._parked.at((header.topic, header.consumer_group)))
        return Command.response(ResponseCode.SUCCESS, headers.PollingInfoResponse(count))

    # -- checks

    def _check_queue(self, topic: str, queue_id: int) -> None:
        self._rights.check_broker()
        config = self._rights.get_topic(topic)
        if not ANY_QUEUE <= queue_id < config.read_queue_nums:
            raise IllegalArgument(f"queueId {queue_id} of topic {topic}: it has {config.read_queue_nums} queues")

    def _count(self, wanted: int) -> int:
        limit = self._limits.pop_batch
        if wanted > limit:
            raise IllegalArgument(f"maxMsgNums {wanted}: limit pop_batch={limit}")
        return max(wanted, 1)


def _nothing_yet() -> Command:
    return Command.response(ResponseCode.POLLING_TIMEOUT, remark="no message arrived in time")
