"""Switches of two replicas, and what a slave is kept from learning before."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from broker_core.broker import Broker
from broker_core.broker.replication.failover import Failover
from tests.support.replica_group import ReplicaGroup
from tests.support.wait import eventually


def failover_of(broker: Broker) -> Failover:
    assert broker.failover is not None
    return broker.failover


def slave_of(group: ReplicaGroup, master: Broker) -> Broker:
    (slave,) = [each for each in group.brokers.values() if each is not master]
    return slave


async def stop(group: ReplicaGroup, broker: Broker) -> None:
    await group.stop(next(number for number, each in group.brokers.items() if each is broker))


async def switched(group: ReplicaGroup, master: Broker) -> Broker:
    """Stop the master; return the next one when it does a master's work."""
    await stop(group, master)
    successor = await group.master()
    await eventually(successor.components.master_work.is_on)
    return successor


@contextmanager
def deaf(slave: Broker) -> Iterator[None]:
    """Let a slave get the log, but not learn what of it is confirmed."""
    with patch.object(failover_of(slave).log, "set_confirm"):
        yield


@contextmanager
def unconfirmed(master: Broker) -> Iterator[None]:
    """Let a master not see what its slave has."""
    mastership = failover_of(master).replica.mastership
    assert mastership is not None
    with patch.object(mastership.in_sync, "advance", return_value=False):
        yield
