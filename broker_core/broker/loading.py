"""Reads the state of a broker from its files (broker/README.md#start-and-stop)."""

from __future__ import annotations

from dataclasses import dataclass

from broker_core.broker import groups, offsets, request_modes, topics
from broker_core.broker.access.access import Access
from broker_core.broker.access.files import AccessFiles
from broker_core.broker.config import BrokerConfig
from broker_core.broker.filters import registered
from broker_core.broker.filters.registered import ConsumerFilters
from broker_core.broker.groups import Groups
from broker_core.broker.offsets import ConsumerOffsets
from broker_core.broker.pop.leases import Leases
from broker_core.broker.request_modes import RequestModes
from broker_core.broker.resources import Resources
from broker_core.broker.saving import JsonFile
from broker_core.broker.topics import Topics
from broker_core.logs import get_logger
from broker_core.store import MessageStore

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What was in the files, but the levels of delay, which need who delivers."""

    topics: Topics
    groups: Groups
    offsets: ConsumerOffsets
    leases: Leases
    filters: ConsumerFilters
    request_modes: RequestModes
    access: Access | None
    """The accounts, if access control is on."""


def load(config: BrokerConfig, resources: Resources) -> Loaded:
    """Return the state; raises BadConfigFile, and OSError for files that cannot be read."""
    store = resources.store
    register = _load_topics(config, store, resources.clock())
    consumed = _load_offsets(config)
    return Loaded(
        topics=register,
        groups=_load_groups(config),
        offsets=consumed,
        leases=_load_leases(config, resources, consumed),
        filters=_load_filters(config, resources),
        request_modes=_load_request_modes(config),
        access=_load_access(config, resources) if config.access_control else None,
    )


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


def _load_leases(config: BrokerConfig, resources: Resources, consumed: ConsumerOffsets) -> Leases:
    leases = Leases(resources.journal.append)
    for change in resources.journal.load():
        leases.apply(change)
    if not config.failover.is_on:  # a replica knows the ends of its queues when what is in its log is confirmed
        leases.clamp(resources.store.max_offset)
    for queue in leases.queues():
        consumed.commit(queue.group, queue.topic, queue.queue_id, queue.committed)
    return leases


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


def _load_access(config: BrokerConfig, resources: Resources) -> Access:
    access = Access(AccessFiles(config.config_folder), resources.files, resources.clock)
    access.load()
    return access
