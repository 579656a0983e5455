"""The engine and its controllers: decisions by the real commands, each at one moment, with late and lost answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from broker_core.broker.replication.messages import Heard, Outcome, SendHeartbeat
from broker_core.controller.commands import Candidate, Command, Elect, Stamp
from broker_core.controller.errors import Refused
from broker_core.controller.replicas import decide
from broker_core.protocol.bodies.controller import MasterLife, NameState
from tests.broker_core.replication.simulation.checks import Checks
from tests.broker_core.replication.simulation.clock import Agenda, Clock

LEAD_SECONDS = 4.0
VALID_SECONDS = 3.2
GRANT_SECONDS = 2.5
DEAD_SECONDS = 3.0


class Engine:
    """What keeps the state and the lead. Linearisable; its answers are not always."""

    def __init__(self, agenda: Agenda, checks: Checks) -> None:
        self.state: NameState | None = None
        self.has_quorum = True
        self.leader: tuple[str, float] = ("", 0.0)
        self._agenda = agenda
        self._checks = checks
        self._changes = 0

    def decide(self, command: Command, why: str) -> NameState:
        """Carry a command out at this moment; raises Refused."""
        self._changes += 1
        before = self.state
        after = decide(before, command, Stamp(str(self._changes), why, 0))
        if after is not before:
            self.state = after
            self._checks.decided(before, after, type(command).__name__)
        return after

    def lead(self, who: str) -> bool:
        """Take or keep the lead for LEAD_SECONDS."""
        name, until = self.leader
        if not self.has_quorum or (name != who and until > self._agenda.now):
            return False
        self.leader = who, self._agenda.now + LEAD_SECONDS
        return True


@dataclass(slots=True)
class _Last:
    message: SendHeartbeat
    at: float


class Controller:
    """Hears replicas, judges and grants while it leads. Holds nothing that a crash of it would lose."""

    def __init__(self, number: int, engine: Engine, agenda: Agenda) -> None:
        self.number = number
        self.name = f"c{number}"
        self.clock = Clock(agenda)
        self.state: NameState | None = None
        self.is_stopped = False
        self.engine = engine
        self.is_reached = True  # it and the engine reach one another
        self.push: Callable[[NameState], None] = lambda _: None
        self.is_refusing: Callable[[int], bool] = lambda _: False
        self._agenda = agenda
        self._heard: dict[int, _Last] = {}
        self._valid_until = float("-inf")
        self._led_since = float("inf")
        self._backlog: list[Callable[[], None]] = []

    def get(self, event: Callable[[], None]) -> None:
        if self.is_stopped:
            self._backlog.append(event)
        else:
            event()

    def stop(self) -> None:
        self.is_stopped = True

    def go_on(self) -> None:
        self.is_stopped = False
        backlog, self._backlog = self._backlog, []
        for event in backlog:
            event()

    @property
    def is_leading(self) -> bool:
        return self.clock.now < self._valid_until

    # Time

    def start(self) -> None:
        self._agenda.after(self._agenda.random.uniform(0, 0.3), self._renew)
        self._agenda.after(self._agenda.random.uniform(0, 0.3), self._look)

    def _renew(self) -> None:
        self._agenda.after(self.clock.real(0.8), self._renew)
        if self.is_stopped:
            return
        began = self.clock.now
        self._ask_engine(lambda: self.engine.lead(self.name), lambda leads: self._renewed(leads, began))

    def _renewed(self, leads: bool | None, began: float) -> None:
        if leads and self.clock.now - began < 0.7:
            if not self.is_leading:
                self._led_since = self.clock.now
            self._valid_until = began + VALID_SECONDS

    def _look(self) -> None:
        self._agenda.after(self.clock.real(0.25), self._look)
        if not self.is_stopped:
            self._ask_engine(lambda: self.engine.state, self._saw)

    def _saw(self, state: NameState | None) -> None:
        if state is not None and (self.state is None or state.view > self.state.view):
            self.state = state
            self.push(state)
        if self.is_leading and self.state is not None:
            self._judge(self.state)

    def _ask_engine(self, ask: Callable[[], object], take: Callable[..., None]) -> None:
        """Ask; the answer comes later, or None does after the controller has given up, whatever happened."""
        random = self._agenda.random
        if not self.is_reached or not self.engine.has_quorum:
            self._agenda.after(0.7, lambda: self.get(lambda: take(None)))
            return
        late = random.random() < 0.02
        arrives = random.uniform(0.5, 8.0) if late else random.uniform(0.001, 0.01)
        if random.random() < 0.005:
            self._agenda.after(0.7, lambda: self.get(lambda: take(None)))
            return

        def happen() -> None:
            if not self.engine.has_quorum and not late:
                return
            answer = ask()
            if not late:
                self._agenda.after(random.uniform(0.001, 0.01), lambda: self.get(lambda: take(answer)))

        self._agenda.after(arrives, happen)
        if late:
            self._agenda.after(0.7, lambda: self.get(lambda: take(None)))

    # Judging

    def _judge(self, state: NameState) -> None:
        alive = self.alive()
        master = state.master
        if master is not None and any((each.id, each.life) == (master.id, master.life) for each in alive):
            return
        if alive:
            self.command(Elect(state.name, tuple(alive), master, "judged"), lambda *_: None)

    def alive(self) -> list[Candidate]:
        now = self.clock.now
        return [
            Candidate(each, last.message.life, last.message.last_epoch, last.message.end, told=last.message.known[0])
            for each, last in sorted(self._heard.items())
            if not self._is_dead(each, last, now)
        ]

    def _is_dead(self, node: int, last: _Last, now: float) -> bool:
        since = max(last.at, self._led_since)
        return now - since > DEAD_SECONDS or (now - last.at > 1.0 and self.is_refusing(node))

    # Brokers

    def heard(self, message: SendHeartbeat, sent_at: float) -> Heard:
        last = self._heard.get(message.broker_id)
        if last is None or _number(message.life) >= _number(last.message.life):
            self._heard[message.broker_id] = _Last(message, self.clock.now)
        state = self.state if self.state is not None and self.state.view > message.known else None
        grant = 0.0
        known = self.state
        if known is not None and known.epoch == message.epoch and is_master(known, message):
            grant = self.grant()
        return Heard(self.number, sent_at, self.is_leading, grant, message.epoch, state)

    def pushed(self, state: NameState) -> Heard:
        """Return what is pushed to replicas: a state, and no grant."""
        return Heard(self.number, float("-inf"), self.is_leading, state=state)

    def grant(self) -> float:
        return grant_of(self._valid_until, self.clock.now)

    def command(self, command: Command, take: Callable[[Outcome, NameState | None], None]) -> None:
        """Have a command decided; `take` gets what is to be answered."""
        is_election = isinstance(command, Elect)
        if is_election and not self.is_leading:
            take(Outcome.ASK_ANOTHER, None)
            return

        def ask() -> tuple[Outcome, NameState | None]:
            if is_election and self.engine.leader[0] != self.name:
                return Outcome.ASK_ANOTHER, None
            try:
                return Outcome.DONE, self.engine.decide(command, self.name)
            except Refused:
                return Outcome.REFUSED, self.engine.state

        def answer(decided: tuple[Outcome, NameState | None] | None) -> None:
            outcome, state = decided or (Outcome.ASK_ANOTHER, None)
            if state is not None:
                self._saw_quietly(state)
            take(outcome, state)

        self._ask_engine(ask, answer)

    def _saw_quietly(self, state: NameState) -> None:
        if self.state is None or state.view > self.state.view:
            self.state = state
            self.push(state)


def is_master(state: NameState, message: SendHeartbeat) -> bool:
    return state.master == MasterLife(message.broker_id, message.life)


def grant_of(valid_until: float, now: float) -> float:
    return max(0.0, min(GRANT_SECONDS, valid_until - now))


def _number(life: str) -> int:
    return int(life.split("-")[0])
