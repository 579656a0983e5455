"""Puts a replica in failover mode together, with what drives it (broker/replication/README.md#the-rim)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from broker_core.broker.answers import ANSWERS
from broker_core.broker.config import HA_PORT_ABOVE, BrokerConfig
from broker_core.broker.processors.replicas import ReplicaProcessor
from broker_core.broker.replication.controller_words import Place
from broker_core.broker.replication.controllers import Controllers
from broker_core.broker.replication.failover import Failover, Waiting
from broker_core.broker.replication.following import SlaveLimits
from broker_core.broker.replication.identity import UsedElsewhere
from broker_core.broker.replication.identity_file import begin_life
from broker_core.broker.replication.in_sync import SetTimes
from broker_core.broker.replication.master_stream import MasterStreams
from broker_core.broker.replication.mastership import MasterLimits
from broker_core.broker.replication.pace import Pace
from broker_core.broker.replication.replica import Replica, ReplicaSettings
from broker_core.broker.replication.replica_log import ReplicaLog
from broker_core.broker.replication.slave_streams import SlaveStreams
from broker_core.broker.role import Roles
from broker_core.clock import boot_seconds
from broker_core.remoting import Dispatch, RemotingClient
from broker_core.store import MessageStore
from broker_core.store.epochs import EpochFile

_MS: Final = 1000


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the rest of the broker gives to a replica."""

    store: MessageStore
    address: str
    roles: Roles
    waiting: Waiting
    remoting: RemotingClient
    wake: Callable[[], None]
    """Lets the streams of slaves write."""
    want_flush: Callable[[], None] | None
    """Asks for a flush, where only what is on the disk is reported."""


def start_life(config: BrokerConfig, around: Surroundings) -> Failover:
    """Begin a life of the replica in the open store, which does nothing until it runs.

    Raises WrongIdentity for the folder of another replica, UsedElsewhere, Corrupt for epochs that cannot be read,
    StoreFull, OSError.
    """
    store, folder = around.store, config.store.folder
    epochs = EpochFile(folder)
    _check_use(store, epochs)
    identity = begin_life(
        folder,
        config.identity.cluster,
        config.identity.name,
        has_log=store.appended_log_offset > 0,
        was_power_lost=store.recovered.was_power_lost,
    )
    # From here on the identity tells the loss.
    store.note_loss_told()
    epochs.cut(store.appended_log_offset + 1)  # of a tail that is lost
    log = ReplicaLog(
        store,
        epochs,
        waits_for_disk=config.flushes_before_answer,
        most_held_bytes=config.failover.copy_hold_bytes,
    )
    replica = Replica(identity, log, _settings(config, around.address))
    failover = Failover(
        replica,
        log,
        roles=around.roles,
        remoting=around.remoting,
        folder=folder,
        waiting=around.waiting,
        want_flush=around.want_flush,
        clock=boot_seconds,
    )
    _connect(failover, config, around)
    return failover


def _check_use(store: MessageStore, epochs: EpochFile) -> None:
    """Raise UsedElsewhere if the epochs do not tell what the log has (broker/replication/README.md#epochs)."""
    if not store.recovered.used_elsewhere:
        return
    if epochs.entries:
        raise UsedElsewhere(
            f"{store.config.folder}: another broker has used this folder of a replica: {store.recovered.used_elsewhere}"
            f"; what to do is in docs/replication.md#a-folder-that-another-broker-used"
        )
    store.take_as_own()


def _connect(failover: Failover, config: BrokerConfig, around: Surroundings) -> None:
    settings, tls = config.failover, config.tls.client()
    place = Place(config.identity.cluster, config.identity.name, around.address, settings.priority)
    serving = Dispatch(ANSWERS)
    for code, handler in ReplicaProcessor(failover, config.identity).of_controllers().items():
        serving.register(code, handler)
    failover.attach(
        controllers=Controllers(
            settings.controllers, place, failover, lambda: RemotingClient(on_request=serving, tls=tls), boot_seconds
        ),
        masters=MasterStreams(failover, lambda: tls.context() if tls else None),
        slaves=SlaveStreams(failover, around.store.read_log, Pace(settings.copy_bytes_per_second), around.wake),
    )


def _settings(config: BrokerConfig, address: str) -> ReplicaSettings:
    host, _, port = address.rpartition(":")
    settings, stream = config.failover, config.replication
    return ReplicaSettings(
        address=address,
        ha=f"{host}:{int(port) + HA_PORT_ABOVE}",
        controllers=len(settings.controllers),
        heartbeat=settings.heartbeat_ms / _MS,
        master=MasterLimits(
            set_times=SetTimes(settings.gone_ms / _MS, settings.behind_ms / _MS),
            min_in_sync=settings.min_in_sync,
            batch=stream.batch_bytes,
            unconfirmed=settings.unconfirmed_bytes,
            stream_heartbeat=stream.heartbeat_ms / _MS,
            silence=stream.silence_ms / _MS,
        ),
        slave=SlaveLimits(
            silence=stream.silence_ms / _MS,
            is_learner=settings.is_learner,
            is_newest_only=settings.is_newest_only,
        ),
    )
