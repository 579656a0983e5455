"""Asks every process of a broker name how far it is.

Which processes there are, the controllers say where they choose the master, else the name servers; a name that none
lists any more is shown from memory, with all of its processes unreachable.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

import msgspec

from broker_core.client.admin import Admin
from broker_core.client.admin.clusters import BrokerAddress, BrokerRuntime
from broker_core.client.answers import Answers, ask_all
from broker_core.clock import now_ms
from broker_core.errors import GantryError
from broker_core.protocol.bodies.replicas import EpochEntryCache, HaRuntimeInfo
from console.clusters.connections import ask
from console.clusters.memory import RememberedBroker, remembered
from console.clusters.outcomes import not_listed
from console.clusters.reasons import reason_of
from console.errors import NotKnown
from console.moments import rfc3339
from console.replicas import history
from console.replicas.behind import Behind, behind_of
from console.replicas.deciding import Decided, decided, of_name, of_replica
from console.replicas.held import held_of, with_words
from console.replicas.shapes import FailoverOfName, Replica, Replicas, SilentServer
from console.replicas.streams import followed_by, streams_of

# A frozen process, also of a name server, must not keep back what the others say, as who became master instead of it.
_PROCESS_MS: Final = 1_000


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
    last_seen: Mapping[str, datetime] = field(default_factory=dict)
    """When those were listed last that no name server lists any more, by address."""
    silent: GantryError | None = None
    """Why no name server said which processes there are."""
    silent_servers: Mapping[str, str] = field(default_factory=dict)
    """Why a name server, and its controller if it hosts one, did not answer, by its address."""

    def successor(self, broker: BrokerAddress) -> int | None:
        """Return which other replica serves at the address of one; None if what is there speaks for itself.

        A process that lost its folder has a new id where the old one was.
        """
        heard = (self.decision and self.decision.heard) or frozenset()
        if broker.broker_id in heard:
            return None
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
    said = ask(cluster, lambda admin: asked(admin, name))
    known = remembered(cluster).brokers.get(name)
    if said.listed:
        return history.with_since(cluster, shown(name, said if known is None else with_unlisted(said, known)))
    if known is None:
        raise said.silent or NotKnown(f"No name server lists a broker {name!r}.")
    was = from_memory(said, known, is_led=history.is_seen(cluster, name))
    return history.with_since(cluster, shown(name, with_unlisted(was, known)))


def from_memory(said: Asked, known: RememberedBroker, *, is_led: bool) -> Asked:
    """Return the processes of a name that nobody lists, as they were; `is_led`: controllers decided about it."""
    why = not_listed(known) if said.silent is None else reason_of(said.silent)
    last = [BrokerAddress("", known.name, number, addr) for number, addr in sorted(known.addresses.items())]
    seen = dict.fromkeys(known.addresses.values(), known.last_seen_at)
    return Asked(
        last,
        None if is_led else 0,
        reasons=dict.fromkeys(seen, why),
        decision=said.decision if is_led else None,
        last_seen=seen,
        silent_servers=said.silent_servers,
    )


def with_unlisted(said: Asked, known: RememberedBroker) -> Asked:
    """Add the processes that no name server lists any more; where controllers decide, they say which there are."""
    if said.decision is not None:
        return said
    ids, addresses = {each.broker_id for each in said.listed}, {each.addr for each in said.listed}
    gone = [each for each in known.processes if each.broker_id not in ids and each.address not in addresses]
    added = [BrokerAddress("", known.name, each.broker_id, each.address) for each in gone]
    return replace(
        said,
        listed=sorted([*said.listed, *added], key=lambda each: each.broker_id),
        reasons={**said.reasons, **{each.address: not_listed(known, each.broker_id) for each in gone}},
        last_seen={**said.last_seen, **{each.address: each.last_seen_at for each in gone}},
    )


async def asked(admin: Admin, name: str) -> Asked:
    """Ask controllers, name servers, and each process of the name at once: one that is silent delays no other."""
    # Both at once: silent name servers, which host the controllers, cost their time-out only once.
    decision, told = await asyncio.gather(decided(admin, name), admin.clusters.brokers_of_each(timeout_ms=_PROCESS_MS))
    if decision is None or decision.known is None:
        # One that has just started knows but a part.
        brokers = max(told.found.values(), key=len, default=[])
        listed = [each for each in brokers if each.name == name]
        master_id = next((each.broker_id for each in listed if each.is_master), None)
    else:
        state = decision.known.state
        listed = [
            BrokerAddress(state.cluster, name, number, each.address) for number, each in sorted(state.replicas.items())
        ]
        master_id = None if state.master is None else state.master.id
    addresses = [each.addr for each in listed]
    answers = await ask_all(addresses, lambda addr: admin.clusters.runtime_of(addr, timeout_ms=_PROCESS_MS))
    has_epochs = decision is not None and decision.known is not None
    epochs, copying = await asyncio.gather(
        ask_all(
            answers.found if has_epochs else (),
            lambda addr: admin.replication.epochs(addr, timeout_ms=_PROCESS_MS),
        ),
        ask_all(answers.found, lambda addr: admin.replication.streams(addr, timeout_ms=_PROCESS_MS)),
    )
    reasons = {addr: reason_of(error, {addr: name}) for addr, error in answers.failed.items()}
    return Asked(
        listed,
        master_id,
        answers.found,
        reasons,
        decision,
        epochs.found,
        copying,
        silent=None if told.found else next(iter(told.failed.values()), None),
        silent_servers={addr: reason_of(error) for addr, error in told.failed.items()},
    )


def shown(name: str, said: Asked) -> Replicas:
    """Return the replicas as the API shows them."""
    known = None if said.decision is None else said.decision.known
    leader = next((each for each in said.listed if each.broker_id == said.master_id), None)
    streams, streams_reason = streams_of(leader, said.copying, said.silence(leader))
    replicas = [_replica(each, said, leader) for each in said.listed]
    return Replicas(
        broker=name,
        at=rfc3339(now_ms()),
        mode="static" if said.decision is None else "failover",
        master_id=said.master_id,
        failover=None
        if known is None
        else _with_held(of_name(known, said.runtime(leader), said.silence(leader)), replicas),
        failover_reason=None if said.decision is None else said.decision.reason,
        replicas=replicas,
        streams=streams,
        streams_reason=streams_reason,
        silent_name_servers=[
            SilentServer(address=addr, reason=reason) for addr, reason in sorted(said.silent_servers.items())
        ],
    )


def _with_held(decided: FailoverOfName, replicas: Sequence[Replica]) -> FailoverOfName:
    """Name those that do not come by themselves where sends wait for more replicas, or for a master."""
    if decided.writable is not False:
        return decided
    return msgspec.structs.replace(decided, writable_reason=with_words(decided.writable_reason, replicas))


def _replica(broker: BrokerAddress, said: Asked, leader: BrokerAddress | None) -> Replica:
    runtime = said.runtime(broker)
    # In static mode roles are fixed, also of a master that is gone.
    is_master = broker.is_master if said.decision is None else broker.broker_id == said.master_id
    seen = said.last_seen.get(broker.addr)
    held = held_of(runtime)
    behind = Behind() if is_master or held is not None else behind_of(said.runtime(leader), runtime)
    booted_at = None if runtime is None else runtime.booted_at
    return Replica(
        broker_id=broker.broker_id,
        address=broker.addr,
        role="master" if is_master else "slave",
        reachable=runtime is not None,
        reason=said.silence(broker),
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
        if said.decision is None
        else of_replica(
            broker.broker_id, said.decision, runtime, None if runtime is None else said.epochs.get(broker.addr)
        ),
    )
