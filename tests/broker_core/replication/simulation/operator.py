"""An operator: adopts what was set back, accepts a loss where nothing else helps, removes replicas."""

from __future__ import annotations

from broker_core.controller.commands import AcceptLoss, Adopt, Candidate, Remove
from broker_core.controller.electing import electable
from broker_core.controller.errors import Refused
from broker_core.protocol.bodies.controller import NameState, ReplicaState
from tests.broker_core.replication.simulation.controller import Controller
from tests.broker_core.replication.simulation.engine import NAME
from tests.broker_core.replication.simulation.node import CLUSTER, Node
from tests.broker_core.replication.simulation.world import World

PATIENCE = 3.0


class Operator:
    """Looks every second; acts on what has lasted for `PATIENCE` seconds."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._since: float | None = None
        world.agenda.after(1.0, self._look)

    def _look(self) -> None:
        world = self._world
        world.agenda.after(1.0, self._look)
        leader = next((each for each in world.controllers if each.leading.is_leading(each.clock.now)), None)
        state = world.engine.state
        if leader is None or leader.is_stopped or world.is_restoring or not self._needs_help(leader, state):
            self._since = None
        elif self._since is None:
            self._since = world.agenda.now
        elif world.agenda.now - self._since > PATIENCE:
            self._since = None
            self._help(leader, state)

    def _needs_help(self, leader: Controller, state: NameState | None) -> bool:
        if leader.trust.is_set_back(NAME):
            return True
        return state is not None and state.epoch > 0 and not electable(state, self._living())

    def _living(self) -> list[Candidate]:
        return [
            Candidate(each.replica.me.id, each.replica.me.life, 0, 0)
            for each in self._world.nodes
            if each.replica is not None
        ]

    def _help(self, leader: Controller, state: NameState | None) -> None:
        if leader.trust.is_set_back(NAME):
            self._adopt(leader)
        elif state is not None and self._world.may_lose:
            self._accept_loss(leader, state)

    def _stop(self, kept: Node | None) -> None:
        """Stop all who may be masters, as the preview says."""
        for node in self._world.nodes:
            if node is not kept and node.replica is not None and node.replica.mastership is not None:
                node.restart()

    def _adopt(self, leader: Controller) -> None:
        """Go on with those who surely have everything; what they have is known to nobody else in reality."""
        self._stop(None)
        world = self._world
        whole = [each for each in world.nodes if each.replica is not None and world.checks.is_whole(each.disk.log)]
        heard = leader.hearing.heard(NAME, leader.clock.now)
        members = [each.id for each in heard if any(node.replica and node.replica.me.id == each.id for node in whole)]
        if not members:
            return
        views = (leader.hearing.newest(NAME), *(each.view for each in heard))
        told = tuple((each.id, ReplicaState(each.address, "", each.life, "", False, each.last_epoch)) for each in heard)
        world.log(f"an operator adopts the state with {members}")
        world.figures.adopted += 1
        world.helped_at = world.agenda.now
        leader.command(
            Adopt(NAME, CLUSTER, tuple(members), views, told),
            lambda outcome, state: leader.trust.trust(NAME) if state is not None else None,
        )

    def _accept_loss(self, leader: Controller, state: NameState) -> None:
        alive = leader.alive()
        registered = [each for each in alive if each.id in state.replicas and state.replicas[each.id].life == each.life]
        if not registered or electable(state, alive):
            return
        chosen = max(registered, key=lambda each: (each.last_epoch, each.end, each.id))
        node = next((each for each in self._world.nodes if each.lives_in(chosen.life)), None)
        if node is None:  # it was heard a moment ago
            return
        for other in self._world.nodes:
            if other is not node:
                other.die()
                other.later(1.0, other.start)
        self._world.log(f"an operator accepts the loss: {chosen.id} is to be master")
        self._world.figures.losses += 1
        self._world.helped_at = self._world.agenda.now
        self._world.loss_accepted(node)
        leader.command(AcceptLoss(NAME, chosen.id, alive, state.master), lambda *_: None)

    def remove(self) -> None:
        """Stop a replica that is not needed, and forget it; later its machine comes back as a new one."""
        world, state = self._world, self._world.engine.state
        spare = [
            each
            for each in world.nodes
            if state is not None
            and each.replica is not None
            and each.replica.me.id in state.replicas.keys() - set(state.in_sync)
        ]
        if not spare or world.is_restoring or len(world.nodes) < 3:
            return
        node = spare[-1]
        assert node.disk.identity is not None
        node.die()
        try:
            newest = max(each.newest for each in world.controllers)
            world.engine.decide(Remove(NAME, (node.disk.identity.broker_id,)), "operator", newest)
        except Refused:
            node.later(0.5, node.start)
            return
        world.log(f"an operator removes {node.name}")
        node.disk.wipe()
        node.disk.identity = None
        node.later(1.0, node.start)
