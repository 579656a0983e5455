"""A first look at a cluster before it is added: name servers, brokers, reachability, clocks, abilities. Only reads.

A failed step does not stop those that can still answer.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Final, Literal, TypeVar

from msgspec import Meta, Struct

from broker_core.client.admin import Admin
from broker_core.client.admin.clusters import BrokerAddress, BrokerRuntime
from broker_core.client.config import ClientConfig, new_client_id
from broker_core.client.session import Session
from broker_core.clock import now_ms
from broker_core.errors import GantryError
from broker_core.protocol.signature import Credentials
from broker_core.remoting import ClientTls
from console.brokers.abilities import Ability, abilities_of, unknown
from console.clusters.connections import loop_thread
from console.clusters.reasons import reason_of
from console.clusters.same_brokers import SameBrokers

StepName = Literal["name_servers", "brokers", "reach", "clock", "abilities"]
StepState = Literal["passed", "partly", "failed", "skipped"]
CLOCK_ALLOWED_MS: Final = 2_000
# The answer gives its time in whole seconds.
_CLOCK_EXACT_MS: Final = 1_000
_STEP_MS: Final = 3_000
_ALL_SECONDS: Final = 20.0
_RUNTIME: Final = re.compile(r"(\d{1,6}) days, (\d{1,2}) hours, (\d{1,2}) minutes, (\d{1,2}) seconds")

T = TypeVar("T")


class ProbeFinding(Struct, frozen=True, kw_only=True):
    """What was found at one address."""

    subject: Annotated[str, Meta(description="A name server, or a broker with its address.")]
    ok: bool
    finding: Annotated[str | None, Meta(description="Why not, or what it said.")]
    duration_ms: int | None


class ProbeStep(Struct, frozen=True, kw_only=True):
    """One step; it passed if every finding is good."""

    step: StepName
    state: StepState
    passed: int
    tried: int
    findings: Sequence[ProbeFinding]
    duration_ms: int


class ProbedBroker(Struct, frozen=True, kw_only=True):
    """A broker that a name server lists."""

    name: str
    broker_id: int
    announced: Annotated[str, Meta(description="The address that the name servers give to clients.")]
    connected_to: Annotated[str, Meta(description="The address that was tried, by the address map.")]
    reachable: bool
    version: str | None
    clock_difference_ms: Annotated[
        int | None, Meta(description="The broker's clock minus this host's, exact to one second.")
    ]


class ProbeReport(Struct, frozen=True, kw_only=True):
    """The steps in their order, and what is known afterwards."""

    steps: Sequence[ProbeStep]
    brokers: Sequence[ProbedBroker]
    brokers_reachable: int
    capabilities: Sequence[Ability]
    same_brokers: Annotated[
        Sequence[SameBrokers], Meta(description="Clusters of the console that have some of these brokers.")
    ] = ()


def probe(
    name_servers: Sequence[str],
    address_map: Mapping[str, str],
    account: Credentials | None = None,
    tls: ClientTls | None = None,
) -> ProbeReport:
    """Try a connection and wait for the report; call it from a thread."""
    return loop_thread().run(look(name_servers, address_map, account, tls), timeout_s=_ALL_SECONDS)


async def look(
    name_servers: Sequence[str],
    address_map: Mapping[str, str],
    account: Credentials | None = None,
    tls: ClientTls | None = None,
) -> ProbeReport:
    """Try a connection; on an event loop."""
    config = ClientConfig(
        tuple(name_servers),
        timeout_ms=_STEP_MS,
        admin_timeout_ms=_STEP_MS,
        address_map=address_map,
        credentials=account,
        tls=tls,
    )
    async with Session(config) as session:
        admin = Admin(session)
        lists, servers = await _timed_step("name_servers", name_servers, lambda at: _listed_by(config, at), _count)
        found = sorted(
            {broker for listed in lists.values() for broker in listed}, key=lambda each: (each.name, each.addr)
        )
        names = {_title(broker): broker for broker in found}
        runtimes, reach = await _timed_step(
            "reach", names, lambda title: admin.clusters.runtime_of(names[title].addr), _version
        )
        difference = {title: _clock_difference(*each) for title, each in _at(runtimes).items()}
        refusal = None if runtimes else next((each.finding for each in reach.findings), None) or "no broker answers"
        abilities, asked_ms = await _abilities(admin, refusal)
    brokers = [_broker(names[title], address_map, runtimes.get(title), difference.get(title)) for title in names]
    # Where no broker answers there is nobody to ask what it can do: that is nothing tried, not all of it failed.
    asked = _ability_step(abilities if runtimes else (), asked_ms)
    steps = [servers, _listed_step(lists, found), reach, _clock_step(difference), asked]
    return ProbeReport(steps=steps, brokers=brokers, brokers_reachable=len(runtimes), capabilities=abilities)


# The steps


async def _timed_step(
    step: StepName, subjects: Iterable[str], ask: Callable[[str], Awaitable[T]], say: Callable[[T], str | None]
) -> tuple[dict[str, T], ProbeStep]:
    """Ask each subject at once; return the answers and the step."""
    begun = time.monotonic()
    found: dict[str, T] = {}

    async def one(subject: str) -> ProbeFinding:
        began = time.monotonic()
        try:
            found[subject] = answer = await ask(subject)
        except GantryError as error:
            return ProbeFinding(subject=subject, ok=False, finding=reason_of(error), duration_ms=_since(began))
        return ProbeFinding(subject=subject, ok=True, finding=say(answer), duration_ms=_since(began))

    findings = await asyncio.gather(*(one(subject) for subject in dict.fromkeys(subjects)))
    return found, _step(step, findings, _since(begun))


def _step(step: StepName, findings: Sequence[ProbeFinding], duration_ms: int = 0) -> ProbeStep:
    passed = sum(finding.ok for finding in findings)
    state: StepState = (
        "skipped" if not findings else "passed" if passed == len(findings) else "partly" if passed else "failed"
    )
    return ProbeStep(
        step=step, state=state, passed=passed, tried=len(findings), findings=findings, duration_ms=duration_ms
    )


async def _listed_by(config: ClientConfig, name_server: str) -> tuple[BrokerAddress, ...]:
    """Ask one name server alone, so that each is tried."""
    single = replace(config, name_servers=(name_server,), client_id=new_client_id())
    async with Session(single) as session:
        return tuple(await Admin(session).clusters.brokers())


def _listed_step(lists: Mapping[str, tuple[BrokerAddress, ...]], found: Sequence[BrokerAddress]) -> ProbeStep:
    """Judge whether there are brokers, and whether all name servers list them."""
    findings = []
    for broker in found:
        lacking = [server for server, listed in lists.items() if broker not in listed]
        why = f"not listed by {', '.join(lacking)}" if lacking else None
        findings.append(ProbeFinding(subject=_title(broker), ok=not lacking, finding=why, duration_ms=None))
    if lists and not found:
        nothing = "the name servers list no broker"
        findings = [ProbeFinding(subject=server, ok=False, finding=nothing, duration_ms=None) for server in lists]
    return _step("brokers", findings)


def _clock_step(differences: Mapping[str, int | None]) -> ProbeStep:
    findings = []
    for title, difference in differences.items():
        if difference is None:
            finding, ok = "the broker does not tell its time", False
        else:
            finding, ok = f"{difference:+d} ms, exact to {_CLOCK_EXACT_MS} ms", abs(difference) <= CLOCK_ALLOWED_MS
        findings.append(ProbeFinding(subject=title, ok=ok, finding=finding, duration_ms=None))
    return _step("clock", findings)


async def _abilities(admin: Admin, refusal: str | None) -> tuple[list[Ability], int]:
    """Return what the brokers can do, and how long that took; unknown with the reason why none can be asked."""
    begun = time.monotonic()
    if refusal is not None:
        return unknown(refusal), 0
    try:
        return await abilities_of(admin), _since(begun)
    except GantryError as error:
        return unknown(reason_of(error)), _since(begun)


def _ability_step(abilities: Sequence[Ability], duration_ms: int) -> ProbeStep:
    findings = [
        ProbeFinding(subject=each.name, ok=each.state != "unknown", finding=each.reason, duration_ms=None)
        for each in abilities
    ]
    return _step("abilities", findings, duration_ms)


# What the answers say


def _at(runtimes: Mapping[str, BrokerRuntime]) -> dict[str, tuple[BrokerRuntime, int]]:
    now = now_ms()
    return {title: (runtime, now) for title, runtime in runtimes.items()}


def _clock_difference(runtime: BrokerRuntime, now: int) -> int | None:
    """Return the broker's time minus `now`: it reports when it started, and for how many seconds it has run."""
    ran = _RUNTIME.search(runtime.table.get("runtime", ""))
    if ran is None or runtime.booted_at is None:
        return None
    days, hours, minutes, seconds = map(int, ran.groups())
    ran_ms = ((days * 24 + hours) * 60 + minutes) * 60_000 + seconds * 1_000
    difference = runtime.booted_at + ran_ms - now
    # The seconds are rounded down: up to one second behind is no difference.
    return 0 if -_CLOCK_EXACT_MS <= difference <= 0 else difference


def _broker(
    broker: BrokerAddress, address_map: Mapping[str, str], runtime: BrokerRuntime | None, difference: int | None
) -> ProbedBroker:
    return ProbedBroker(
        name=broker.name,
        broker_id=broker.broker_id,
        announced=broker.addr,
        connected_to=address_map.get(broker.addr, broker.addr),
        reachable=runtime is not None,
        version=None if runtime is None else runtime.version,
        clock_difference_ms=difference,
    )


def _title(broker: BrokerAddress) -> str:
    return f"{broker.name} ({broker.broker_id}) {broker.addr}"


def _count(brokers: tuple[BrokerAddress, ...]) -> str:
    return f"lists {len(brokers)} broker{'' if len(brokers) == 1 else 's'}"


def _version(runtime: BrokerRuntime) -> str | None:
    return runtime.version


def _since(begun: float) -> int:
    return round((time.monotonic() - begun) * 1000)
