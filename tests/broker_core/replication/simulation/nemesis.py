"""What goes wrong."""

from __future__ import annotations

from collections.abc import Callable, Collection
from random import Random

from broker_core.controller.commands import Elect, SetPolicy, View
from broker_core.controller.errors import Refused
from tests.broker_core.replication.simulation.engine import NAME
from tests.broker_core.replication.simulation.node import Node
from tests.broker_core.replication.simulation.operator import Operator
from tests.broker_core.replication.simulation.world import PRODUCERS, World


class Nemesis:
    """Throws faults at a world for a while, then heals everything."""

    def __init__(self, world: World, until: float, theme: int | None = None, dropped: Collection[int] = ()) -> None:
        """`dropped` are the strikes, by number, that do nothing."""
        self._world = world
        self._until = until
        self._dropped = dropped
        self._is_over = False
        self._chances = Random(world.agenda.random.random())
        self._operator = Operator(world)
        self._random = random = Random(self._chances.random())
        self.strikes = 0
        world.network.loss = random.choice((0.0, 0.0, 0.02, 0.2))
        themes: list[list[Callable[[], None]]] = [
            random.sample(self._all(), random.randint(3, 9)),
            [self._elect, self._slow],
            [self._elect, self._slow, self._power_and_elect, self._kill],
            [self._cut, self._slow, self._elect, self._pause],
            [
                self._cut,
                self._kill,
                self._power,
                self._switch,
                self._stop_controller,
                self._part_controller,
                self._pause,
            ],
            [self._restore, self._kill, self._power, self._switch, self._end_controller, self._spoil_watch],
        ]
        self._faults: list[Callable[[], None]] = random.choice(themes) if theme is None else themes[theme]
        # An election without a reason cares for no lease; with clocks too far apart a lease says nothing.
        has_reasons = not {self._elect, self._power_and_elect, self._fill_disk_and_elect}.intersection(self._faults)
        world.has_leases = has_reasons and random.random() < 0.8
        spread = (0.93, 1.07) if world.has_leases else (0.8, 1.25)
        for clock in [*(each.clock for each in world.nodes), *(each.clock for each in world.controllers)]:
            clock.run_at(random.uniform(*spread))
        self._pace = random.choice((0.15, 0.3, 0.6))
        world.network.is_resetting = random.random() < 0.6
        world.agenda.after(2.0, self._strike)

    def _of_controllers(self) -> list[Callable[[], None]]:
        return [
            self._stop_controller,
            self._part_controller,
            self._stop_engine,
            self._end_controller,
            self._stick_member,
            self._spoil_watch,
            self._restore,
        ]

    def _all(self) -> list[Callable[[], None]]:
        return [
            self._kill,
            self._kill,
            self._power,
            self._power,
            self._pause,
            self._cut,
            self._cut,
            self._elect,
            self._elect,
            self._power_and_elect,
            self._power_and_elect,
            self._slow,
            self._slow,
            self._switch,
            self._fill_disk,
            self._fill_disk_and_elect,
            self._break_flush,
            *self._of_controllers(),
            self._kill_inside,
            self._policy,
            self._add,
            self._operator.remove,
            self._expire,
            self._expire,
            self._slow_disk,
            self._jump,
        ]

    def _strike(self) -> None:
        if self._world.agenda.now >= self._until:
            self._heal()
            return
        # Each strike has its own chance, so that it is the same when others are dropped.
        self._random = Random(self._chances.random())
        pause = self._random.expovariate(1 / self._pace)
        fault = self._random.choice(self._faults)
        if self.strikes not in self._dropped:
            fault()
        self.strikes += 1
        self._world.agenda.after(pause, self._strike)

    def _node(self) -> Node:
        """Return one, rather the master than another."""
        masters = [each for each in self._world.nodes if self._world.is_master(each)]
        return masters[0] if masters and self._random.random() < 0.5 else self._random.choice(self._world.nodes)

    def _later(self, seconds: float, heal: Callable[[], None]) -> None:
        self._world.agenda.after(seconds, lambda: None if self._is_over else heal())

    # Replicas

    def _kill(self) -> None:
        node = self._node()
        if node.is_up:
            self._world.figures.kills += 1
            node.die()
        self._restart(node)

    def _restart(self, node: Node) -> None:
        soon = self._random.random() < 0.3
        self._later(self._random.uniform(0, 0.03) if soon else self._random.uniform(0.3, 3), node.start)
        if self._random.random() < 0.15:
            self._later(self._random.uniform(0.03, 0.4), lambda: node.die(power=self._random.random() < 0.5))
            self._later(self._random.uniform(0.5, 2), node.start)

    def _kill_inside(self) -> None:
        self._node().dies_after = self._random.randint(0, 12)

    def _power(self) -> None:
        node = self._node()
        if node.is_up and not self._would_stick(node):
            self._world.figures.power_losses += 1
            node.die(power=True)
        self._restart(node)

    def _power_and_elect(self) -> None:
        """Lose the tail of a replica that is not the master, start it at once, and elect soon behind."""
        others = [each for each in self._world.nodes if each.is_up and not self._world.is_master(each)]
        if others:
            node = self._random.choice(others)
            self._world.figures.power_losses += 1
            node.die(power=True)
            self._later(self._random.uniform(0, 0.03), node.start)
            self._later(self._random.uniform(0.04, 0.5), self._elect)

    def _would_stick(self, node: Node) -> bool:
        """Tell whether nobody would be left who surely has everything: mostly avoided, for only an operator helps."""
        state = self._world.engine.state
        others = [each for each in self._world.nodes if each is not node and each.is_up and each.replica is not None]
        safe = state is None or any(
            each.replica is not None
            and each.replica.me.id in state.in_sync
            and state.replicas[each.replica.me.id].life == each.replica.me.life
            for each in others
        )
        return not safe and self._random.random() < 0.95

    def _pause(self) -> None:
        node = self._node()
        self._world.log(f"{node.name} is paused")
        node.pause()
        self._later(self._random.choice((0.3, 1.0, 4.0, 8.0)) * self._random.random(), node.go_on)

    def _fill_disk(self) -> None:
        disk = self._node().disk
        disk.is_full = True
        self._later(self._random.uniform(0.1, 2), lambda: setattr(disk, "is_full", False))

    def _fill_disk_and_elect(self) -> None:
        """Let a state come that has no room."""
        self._fill_disk()
        self._later(self._random.uniform(0, 0.5), self._elect)

    def _break_flush(self) -> None:
        node = self._node()
        if node.is_up and not self._would_stick(node):
            node.disk.is_broken = True

    def _slow_disk(self) -> None:
        disk = self._node().disk
        disk.slow = self._random.choice((0.1, 1.0, 3.0))
        self._later(self._random.uniform(0.5, 4), lambda: setattr(disk, "slow", 0.0))

    def _jump(self) -> None:
        """Let the wall clock of a machine jump."""
        self._node().wall_ahead = self._random.uniform(-3600, 3600)

    def _expire(self) -> None:
        """Let retention remove the oldest segment of a log."""
        node = self._node()
        if node.store is not None:
            node.expire()

    def _add(self) -> None:
        if len(self._world.nodes) < 5:
            self._world.add()

    # The network

    def _cut(self) -> None:
        names = [each.name for each in self._world.nodes]
        controllers = [each.name for each in self._world.controllers]
        producers = [f"p{each}" for each in range(PRODUCERS)]
        one = self._node().name
        kind = self._random.randrange(6)
        if kind == 0:
            left, right = [one], [*names, *controllers, *producers]
        elif kind == 1:
            left, right = [one], controllers
        elif kind == 2:
            left, right = [one], names
        elif kind == 3:
            left, right = names, self._random.sample(controllers, 2)
        elif kind == 4:
            left, right = [one], [self._random.choice(controllers)]
        else:
            left, right = [one, "p0"], [*names, *controllers]
        cuts = {(a, b) for a in left for b in right if a != b}
        if self._random.random() < 0.6:
            cuts |= {(b, a) for a, b in cuts}
        self._world.log(f"cut {left} from {right}")
        self._world.network.cuts |= cuts
        self._later(self._random.choice((0.5, 3, 6)) * self._random.random(), lambda: self._mend(cuts))

    def _mend(self, cuts: set[tuple[str, str]]) -> None:
        self._world.network.cuts -= cuts

    def _slow(self) -> None:
        """Slow the streams of one replica down."""
        name, slow = self._node().name, self._world.network.slow
        slow[name] = self._random.choice((0.1, 0.5, 1.5))
        self._later(self._random.uniform(0.5, 3), lambda: slow.update({name: 0.0}))

    # Controllers and operators

    def _elect(self) -> None:
        """Elect without a reason, as a controller with another opinion would."""
        state = self._world.engine.state
        alive = self._random.choice(self._world.controllers).alive()
        if state is None or not alive or not state.in_sync:
            return
        chosen = self._random.choice(state.in_sync) if self._random.random() < 0.6 else None
        try:
            command = Elect(NAME, tuple(alive), state.master, "no reason", chosen)
            self._world.engine.decide(command, "nemesis", self._newest())
        except Refused:
            return
        self._world.log(f"elected {self._world.engine.state.master if self._world.engine.state else None}")

    def _switch(self) -> None:
        state = self._world.engine.state
        for node in self._world.nodes:
            if (
                state is not None
                and node.replica is not None
                and self._world.is_master(node)
                and not (node.is_paused or node.rests)
            ):
                node.replica.hand_over(self._random.choice(state.in_sync), 3.0, node.clock.now)

    def _policy(self) -> None:
        try:
            command = SetPolicy(NAME, min_in_sync=self._random.randint(1, 2))
            self._world.engine.decide(command, "nemesis", self._newest())
        except Refused:
            return

    def _newest(self) -> View:
        return max(each.newest for each in self._world.controllers)

    def _stop_controller(self) -> None:
        controller = self._random.choice(self._world.controllers)
        controller.stop()
        self._later(self._random.uniform(0.2, 5), controller.go_on)

    def _part_controller(self) -> None:
        controller = self._random.choice(self._world.controllers)
        controller.is_reached = False
        self._later(self._random.uniform(0.2, 5), lambda: setattr(controller, "is_reached", True))

    def _stop_engine(self) -> None:
        self._world.engine.has_quorum = False
        self._later(self._random.uniform(0.2, 3), lambda: setattr(self._world.engine, "has_quorum", True))

    def _end_controller(self) -> None:
        """End a controller's process, in order or not, and begin another one."""
        controller = self._random.choice(self._world.controllers)
        controller.end(in_order=self._random.random() < 0.5)
        self._later(self._random.uniform(0, 2), controller.start)

    def _stick_member(self) -> None:
        """Let the leader of etcd be stuck for the controller that asks it; it may revoke a living lease."""
        leading = [each for each in self._world.controllers if each.leading.lead is not None]
        for controller in leading:
            controller.is_at_stuck_member = True
        if self._random.random() < 0.3:
            self._world.engine.leader = ("", 0.0)

        def heal() -> None:
            for controller in leading:
                controller.is_at_stuck_member = False

        self._later(self._random.uniform(0.5, 6), heal)

    def _spoil_watch(self) -> None:
        controller = self._random.choice(self._world.controllers)
        controller.watch_delay = self._random.choice((None, None, 0.3, 3.0))
        self._later(self._random.uniform(1, 6), lambda: setattr(controller, "watch_delay", 0.0))

    def _restore(self) -> None:
        """Restore a copy of the engine that is some time old, as the handbook says: controllers off, then marked."""
        world = self._world
        if world.is_restoring:
            return
        world.is_restoring = True
        copy = world.engine.copy()

        def end() -> None:
            world.log("controllers end, to restore the engine")
            for controller in world.controllers:
                controller.end(in_order=False)
            world.agenda.after(4.0, begin)

        def begin() -> None:
            before = world.engine.state
            world.engine.restore(copy)
            world.log(f"the engine is restored: {before and before.view} → {copy.state and copy.state.view}")
            world.is_restoring = False
            world.figures.restores += 1
            for controller in world.controllers:
                controller.seen.mark()
                controller.start()

        world.agenda.after(self._random.uniform(0.0, 3.0), end)

    # The end

    def _heal(self) -> None:
        world = self._world
        self._is_over = True
        world.trouble = 0.0
        world.network.loss = 0.0
        world.network.cuts.clear()
        world.network.slow.clear()
        world.engine.has_quorum = world.engine.is_healed = True
        for controller in world.controllers:
            controller.is_reached, controller.is_at_stuck_member, controller.watch_delay = True, False, 0.0
            if world.is_restoring:
                continue
            if controller.is_ended:  # what would have started it is over
                controller.start()
            controller.go_on()
        for node in world.nodes:
            node.disk.is_full, node.disk.slow = False, 0.0
            node.dies_after = None
            node.go_on()
            node.start()
        world.log("everything is healed")
