"""What puts messages later, or not at all: levels of delay, the timer, transactions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from broker_core.broker import delay
from broker_core.broker.access.permits import Permits
from broker_core.broker.arrivals import Arrivals
from broker_core.broker.clients import Clients
from broker_core.broker.config import BrokerConfig
from broker_core.broker.delay import DelayQueues
from broker_core.broker.intake import Intake
from broker_core.broker.loading import Loaded
from broker_core.broker.replication.standing import Standing
from broker_core.broker.resources import Resources
from broker_core.broker.saving import JsonFile
from broker_core.broker.settings import Settings
from broker_core.broker.timer.following import Follower
from broker_core.broker.timer.timer import Timer
from broker_core.broker.topics import Topics
from broker_core.broker.transactions.checks import Checks
from broker_core.broker.transactions.transactions import Transactions
from broker_core.logs import get_logger
from broker_core.protocol.message import Message, StoredMessage
from broker_core.remoting.connection import Connection
from broker_core.store import MessageStore

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deferred:
    """Each reads its own topics, and puts what is due through the intake."""

    delay: DelayQueues
    timer: Timer
    transactions: Transactions
    checks: Checks


def deferred_of(
    settings: Settings,
    resources: Resources,
    loaded: Loaded,
    *,
    intake: Intake,
    arrivals: Arrivals,
    standing: Standing,
    clients: Clients[Connection],
    permits: Permits,
) -> Deferred:
    """Return them; each rests until it takes up its work. Raises BadConfigFile and OSError."""
    config, store, clock = settings.config, resources.store, resources.clock
    deliver = _deliver_with(intake, loaded.topics, clock)
    transactions = _transactions(config, resources, intake, arrivals, loaded.topics)
    timer = Timer(
        Follower(store, resources.timer_index, standing),
        store=store,
        intake=intake,
        arrivals=arrivals,
        deliver=deliver,
        limits=config.limits,
        clock=clock,
    )
    return Deferred(
        delay=_load_delays(config, store, deliver),
        timer=timer,
        transactions=transactions,
        checks=Checks(transactions, clients=clients, permits=permits, offsets=loaded.offsets, settings=settings),
    )


def _load_delays(config: BrokerConfig, store: MessageStore, deliver: delay.Deliver) -> DelayQueues:
    queues = DelayQueues(JsonFile(config.config_folder / delay.FILE_NAME), store, config.store.delay_levels_ms, deliver)
    queues.load()
    return queues


def _transactions(
    config: BrokerConfig, resources: Resources, intake: Intake, arrivals: Arrivals, register: Topics
) -> Transactions:
    return Transactions(
        store=resources.store,
        intake=intake,
        arrivals=arrivals,
        topics=register,
        limits=config.limits,
        clock=resources.clock,
    )


def _deliver_with(intake: Intake, register: Topics, clock: Callable[[], int]) -> delay.Deliver:
    def deliver(message: Message, queue_id: int, parked: StoredMessage) -> bool:
        topic = register.find_or_restore(message.topic, now=clock())
        if topic is None:
            _log.warning("topic=%s: deleted in the meantime; dropping a delayed message for it", message.topic)
            return False
        queues = max(topic.read_queue_nums, topic.write_queue_nums, 1)
        origin = intake.origin_of_copy(parked, now=clock(), reconsume_times=parked.reconsume_times)
        intake.put_message(message, queue_id % queues, origin)
        return True

    return deliver
