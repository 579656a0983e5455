"""Runs in which exactly those things happen that a rare defect needs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from broker_core.broker.replication.messages import AlterSet, Ask, Command, Register
from broker_core.broker.role import RoleKind
from broker_core.controller.commands import Elect
from tests.broker_core.replication.simulation.controller import Controller
from tests.broker_core.replication.simulation.disk import Disk
from tests.broker_core.replication.simulation.node import Node
from tests.broker_core.replication.simulation.operator import Operator
from tests.broker_core.replication.simulation.world import World

Held = list[tuple[Node, Ask, Callable[..., None]]]


def _calm(folder: Path | None = None) -> World:
    """Return a world in which three replicas are in the set, and messages are acknowledged."""
    world = World(1, folder=folder)
    world.trouble = 0.0
    _until(world, lambda: len(_set(world)) == 3 and world.acked > 20)
    return world


def _until(world: World, holds: Callable[[], bool], seconds: float = 30.0) -> None:
    end = world.agenda.now + seconds
    while not holds():
        assert world.agenda.now < end, "the schedule does not get there"
        world.step()


def _for(world: World, seconds: float) -> None:
    end = world.agenda.now + seconds
    _until(world, lambda: world.agenda.now >= end, seconds + 10)


def _set(world: World) -> list[int]:
    return world.engine.state.in_sync if world.engine.state is not None else []


def _master(world: World) -> Node:
    return next(each for each in world.nodes if world.is_master(each))


def _slave(world: World) -> Node:
    return next(each for each in world.nodes if not world.is_master(each))


def _id(node: Node) -> int:
    assert node.disk.identity is not None
    return node.disk.identity.broker_id


def _cut(world: World, one: str, others: list[str]) -> None:
    world.network.cuts |= {(one, each) for each in others} | {(each, one) for each in others}


def _lose_all(world: World, node: Node) -> None:
    """Lose power and the whole log, and reach no other replica from then on."""
    node.die(power=True)
    assert isinstance(node.disk, Disk)
    node.disk.log.clear()
    node.disk.flushed = node.disk.saved_confirm = node.disk.dispatched = 0
    _cut(world, node.name, [each.name for each in world.nodes if each is not node])


def _hold(world: World, node: Node, kind: type[Command]) -> Held:
    """Hold back what a replica asks controllers, of one kind."""
    held: Held = []

    def hold(asking: Node, effect: Ask, answer: Callable[..., None]) -> bool:
        is_held = asking is node and isinstance(effect.command, kind)
        if is_held:
            held.append((asking, effect, answer))
        return is_held

    world.hold = hold
    return held


def _others_die(world: World, node: Node) -> None:
    for each in world.nodes:
        if each is not node:
            each.die()


def late_expansion() -> None:
    """A master proposes to add a replica, which then loses its disk's tail; the proposal arrives after that."""
    world = _calm()
    master, slave = _master(world), _slave(world)
    slave.die()
    _until(world, lambda: len(_set(world)) == 2)
    held = _hold(world, master, AlterSet)
    slave.start()
    _until(world, lambda: bool(held))
    _lose_all(world, slave)
    slave.start()
    state = world.engine.state
    assert state is not None
    before = state.replicas[_id(slave)].life
    _until(world, lambda: world.engine.state is not None and world.engine.state.replicas[_id(slave)].life != before)
    world.hold = lambda *_: False
    world.ask(*held[0])
    _for(world, 2.0)


def unclean_start() -> None:
    """A replica loses its tail, starts, and is the only one left."""
    world = _calm()
    slave = _slave(world)
    _lose_all(world, slave)
    slave.start()
    _for(world, 1.0)
    _others_die(world, slave)
    _for(world, 8.0)


def second_crash() -> None:
    """A replica loses its tail, and is killed before controllers hear of it; then it is the only one left."""
    world = _calm()
    slave = _slave(world)
    _lose_all(world, slave)
    slave.start()
    slave.die()
    slave.start()
    _for(world, 1.0)
    _others_die(world, slave)
    _for(world, 8.0)


def unregistered_candidate() -> None:
    """A replica that lost its tail is heard in its new life, which is not registered, when the others die."""
    world = _calm()
    slave = _slave(world)
    _hold(world, slave, Register)
    _lose_all(world, slave)
    slave.start()
    _for(world, 1.0)
    _others_die(world, slave)
    _for(world, 8.0)


def lonely_leader() -> None:
    """A leading controller is cut off from the engine, and is all that the master hears; another one elects."""
    world = _calm()
    master = _master(world)
    world.has_leases = True
    _until(world, lambda: master.replica is not None and master.replica.has_lease(master.clock.now))
    leader = next(each for each in world.controllers if each.leading.is_leading(each.clock.now))
    leader.is_reached = False
    names = [*(each.name for each in world.nodes), *(each.name for each in world.controllers)]
    _cut(world, master.name, [each for each in names if each not in (master.name, leader.name)])
    _for(world, 12.0)
    if not any(world.is_master(each) for each in world.nodes if each is not master):
        raise AssertionError("the schedule elects nobody")


def _leader(world: World) -> Controller:
    return next(each for each in world.controllers if each.leading.is_leading(each.clock.now))


def _cut_off(world: World, node: Node, *but: Controller) -> None:
    """Let a node reach nobody but some controllers."""
    reached = {node.name, *(each.name for each in but)}
    names = [*(each.name for each in world.nodes), *(each.name for each in world.controllers)]
    _cut(world, node.name, [each for each in names if each not in reached])


def _until_leased(world: World, node: Node) -> None:
    _until(world, lambda: node.replica is not None and node.replica.has_lease(node.clock.now))


def _check_elected(world: World, but: Node) -> None:
    if not any(world.is_master(each) for each in world.nodes if each is not but):
        raise AssertionError("the schedule elects nobody")


def silent_master() -> None:
    """A master is stopped for longer than controllers wait for it."""
    world = _calm()
    master = _master(world)
    world.has_leases = True
    _until_leased(world, master)
    master.pause()
    _for(world, 6.0)
    _check_elected(world, master)


def stuck_leader() -> None:
    """A leading controller, all that the master hears, asks a former leader of etcd that answers keep-alives only."""
    world = _calm()
    master = _master(world)
    world.has_leases = True
    _until_leased(world, master)
    leader = _leader(world)
    leader.is_at_stuck_member = True
    _cut_off(world, master, leader)
    _for(world, 12.0)
    _check_elected(world, master)


def late_election() -> None:
    """An election has no answer and comes late; meanwhile its master is heard again, and then by nobody."""
    world = _calm()
    master = _master(world)
    leader = _leader(world)
    world.has_leases = True
    leader.lateness = lambda command: 6.0 if isinstance(command, Elect) else 0.0
    _cut(world, master.name, [leader.name])
    _until(world, lambda: leader.is_unsettled)
    at = world.agenda.now + 6.0
    world.network.cuts.clear()
    _until(world, lambda: world.agenda.now > at - 0.6)
    _cut_off(world, master)
    _for(world, 6.0)
    _check_elected(world, master)


def deposed_leader() -> None:
    """A controller's election comes late, when another one leads and grants the master its lease."""
    world = _calm()
    master = _master(world)
    leader = _leader(world)
    world.has_leases = True
    leader.lateness = lambda command: 8.0 if isinstance(command, Elect) else 0.0
    _cut(world, master.name, [leader.name])
    _until(world, lambda: leader.is_unsettled)
    at = world.agenda.now + 8.0
    leader.stop()
    _until(world, lambda: world.agenda.now > at - 0.6)
    _until_leased(world, master)
    _cut_off(world, master)
    _for(world, 6.0)
    _check_elected(world, master)


def new_leader() -> None:
    """A controller begins, does not hear the master, and leads at once, as the next process on a file does."""
    world = _calm()
    master = _master(world)
    leader = _leader(world)
    world.has_leases = True
    one, other = (each for each in world.controllers if each is not leader)
    other.stop()
    one.end(in_order=True)
    _cut(world, master.name, [one.name])
    _for(world, 1.0)
    _until_leased(world, master)
    one.start()
    leader.end(in_order=True, of_file=True)
    _for(world, 8.0)
    _check_elected(world, master)


def orderly_end() -> None:
    """A leading controller, all that the master hears, ends in order; another one has judged the master dead."""
    world = _calm()
    master = _master(world)
    leader = _leader(world)
    world.has_leases = True
    _hold(world, master, AlterSet)  # or it would soon be alone in the set
    _cut_off(world, master, leader)
    _for(world, 5.0)
    _until_leased(world, master)
    leader.end(in_order=True)
    _for(world, 8.0)
    _check_elected(world, master)


def forgotten_epoch() -> None:
    """An epoch that nobody alive knows was used before an older copy of the engine was restored."""
    world = _calm()
    master = _master(world)
    copy = world.engine.copy()
    slaves = [each for each in world.nodes if each is not master]
    _cut_off(world, slaves[1])
    master.die()
    _until(world, lambda: world.is_master(slaves[0]) and slaves[0].kind is RoleKind.MASTER)
    slaves[0].die()
    for controller in world.controllers:
        controller.end(in_order=False)
    _for(world, 4.0)
    world.engine.restore(copy)
    world.network.cuts.clear()
    master.start()
    for controller in world.controllers:
        controller.seen.mark()
        controller.start()
    Operator(world)
    _until(world, lambda: world.figures.adopted > 0)
    _until(world, lambda: any(world.is_master(each) for each in world.nodes))
    _for(world, 3.0)


def late_copy(folder: Path | None = None) -> None:
    """All messages of a queue have left the logs when a new replica copies them, which then becomes master."""
    world = _calm(folder)
    copy = _slave(world)
    copy.die()
    world.silent_queues = {2}
    unit = copy.disk.unit
    _for(world, 4.0)
    last = max(at for at, each in enumerate(_master(world).disk.log) if each is not None and each.queue == 2)
    for each in world.nodes:
        while each is not copy and each.store is not None and each.store.begin // unit <= last:
            begin = each.store.begin
            each.expire()
            assert each.store.begin > begin, "the schedule does not get there"
    copy.disk.wipe()
    copy.disk.identity = None
    copy.start()
    _until(world, lambda: copy.disk.identity is not None and _id(copy) in _set(world))
    _others_die(world, copy)
    _until(world, lambda: world.is_master(copy))
    world.silent_queues = set()
    acked = world.acked
    _until(world, lambda: world.acked > acked + 20)
    world.checks.numbered(copy.number, copy.disk.log)


SCHEDULES: Final[dict[str, Callable[[], None]]] = {
    "an unclean start is not told": unclean_start,
    "an unclean start is forgotten at the second crash": second_crash,
    "the life is not looked at when the set is altered": late_expansion,
    "the life is not looked at in an election": unregistered_candidate,
    "the grant is longer than the lead": lonely_leader,
    "the lead is longer than the engine keeps it": lonely_leader,
    "the lease begins late": silent_master,
    "an answered keep-alive renews the lead": stuck_leader,
    "a lease is granted while an election is unsettled": late_election,
    "the text of the lead is not compared": deposed_leader,
    "silence counts from before the own start": new_leader,
    "the lead is given up while a grant runs": orderly_end,
    "an adopted epoch is the next one": forgotten_epoch,
    "a copy is not told of the queues before it": late_copy,
}
"""The schedule that finds each of the directed mutations."""
