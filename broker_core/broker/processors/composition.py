"""All processors of a broker, put together in the order in which they need each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from broker_core.broker.parts import Parts
from broker_core.broker.pop.dead_letters import DeadLetters
from broker_core.broker.pop.popper import Popper
from broker_core.broker.processors.access import AccessProcessor
from broker_core.broker.processors.ack import AckProcessor
from broker_core.broker.processors.admin import AdminProcessor
from broker_core.broker.processors.assignments import AssignmentProcessor
from broker_core.broker.processors.clients import ClientProcessor
from broker_core.broker.processors.groups import GroupProcessor
from broker_core.broker.processors.handlers import Processor
from broker_core.broker.processors.messages import MessageProcessor
from broker_core.broker.processors.notifications import NotificationProcessor
from broker_core.broker.processors.offsets import OffsetProcessor
from broker_core.broker.processors.pop import PopProcessor
from broker_core.broker.processors.pull import PullProcessor
from broker_core.broker.processors.queues import QueueProcessor
from broker_core.broker.processors.relays import RelayProcessor
from broker_core.broker.processors.replies import ReplyProcessor
from broker_core.broker.processors.resets import ResetProcessor
from broker_core.broker.processors.send import SendProcessor
from broker_core.broker.processors.settings import SettingsProcessor
from broker_core.broker.processors.topics import TopicProcessor


@dataclass(frozen=True, slots=True)
class Processors:
    """Those that have something to do without being asked, and those that only answer."""

    clients: ClientProcessor
    pulls: PullProcessor
    pops: PopProcessor
    notifications: NotificationProcessor
    others: Sequence[Processor]

    @property
    def all(self) -> Sequence[Processor]:
        """Every one; no two answer the same code."""
        return (self.clients, self.pulls, self.pops, self.notifications, *self.others)

    def drain(self) -> None:
        """Answer every long poll that waits."""
        self.pulls.drain()
        self.pops.drain()
        self.notifications.drain()


def processors_of(parts: Parts) -> Processors:
    """Return what answers the requests to a broker of these parts."""
    pulls, pops = PullProcessor(parts), _pops(parts)
    sends, notifications = SendProcessor(parts), NotificationProcessor(parts)
    counts = {
        "parkedPulls": pulls.waiting,
        "parkedPops": pops.waiting,
        "parkedNotifications": notifications.waiting,
    }
    others = (
        sends,
        ReplyProcessor(parts, sends),
        AckProcessor(parts, pops.settled),
        OffsetProcessor(store=parts.store, offsets=parts.offsets, resets=parts.resets, settings=parts.settings),
        ResetProcessor(parts),
        TopicProcessor(parts),
        GroupProcessor(parts),
        MessageProcessor(store=parts.store, settings=parts.settings, clock=parts.clock),
        RelayProcessor(
            store=parts.store,
            clients=parts.clients,
            broker_name=parts.config.identity.name,
            timeout_ms=parts.config.periods.relay_timeout,
        ),
        QueueProcessor(store=parts.store, topics=parts.topics, clients=parts.clients),
        AssignmentProcessor(parts),
        SettingsProcessor(settings=parts.settings, saver=parts.saver, address=parts.address, clock=parts.clock),
        AccessProcessor(),
        AdminProcessor(parts, counts),
    )
    return Processors(ClientProcessor(parts), pulls, pops, notifications, others)


def _pops(parts: Parts) -> PopProcessor:
    dead_letters = DeadLetters(parts)
    return PopProcessor(parts, Popper(parts.store, parts.leases, parts.offsets, parts.config.limits, dead_letters.put))
