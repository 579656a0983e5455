"""Creates all processors of a broker, in the order of their dependencies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from broker_core.broker.changes import Changes
from broker_core.broker.components import Components
from broker_core.broker.pop.dead_letters import DeadLetters
from broker_core.broker.pop.popper import Popper
from broker_core.broker.processors.accounts import AccountProcessor
from broker_core.broker.processors.ack import AckProcessor
from broker_core.broker.processors.admin import AdminProcessor
from broker_core.broker.processors.assignments import AssignmentProcessor, RequestModeProcessor
from broker_core.broker.processors.clients import ClientProcessor
from broker_core.broker.processors.consume_stats import ConsumeStatsProcessor, GroupProgress
from broker_core.broker.processors.deletions import Deletions
from broker_core.broker.processors.groups import GroupProcessor
from broker_core.broker.processors.handlers import Processor
from broker_core.broker.processors.locks import LockProcessor
from broker_core.broker.processors.members import MemberProcessor
from broker_core.broker.processors.messages import MessageProcessor
from broker_core.broker.processors.notifications import NotificationProcessor
from broker_core.broker.processors.offsets import OffsetProcessor
from broker_core.broker.processors.pop import PopProcessor
from broker_core.broker.processors.progress import ProgressProcessor
from broker_core.broker.processors.pull import PullChecks, PullProcessor
from broker_core.broker.processors.purges import PurgeProcessor
from broker_core.broker.processors.queues import QueueProcessor
from broker_core.broker.processors.relays import RelayProcessor
from broker_core.broker.processors.replies import ReplyProcessor
from broker_core.broker.processors.resets import ResetProcessor, ResetTargets
from broker_core.broker.processors.rights import ReadRights, WriteRights
from broker_core.broker.processors.runtime_info import Figures, RuntimeInfo
from broker_core.broker.processors.send import SendProcessor
from broker_core.broker.processors.send_back import SendBackProcessor
from broker_core.broker.processors.sent_before import SentBefore
from broker_core.broker.processors.settings import SettingsProcessor
from broker_core.broker.processors.suggestions import Suggestions
from broker_core.broker.processors.timers import TimerProcessor
from broker_core.broker.processors.topic_creation import TopicCreation
from broker_core.broker.processors.topics import TopicProcessor
from broker_core.broker.processors.transactions import TransactionProcessor
from broker_core.broker.retries import GroupTopics
from broker_core.broker.role import Role

_MOST_ORDERLY_GROUPS: Final = 100
"""So many are told by name."""


@dataclass(frozen=True, slots=True)
class Processors:
    """The processors with work of their own, and those that only answer requests."""

    clients: ClientProcessor
    pulls: PullProcessor
    pops: PopProcessor
    notifications: NotificationProcessor
    others: Sequence[Processor]

    @property
    def all(self) -> Sequence[Processor]:
        """All processors; no two serve the same code."""
        return (self.clients, self.pulls, self.pops, self.notifications, *self.others)

    def drain(self) -> None:
        """Answer every waiting long poll."""
        self.pulls.drain()
        self.pops.drain()
        self.notifications.drain()

    def follow_role(self, role: Role) -> None:
        """Answer what waits here when this broker is not the master any more: its clients look where to go on."""
        if not role.is_master:
            self.drain()


def processors_of(c: Components) -> Processors:
    """Return the processors of a broker; from here on long polls are notified of arrivals."""
    group_topics = GroupTopics(topics=c.topics, groups=c.groups, registration=c.rest.registration)
    rights = ReadRights(settings=c.settings, address=c.address, topics=c.topics, groups=c.groups)
    popper = _popper(c, group_topics)
    pulls = _pulls(c, rights)
    pops = PopProcessor(
        rights=rights,
        standing=c.mode.standing,
        permits=c.permits,
        group_topics=group_topics,
        clients=c.clients,
        popper=popper,
        stats=c.stats,
        limits=c.config.limits,
        serves_sql=c.config.filters.serves_sql,
        memory=c.memory,
        clock=c.clock,
    )
    notifications = NotificationProcessor(
        rights=rights,
        permits=c.permits,
        popper=popper,
        limits=c.config.limits,
        memory=c.memory,
        clock=c.clock,
    )
    for long_poll in (pulls, pops, notifications):
        c.arrivals.listen(long_poll.arrived)
    clients = ClientProcessor(
        clients=c.clients,
        groups=c.groups,
        group_topics=group_topics,
        filters=c.filters,
        permits=c.permits,
        limits=c.config.limits,
        serves_sql=c.config.filters.serves_sql,
        expiry_ms=c.config.periods.client_expiry,
        clock=c.clock,
    )
    others = (
        *_of_messages(c, group_topics),
        *_of_offsets(c, pops),
        *_of_topics_and_groups(c),
        *_of_clients(c),
        *_of_administration(c, pulls, pops, notifications),
    )
    return Processors(clients, pulls, pops, notifications, others)


def _popper(c: Components, group_topics: GroupTopics) -> Popper:
    dead_letters = DeadLetters(group_topics=group_topics, intake=c.intake, clock=c.clock)
    return Popper(
        store=c.store,
        topics=c.topics,
        leases=c.leases,
        offsets=c.offsets,
        limits=c.config.limits,
        dead_letter=dead_letters.put,
    )


def _pulls(c: Components, rights: ReadRights) -> PullProcessor:
    return PullProcessor(
        checks=PullChecks(
            rights=rights,
            permits=c.permits,
            clients=c.clients,
            filters=c.filters,
            serves_sql=c.config.filters.serves_sql,
        ),
        store=c.store,
        resets=c.beside.resets,
        stats=c.stats,
        settings=c.settings,
        roles=c.roles,
        standing=c.mode.standing,
        suggestions=Suggestions(store=c.store, groups=c.groups, settings=c.settings),
        permits=c.permits,
        memory=c.memory,
        clock=c.clock,
    )


def _of_messages(c: Components, group_topics: GroupTopics) -> Sequence[Processor]:
    rights = WriteRights(settings=c.settings, address=c.address)
    creation = TopicCreation(
        topics=c.topics,
        groups=c.groups,
        group_topics=group_topics,
        registration=c.rest.registration,
        saver=c.beside.saver,
        known=c.rest.state_book.known,
    )
    sends = SendProcessor(
        topics=c.topics,
        creation=creation,
        rights=rights,
        intake=c.intake,
        timer=c.timer,
        transactions=c.transactions,
        address=c.address,
        producers=c.beside.producers,
        clients=c.clients,
        permits=c.permits,
        waits=c.waits,
        roles=c.roles,
        sent_before=SentBefore(c.store, c.clock),
        settings=c.settings,
        clock=c.clock,
    )
    send_backs = SendBackProcessor(
        rights=rights,
        groups=c.groups,
        permits=c.permits,
        group_topics=group_topics,
        arrivals=c.arrivals,
        intake=c.intake,
        waits=c.waits,
        stats=c.stats,
        clock=c.clock,
    )
    replies = ReplyProcessor(
        sender=sends,
        clients=c.clients,
        address=c.address,
        timeout_ms=c.config.periods.relay_timeout,
        clock=c.clock,
    )
    timers = TimerProcessor(
        timer=c.timer,
        reads=c.beside.timer_reads,
        store=c.store,
        topics=c.topics,
        waits=c.waits,
        settings=c.settings,
        clock=c.clock,
    )
    transactions = TransactionProcessor(transactions=c.transactions, waits=c.waits, store=c.store, clock=c.clock)
    return (
        sends,
        send_backs,
        replies,
        timers,
        transactions,
        MessageProcessor(store=c.store, arrivals=c.arrivals, settings=c.settings, clock=c.clock),
    )


def _of_offsets(c: Components, pops: PopProcessor) -> Sequence[Processor]:
    acks = AckProcessor(
        topics=c.topics,
        leases=c.leases,
        offsets=c.offsets,
        limits=c.config.limits,
        clock=c.clock,
        settled=pops.settled,
    )
    resets = ResetProcessor(
        targets=ResetTargets(store=c.store, topics=c.topics, groups=c.groups, offsets=c.offsets),
        resets=c.beside.resets,
        leases=c.leases,
        request_modes=c.request_modes,
        clients=c.clients,
        broker_name=c.config.identity.name,
    )
    offsets = OffsetProcessor(
        store=c.store,
        offsets=c.offsets,
        resets=c.beside.resets,
        passed_on=c.rest.passed_on,
        permits=c.permits,
        settings=c.settings,
    )
    return acks, resets, offsets


def _of_topics_and_groups(c: Components) -> Sequence[Processor]:
    name, limits = c.config.identity.name, c.config.limits
    deletions = Deletions(
        store=c.store,
        offsets=c.offsets,
        leases=c.leases,
        locks=c.locks,
        stats=c.stats,
        request_modes=c.request_modes,
        producers=c.beside.producers,
    )
    topics = TopicProcessor(
        topics=c.topics,
        deletions=deletions,
        registration=c.rest.registration,
        saver=c.beside.saver,
        known=c.rest.state_book.known,
        limits=limits,
        clock=c.clock,
    )
    groups = GroupProcessor(
        groups=c.groups,
        deletions=deletions,
        saver=c.beside.saver,
        known=c.rest.state_book.known,
        limits=limits,
        clock=c.clock,
    )
    progress = GroupProgress(
        store=c.store, topics=c.topics, clients=c.clients, offsets=c.offsets, leases=c.leases, broker_name=name
    )
    consume_stats = ConsumeStatsProcessor(
        progress=progress, topics=c.topics, groups=c.groups, stats=c.stats, address=c.address, clock=c.clock
    )
    changes = ProgressProcessor(
        changes=Changes(
            store=c.store, topics=c.topics, groups=c.groups, clients=c.clients, offsets=c.offsets, leases=c.leases
        ),
        progress=progress,
        store=c.store,
        topics=c.topics,
        groups=c.groups,
        clients=c.clients,
        offsets=c.offsets,
    )
    queues = QueueProcessor(store=c.store, topics=c.topics, clients=c.clients, stats=c.stats, broker_name=name)
    purges = PurgeProcessor(
        store=c.store, topics=c.topics, offsets=c.offsets, resets=c.beside.resets, saver=c.beside.saver, limits=limits
    )
    return topics, groups, consume_stats, changes, queues, purges


def _of_clients(c: Components) -> Sequence[Processor]:
    limits, periods = c.config.limits, c.config.periods
    members = MemberProcessor(
        clients=c.clients, offsets=c.offsets, topics=c.topics, producers=c.beside.producers, clock=c.clock
    )
    locks = LockProcessor(
        locks=c.locks,
        topics=c.topics,
        permits=c.permits,
        broker_name=c.config.identity.name,
        limits=limits,
        clock=c.clock,
    )
    relays = RelayProcessor(
        arrivals=c.arrivals,
        clients=c.clients,
        permits=c.permits,
        broker_name=c.config.identity.name,
        timeout_ms=periods.relay_timeout,
        limits=limits,
    )
    assignments = AssignmentProcessor(
        clients=c.clients, request_modes=c.request_modes, topic_queues=c.beside.topic_queues, limits=limits
    )
    request_modes = RequestModeProcessor(
        groups=c.groups,
        request_modes=c.request_modes,
        saver=c.beside.saver,
        known=c.rest.state_book.known,
        limits=limits,
        clock=c.clock,
    )
    return members, locks, relays, assignments, request_modes


def _of_administration(
    c: Components, pulls: PullProcessor, pops: PopProcessor, notifications: NotificationProcessor
) -> Sequence[Processor]:
    figures = RuntimeInfo(
        store=c.store,
        store_id=c.beside.store_id,
        folder=c.config.store.folder,
        delay=c.delay,
        stats=c.stats,
        figures={**c.mode.figures(), **_figures(c, pulls, pops, notifications)},
        clock=c.clock,
    )
    admin = AdminProcessor(store=c.store, topics=c.topics, delay=c.delay, stats=c.stats, figures=figures, clock=c.clock)
    settings = SettingsProcessor(settings=c.settings, saver=c.beside.saver, address=c.address, clock=c.clock)
    accounts = AccountProcessor(access=c.access, identity=c.config.identity, address=c.address)
    return settings, accounts, admin


def _figures(c: Components, pulls: PullProcessor, pops: PopProcessor, notifications: NotificationProcessor) -> Figures:
    return {
        "parkedPulls": pulls.waiting,
        "parkedPops": pops.waiting,
        "parkedNotifications": notifications.waiting,
        "leases": partial(len, c.leases),
        "timerMessages": partial(len, c.timer),
        "orderlyGroups": lambda: " ".join(c.locks.groups(c.clock())[:_MOST_ORDERLY_GROUPS]),
        "orderlyGroupsTotal": lambda: len(c.locks.groups(c.clock())),
        "openTransactions": lambda: len(c.transactions.table),
        # Under these names clusterList of 5.x reads them.
        "timerReadBehind": c.timer.late_seconds,
        "timerOffsetBehind": c.timer.unread,
        "timerCongestNum": partial(len, c.timer),
    }
