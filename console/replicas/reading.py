"""Asks every process of a broker name how far it is.

Which processes there are, name servers say; a name that none lists any more is shown from memory, with all of its
processes unreachable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from broker_core.client.admin import Admin
from broker_core.client.admin.clusters import BrokerAddress, BrokerRuntime
from broker_core.client.answers import Answers, ask_all
from broker_core.clock import now_ms
from console.clusters.connections import ask
from console.clusters.memory import remembered
from console.clusters.outcomes import not_listed
from console.clusters.reasons import reason_of
from console.errors import NotKnown
from console.moments import rfc3339
from console.replicas.behind import Behind, behind_of
from console.replicas.shapes import Replica, Replicas


def read(cluster: str, name: str) -> Replicas:
    """Return the replicas of a broker name; raise NotKnown for one that was never seen, or what the client raises."""
    listed, answers = ask(cluster, lambda admin: asked(admin, name))
    if listed:
        reasons = {addr: reason_of(error, {addr: name}) for addr, error in answers.failed.items()}
        return shown(name, listed, answers.found, reasons)
    known = remembered(cluster).brokers.get(name)
    if known is None:
        raise NotKnown(f"No name server lists a broker {name!r}.")
    last = [BrokerAddress(cluster, name, number, addr) for number, addr in sorted(known.addresses.items())]
    return shown(name, last, {}, dict.fromkeys(known.addresses.values(), not_listed(known)))


async def asked(admin: Admin, name: str) -> tuple[list[BrokerAddress], Answers[BrokerRuntime]]:
    """Return the processes of the name that a name server lists, and what each says of itself."""
    listed = [each for each in await admin.clusters.brokers() if each.name == name]
    return listed, await ask_all([each.addr for each in listed], admin.clusters.runtime_of)


def shown(
    name: str, listed: Sequence[BrokerAddress], found: Mapping[str, BrokerRuntime], reasons: Mapping[str, str]
) -> Replicas:
    """Return the replicas as the API shows them; `found` and `reasons` are by address."""
    master = next((each for each in listed if each.is_master), None)
    leader = None if master is None else found.get(master.addr)
    return Replicas(
        broker=name,
        at=rfc3339(now_ms()),
        master_id=None if master is None else master.broker_id,
        replicas=[_replica(each, found.get(each.addr), leader, reasons.get(each.addr)) for each in listed],
    )


def _replica(
    broker: BrokerAddress, runtime: BrokerRuntime | None, master: BrokerRuntime | None, reason: str | None
) -> Replica:
    behind = Behind() if broker.is_master else behind_of(master, runtime)
    booted_at = None if runtime is None else runtime.booted_at
    return Replica(
        broker_id=broker.broker_id,
        address=broker.addr,
        role="master" if broker.is_master else "slave",
        reachable=runtime is not None,
        reason=reason,
        version=None if runtime is None else runtime.version,
        started_at=None if booted_at is None else rfc3339(booted_at),
        log_begin=None if runtime is None else runtime.log_begin,
        log_end=None if runtime is None else runtime.log_end,
        behind_bytes=behind.bytes,
        behind_ms=behind.ms,
    )
