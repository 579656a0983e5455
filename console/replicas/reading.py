"""Asks every process of a broker name how far it is.

Which processes there are, the controllers say where they choose the master, else the name servers. Where both are
silent those are asked that were listed last: replicas with failover tell the newest state that they know. That counts
too where the controllers hold an older one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar

import msgspec

from broker_core.client.admin import Admin
from broker_core.client.admin.clusters import BrokerAddress, BrokerRuntime
from broker_core.client.admin.replication import KnownState
from broker_core.client.answers import Answers
from broker_core.client.routes import MASTER_ID
from broker_core.clock import now_ms
from broker_core.errors import GantryError
from broker_core.protocol.bodies.controller import NameState
from broker_core.protocol.bodies.replicas import EpochEntryCache, HaRuntimeInfo
from console.clusters.connections import ask
from console.clusters.memory import RememberedBroker, remembered
from console.clusters.outcomes import not_listed
from console.clusters.reasons import reason_of
from console.errors import NotKnown
from console.moments import rfc3339
from console.replicas import history
from console.replicas.behind import Behind, behind_of
from console.replicas.deciding import Decided, decided, lost, of_name, of_replica, of_told
from console.replicas.held import held_of, with_words
from console.replicas.processes import PROCESS_MS, hear
from console.replicas.shapes import (
    FailoverOfName,
    PastDecision,
    Replica,
    ReplicaRole,
    Replicas,
    SilentServer,
    ToldState,
)
from console.replicas.streams import followed_by, streams_of

T = TypeVar("T", FailoverOfName, ToldState)


@dataclass(frozen=True, slots=True)
class Past:
    """What the console saw of a broker name before."""

    broker: RememberedBroker | None = None
    decision: PastDecision | None = None
    """The last one; None of a name whose roles are fixed."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The processes of a name, and what each said; `found`, `epochs` and `reasons` are by address."""

    listed: Sequence[BrokerAddress]
    master_id: int | None = None
    found: Mapping[str, BrokerRuntime] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    decision: Decided | None = None
    epochs: Mapping[str, EpochEntryCache] = field(default_factory=dict)
    copying: Answers[HaRuntimeInfo] = field(default_factory=Answers)
    """Who copies whose log, as each says."""
    told: NameState | None = None
    """What replicas say, where no controller tells what is decided or holds something older."""
    last_known: PastDecision | None = None
    """The last decision that was seen, while neither controllers nor replicas tell any."""
    listed_now: frozenset[str] | None = None
    """The addresses that name servers list; None while none answers."""
    last_seen: Mapping[str, datetime] = field(default_factory=dict)
    """When those were listed last that no name server lists now, by address."""
    silent: GantryError | None = None
    """Why no name server said which processes there are."""
    silent_servers: Mapping[str, str] = field(default_factory=dict)
    """Why a name server, and its controller if it hosts one, did not answer, by its address."""

    @property
    def state(self) -> NameState | None:
        """What is decided about the name, as far as anybody tells."""
        known = None if self.decision is None else self.decision.known
        return self.told or (None if known is None else known.state)

    def is_listed(self, address: str) -> bool | None:
        """Return whether a name server lists a process; None while none answers."""
        return None if self.listed_now is None else address in self.listed_now

    def successor(self, broker: BrokerAddress) -> int | None:
        """Return which other replica serves at the address of one; None if what is there speaks for itself.

        A process that lost its folder has a new id where the old one was.
        """
        heard = (self.decision and self.decision.heard) or frozenset()
        if broker.broker_id in heard:
            return None
        if not heard and self.state is not None and broker.addr in self.found:
            itself = self.found[broker.addr].figure("replicaId")
            return None if itself in (None, broker.broker_id) else int(itself)
        return next(
            (each.broker_id for each in self.listed if each.addr == broker.addr and each.broker_id in heard), None
        )

    def runtime(self, broker: BrokerAddress | None) -> BrokerRuntime | None:
        """Return what a replica said of itself, None if it said nothing."""
        return None if broker is None or self.successor(broker) is not None else self.found.get(broker.addr)

    def silence(self, broker: BrokerAddress | None) -> str | None:
        """Return why nothing is known from a replica itself; None if it answers."""
        if broker is None:
            return None
        successor = self.successor(broker)
        return self.reasons.get(broker.addr) if successor is None else f"replica {successor} is at its address now"


def read(cluster: str, name: str) -> Replicas:
    """Return the replicas of a broker name; raise NotKnown for one that was never seen, or what the client raises."""
    past = past_of(cluster, name)
    said = ask(cluster, lambda admin: asked(admin, name, past))
    if not said.listed:
        raise said.silent or NotKnown(f"No name server lists a broker {name!r}.")
    return history.with_since(cluster, shown(name, said))


def past_of(cluster: str, name: str) -> Past:
    """Return what the console saw of a broker name."""
    decisions = history.read(cluster, name, 1).items
    return Past(remembered(cluster).brokers.get(name), next(iter(decisions), None))


async def asked(admin: Admin, name: str, past: Past | None = None) -> Asked:
    """Ask controllers, name servers, and each process of the name at once: one that is silent delays no other."""
    past = past or Past()
    # Both at once: silent name servers, which host the controllers, cost their time-out only once.
    decision, told = await asyncio.gather(decided(admin, name), admin.clusters.brokers_of_each(timeout_ms=PROCESS_MS))
    known = None if decision is None else decision.known
    listed = _listed(name, known, told, past)
    heard = await hear(admin, name, [each.addr for each in listed])
    newest = heard.newest(name)
    is_newer = newest is not None and (known is None or (known.is_set_back and newest.view > known.state.view))
    if newest is not None and decision is None:
        decision = await lost(admin, name)
    if not told.found and known is None and newest is None and past.decision is None:
        decision = None  # silent name servers do not tell whether they host controllers
    said = Asked(
        listed,
        next((each.broker_id for each in listed if each.is_master), None),
        heard.runtimes.found,
        {addr: reason_of(error, {addr: name}) for addr, error in heard.runtimes.failed.items()},
        decision,
        heard.epochs.found,
        heard.copying,
        told=newest if is_newer else None,
        listed_now=frozenset(each.addr for found in told.found.values() for each in found) if told.found else None,
        silent=None if told.found else next(iter(told.failed.values()), None),
        silent_servers={addr: reason_of(error) for addr, error in told.failed.items()},
    )
    if said.state is not None:
        said = replace(said, listed=_replicas(said.state), master_id=_master_id(said.state))
    elif decision is not None and not told.found:
        said = replace(said, master_id=None, last_known=past.decision)
    return said if past.broker is None else with_unlisted(said, past.broker)


def _listed(
    name: str, known: KnownState | None, told: Answers[list[BrokerAddress]], past: Past
) -> Sequence[BrokerAddress]:
    """Return the processes to ask first, each under the id by which it was listed."""
    if known is not None:
        return _replicas(known.state)
    # One that has just started knows but a part.
    brokers = max(told.found.values(), key=len, default=[])
    found = [each for each in brokers if each.name == name]
    return found or _remembered(past)


def _remembered(past: Past) -> list[BrokerAddress]:
    """Return the processes that were listed last; name servers knew whoever was master by 0."""
    if past.broker is None:
        return []
    led_by = None if past.decision is None else past.decision.master_id
    by_id = {each.broker_id: each.address for each in past.broker.processes} | dict(past.broker.addresses)
    if led_by is not None and MASTER_ID in by_id:
        by_id[led_by] = by_id.pop(MASTER_ID)
    return [BrokerAddress("", past.broker.name, number, address) for number, address in sorted(by_id.items())]


def _replicas(state: NameState) -> list[BrokerAddress]:
    return [
        BrokerAddress(state.cluster, state.name, number, each.address)
        for number, each in sorted(state.replicas.items())
    ]


def _master_id(state: NameState) -> int | None:
    return None if state.master is None else state.master.id


def with_unlisted(said: Asked, known: RememberedBroker) -> Asked:
    """Add when those were listed that no name server lists now, and the processes that are gone.

    Where controllers decide, they or the replicas say which there are; silent name servers say nothing of it.
    """
    if said.decision is not None or said.listed_now is None:
        return replace(said, last_seen=_last_seen(said, known))
    ids, addresses = {each.broker_id for each in said.listed}, {each.addr for each in said.listed}
    gone = [each for each in known.processes if each.broker_id not in ids and each.address not in addresses]
    added = [BrokerAddress("", known.name, each.broker_id, each.address) for each in gone]
    listed = sorted([*said.listed, *added], key=lambda each: each.broker_id)
    silent = [each for each in listed if each.addr not in said.found and each.addr not in said.listed_now]
    said = replace(
        said,
        listed=listed,
        reasons={**said.reasons, **{each.addr: not_listed(known, each.broker_id) for each in silent}},
    )
    return replace(said, last_seen=_last_seen(said, known))


def _last_seen(said: Asked, known: RememberedBroker) -> dict[str, datetime]:
    seen = dict.fromkeys(known.addresses.values(), known.last_seen_at)
    seen |= {each.address: each.last_seen_at for each in known.processes}
    return {each.addr: seen[each.addr] for each in said.listed if each.addr in seen and not said.is_listed(each.addr)}


def shown(name: str, said: Asked) -> Replicas:
    """Return the replicas as the API shows them."""
    known = None if said.decision is None else said.decision.known
    leader = next((each for each in said.listed if each.broker_id == said.master_id), None)
    runtime, silence = said.runtime(leader), said.silence(leader)
    streams, streams_reason = streams_of(leader, said.copying, silence)
    replicas = [_replica(each, said, leader) for each in said.listed]
    return Replicas(
        broker=name,
        at=rfc3339(now_ms()),
        mode="static" if said.decision is None else "failover",
        master_id=said.master_id,
        failover=None if known is None else _with_held(of_name(known, runtime, silence, said.told), replicas),
        failover_reason=None if said.decision is None else said.decision.reason,
        may_adopt=False if said.decision is None else said.decision.may_adopt,
        told=None if said.told is None else _with_held(of_told(said.told, runtime, silence, known), replicas),
        last_known=said.last_known,
        replicas=replicas,
        streams=streams,
        streams_reason=streams_reason,
        silent_name_servers=[
            SilentServer(address=addr, reason=reason) for addr, reason in sorted(said.silent_servers.items())
        ],
    )


def _with_held(decided: T, replicas: Sequence[Replica]) -> T:
    """Name those that do not come by themselves where sends wait for more replicas, or for a master."""
    if decided.writable is not False:
        return decided
    return msgspec.structs.replace(decided, writable_reason=with_words(decided.writable_reason, replicas))


def _role(broker: BrokerAddress, said: Asked) -> ReplicaRole | None:
    """Return the role of a process; None while nobody tells it."""
    # In static mode roles are fixed, also of a master that is gone.
    if said.decision is None:
        return "master" if broker.is_master else "slave"
    if said.state is None and said.master_id is None:
        return None
    return "master" if broker.broker_id == said.master_id else "slave"


def _replica(broker: BrokerAddress, said: Asked, leader: BrokerAddress | None) -> Replica:
    runtime = said.runtime(broker)
    role = _role(broker, said)
    seen = said.last_seen.get(broker.addr)
    held = held_of(runtime)
    behind = Behind() if role == "master" or held is not None else behind_of(said.runtime(leader), runtime)
    booted_at = None if runtime is None else runtime.booted_at
    return Replica(
        broker_id=broker.broker_id,
        address=broker.addr,
        role=role,
        reachable=runtime is not None,
        reason=said.silence(broker),
        listed=said.is_listed(broker.addr),
        last_seen_at=None if seen is None else rfc3339(int(seen.timestamp() * 1000)),
        version=None if runtime is None else runtime.version,
        started_at=None if booted_at is None else rfc3339(booted_at),
        log_begin=None if runtime is None else runtime.log_begin,
        log_end=None if runtime is None else runtime.log_end,
        behind_bytes=behind.bytes,
        behind_ms=behind.ms,
        follows=None if runtime is None or held is not None else followed_by(said.copying.found.get(broker.addr)),
        held=held,
        failover=None
        if said.decision is None or said.state is None
        else of_replica(
            broker.broker_id,
            said.state,
            said.decision.heard,
            runtime,
            None if runtime is None else said.epochs.get(broker.addr),
        ),
    )
