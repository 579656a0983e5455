"""Creates a broker's components, in the order of their dependencies."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass

from broker_core.broker import delay, groups, offsets, request_modes, store_id, topics
from broker_core.broker.access.access import Access
from broker_core.broker.access.files import AccessFiles
from broker_core.broker.access.permits import Permits
from broker_core.broker.arrivals import Arrivals, CallSoon
from broker_core.broker.clients import Clients
from broker_core.broker.config import BrokerConfig
from broker_core.broker.delay import DelayQueues
from broker_core.broker.disk import disk_of
from broker_core.broker.durability import GroupCommit
from broker_core.broker.filters import registered
from broker_core.broker.filters.registered import ConsumerFilters
from broker_core.broker.groups import Groups
from broker_core.broker.intake import Host, Intake
from broker_core.broker.master_work import MasterWork
from broker_core.broker.modes.choosing import first_role, mode_of
from broker_core.broker.modes.mode import Around, Mode, Rest, StateOfMaster
from broker_core.broker.offsets import ConsumerOffsets, Resets
from broker_core.broker.pop.journal import Journal
from broker_core.broker.pop.leases import Leases
from broker_core.broker.processors.runtime_info import Figures
from broker_core.broker.processors.topic_queues import TopicQueues
from broker_core.broker.queue_locks import QueueLocks
from broker_core.broker.registration import Registration
from broker_core.broker.replication.forwarding import Forwarding
from broker_core.broker.replication.passed_on import PassedOn
from broker_core.broker.replication.peers import Peers, ReplicaAccount
from broker_core.broker.replication.standing import Standing
from broker_core.broker.replication.state_book import Registers as StateRegisters
from broker_core.broker.replication.state_book import StateBook
from broker_core.broker.request_modes import RequestModes
from broker_core.broker.role import Roles
from broker_core.broker.saving import JsonFile, Saver
from broker_core.broker.settings import Settings
from broker_core.broker.stats import Stats
from broker_core.broker.timer.following import Follower
from broker_core.broker.timer.index import TimerIndex
from broker_core.broker.timer.reads import TimerReads
from broker_core.broker.timer.timer import Timer
from broker_core.broker.topic_producers import TopicProducers
from broker_core.broker.topics import Topics
from broker_core.broker.transactions.checks import Checks
from broker_core.broker.transactions.transactions import Transactions
from broker_core.broker.waits import Waits
from broker_core.logs import get_logger
from broker_core.protocol.message import Message, StoredMessage
from broker_core.remoting.client import RemotingClient
from broker_core.remoting.connection import Connection
from broker_core.remoting.memory import ConnectionMemory
from broker_core.remoting.open_files import Sockets
from broker_core.remoting.tls import ServerTls
from broker_core.store import MessageStore

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Resources:
    """Open files, sockets and threads, which `server.py` opens and closes."""

    store: MessageStore
    journal: Journal
    remoting: RemotingClient
    """For name servers."""
    peers: Peers
    """For the other brokers of the name."""
    address: str
    store_host: Host
    tls: ServerTls | None
    """Of all ports."""
    sockets: Sockets
    disk: Executor
    files: Executor
    timers: Executor
    timer_index: TimerIndex
    clock: Callable[[], int]
    call_soon: CallSoon
    memory: ConnectionMemory


@dataclass(frozen=True, slots=True)
class Components:
    """The parts of a broker; only the code that creates and runs it handles all of them together.

    `clock` returns ms since 1970, `address` is the ``host:port`` where clients find the broker.
    """

    settings: Settings
    roles: Roles
    mode: Mode
    standing: Standing
    master_work: MasterWork
    address: str
    clock: Callable[[], int]
    store: MessageStore
    store_id: str
    arrivals: Arrivals
    intake: Intake
    durability: GroupCommit
    figures: Figures
    """What the runtime information shows of replication."""
    waits: Waits
    topics: Topics
    groups: Groups
    offsets: ConsumerOffsets
    delay: DelayQueues
    timer: Timer
    timer_reads: TimerReads
    transactions: Transactions
    checks: Checks
    leases: Leases
    clients: Clients[Connection]
    filters: ConsumerFilters
    producers: TopicProducers
    locks: QueueLocks
    stats: Stats
    registration: Registration
    state_of_master: StateOfMaster | None
    """What takes over the state of a master, where there may be another one."""
    rest: Rest
    state_book: StateBook
    passed_on: PassedOn
    forwarding: Forwarding
    saver: Saver
    memory: ConnectionMemory
    resets: Resets
    request_modes: RequestModes
    topic_queues: TopicQueues
    access: Access | None
    """The accounts, if access control is on."""
    permits: Permits

    @property
    def config(self) -> BrokerConfig:
        """The current configuration; a part that keeps a value from it watches `settings`."""
        return self.settings.config


def compose(settings: Settings, resources: Resources) -> Components:
    """Return the components of a broker, with the state from its files; from here on they follow the settings.

    Raises BadConfigFile, what `mode_of` raises, and OSError for files that cannot be read or written.
    """
    config, store, clock, now = settings.config, resources.store, resources.clock, resources.clock()
    stats = Stats(config.identity.cluster, now)
    arrivals = Arrivals(store, resources.call_soon)
    roles = Roles(first_role(config))
    durability = _durability(config, resources)
    mode = _mode(settings, resources, arrivals, roles, durability)
    standing = mode.standing
    intake = Intake(
        store,
        arrivals,
        stats,
        store_host=resources.store_host,
        delay_levels=len(config.store.delay_levels_ms),
        replica=mode.admission,
        on_stored=mode.on_stored,
    )
    topic_register = _load_topics(config, store, now)
    consumed = _load_offsets(config)
    leases = _load_leases(resources.journal, store, consumed)
    deliver = _deliver_with(intake, topic_register, clock)
    transactions = _transactions(config, resources, intake, arrivals, topic_register)
    clients: Clients[Connection] = Clients()
    filters = _load_filters(config, resources)
    clients.on_empty = filters.unregister
    access = _load_access(config, resources) if config.access_control else None
    permits = Permits(access)
    if access is not None:
        resources.peers.credentials = ReplicaAccount(access, config.replica_account)
    timer_index = resources.timer_index
    timer = Timer(
        Follower(store, timer_index, standing),
        store=store,
        intake=intake,
        arrivals=arrivals,
        deliver=deliver,
        limits=config.limits,
        clock=clock,
    )
    checks = Checks(transactions, clients=clients, permits=permits, offsets=consumed, settings=settings)
    delays = _load_delays(config, store, deliver)
    locks = QueueLocks(config.limits)
    registration = _registration(config, resources, roles, mode, topic_register)
    master_work = MasterWork(
        store=store,
        arrivals=arrivals,
        standing=standing,
        topics=topic_register,
        offsets=consumed,
        transactions=transactions,
        checks=checks,
        timer=timer,
        delay=delays,
        leases=leases,
        locks=locks,
        on_topic=registration.want,
        clock=clock,
    )
    roles.watch(master_work.follow)
    group_register = _load_groups(config)
    passed_on = PassedOn(roles)
    modes = _load_request_modes(config)
    state = StateRegisters(
        topics=topic_register, groups=group_register, request_modes=modes, offsets=consumed, delay=delays, locks=locks
    )
    state_book = StateBook(state, standing, log_end=lambda: store.appended_log_offset, clock=clock)
    rest = Rest(
        registers=state,
        state_book=state_book,
        passed_on=passed_on,
        registration=registration,
        master_work=master_work,
    )
    components = Components(
        settings=settings,
        roles=roles,
        mode=mode,
        standing=standing,
        master_work=master_work,
        address=resources.address,
        clock=clock,
        store=store,
        store_id=store_id.load_or_create(JsonFile(config.config_folder / store_id.FILE_NAME)),
        arrivals=arrivals,
        intake=intake,
        durability=durability,
        figures=mode.figures(),
        waits=Waits(durability, mode.waits, flushes=config.flushes_before_answer, limits=config.limits),
        topics=topic_register,
        groups=group_register,
        offsets=consumed,
        delay=delays,
        timer=timer,
        timer_reads=TimerReads(timer_index.path, resources.timers),
        transactions=transactions,
        checks=checks,
        leases=leases,
        clients=clients,
        filters=filters,
        producers=TopicProducers(now),
        locks=locks,
        stats=stats,
        registration=registration,
        state_of_master=mode.state_of_master(rest),
        rest=rest,
        state_book=state_book,
        passed_on=passed_on,
        forwarding=Forwarding(
            roles,
            resources.peers,
            permits,
            limits=config.limits,
            is_on=config.failover.is_on and config.failover.forwards,
        ),
        saver=Saver(resources.files),
        memory=resources.memory,
        resets=Resets(consumed, leases, config.limits),
        request_modes=modes,
        topic_queues=TopicQueues(config.name_servers, resources.remoting, clock),
        access=access,
        permits=permits,
    )
    settings.watch(_follower(components))
    return components


def _follower(components: Components) -> Callable[[BrokerConfig], None]:
    """Return a watcher that applies the settings to the components; processors watch the settings on their own."""

    def follow(config: BrokerConfig) -> None:
        components.groups.auto_create = config.topics.auto_create_groups
        components.store.reconfigure(config.store)
        has_changed = components.topics.offer(config.topics, now=components.clock())
        if components.registration.permission != config.permission:
            components.registration.permission = config.permission
            components.topics.touch(now=components.clock())
            has_changed = True
        if has_changed:
            components.registration.want()

    return follow


def _durability(config: BrokerConfig, resources: Resources) -> GroupCommit:
    return GroupCommit(
        resources.store,
        disk_of(resources.store, resources.disk),
        limits=config.limits,
        timeout_ms=config.periods.sync_flush_timeout,
    )


def _mode(settings: Settings, resources: Resources, arrivals: Arrivals, roles: Roles, durability: GroupCommit) -> Mode:
    around = Around(
        settings=settings,
        store=resources.store,
        address=resources.address,
        roles=roles,
        arrivals=arrivals,
        durability=durability,
        peers=resources.peers,
        tls=resources.tls,
        sockets=resources.sockets,
        clock=resources.clock,
    )
    return mode_of(around)


def _load_access(config: BrokerConfig, resources: Resources) -> Access:
    access = Access(AccessFiles(config.config_folder), resources.files, resources.clock)
    access.load()
    return access


def _registration(
    config: BrokerConfig, resources: Resources, roles: Roles, mode: Mode, register: Topics
) -> Registration:
    return Registration(
        config.identity,
        resources.address,
        register,
        config.name_servers,
        resources.remoting,
        roles=roles,
        standing=mode.standing,
        on_master=mode.master_told,
        permission=config.permission,
        timeout_ms=config.periods.registration_timeout,
        clock=resources.clock,
    )


def _load_groups(config: BrokerConfig) -> Groups:
    register = Groups(JsonFile(config.config_folder / groups.FILE_NAME), defaults=config.topics, limits=config.limits)
    register.load()
    return register


def _load_offsets(config: BrokerConfig) -> ConsumerOffsets:
    register = ConsumerOffsets(JsonFile(config.config_folder / offsets.FILE_NAME))
    register.load()
    return register


def _load_filters(config: BrokerConfig, resources: Resources) -> ConsumerFilters:
    store, clock = resources.store, resources.clock
    register = ConsumerFilters(
        JsonFile(config.config_folder / registered.FILE_NAME),
        config.filters,
        # A message that is older than a filter has no bits of it, also if the clock went back since.
        lambda: max(clock(), store.newest_store_time),
    )
    register.load()
    if config.filters.calculates_bits:
        store.filter_bits_by(register.bits_of)
    return register


def _load_request_modes(config: BrokerConfig) -> RequestModes:
    register = RequestModes(JsonFile(config.config_folder / request_modes.FILE_NAME), config.limits)
    register.load()
    return register


def _load_delays(config: BrokerConfig, store: MessageStore, deliver: delay.Deliver) -> DelayQueues:
    queues = DelayQueues(JsonFile(config.config_folder / delay.FILE_NAME), store, config.store.delay_levels_ms, deliver)
    queues.load()
    return queues


def _load_topics(config: BrokerConfig, store: MessageStore, now: int) -> Topics:
    register = Topics(
        JsonFile(config.config_folder / topics.FILE_NAME),
        identity=config.identity,
        defaults=config.topics,
        limits=config.limits,
    )
    register.load()
    register.forget_deleted(now - 2 * config.store.retention_ms)
    lost, deleted = register.adopt(store.queues(), now=now)
    for topic in lost:
        _log.warning("topic=%s: its settings were lost and are rebuilt from its queues", topic)
    for topic in deleted:
        _log.info("topic=%s: deleted before a crash; dropping its queues again", topic)
        store.delete_topic(topic)
    return register


def _load_leases(journal: Journal, store: MessageStore, consumed: ConsumerOffsets) -> Leases:
    leases = Leases(journal.append)
    for change in journal.load():
        leases.apply(change)
    leases.clamp(store.max_offset)
    for queue in leases.queues():
        consumed.commit(queue.group, queue.topic, queue.queue_id, queue.committed)
    return leases


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
