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
from broker_core.broker.config import BrokerConfig, BrokerRole
from broker_core.broker.delay import DelayQueues
from broker_core.broker.disk import disk_of
from broker_core.broker.durability import GroupCommit
from broker_core.broker.filters import registered
from broker_core.broker.filters.registered import ConsumerFilters
from broker_core.broker.groups import Groups
from broker_core.broker.intake import Host, Intake
from broker_core.broker.master_work import MasterWork
from broker_core.broker.offsets import ConsumerOffsets, Resets
from broker_core.broker.pop.journal import Journal
from broker_core.broker.pop.leases import Leases
from broker_core.broker.processors.runtime_info import Figures
from broker_core.broker.processors.topic_queues import TopicQueues
from broker_core.broker.queue_locks import QueueLocks
from broker_core.broker.registration import MasterPlace, Registration
from broker_core.broker.replication.confirmations import Confirmations
from broker_core.broker.replication.forwarding import Forwarding
from broker_core.broker.replication.ha_listener import loop_ms
from broker_core.broker.replication.metadata import Metadata, Registers
from broker_core.broker.replication.passed_on import PassedOn
from broker_core.broker.replication.peers import Peers, ReplicaAccount
from broker_core.broker.replication.slave_link import SlaveLink
from broker_core.broker.replication.slaves import Slaves
from broker_core.broker.replication.standing import Standing
from broker_core.broker.replication.state_book import Registers as StateRegisters
from broker_core.broker.replication.state_book import StateBook
from broker_core.broker.request_modes import RequestModes
from broker_core.broker.role import Role, RoleKind, Roles
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
from broker_core.broker.waits import ReplicaWaits, Waits
from broker_core.logs import get_logger
from broker_core.protocol.message import Message, StoredMessage
from broker_core.remoting.client import RemotingClient
from broker_core.remoting.connection import Connection
from broker_core.remoting.memory import ConnectionMemory
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
    standing: Standing
    master_work: MasterWork
    address: str
    clock: Callable[[], int]
    store: MessageStore
    store_id: str
    arrivals: Arrivals
    intake: Intake
    durability: GroupCommit
    slaves: Slaves
    """Those that are connected here, while this is a master."""
    figures: Figures
    """What the runtime information shows besides what it reads itself; a replica adds its own."""
    confirmations: Confirmations | None
    """What the in-sync set has, where controllers decide who is master."""
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
    slave_link: SlaveLink
    metadata: Metadata
    state: StateRegisters
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

    Raises BadConfigFile, and OSError for files that cannot be read or written.
    """
    config, store, clock, now = settings.config, resources.store, resources.clock, resources.clock()
    stats = Stats(config.identity.cluster, now)
    arrivals = Arrivals(store, resources.call_soon)
    intake = Intake(
        store, arrivals, stats, store_host=resources.store_host, delay_levels=len(config.store.delay_levels_ms)
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
    standing = Standing()
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
        clock=clock,
    )
    roles = Roles(_first_role(config))
    roles.watch(master_work.follow)
    durability = GroupCommit(
        store,
        disk_of(store, resources.disk),
        limits=config.limits,
        timeout_ms=config.periods.sync_flush_timeout,
    )
    slaves = Slaves(store, lambda: settings.config.replication, loop_ms)
    confirmations = _confirmations(settings, store, arrivals)
    registration = _registration(config, resources, roles, topic_register)
    slave_link = _slave_link(settings, resources, arrivals, durability, roles, registration)
    group_register = _load_groups(config)
    passed_on = PassedOn(roles)
    modes = _load_request_modes(config)
    state = StateRegisters(
        topics=topic_register, groups=group_register, request_modes=modes, offsets=consumed, delay=delays, locks=locks
    )
    master_work.on_topic = registration.want
    components = Components(
        settings=settings,
        roles=roles,
        standing=standing,
        master_work=master_work,
        address=resources.address,
        clock=clock,
        store=store,
        store_id=store_id.load_or_create(JsonFile(config.config_folder / store_id.FILE_NAME)),
        arrivals=arrivals,
        intake=intake,
        durability=durability,
        slaves=slaves,
        figures={},
        confirmations=confirmations,
        waits=_waits(settings, durability, slaves, confirmations),
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
        slave_link=slave_link,
        state=state,
        state_book=StateBook(state, standing, log_end=lambda: store.appended_log_offset, clock=clock),
        metadata=Metadata(
            Registers(topics=topic_register, groups=group_register, offsets=consumed, delay=delays),
            master=(lambda: roles.now.master) if config.failover.is_on else slave_link.master,
            passed_on=passed_on,
            registration=registration,
            remoting=resources.peers,
            settings=settings,
            clock=clock,
        ),
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


def _confirmations(settings: Settings, store: MessageStore, arrivals: Arrivals) -> Confirmations | None:
    if not settings.config.failover.is_on:
        return None
    timeout_ms = lambda: settings.config.replication.slave_timeout_ms  # noqa: E731
    return Confirmations(arrivals, timeout_ms, upto=store.confirmed_log_offset)


def _waits(settings: Settings, durability: GroupCommit, slaves: Slaves, confirmations: Confirmations | None) -> Waits:
    config = settings.config
    replicas = None
    if confirmations is not None:
        replicas = confirmations.waits
    elif config.replication.role is BrokerRole.SYNC_MASTER:
        replicas = ReplicaWaits(slaves, lambda: settings.config.replication.slave_timeout_ms)
        slaves.on_progress = replicas.advance
    return Waits(durability, replicas, flushes=config.flushes_before_answer, limits=config.limits)


def _load_access(config: BrokerConfig, resources: Resources) -> Access:
    access = Access(AccessFiles(config.config_folder), resources.files, resources.clock)
    access.load()
    return access


def _registration(config: BrokerConfig, resources: Resources, roles: Roles, register: Topics) -> Registration:
    return Registration(
        config.identity,
        resources.address,
        register,
        config.name_servers,
        resources.remoting,
        roles=roles,
        permission=config.permission,
        timeout_ms=config.periods.registration_timeout,
        clock=resources.clock,
    )


def _slave_link(
    settings: Settings,
    resources: Resources,
    arrivals: Arrivals,
    durability: GroupCommit,
    roles: Roles,
    registration: Registration,
) -> SlaveLink:
    link = SlaveLink(
        store=resources.store,
        arrivals=arrivals,
        remoting=resources.peers,
        settings=settings,
        flush=durability.flush,
        clock=resources.clock,
    )

    def follow(master: MasterPlace) -> None:
        link.follow_master(master)
        roles.follow(master.address)

    if settings.config.failover.is_on:  # the controllers tell
        return link
    registration.on_master = follow
    roles.watch(link.follow_role)
    if (given := link.master()) is not None:
        roles.follow(given)
    return link


def _first_role(config: BrokerConfig) -> Role:
    """Return the role by the configuration; where controllers decide, none is known yet."""
    if config.failover.is_on:
        return Role(RoleKind.FENCED, config.identity.broker_id)
    return Role.of_id(config.identity.broker_id)


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
