"""Which processes of its broker names an overview shows: those that are listed, and those that are gone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from broker_core.client.admin.clusters import BrokerAddress
from broker_core.client.routes import MASTER_ID
from broker_core.protocol.bodies.controller import NameState
from console.clusters.memory import RememberedBroker
from console.clusters.outcomes import not_listed
from console.lag.shapes import BrokerRole


@dataclass(frozen=True, slots=True)
class Process:
    """One process; `broker_id` is what name servers know it by, and 0 for whichever is master."""

    name: str
    address: str
    broker_id: int
    role: BrokerRole
    replica_id: int | None = None
    """What controllers know it by; None where roles are fixed."""
    gone: str | None = None
    """Why it was not asked; None if it was."""


def processes_of(
    watched: Iterable[BrokerAddress], decided: Mapping[str, NameState], known: Mapping[str, RememberedBroker]
) -> list[Process]:
    """Return those that are asked, and those that no name server lists any more, by name and replica."""
    by_name: dict[str, list[BrokerAddress]] = {}
    for broker in watched:
        by_name.setdefault(broker.name, []).append(broker)
    found: list[Process] = []
    for name in by_name.keys() | decided.keys() | known.keys():
        asked = by_name.get(name, [])
        if (state := decided.get(name)) is not None:
            found += _led(asked, state)
        else:
            found += [_asked(each) for each in asked]
            found += _forgotten(asked, known.get(name))
    return sorted(found, key=lambda each: (each.name, each.replica_id or each.broker_id, each.broker_id))


def _asked(broker: BrokerAddress, replica_id: int | None = None) -> Process:
    role: BrokerRole = "master" if broker.is_master else "slave"
    return Process(broker.name, broker.addr, broker.broker_id, role, replica_id)


def _led(asked: Iterable[BrokerAddress], state: NameState) -> list[Process]:
    """Return the processes of a name whose master controllers choose: they say which replicas there are."""
    shown = [_asked(each, _replica_at(each, state)) for each in asked]
    by_address = {each.address: each.replica_id for each in shown}
    heard = {each.replica_id for each in shown}
    master_id = None if state.master is None or any(each.role == "master" for each in shown) else state.master.id
    for number, replica in state.replicas.items():
        if number not in heard:
            successor = by_address.get(replica.address)
            why = f"{state.name} {number} is not listed by any name server"
            why = why if successor is None else f"replica {successor} is at its address now"
            role: BrokerRole = "master" if number == master_id else "slave"
            shown.append(Process(state.name, replica.address, number, role, number, why))
    return shown


def _replica_at(broker: BrokerAddress, state: NameState) -> int | None:
    """Return the id of the replica at an address; None before the controllers know it.

    A process that lost its folder has a new id where the old one was: then the route tells a slave's, and who is
    master the controllers.
    """
    there = [number for number, each in state.replicas.items() if each.address == broker.addr]
    if broker.broker_id in there:
        return broker.broker_id
    if broker.is_master and state.master is not None and state.master.id in there:
        return state.master.id
    return max(there, default=None)


def _forgotten(asked: Iterable[BrokerAddress], known: RememberedBroker | None) -> list[Process]:
    """Return the remembered processes in whose place there is no other one."""
    if known is None:
        return []
    ids, addresses = {each.broker_id for each in asked}, {each.addr for each in asked}
    gone = [each for each in known.processes if each.broker_id not in ids and each.address not in addresses]
    return [
        Process(
            known.name,
            each.address,
            each.broker_id,
            "master" if each.broker_id == MASTER_ID else "slave",
            gone=not_listed(known, each.broker_id),
        )
        for each in gone
    ]
