"""Replicas, controllers, an engine, a network and producers in one simulated world."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from broker_core.broker.replication.following import SlaveLimits
from broker_core.broker.replication.in_sync import SetTimes
from broker_core.broker.replication.mastership import MasterLimits
from broker_core.broker.replication.messages import ApplyId, Ask, NextId, Outcome, Register, SendHeartbeat
from broker_core.broker.replication.replica import ReplicaSettings
from broker_core.controller.commands import Elect
from broker_core.protocol.bodies.controller import NameState
from tests.broker_core.replication.simulation.checks import Checks, Violation
from tests.broker_core.replication.simulation.clock import Agenda
from tests.broker_core.replication.simulation.controller import Controller
from tests.broker_core.replication.simulation.disk import QUEUES, Disk
from tests.broker_core.replication.simulation.engine import NAME, Engine
from tests.broker_core.replication.simulation.network import Network
from tests.broker_core.replication.simulation.node import Node, on_the_wire
from tests.broker_core.replication.simulation.real import RealDisk

LAST = 40
PRODUCERS = 6


@dataclass(slots=True)
class Figures:
    """What happened in one run, or in many."""

    seeds: int = 0
    events: int = 0
    sent: int = 0
    acked: int = 0
    elections: int = 0
    power_losses: int = 0
    kills: int = 0
    stuck: int = 0
    restores: int = 0
    adopted: int = 0
    losses: int = 0
    silence: float = 0.0
    """The longest time from the end of all faults to the first send answered 0, in simulated seconds."""

    def add(self, other: Figures) -> None:
        for name in COUNTED:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.silence = max(self.silence, other.silence)


COUNTED = (
    "seeds", "events", "sent", "acked", "elections", "power_losses", "kills", "stuck", "restores", "adopted", "losses",
)  # fmt: skip


class World:
    """All of it, with one source of chance."""

    def __init__(self, seed: int, nodes: int = 3, folder: Path | None = None) -> None:
        """With a folder each replica has a real store there."""
        self.folder = folder
        self.agenda = Agenda(seed)
        self.figures = Figures(seeds=1)
        self.checks = Checks()
        self.checks.logs_of_set = self.logs_of_set
        self.network = Network(self.agenda)
        self.engine = Engine(self.agenda, self.checks)
        self.controllers = [Controller(each, self.engine, self.agenda) for each in range(3)]
        self.last: deque[str] = deque(maxlen=LAST)
        self.acked = 0
        self.acked_at = 0.0
        self.trouble = 1.0  # 0: nothing goes wrong by chance any more
        self.may_lose = self.agenda.random.random() < 0.5
        """Whether an operator accepts a loss rather than to leave a name stuck."""
        self.is_restoring = False
        self.helped_at = 0.0
        """When an operator last adopted a state, or accepted a loss."""
        self.has_leases = False
        """Whether clocks run alike enough for leases to mean something."""
        self.hold: Callable[[Node, Ask, Callable[..., None]], bool] = lambda *_: False
        """Takes what a replica asks controllers, if it is not to arrive now."""
        self.silent_queues: set[int] = set()
        """To which nothing new is sent."""
        self._streams = 0
        self._messages = 0
        self._is_sync = self.agenda.random.random() < 0.5
        self.nodes: list[Node] = []
        for _ in range(nodes):
            self.add()
        for controller in self.controllers:
            controller.push = self._pusher(controller)
            controller.ask_states = self._asker(controller)
            controller.start()
        for number in range(PRODUCERS):
            self.agenda.after(0.5, Producer(self, number).send)

    def add(self) -> Node:
        """Start one more replica, with an empty folder."""
        number = len(self.nodes) + 1
        unit = Disk.unit if self.folder is None else RealDisk.unit
        settings = ReplicaSettings(
            address=f"n{number}",
            ha=f"n{number}",
            controllers=len(self.controllers),
            master=MasterLimits(
                set_times=SetTimes(gone_after=1.0, behind_after=2.5),
                batch=5 * unit,
                unconfirmed=120 * unit,
                stream_heartbeat=1.0,
                silence=4.0,
            ),
            slave=SlaveLimits(silence=3.0, answer=1.0),
        )
        node = Node(self, number, settings, is_sync=self._is_sync)
        self.nodes.append(node)
        node.start()
        return node

    def step(self) -> None:
        self.agenda.step()
        if self.has_leases:
            self._check_leases()

    def _check_leases(self) -> None:
        holders = [node.name for node in self.nodes if node.has_lease()]
        if len(holders) > 1:
            raise Violation(f"I11: {holders} hold a lease at once")

    def log(self, what: str) -> None:
        self.last.append(f"{self.agenda.now:8.3f} {what}")

    # What nodes need

    def node_at(self, address: str) -> Node:
        return self.nodes[int(address[1:]) - 1]

    def next_stream(self) -> int:
        self._streams += 1
        return self._streams

    def next_message(self) -> int:
        self._messages += 1
        while self._messages % QUEUES in self.silent_queues:
            self._messages += 1
        return self._messages

    def logs_of_set(self) -> list[tuple[int, Sequence[Any]]]:
        """Return the logs of the members of the set that run in the life that is registered."""
        state = self.engine.decided
        members = [state.replicas[each] for each in state.in_sync] if state is not None else []
        nodes = [(self.node_at(each.address), each.life) for each in members if each.address]
        return [(node.number, node.disk.log) for node, life in nodes if node.lives_in(life)]

    def killed(self, node: Node) -> None:
        """Let controllers see that the connections of a process end, and that its port refuses."""
        if node.disk.identity is None or self.agenda.random.random() < 0.3:
            return
        broker_id, life = node.disk.identity.broker_id, node.disk.identity.life
        for controller in self.controllers:
            for delay, what in ((0.01, controller.hearing.closed), (0.2, controller.hearing.refused)) * 2:
                self.agenda.after(delay * 2, self._seeing(controller, node, life, what, broker_id))

    def _seeing(
        self,
        controller: Controller,
        node: Node,
        life: str,
        what: Callable[[str, int, str, float], None],
        broker_id: int,
    ) -> Callable[[], None]:
        def see() -> None:
            if not node.lives_in(life):
                controller.get(lambda: what(NAME, broker_id, life, controller.clock.now))

        return see

    def handed_over(self, node: Node, to: int) -> None:
        """Let the leading controller elect, as it does after a 9003."""
        assert node.replica is not None
        deposes = node.replica.me
        for controller in self.controllers:
            command = Elect(NAME, tuple(controller.alive()), deposes, "by hand", to)
            self.network.send(node, controller, lambda c=controller, e=command: c.command(e, lambda *_: None))  # type: ignore[misc]

    def is_master(self, node: Node) -> bool:
        state = self.engine.state
        return state is not None and node.replica is not None and state.master == node.replica.me

    def loss_accepted(self, node: Node) -> None:
        """Expect no more than what one replica has."""
        self.checks.loss_accepted(node.disk.log)

    def took_over(self, node: Node) -> None:
        assert node.replica is not None
        assert node.replica.mastership is not None
        epoch, state = node.replica.mastership.epoch, self.engine.state
        is_present = state is not None and state.epoch == epoch and self.is_master(node)
        self.figures.elections += 1
        self.checks.took_over(node.number, node.replica.me, epoch, node.disk.log, is_present=is_present)

    def halted(self, node: Node, reason: str, *, anew: bool) -> None:
        self.log(f"{node.name} stops: {reason}")
        is_expected = self.figures.losses > 0
        if is_expected and not anew and "later life" not in reason:
            node.disk.wipe()  # what an operator does then
            node.disk.identity = None
        elif not anew and ("up to" in reason or "in-sync set" in reason) and "later life" not in reason:
            raise Violation(f"I8: {node.name} cannot go on: {reason}")

    # Between nodes and controllers

    def beat(self, node: Node, controller: Controller, message: SendHeartbeat, sent_at: float) -> None:
        run = node.run

        def at_controller() -> None:
            heard = controller.heard(node.settings.address, message, sent_at)
            if heard is None:
                return
            self.network.send(
                controller,
                node,
                lambda: node.heard(lambda replica: replica.heard(heard, node.clock.now), run),
            )

        self.network.send(node, controller, at_controller)

    def _pusher(self, controller: Controller) -> Callable[[NameState], None]:
        def push(state: NameState) -> None:
            heard = controller.pushed(state)
            for node in self.nodes:
                self.network.send(controller, node, self._telling(node, heard))

        return push

    def _telling(self, node: Node, heard: object) -> Callable[[], None]:
        run = node.run
        return lambda: node.heard(lambda replica: replica.heard(heard, node.clock.now), run)  # type: ignore[arg-type]

    def _asker(self, controller: Controller) -> Callable[[Callable[[dict[int, NameState]], None]], None]:
        """Ask all replicas which state they know; what came within half a second is told."""

        def ask(take: Callable[[dict[int, NameState]], None]) -> None:
            told: dict[int, NameState] = {}
            for node in self.nodes:
                self.network.send(controller, node, self._view_teller(controller, node, told))
            self.agenda.after(0.5, lambda: controller.get(lambda: take(told)))

        return ask

    def _view_teller(self, controller: Controller, node: Node, told: dict[int, NameState]) -> Callable[[], None]:
        def tell() -> None:
            if node.replica is not None and node.replica.view is not None:
                broker_id, view = node.replica.me.id, node.replica.view
                self.network.send(node, controller, lambda: told.update({broker_id: view}))

        return tell

    def ask(self, node: Node, effect: Ask, answer: Callable[..., None]) -> None:
        if self.hold(node, effect, answer):
            return
        controller = self.controllers[effect.controller]

        def back(outcome: Outcome, state: NameState | None, broker_id: int = 0) -> None:
            self.network.send(controller, node, lambda: answer(outcome, state, broker_id))

        def at_controller() -> None:
            if isinstance(effect.command, NextId):
                if not controller.trust.is_set_back(NAME):
                    state = self.engine.state
                    back(Outcome.DONE, None, state.next_id if state else 1)
                return
            if isinstance(effect.command, Register | ApplyId) and node.disk.identity is not None:
                controller.hearing.told(NAME, node.disk.identity.known, controller.clock.now)
            controller.command(on_the_wire(effect.command), back)

        self.network.send(node, controller, at_controller)


class Producer:
    """Sends one message after the other to whom it takes for the master, and again when the answer is not 0."""

    def __init__(self, world: World, number: int) -> None:
        self.world = world
        self.name = f"p{number}"
        self._target = 0
        self._message = 0
        self._attempt = 0
        self._tries = 0

    def get(self, event: Callable[[], None]) -> None:
        event()

    def send(self) -> None:
        world = self.world
        if not self._message or self._tries > 3:
            self._message, self._tries = world.next_message(), 0
        self._tries += 1
        self._attempt += 1
        attempt, message = self._attempt, self._message
        world.checks.sent[message] += 1
        world.figures.sent += 1
        node = world.nodes[self._target % len(world.nodes)]

        def answered(code: int) -> None:
            world.network.send(node, self, lambda: self._answered(attempt, code))

        def arrive() -> None:
            node.send(message, answered)

        # The request is sent once: a doubled one would be a second send.
        random = world.agenda.random
        if not world.network.is_cut(self.name, node.name) and random.random() >= world.network.loss:
            world.agenda.after(world.network.delay(), lambda: node.get(arrive))
        world.agenda.after(3.5, lambda: self._answered(attempt, -1))

    def _answered(self, attempt: int, code: int) -> None:
        if attempt != self._attempt:
            return
        self._attempt += 1
        random = self.world.agenda.random
        if code == 0:
            self._message = 0
            pause = random.uniform(0.0, 0.08)
        else:
            self._target = self._look() if random.random() < 0.8 else random.randrange(len(self.world.nodes))
            pause = random.uniform(0.05, 0.2)
        self.world.agenda.after(pause, self.send)

    def _look(self) -> int:
        state = self.world.engine.state
        if state is None or state.master is None:
            return self.world.agenda.random.randrange(len(self.world.nodes))
        return int(state.replicas[state.master.id].address[1:]) - 1
