"""Creates a broker's components, in the order of their dependencies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass

from broker_core.broker import store_id
from broker_core.broker.access.permits import Permits
from broker_core.broker.arrivals import Arrivals
from broker_core.broker.clients import Clients
from broker_core.broker.components import Beside, Components
from broker_core.broker.config import BrokerConfig
from broker_core.broker.deferred import Deferred, deferred_of
from broker_core.broker.disk import disk_of
from broker_core.broker.durability import GroupCommit
from broker_core.broker.intake import Intake
from broker_core.broker.loading import Loaded, load
from broker_core.broker.master_work import MasterWork
from broker_core.broker.modes.choosing import first_role, mode_of
from broker_core.broker.modes.mode import Around, Mode, Rest
from broker_core.broker.offsets import Resets
from broker_core.broker.pop.mirror import LeaseTeller
from broker_core.broker.processors.topic_queues import TopicQueues
from broker_core.broker.queue_locks import QueueLocks
from broker_core.broker.registration import Registration
from broker_core.broker.replication.forwarding import Forwarding
from broker_core.broker.replication.passed_on import PassedOn
from broker_core.broker.replication.peers import ReplicaAccount
from broker_core.broker.replication.state_book import Registers, StateBook
from broker_core.broker.resources import Resources
from broker_core.broker.role import Roles
from broker_core.broker.saving import JsonFile, Saver
from broker_core.broker.settings import Settings
from broker_core.broker.stats import Stats
from broker_core.broker.timer.reads import TimerReads
from broker_core.broker.topic_producers import TopicProducers
from broker_core.broker.topics import Topics
from broker_core.broker.waits import Waits
from broker_core.remoting.connection import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class _Writing:
    """What brings messages into the store, and who lets them in."""

    stats: Stats
    arrivals: Arrivals
    roles: Roles
    durability: GroupCommit
    mode: Mode
    intake: Intake


@dataclass(frozen=True, slots=True)
class _Made:
    """What is there before the components that bring all of it together."""

    resources: Resources
    _: KW_ONLY
    writing: _Writing
    loaded: Loaded
    deferred: Deferred
    clients: Clients[Connection]
    permits: Permits


def compose(settings: Settings, resources: Resources) -> Components:
    """Return the components of a broker, with the state from its files; from here on they follow the settings.

    Raises BadConfigFile, what `mode_of` raises, and OSError for files that cannot be read or written.
    """
    config = settings.config
    writing = _writing(settings, resources)
    loaded = load(config, resources)
    permits = Permits(loaded.access)
    if loaded.access is not None:
        resources.peers.credentials = ReplicaAccount(loaded.access, config.replica_account)
    clients: Clients[Connection] = Clients(on_empty=loaded.filters.unregister)
    deferred = deferred_of(
        settings,
        resources,
        loaded,
        intake=writing.intake,
        arrivals=writing.arrivals,
        standing=writing.mode.standing,
        clients=clients,
        permits=permits,
    )
    made = _Made(resources, writing=writing, loaded=loaded, deferred=deferred, clients=clients, permits=permits)
    components = _components(settings, made)
    components.roles.watch(components.master_work.follow)
    settings.watch(_follower(components))
    return components


def _writing(settings: Settings, resources: Resources) -> _Writing:
    config, store = settings.config, resources.store
    stats = Stats(config.identity.cluster, resources.clock())
    arrivals = Arrivals(store, resources.call_soon)
    roles = Roles(first_role(config))
    roles.watch(lambda role: stats.follow_role(resources.clock(), is_master=role.is_master))
    durability = _durability(config, resources)
    mode = _mode(settings, resources, arrivals, roles, durability)
    intake = Intake(
        store,
        arrivals,
        stats,
        store_host=resources.store_host,
        delay_levels=len(config.store.delay_levels_ms),
        replica=mode.admission,
        on_stored=mode.on_stored,
    )
    return _Writing(stats=stats, arrivals=arrivals, roles=roles, durability=durability, mode=mode, intake=intake)


def _components(settings: Settings, made: _Made) -> Components:
    config, resources, writing = settings.config, made.resources, made.writing
    loaded, deferred, mode = made.loaded, made.deferred, writing.mode
    rest = _rest(config, resources, writing, loaded, deferred)
    return Components(
        settings=settings,
        roles=writing.roles,
        mode=mode,
        master_work=rest.master_work,
        address=resources.address,
        clock=resources.clock,
        store=resources.store,
        arrivals=writing.arrivals,
        intake=writing.intake,
        durability=writing.durability,
        waits=Waits(writing.durability, mode.waits, flushes=config.flushes_before_answer, limits=config.limits),
        topics=loaded.topics,
        groups=loaded.groups,
        offsets=loaded.offsets,
        delay=deferred.delay,
        timer=deferred.timer,
        transactions=deferred.transactions,
        checks=deferred.checks,
        leases=loaded.leases,
        clients=made.clients,
        filters=loaded.filters,
        locks=rest.registers.locks,
        stats=writing.stats,
        rest=rest,
        state_of_master=mode.state_of_master(rest),
        memory=resources.memory,
        request_modes=loaded.request_modes,
        access=loaded.access,
        permits=made.permits,
        beside=_beside(config, made),
    )


def _beside(config: BrokerConfig, made: _Made) -> Beside:
    resources, loaded = made.resources, made.loaded
    return Beside(
        store_id=store_id.load_or_create(JsonFile(config.config_folder / store_id.FILE_NAME)),
        timer_reads=TimerReads(resources.timer_index.path, resources.timers),
        producers=TopicProducers(resources.clock()),
        forwarding=_forwarding(config, resources, made.writing.roles, made.permits),
        saver=Saver(resources.files),
        resets=Resets(loaded.offsets, loaded.leases, config.limits),
        topic_queues=TopicQueues(config.name_servers, resources.remoting, resources.clock),
    )


def _rest(config: BrokerConfig, resources: Resources, writing: _Writing, loaded: Loaded, deferred: Deferred) -> Rest:
    locks = QueueLocks(config.limits)
    registers = Registers(
        topics=loaded.topics,
        groups=loaded.groups,
        request_modes=loaded.request_modes,
        offsets=loaded.offsets,
        delay=deferred.delay,
        locks=locks,
        leases=loaded.leases,
    )
    store, clock, standing = resources.store, resources.clock, writing.mode.standing
    registration = _registration(config, resources, writing.roles, writing.mode, loaded.topics)
    return Rest(
        registers=registers,
        state_book=StateBook(
            registers,
            standing,
            LeaseTeller(loaded.leases, resources.journal.feed),
            log_end=lambda: store.appended_log_offset,
            clock=clock,
        ),
        passed_on=PassedOn(writing.roles),
        registration=registration,
        master_work=_master_work(resources, writing, loaded, deferred, locks, registration),
    )


def _forwarding(config: BrokerConfig, resources: Resources, roles: Roles, permits: Permits) -> Forwarding:
    is_on = config.failover.is_on and config.failover.forwards
    return Forwarding(roles, resources.peers, permits, limits=config.limits, is_on=is_on)


def _master_work(
    resources: Resources,
    writing: _Writing,
    loaded: Loaded,
    deferred: Deferred,
    locks: QueueLocks,
    registration: Registration,
) -> MasterWork:
    return MasterWork(
        store=resources.store,
        arrivals=writing.arrivals,
        standing=writing.mode.standing,
        topics=loaded.topics,
        offsets=loaded.offsets,
        transactions=deferred.transactions,
        checks=deferred.checks,
        timer=deferred.timer,
        delay=deferred.delay,
        leases=loaded.leases,
        locks=locks,
        on_topic=registration.want,
        clock=resources.clock,
    )


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


def _follower(components: Components) -> Callable[[BrokerConfig], None]:
    """Return a watcher that applies the settings to the components; processors watch the settings on their own."""

    def follow(config: BrokerConfig) -> None:
        components.groups.auto_create = config.topics.auto_create_groups
        components.store.reconfigure(config.store)
        has_changed = components.topics.offer(config.topics, now=components.clock())
        if components.rest.registration.permission != config.permission:
            components.rest.registration.permission = config.permission
            components.topics.touch(now=components.clock())
            has_changed = True
        if has_changed:
            components.rest.registration.want()

    return follow


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
