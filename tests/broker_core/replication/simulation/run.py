"""Run one seed: faults for a while, then calm, and what must hold looked at all the time."""

from __future__ import annotations

from broker_core.controller.commands import Candidate
from broker_core.controller.electing import electable
from tests.broker_core.replication.simulation.checks import Violation
from tests.broker_core.replication.simulation.nemesis import Nemesis
from tests.broker_core.replication.simulation.world import Figures, World

FAULTS_UNTIL = 10.0
CALM = 10.0


def run(seed: int, *, faults_until: float = FAULTS_UNTIL, theme: int | None = None) -> Figures:
    """Run a seed, with the faults of one theme only if it is given; raises Violation with the last events."""
    world = World(seed)
    try:
        _run(world, faults_until, theme)
    except AssertionError as error:
        raise Violation(f"seed {seed}: {error}\n" + "\n".join(world.last)) from error
    world.figures.events = world.agenda.events
    world.figures.acked = world.acked
    return world.figures


def _run(world: World, faults_until: float, theme: int | None) -> None:
    Nemesis(world, faults_until, theme)
    while world.trouble:
        world.step()
    healed, acked = world.agenda.now, world.acked
    while world.acked == acked and world.agenda.now < healed + CALM:
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
    assert state is not None
    alive = [
        Candidate(each.replica.me.id, each.replica.me.life, 0, 0) for each in world.nodes if each.replica is not None
    ]
    if electable(state, alive):
        raise Violation(f"I12: no send is taken {CALM} s after the last fault; {state}")
    world.figures.stuck += 1


def _check_end(world: World) -> None:
    for node in world.nodes:
        if node.replica is not None:
            world.checks.numbered(node.number, node.disk.log)
            if world.is_master(node) and node.replica.mastership is not None:
                world.checks.has_all(node.number, node.disk.log, "I1: the last master")
