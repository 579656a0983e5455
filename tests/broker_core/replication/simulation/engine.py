"""The engine and its controllers: decisions by the real commands, each at one moment, with late and lost answers."""

from __future__ import annotations

from collections.abc import Callable

from broker_core.broker.replication.messages import Heard, Outcome, SendHeartbeat
from broker_core.controller.commands import Candidate, Command, Elect, Stamp
from broker_core.controller.decisions import Lead
from broker_core.controller.errors import Refused
from broker_core.controller.hearing import Hearing, Heartbeat
from broker_core.controller.judging import Judging
from broker_core.controller.leading import Leading, Step
from broker_core.controller.replicas import decide
from broker_core.controller.set_back import is_set_back
from broker_core.protocol.bodies.controller import MasterLife, NameState
from tests.broker_core.replication.simulation.checks import Checks
from tests.broker_core.replication.simulation.clock import Agenda, Clock

NAME = "b"
LEAD_SECONDS = 4.0
VALID_SECONDS = 3.2
ATTEMPT_SECONDS = 0.7


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

    @property
    def is_lead_free(self) -> bool:
        return self.leader[1] <= self._agenda.now

    def lead(self, who: str) -> Lead | None:
        """Take the lead for LEAD_SECONDS if nobody has it."""
        if not self.is_lead_free:
            return None
        self._changes += 1
        self.leader = f"{who} {self._changes}", self._agenda.now + LEAD_SECONDS
        return Lead(who, self.leader[0], None)

    def renew(self, lead: Lead) -> bool:
        """Keep the lead for LEAD_SECONDS more; False if it is another's."""
        if self.leader[0] != lead.text or self.is_lead_free:
            return False
        self.leader = lead.text, self._agenda.now + LEAD_SECONDS
        return True


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
        self.hearing = Hearing(self.clock.now)
        self.leading = Leading()
        self._judging = Judging(self.hearing)
        self._agenda = agenda
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

    # Time

    def start(self) -> None:
        self._agenda.after(self._agenda.random.uniform(0, 0.3), self._lead)
        self._agenda.after(self._agenda.random.uniform(0, 0.3), self._look)

    def _lead(self) -> None:
        """Do the next step of leading, and the one after it when that is done."""
        if self.is_stopped:
            self._agenda.after(0.1, self._lead)
            return
        leading, now = self.leading, self.clock.now
        match leading.step(now, may_lead=self.hearing.hears_anybody(now)):
            case Step.STAND:
                self._ask_engine(lambda: (self.engine.lead(self.name),), self._took)
            case Step.RENEW if leading.lead is not None:
                lead = leading.lead
                leading.began_round(now)
                self._ask_engine(lambda: self.engine.renew(lead), lambda holds: self._renewed(holds, now))
            case Step.READ:
                self._ask_engine(lambda: (self.engine.state,), self._read)
            case Step.RESIGN:
                leading.lost(now)
                self._again(0.8)
            case _:
                if self.is_reached and self.engine.is_lead_free:
                    leading.vacant(now)
                self._again(min(max(leading.wait_seconds(now), 0.02), 0.2))

    def _again(self, seconds: float = 0.0) -> None:
        self._agenda.after(self.clock.real(seconds), self._lead)

    def _took(self, answer: tuple[Lead | None] | None) -> None:
        if answer is None:
            self.leading.failed(self.clock.now)
        else:
            self.leading.took(answer[0], self.clock.now)
        self._again()

    def _renewed(self, holds: bool | None, began: float) -> None:
        now = self.clock.now
        if holds and now - began < ATTEMPT_SECONDS:
            self.leading.renewed(valid_until(began), now)
        elif holds is False:
            self.leading.lost(now)
        else:
            self.leading.failed(now)
        self._again()

    def _read(self, answer: tuple[NameState | None] | None) -> None:
        if answer is None:
            self.leading.failed(self.clock.now)
        else:
            self.leading.has_read()
            self._saw(answer[0])
        self._again()

    def _look(self) -> None:
        self._agenda.after(self.clock.real(0.25), self._look)
        if not self.is_stopped:
            self._ask_engine(lambda: self.engine.state, self._saw)
            self._judge()

    def _saw(self, state: NameState | None) -> None:
        if state is not None and (self.state is None or state.view > self.state.view):
            self.state = state
            self.push(state)

    def _ask_engine(self, ask: Callable[[], object], take: Callable[..., None]) -> None:
        """Ask; the answer comes later, or None does after the controller has given up, whatever happened."""
        random = self._agenda.random
        if not self.is_reached or not self.engine.has_quorum:
            self._agenda.after(ATTEMPT_SECONDS, lambda: self.get(lambda: take(None)))
            return
        late = random.random() < 0.02
        arrives = random.uniform(0.5, 8.0) if late else random.uniform(0.001, 0.01)
        if random.random() < 0.005:
            self._agenda.after(ATTEMPT_SECONDS, lambda: self.get(lambda: take(None)))
            return

        def happen() -> None:
            if not self.engine.has_quorum and not late:
                return
            answer = ask()
            if not late:
                self._agenda.after(random.uniform(0.001, 0.01), lambda: self.get(lambda: take(answer)))

        self._agenda.after(arrives, happen)
        if late:
            self._agenda.after(ATTEMPT_SECONDS, lambda: self.get(lambda: take(None)))

    def _judge(self) -> None:
        now = self.clock.now
        if self.state is None or not self.leading.is_leading(now) or not self.hearing.hears_anybody(now):
            return
        if not is_set_back(self.state, self.hearing.newest(self.state.name)):
            for election in self._judging.step({self.state.name: self.state}, now):
                self.command(election, lambda *_: None)

    def alive(self) -> tuple[Candidate, ...]:
        return self.hearing.alive(NAME, self.clock.now)

    # Brokers

    def heard(self, address: str, message: SendHeartbeat, sent_at: float) -> Heard | None:
        """Answer a heartbeat; None as long as the life is not registered."""
        now = self.clock.now
        log = message.end, message.confirm, message.last_epoch
        beat = Heartbeat(NAME, message.broker_id, message.life, address, message.epoch, *log, message.known)
        self.hearing.heartbeat(beat, now)
        state = self.state
        if state is None or not _is_registered(state, message):
            return None
        grant = 0.0
        if state.epoch == message.epoch and state.master == MasterLife(message.broker_id, message.life):
            grant = granted(self.leading, now)
        told = state if message.wants_state or state.view > message.known else None
        return Heard(self.number, sent_at, self.leading.is_leading(now), grant, state.epoch, told)

    def pushed(self, state: NameState) -> Heard:
        """Return what is pushed to replicas: a state, and no grant."""
        return Heard(self.number, float("-inf"), self.leading.is_leading(self.clock.now), state=state)

    def command(self, command: Command, take: Callable[[Outcome, NameState | None], None]) -> None:
        """Have a command decided; `take` gets what is to be answered."""
        is_election = isinstance(command, Elect)
        lead = self.leading.lead if self.leading.is_leading(self.clock.now) else None
        if is_election and lead is None:
            take(Outcome.ASK_ANOTHER, None)
            return

        def ask() -> tuple[Outcome, NameState | None]:
            if is_election and lead is not None and self.engine.leader[0] != lead.text:
                return Outcome.ASK_ANOTHER, None
            try:
                return Outcome.DONE, self.engine.decide(command, self.name)
            except Refused:
                return Outcome.REFUSED, self.engine.state

        def answer(decided: tuple[Outcome, NameState | None] | None) -> None:
            outcome, state = decided or (Outcome.ASK_ANOTHER, None)
            if state is not None:
                self._saw(state)
            take(outcome, state)

        self._ask_engine(ask, answer)


def _is_registered(state: NameState, message: SendHeartbeat) -> bool:
    return message.broker_id in state.replicas and state.replicas[message.broker_id].life == message.life


def valid_until(began: float) -> float:
    """Return until when a renewal that began then lets a controller lead."""
    return began + VALID_SECONDS


def granted(leading: Leading, now: float) -> float:
    return leading.grant_ms(now) / 1000
