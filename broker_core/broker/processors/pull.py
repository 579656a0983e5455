"""Pulling: records from a queue offset on, or a wait for the first one (broker/README.md#pulling).

A pull that finds nothing new may be parked; an arrival in its queue or its deadline runs it once more. The records in
an answer are the bytes of the log.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from broker_core.broker.access.permits import Permits
from broker_core.broker.clients import Clients
from broker_core.broker.config import BrokerConfig
from broker_core.broker.errors import (
    GroupPaused,
    IllegalQueue,
    NotSubscribed,
    SubscriptionTooOld,
)
from broker_core.broker.filters.expressions import accept_of, accept_of_subscription
from broker_core.broker.filters.registered import ConsumerFilters
from broker_core.broker.offsets import Resets
from broker_core.broker.processors.handlers import VIEW_BYTES, Handlers, answer_with
from broker_core.broker.processors.parked import Parked, size_of_wait, without_payload
from broker_core.broker.processors.portions import PORTION, Portions
from broker_core.broker.processors.rights import ReadRights
from broker_core.broker.processors.suggestions import Suggestions
from broker_core.broker.replication.standing import Standing
from broker_core.broker.role import Roles
from broker_core.broker.settings import Settings
from broker_core.broker.stats import Stats
from broker_core.protocol.bodies.groups import SubscriptionGroupConfig
from broker_core.protocol.codes import (
    PULL_COMMIT_OFFSET,
    PULL_SUBSCRIPTION,
    PULL_SUSPEND,
    RequestCode,
    ResponseCode,
)
from broker_core.protocol.command import Command
from broker_core.protocol.headers.pull import PullMessageRequest, PullMessageResponse
from broker_core.protocol.message import QueueOffset
from broker_core.remoting.connection import Connection
from broker_core.remoting.memory import ConnectionMemory
from broker_core.store import GetResult, GetStatus, MessageStore
from broker_core.store.fetch import Accept

MAX_WAIT_MS: Final = 60_000
"""Longer waits are shortened to this; clients ask for 15 to 30 s."""

PROGRESS_MS: Final = 5_000
"""After this time a client whose filter skipped messages gets the new offset, so that its commits keep up."""

_CODES: Final = {
    GetStatus.FOUND: ResponseCode.SUCCESS,
    GetStatus.NO_MATCHED_MESSAGE: ResponseCode.PULL_RETRY_IMMEDIATELY,
    GetStatus.MESSAGE_WAS_REMOVING: ResponseCode.PULL_RETRY_IMMEDIATELY,
    GetStatus.OFFSET_FOUND_NULL: ResponseCode.PULL_NOT_FOUND,
    GetStatus.OFFSET_OVERFLOW_ONE: ResponseCode.PULL_NOT_FOUND,
    GetStatus.OFFSET_OVERFLOW_BADLY: ResponseCode.PULL_OFFSET_MOVED,
    GetStatus.OFFSET_TOO_SMALL: ResponseCode.PULL_OFFSET_MOVED,
}
_EMPTY: Final = (GetStatus.NO_MATCHED_LOGIC_QUEUE, GetStatus.NO_MESSAGE_IN_QUEUE)


@dataclass(slots=True, eq=False)
class ParkedPull:
    """A pull that waits until `deadline` (ms) for a message; `offset` is how far its filter has searched."""

    request: Command
    header: PullMessageRequest
    accept: Accept
    connection: Connection
    deadline: int
    offset: int
    account: str

    @property
    def place(self) -> tuple[str, int]:
        """Topic and queue id."""
        return self.header.topic, self.header.queue_id

    @property
    def size_bytes(self) -> int:
        """The memory that it takes while it waits."""
        return size_of_wait(self.header.subscription)


class PullProcessor:
    """Answers 11, and 361 of 5.x clients."""

    def __init__(
        self,
        *,
        checks: PullChecks,
        store: MessageStore,
        resets: Resets,
        stats: Stats,
        settings: Settings,
        roles: Roles,
        standing: Standing,
        suggestions: Suggestions,
        permits: Permits,
        memory: ConnectionMemory,
        clock: Callable[[], int],
    ) -> None:
        self._permits = permits
        self._checks = checks
        self._store = store
        self._resets = resets
        self._stats = stats
        self._clock = clock
        self._limits = settings.config.limits
        self._parked: Parked[ParkedPull] = Parked(self._limits, "parked_pulls", memory)
        self._portions = Portions(self._parked, self._run_again)
        self._roles = roles
        self._standing = standing
        self._suggestions = suggestions
        settings.watch(self._follow)

    def handlers(self) -> Handlers:
        return {RequestCode.PULL_MESSAGE: self.pull, RequestCode.LITE_PULL_MESSAGE: self.pull}

    def _follow(self, config: BrokerConfig) -> None:
        self._rules = config.pulls
        self._corrects_as_slave = config.replication.offset_check_in_slave

    def pull(self, request: Command, connection: Connection) -> Command | None:
        """Return records, or the reason why there are none; None while the request is parked."""
        header = request.header(PullMessageRequest)
        now = self._clock()
        accept = self._checks.accept(header, request, connection, now)
        if header.sys_flag & PULL_COMMIT_OFFSET and self._roles.now.is_master:
            self._resets.set_offset(header.consumer_group, header.topic, header.queue_id, header.commit_offset)
        found = self._get(header, accept, header.queue_offset)
        code = self._code_of(found, header.queue_offset)
        if code == ResponseCode.PULL_NOT_FOUND and header.sys_flag & PULL_SUSPEND and header.suspend_timeout_millis > 0:
            account = self._permits.account_of(request, connection)
            self._parked.check_room(account, "too many pulls are waiting for messages")
            patience = header.suspend_timeout_millis if self._rules.long_polling else self._rules.short_polling_ms
            deadline = now + min(patience, MAX_WAIT_MS)
            kept, offset = without_payload(request), header.queue_offset
            if not self._parked.park(ParkedPull(kept, header, accept, connection, deadline, offset, account)):
                raise self._limits.refuse("memory_bytes", "no memory left for another waiting pull")
            return None
        return self._answer(header, found, header.queue_offset)

    # -- waiting

    def waiting(self) -> int:
        """Return how many pulls wait for a message."""
        return len(self._parked)

    def arrived(self, topic: str, queue_id: int) -> None:
        """Run the pulls that wait for this queue again; those whose filter matches no new message keep waiting."""
        if self._parked.waits_at((topic, queue_id)):
            self._portions.wake((topic, queue_id))

    def _run_again(self, parked: ParkedPull) -> None:
        if parked.connection.is_closing:
            self._parked.remove(parked)
            return
        found = self._get(parked.header, parked.accept, parked.offset)
        if found.status is GetStatus.FOUND:
            self._parked.remove(parked)
            self._answer_parked(parked, found)
        elif found.status is GetStatus.NO_MATCHED_MESSAGE:
            parked.offset = found.next_offset
            self._parked.shorten_wait(parked, self._clock() + PROGRESS_MS)

    async def expire(self, now: int) -> None:
        """Answer the pulls whose time is over with the offset up to which their filter has searched.

        Other clients are served between portions: those who wait choose when their time is over.
        """
        expired = self._parked.expire(now)
        for begin in range(0, len(expired), PORTION):
            if begin:
                await asyncio.sleep(0)
            for parked in expired[begin : begin + PORTION]:
                if not parked.connection.is_closing:
                    self._answer_parked(parked, self._get(parked.header, parked.accept, parked.offset))

    def drain(self) -> None:
        """Answer all waiting pulls: the broker stops."""
        for parked in self._parked.drain():
            if not parked.connection.is_closing:
                self._answer_parked(parked, self._get(parked.header, parked.accept, parked.offset))

    def _answer_parked(self, parked: ParkedPull, found: GetResult) -> None:
        response = self._answer(parked.header, found, parked.offset)
        parked.connection.answer(parked.request, response)

    # -- one run

    def _code_of(self, found: GetResult, asked: int) -> ResponseCode:
        """Return the code of an answer.

        What was read from an earlier master may not be confirmed here yet: nobody is moved back because of that.
        """
        code = code_of(found, asked)
        if code != ResponseCode.PULL_OFFSET_MOVED or found.status is GetStatus.OFFSET_TOO_SMALL:
            return code
        is_early = self._roles.now.is_master and not self._standing.is_settled()
        return ResponseCode.PULL_NOT_FOUND if is_early else code

    def _get(self, header: PullMessageRequest, accept: Accept, offset: int) -> GetResult:
        times = self._stats.pull_times
        if times.is_due():
            return times.measured(self._read, header, accept, offset)
        return self._read(header, accept, offset)

    def _read(self, header: PullMessageRequest, accept: Accept, offset: int) -> GetResult:
        rules = self._rules
        return self._store.get(
            header.topic,
            header.queue_id,
            offset,
            max_messages=max(1, min(header.max_msg_nums, rules.max_messages)),
            max_bytes=min(header.max_msg_bytes or rules.max_bytes, rules.max_bytes),
            accept=accept,
            joined_below=VIEW_BYTES,
        )

    def _answer(self, header: PullMessageRequest, found: GetResult, asked: int) -> Command:
        code, next_offset = self._code_of(found, asked), found.next_offset
        if code != code_of(found, asked):
            next_offset = QueueOffset(asked)
        if code == ResponseCode.PULL_OFFSET_MOVED and not (self._roles.now.is_master or self._corrects_as_slave):
            # It may lack an end that its master has: nobody is moved because of that.
            code, next_offset = ResponseCode.PULL_RETRY_IMMEDIATELY, QueueOffset(asked)
        suggested = self._suggestions.broker_for(header.consumer_group, found)
        position = PullMessageResponse(suggested, next_offset, found.min_offset, found.max_offset)
        records: Sequence[bytes | memoryview] = [found.joined, *found.records] if found.joined else found.records
        answer = answer_with(code, position, records, found.status.value)
        if found.messages:
            self._stats.count_got(header.consumer_group, header.topic, found.messages, answer.body_size)
        else:
            self._stats.count_missed()
        return answer


def code_of(found: GetResult, queue_offset: int) -> ResponseCode:
    """Return the response code for the result of a read (store/README.md#reading-a-queue)."""
    if found.status in _EMPTY:
        return ResponseCode.PULL_NOT_FOUND if queue_offset == 0 else ResponseCode.PULL_OFFSET_MOVED
    return _CODES[found.status]


class PullChecks:
    """Checks permissions, then returns the filter of the request or of the group's last heartbeat."""

    def __init__(
        self,
        *,
        rights: ReadRights,
        permits: Permits,
        clients: Clients[Connection],
        filters: ConsumerFilters,
        serves_sql: bool,
    ) -> None:
        self._rights = rights
        self._permits = permits
        self._clients = clients
        self._filters = filters
        self._serves_sql = serves_sql

    def accept(self, header: PullMessageRequest, request: Command, connection: Connection, now: int) -> Accept:
        """Return the filter of a pull, or raise the reason why it is refused (broker/README.md#pulling)."""
        self._rights.check_broker()
        group = self._rights.find_group(header.consumer_group)
        if group is None:
            account = self._permits.account_of(request, connection)
            group = self._rights.get_group(header.consumer_group, account, now=now)
        topic = self._rights.get_topic(header.topic)
        if not 0 <= header.queue_id < topic.read_queue_nums:
            raise IllegalQueue(header.topic, header.queue_id, topic.read_queue_nums)
        if header.sys_flag & PULL_SUBSCRIPTION:
            return accept_of(header.expression_type, header.subscription, serves_sql=self._serves_sql)
        return self._accept_of_heartbeat(header, group)

    def _accept_of_heartbeat(self, header: PullMessageRequest, config: SubscriptionGroupConfig) -> Accept:
        group = self._clients.find_consumers(header.consumer_group)
        if group is None:
            raise NotSubscribed("the consumer's group info not exist")
        if group.is_broadcasting and not config.consume_broadcast_enable:
            raise GroupPaused(header.consumer_group)
        subscription = group.subscriptions.get(header.topic)
        if subscription is None:
            raise NotSubscribed("the consumer's subscription not exist")
        if subscription.sub_version < header.sub_version:
            raise SubscriptionTooOld("the consumer's subscription not latest")
        accept = accept_of_subscription(subscription, serves_sql=self._serves_sql)
        if accept.properties is None:
            return accept
        bits = self._filters.bit_test(header.topic, header.consumer_group, subscription.sub_string)
        return accept._replace(bits=bits)
