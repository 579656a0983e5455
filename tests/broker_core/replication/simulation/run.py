"""Run one seed: faults for a while, then calm, and what must hold looked at all the time."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from broker_core.controller.commands import Candidate
from broker_core.controller.electing import electable
from tests.broker_core.replication.simulation.checks import Violation
from tests.broker_core.replication.simulation.engine import NAME
from tests.broker_core.replication.simulation.nemesis import Nemesis
from tests.broker_core.replication.simulation.world import Figures, World

FAULTS_UNTIL = 10.0
CALM = 12.0
HELPED = 3.0
"""So soon after an operator helped a send must be taken."""
STRIKES = 128
"""More faults than one seed has."""


def run(
    seed: int,
    *,
    faults_until: float = FAULTS_UNTIL,
    theme: int | None = None,
    dropped: Collection[int] = (),
    folder: Path | None = None,
) -> Figures:
    """Run a seed, with the faults of one theme only if it is given; raises Violation with the last events.

    With a folder it runs on real stores there.
    """
    world = World(seed, folder=folder)
    try:
        _run(world, faults_until, theme, dropped)
    except AssertionError as error:
        left_out = f", without faults {sorted(dropped)}" if dropped else ""
        raise Violation(f"seed {seed}{left_out}: {error}\n" + "\n".join(world.last)) from error
    world.figures.events = world.agenda.events
    world.figures.acked = world.acked
    return world.figures


def shrunk(seed: int, *, most_runs: int = 60) -> str:
    """Return how a failing seed fails with as few faults as `most_runs` runs find."""
    dropped: set[int] = set()
    failure = _failure(seed, dropped)
    size = STRIKES
    while size and most_runs > 0:
        for first in range(0, STRIKES, size):
            fewer = dropped | set(range(first, min(first + size, STRIKES)))
            if fewer == dropped or most_runs <= 0:
                continue
            most_runs -= 1
            if found := _failure(seed, fewer):
                dropped, failure = fewer, found
        size //= 2
    return failure


def _failure(seed: int, dropped: Collection[int]) -> str:
    try:
        run(seed, dropped=dropped)
    except Violation as violation:
        return str(violation)
    return ""


def _run(world: World, faults_until: float, theme: int | None, dropped: Collection[int]) -> None:
    Nemesis(world, faults_until, theme, dropped)
    while world.trouble or world.is_restoring:
        world.step()
    healed, acked = world.agenda.now, world.acked
    while world.acked == acked and world.agenda.now < max(healed + CALM, world.helped_at + HELPED):
        world.step()
    if world.acked == acked:
        _check_stuck(world)
    else:
        world.figures.silence = world.agenda.now - healed
    until = world.agenda.now + 2.0
    while world.agenda.now < until:
        world.step()
    _check_end(world)


def _check_stuck(world: World) -> None:
    state = world.engine.state
    if state is None:
        _check_nothing_kept(world)
        return
    alive = [
        Candidate(each.replica.me.id, each.replica.me.life, 0, 0) for each in world.nodes if each.replica is not None
    ]
    if electable(state, alive):
        raise Violation(f"I12: no send is taken {CALM} s after the last fault; {state}")
    world.figures.stuck += 1


def _check_nothing_kept(world: World) -> None:
    """Expect that a name which was restored to nothing is called set back, and that nobody could be adopted."""
    if not any(each.trust.is_set_back(NAME) for each in world.controllers):
        raise Violation(f"I12: nothing is kept {CALM} s after the last fault, and it is not called set back")
    if any(node.replica is not None and world.checks.is_whole(node.disk.log) for node in world.nodes):
        raise Violation(f"I12: nothing is kept {CALM} s after the last fault, and a replica has everything")
    world.figures.stuck += 1


def _check_end(world: World) -> None:
    for node in world.nodes:
        if node.replica is not None:
            world.checks.numbered(node.number, node.disk.log)
            if world.is_master(node) and node.replica.mastership is not None:
                world.checks.has_all(node.number, node.disk.log, "I1: the last master")
        node.disk.check_sound()
