"""One more replica of a broker name: what it would do and cost, and how its process is started. Changes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from django.conf import settings as django_settings

from broker_core.client.admin import Admin
from broker_core.client.admin.clusters import BrokerRuntime
from broker_core.client.admin.replication import KnownState
from broker_core.client.answers import ask_all
from broker_core.errors import GantryError
from broker_core.protocol.bodies.controller import NameState, has_room_for_another
from console.clusters import own_brokers
from console.clusters.connections import ask
from console.clusters.models import Cluster, ClusterKind
from console.clusters.services import address_of
from console.errors import Conflict
from console.replicas.adding_shapes import NewReplica, SetWithNew, WhyNone
from console.replicas.changing import known_state, problem_of
from console.replicas.costs import master_of
from console.replicas.starting import Place, Start, on_a_machine

_PROCESS_MS: Final = 2_000
_SECONDS: Final = 15.0


@dataclass(frozen=True, slots=True)
class Said:
    """What controllers and processes told; without settings nobody told any."""

    known: KnownState
    master: BrokerRuntime | None = None
    settings_of: int | None = None
    settings: Mapping[str, str] = field(default_factory=dict)


def preview(cluster: str, broker: str, place: Place) -> NewReplica:
    """Return what one more replica at `place` would be.

    Raises NotKnown, Conflict for a place that is taken, or BrokersSilent while no controller tells what is decided.
    """
    try:
        said = ask(cluster, lambda admin: asked(admin, broker), seconds=_SECONDS)
    except GantryError as error:
        raise problem_of(error) from error
    check_free(said.known.state, place)
    row = Cluster.objects.get(name=cluster)
    if row.kind == ClusterKind.EMBEDDED and django_settings.GANTRY_REPLICAS > 1:
        count = django_settings.GANTRY_REPLICAS + 1
        start = Start(f"GANTRY_REPLICAS={count} make up")
        return shown(said, start, least=own_brokers.least_in_sync(count), started_here=count)
    reached = address_of(row)
    start = on_a_machine(said.known.state, said.settings, reached.name_servers, place, has_tls=reached.tls is not None)
    return shown(said, start)


def shown(said: Said, start: Start, *, least: int | None = None, started_here: int | None = None) -> NewReplica:
    """Return the preview; of the group of `make up`, which starts `started_here` then, with its `least` in sync."""
    state, master = said.known.state, said.master
    number = state.next_id
    now = None if master is None else master.least_in_sync
    then = now if least is None else max(least, state.policy.min_in_sync)
    with_new = [*sorted(state.replicas), number]
    return NewReplica(
        broker=state.name,
        replica_id=number,
        refused=_why_none(said.known, started_here),
        most_replicas=None if started_here is None else own_brokers.MOST_REPLICAS,
        master_id=master_of(state),
        copy_bytes=None if master is None else master.commit_log_bytes,
        copy_bytes_per_second=_number(said.settings.get("maxHaTransferByteInSecond")),
        before=_set(sorted(state.replicas), state.in_sync, now),
        started=_set(with_new, state.in_sync, then),
        caught_up=_set(with_new, [*state.in_sync, number], then),
        settings_of=said.settings_of,
        file=start.file,
        configuration=start.configuration,
        command=start.command,
        missing=start.missing,
    )


def _why_none(known: KnownState, started_here: int | None) -> WhyNone | None:
    if known.is_set_back:
        return "set_back"
    if not has_room_for_another(known.state):
        return "no_room"
    return "most_here" if started_here is not None and started_here > own_brokers.MOST_REPLICAS else None


def _set(replicas: Collection[int], in_sync: Collection[int], least: int | None) -> SetWithNew:
    return SetWithNew(
        replicas=list(replicas),
        in_sync=sorted(in_sync),
        effective_min_in_sync=least,
        failures=None if least is None else max(0, len(in_sync) - least),
    )


def check_free(state: NameState, place: Place) -> None:
    """Raise Conflict if another replica is at a place."""
    if place.host is None:
        return
    ports = [place.port] if place.port is not None else []
    for number, each in sorted(state.replicas.items()):
        host, _, port = each.address.rpartition(":")
        if host.strip("[]") == place.host and (not ports or port == str(ports[0])):
            raise Conflict(f"Replica {number} of {state.name} is at {each.address}: name another port or machine.")


async def asked(admin: Admin, broker: str) -> Said:
    """Ask controllers and processes; raise what `known_state` does. Settings are the master's if it tells them."""
    known = await known_state(admin, broker)
    state, master = known.state, master_of(known.state)
    addresses = {number: each.address for number, each in state.replicas.items() if each.address}
    leader = [addr for number, addr in addresses.items() if number == master]
    # All at once: a silent one keeps back no other.
    runtimes, told = await asyncio.gather(
        ask_all(leader, lambda addr: admin.clusters.runtime_of(addr, timeout_ms=_PROCESS_MS)),
        ask_all(set(addresses.values()), lambda addr: admin.maintenance.settings_of(addr, timeout_ms=_PROCESS_MS)),
    )
    runtime = next(iter(runtimes.found.values()), None)
    for number in sorted(addresses, key=lambda each: (each != master, each not in state.in_sync, each)):
        if addresses[number] in told.found:
            return Said(known, runtime, number, told.found[addresses[number]])
    return Said(known, runtime)


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None
