"""Changes of replicas by hand: hand over, remove, accept a loss, adopt a state, change the policy.

Each is previewed by the controller that would make it, and recorded when it is made, also when it was refused.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from broker_core.client.admin import Admin
from broker_core.client.admin.replication import KnownState
from broker_core.client.errors import BrokerRefused, TimedOut
from broker_core.clock import now_ms
from broker_core.errors import GantryError
from broker_core.protocol.bodies.controller import NameState
from broker_core.protocol.bodies.replicas import Preview
from broker_core.protocol.codes import ResponseCode
from console.audit.record import Actor, record
from console.clusters.connections import ask
from console.clusters.reasons import reason_of
from console.errors import BrokersSilent, Conflict, NotKnown
from console.moments import rfc3339
from console.replicas import history, plans
from console.replicas.changing_shapes import RemovedReplica, ReplicaChange, ReplicaPolicy
from console.replicas.costs import Costs, costs_of, keeps_acknowledged, lacking_of, loss_of, next_masters, own_least_of
from console.replicas.deciding import shown_state, why_untold
from console.replicas.removed import removed_of
from console.shapes import as_json

# A master may take seconds to let its successor catch up.
_SECONDS: Final = 15.0
ADOPT: Final = "replica.adopt"
"""The adoption of a state, in the audit."""
_UNKNOWN: Final = frozenset(
    {ResponseCode.CONTROLLER_BROKER_METADATA_NOT_EXIST, ResponseCode.CONTROLLER_INVALID_REPLICAS}
)

Command = Callable[[Admin, bool], Awaitable[Preview]]
"""Makes a change, or with True only says what it would do."""


@dataclass(frozen=True, slots=True)
class Target:
    """The broker name or the replica that is changed, and how the change is called in the audit with what was `asked`.

    `change` says what is wanted in full, in words that only a plan compares; `plan` is one of an earlier preview.
    """

    cluster: str
    broker: str
    action: str
    change: str = ""
    plan: str | None = None
    replica: int | None = None
    asked: Mapping[str, Any] = field(default_factory=dict)

    @property
    def resource(self) -> str:
        """Its path in the audit."""
        of_name = f"{self.cluster}/brokers/{self.broker}"
        return of_name if self.replica is None else f"{of_name}/replicas/{self.replica}"


def promote(name: str, replica: int) -> Command:
    """Return the command that makes a replica master."""

    async def command(admin: Admin, dry_run: bool) -> Preview:
        would = await admin.replication.preview_election(name, replica)
        if dry_run:
            return would
        made = await admin.replication.elect(name, replica)
        now = await admin.replication.state(name)
        return Preview(now.state, would.before, would.heard, would.warnings, handed_over=made.handed_over is True)

    return command


def remove(name: str, replica: int, *, even_living: bool, forced: bool) -> Command:
    """Return the command that forgets a replica; `forced` also the last one with every acknowledged message."""
    return lambda admin, dry_run: admin.replication.remove(
        name, [replica], even_living=even_living, forced=forced, dry_run=dry_run
    )


def accept_loss(name: str, replica: int) -> Command:
    """Return the command that makes a replica master which may lack acknowledged messages."""
    return lambda admin, dry_run: admin.replication.accept_loss(name, replica, dry_run=dry_run)


def adopt(name: str, cluster: str, replicas: list[int]) -> Command:
    """Return the command that goes on with these replicas as the in-sync set after the engine was set back."""
    return lambda admin, dry_run: admin.replication.adopt(name, cluster, replicas, dry_run=dry_run)


def set_policy(name: str, min_in_sync: int | None, unclean_allowed: bool | None) -> Command:
    """Return the command that changes what operators decide for a name."""
    return lambda admin, dry_run: admin.replication.set_policy(
        name, min_in_sync=min_in_sync, unclean_allowed=unclean_allowed, dry_run=dry_run
    )


def policy(cluster: str, broker: str) -> ReplicaPolicy:
    """Return what operators decided for a name; raise NotKnown, or BrokersSilent while no controller leads."""
    try:
        now = ask(cluster, lambda admin: known_state(admin, broker), seconds=_SECONDS)
    except GantryError as error:
        raise problem_of(error) from error
    found = now.state.policy
    return ReplicaPolicy(min_in_sync=found.min_in_sync, unclean_allowed=found.unclean_allowed)


def change(by: Actor, target: Target, command: Command, *, dry_run: bool) -> ReplicaChange:
    """Preview or make a change; raise NotKnown, Conflict with the controller's words, or BrokersSilent.

    Raises what `plans` raises for a plan that has run out, or that saw another state.
    """
    view = None if target.plan is None else plans.check_fresh(target.plan, target.change)

    async def asked(admin: Admin) -> tuple[Preview, Costs, RemovedReplica | None]:
        now = await _state(admin, target.broker)
        if view is not None:
            plans.check_state(view, now, target.broker)
        done = await command(admin, dry_run)
        costs = await costs_of(admin, done) if dry_run else Costs(own_least=await own_least_of(admin, done.after))
        return done, costs, await removed_of(admin, done)

    try:
        done, costs, removed = ask(target.cluster, asked, seconds=_SECONDS)
    except (GantryError, BrokersSilent) as error:
        if not dry_run:
            words = str(error.detail) if isinstance(error, BrokersSilent) else reason_of(error)
            after = {"asked": dict(target.asked), "error": words}
            record(by, target.action, target.resource, result="failed", before={}, after=after)
        raise problem_of(error) from error
    shown = _shown(target, done, costs, removed, dry_run=dry_run)
    if not dry_run:
        before = {} if shown.before is None else as_json(shown.before)
        after = {**as_json(shown.after), "asked": dict(target.asked)}
        record(by, target.action, target.resource, before=before, after=after)
        if target.action == ADOPT:
            history.keep_adoption(target.cluster, done.after, by.name, now_ms())
    return shown


async def _state(admin: Admin, broker: str) -> NameState | None:
    try:
        return (await known_state(admin, broker)).state
    except BrokerRefused as error:
        if error.code == ResponseCode.CONTROLLER_BROKER_METADATA_NOT_EXIST:
            return None
        raise


async def known_state(admin: Admin, broker: str) -> KnownState:
    """Return the state of a name; raise BrokersSilent soon if no controller tells it: none could change it either."""
    try:
        return await admin.replication.state(broker)
    except TimedOut as error:
        raise BrokersSilent(await why_untold(admin, error)) from error


def problem_of(error: GantryError | BrokersSilent) -> Exception:
    """Return the problem that a refusal of a controller stands for."""
    if not isinstance(error, BrokerRefused) or not 2000 <= error.code <= 2014:
        return error
    words = error.remark or reason_of(error)
    if error.code in _UNKNOWN:
        return NotKnown(words)
    return BrokersSilent(words) if error.code == ResponseCode.CONTROLLER_NOT_LEADER else Conflict(words)


def _shown(
    target: Target, done: Preview, costs: Costs, removed: RemovedReplica | None, *, dry_run: bool
) -> ReplicaChange:
    wanted, members = done.after.policy.min_in_sync, len(done.after.in_sync)
    least = None if costs.own_least is None else max(wanted, costs.own_least)
    return ReplicaChange(
        broker=target.broker,
        dry_run=dry_run,
        before=None if done.before is None else shown_state(done.before),
        after=shown_state(done.after),
        told=None if costs.told is None else shown_state(costs.told),
        next_masters=next_masters(done),
        lacking_bytes=lacking_of(done),
        keeps_acknowledged=keeps_acknowledged(done),
        loss=loss_of(done, now_ms()),
        has_until=None if costs.has_until is None else rfc3339(costs.has_until),
        effective_min_in_sync=least,
        refuses_sends=True if members < wanted else None if least is None else members < least,
        orderly_groups=costs.orderly_groups,
        orderly_groups_total=costs.orderly_groups_total,
        removed=removed,
        warnings=done.warnings,
        plan=plans.plan_of(target.change, done.before) if dry_run else None,
        plan_expires_at=rfc3339(now_ms() + round(plans.LIVES.total_seconds() * 1000)) if dry_run else None,
    )
