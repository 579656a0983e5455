"""Asks producers about transactions that they left open (broker/README.md#transactions).

A check is a copy of the half message, so that the records of what stays open move on with the log, and a request with
the offsets of that copy to one connection of the producer group. While none is connected nothing is asked or counted.
With access control only those are asked that may send to the message's topic: whoever is asked gets the message, and
any account may say that it belongs to a group.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
from typing import Final

from broker_core.broker.access.accounts import Right, need_topic
from broker_core.broker.access.permits import Permits
from broker_core.broker.clients import Clients
from broker_core.broker.config import BrokerConfig
from broker_core.broker.intake import NOT_NOW
from broker_core.broker.members import Member
from broker_core.broker.offsets import ConsumerOffsets
from broker_core.broker.settings import Settings
from broker_core.broker.transactions.settings import TransactionSettings
from broker_core.broker.transactions.transactions import Transactions
from broker_core.logs import Repeated, get_logger
from broker_core.protocol import record
from broker_core.protocol.command import Command
from broker_core.protocol.half_records import HALF_QUEUE, PROGRESS_GROUP, Half
from broker_core.protocol.headers.transactions import CheckTransactionStateRequest
from broker_core.protocol.host import encode_host, parse_host
from broker_core.protocol.message import StoredMessage
from broker_core.protocol.properties import format_properties
from broker_core.protocol.record import MessageOrigin
from broker_core.protocol.topics import HALF_TOPIC, OP_HALF_TOPIC
from broker_core.remoting.connection import Connection

PENDING_OPS: Final = 50_000
"""With more pending op records than this the oldest open half messages are stored once more."""

_PART: Final = 64
_ROLLED: Final = 1_000
_SOON_MS: Final = 1_000

_log = get_logger(__name__)


class Checks:
    """When each open transaction is checked."""

    def __init__(
        self,
        transactions: Transactions,
        *,
        clients: Clients[Connection],
        permits: Permits,
        offsets: ConsumerOffsets,
        settings: Settings,
    ) -> None:
        self._transactions = transactions
        self._clients = clients
        self._permits = permits
        self._offsets = offsets
        self._broker_name = settings.config.identity.name
        self._due: list[tuple[int, int, Half]] = []
        self._order = itertools.count()  # halves cannot be compared
        self._waiting: dict[str, list[Half]] = {}  # for a producer, by group
        self._turn = itertools.count()
        self._repeated = Repeated(_log)
        self._planned_by: tuple[TransactionSettings, int] | None = None
        self._is_on = True
        transactions.on_open = self._plan
        settings.watch(self._follow)

    def _follow(self, config: BrokerConfig) -> None:
        """Plan what is open by these settings; what waits for a producer begins to wait anew."""
        self._settings = config.transactions
        self._kept_ms = config.store.retention_ms
        if self._planned_by == (self._settings, self._kept_ms):
            return
        self._planned_by = self._settings, self._kept_ms
        self._plan_anew()

    def take_up(self) -> None:
        """Go on with the transactions that are open."""
        self._is_on = True
        self._plan_anew()

    def let_go(self) -> None:
        """Check nothing any more: another broker does."""
        self._is_on = False
        self._due, self._waiting = [], {}

    def _plan_anew(self) -> None:
        self._due, self._waiting = [], {}
        for half in self._transactions.table:
            half.due = 0
            self._plan(half)

    def _plan(self, half: Half) -> None:
        if not half.due:
            settings = self._settings
            # A producer may name years: what the log does not keep is not waited for.
            immune_ms = settings.timeout_ms if half.immune_ms is None else min(half.immune_ms, self._kept_ms)
            half.due = half.stored_at + settings.interval_ms if half.checks else half.since + immune_ms
        self._push(half, half.due)

    def _push(self, half: Half, due: int) -> None:
        half.due = due
        heapq.heappush(self._due, (due, next(self._order), half))

    # -- steps

    async def step(self, now: int) -> None:
        """Check what is due at `now`, a part at a time, so that clients are served in between."""
        self._transactions.put_owed()
        self._wake(now)
        while self._due and self._due[0][0] <= now:
            for _ in range(_PART):
                if not self._due or self._due[0][0] > now:
                    break
                due, _, half = heapq.heappop(self._due)
                if half.due == due and self._transactions.table.is_current(half):
                    self._take(half, now)
            await asyncio.sleep(0)
        try:
            self._roll()
        except NOT_NOW as error:
            self._repeated.warning(
                f"roll {error}", "transactions: the oldest half messages cannot be stored once more yet: %s", error
            )
        self.save_progress()

    def _wake(self, now: int) -> None:
        """Let those be due that waited for a producer which is here now."""
        for group in [group for group in self._waiting if self._clients.producers.of_group(group)]:
            self._wake_group(group, now)
        if sum(map(len, self._waiting.values())) > 2 * len(self._transactions.table) + _ROLLED:
            self._waiting = {group: self._still_open(halves) for group, halves in self._waiting.items()}

    def _wake_group(self, group: str, now: int) -> None:
        halves = self._still_open(self._waiting.pop(group))
        is_here = {half.topic: bool(self._askable(half)) for half in {each.topic: each for each in halves}.values()}
        for half in halves:
            if is_here[half.topic]:
                self._push(half, now)
            else:
                self._waiting.setdefault(group, []).append(half)

    def _still_open(self, halves: list[Half]) -> list[Half]:
        """Return the newest records of those that are open."""
        find = self._transactions.table.find
        return [half for each in halves if (half := find(each.first)) is not None]

    def _take(self, half: Half, now: int) -> None:
        try:
            if half.checks >= self._settings.max_checks or now - half.since >= self._kept_ms:
                self._transactions.give_up(half)
                return
            producers = self._askable(half)
            if not producers:
                self._waiting.setdefault(half.group, []).append(half)
                self._push(half, half.since + self._kept_ms)
            elif (member := self._ready(producers)) is None:
                self._push(half, now + _SOON_MS)
            else:
                self._check(half, member, now)
        except NOT_NOW as error:
            self._repeated.warning(
                error, "group=%s: a transaction is due for a check but cannot be checked yet: %s", half.group, error
            )
            self._push(half, now + _SOON_MS)

    def _askable(self, half: Half) -> list[Member[Connection]]:
        """Return the producers of its group that may send to its topic."""
        need = need_topic(half.topic, Right.PUB)
        members = self._clients.producers.of_group(half.group).values()
        return [member for member in members if self._permits.may(member, need)]

    def _ready(self, producers: list[Member[Connection]]) -> Member[Connection] | None:
        """Return the next producer that reads what it is sent."""
        turn = next(self._turn)
        in_turn = (producers[(turn + each) % len(producers)] for each in range(len(producers)))
        return next((member for member in in_turn if member.channel.has_room), None)

    def _check(self, half: Half, member: Member[Connection], now: int) -> None:
        copied = self._transactions.copy(half, half.checks + 1, now + self._settings.interval_ms)
        if copied is None:
            self._transactions.give_up(half)
            return
        member.channel.send(_question(copied, half, self._broker_name))

    def _roll(self) -> None:
        """Store the oldest half messages once more when they keep many op records from being done with."""
        table = self._transactions.table
        table.progress()
        if table.pending_ops <= PENDING_OPS:
            return
        for _ in range(_ROLLED):
            half = table.lowest()
            if half is None or table.pending_ops <= PENDING_OPS // 2:
                return
            if self._transactions.copy(half, half.checks, half.due) is None:
                self._transactions.give_up(half)
            table.progress()

    def save_progress(self) -> None:
        """Note, as the consumer offsets of a group, what the next broker that opens the store need not read."""
        if not self._is_on:
            return
        half_offset, op_offset = self._transactions.table.progress()
        self._offsets.commit(PROGRESS_GROUP, HALF_TOPIC, HALF_QUEUE, half_offset)
        self._offsets.commit(PROGRESS_GROUP, OP_HALF_TOPIC, HALF_QUEUE, op_offset)


def _question(copied: StoredMessage, half: Half, broker_name: str) -> Command:
    """Return the request that asks a producer, with the message as it was sent."""
    header = CheckTransactionStateRequest(
        tran_state_table_offset=copied.queue_offset,
        commit_log_offset=copied.log_offset,
        msg_id=copied.unique_id,
        transaction_id=copied.unique_id,
        offset_msg_id=copied.offset_id,
        bname=broker_name,
    )
    topic, text = record.encode_topic(half.topic), format_properties(copied.properties).encode()
    origin = MessageOrigin(
        copied.born_timestamp,
        encode_host(*parse_host(copied.born_host)),
        copied.store_timestamp,
        encode_host(*parse_host(copied.store_host)),
        copied.reconsume_times,
    )
    body = record.encode(
        topic,
        copied.body,
        text,
        origin,
        record.size_of(topic, copied.body, text, origin),
        half.queue_id,
        copied.queue_offset,
        copied.log_offset,
        copied.sys_flag,
        copied.flag,
    )
    return Command.request(header, body)
