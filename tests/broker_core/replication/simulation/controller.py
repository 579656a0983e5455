"""A controller: the real parts that judge, lead, grant and find what was set back, and a rim for the simulation."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from broker_core.broker.replication.messages import Heard, Outcome, SendHeartbeat
from broker_core.controller.commands import AcceptLoss, Candidate, Command, Elect, View
from broker_core.controller.decisions import Lead
from broker_core.controller.errors import Refused
from broker_core.controller.hearing import Hearing, Heartbeat
from broker_core.controller.judging import Judging
from broker_core.controller.leading import Leading, Step
from broker_core.controller.seen import Seen
from broker_core.controller.set_back import healing
from broker_core.controller.states import States
from broker_core.controller.trust import Trust
from broker_core.protocol.bodies.controller import MasterLife, NameState
from broker_core.protocol.codes import ResponseCode
from tests.broker_core.replication.simulation.clock import Agenda, Clock
from tests.broker_core.replication.simulation.engine import NAME, Engine

VALID_SECONDS = 3.2
ATTEMPT_SECONDS = 0.7
POLL_SECONDS = 2.0
HEAL_SECONDS = 1.0


class SeenInMemory(Seen):
    """The file that says which revision this controller saw; it outlives the process."""

    def __init__(self) -> None:
        super().__init__(Path("/nonexistent"))

    def _write(self, revision: int, *, is_marked: bool) -> None:
        self._revision, self.is_marked = revision, is_marked


class TrustAtOnce(Trust):
    """Writes what it saw without a thread."""

    async def _write(self, write: Callable[..., None], *values: object) -> bool:
        write(*values)
        return True


class Controller:
    """Hears replicas, judges and grants while it leads. A crash of it loses nothing but what it heard."""

    def __init__(self, number: int, engine: Engine, agenda: Agenda) -> None:
        self.number = number
        self.name = f"c{number}"
        self.clock = Clock(agenda)
        self.engine = engine
        self.is_stopped = False
        self.is_ended = False
        self.is_reached = True  # it and the engine reach one another
        self.is_at_stuck_member = False
        """Asks a former leader of etcd that is stuck: it answers keep-alives, without effect, and nothing else."""
        self.watch_delay: float | None = 0.0
        """How late the watch tells changes; None: it tells none."""
        self.push: Callable[[NameState], None] = lambda _: None
        self.ask_states: Callable[[Callable[[dict[int, NameState]], None]], None] = lambda _: None
        self.seen = SeenInMemory()
        self.lateness: Callable[[Command], float] = lambda _: 0.0
        """How late a command takes effect, without an answer, in a schedule."""
        self._agenda = agenda
        self._backlog: list[Callable[[], None]] = []
        self._run = 0
        engine.bells.append(self._rung)
        self._begin()

    def _begin(self) -> None:
        self.hearing = Hearing(self.clock.now)
        self.leading = Leading()
        self.states = States()
        self.trust = TrustAtOnce(self.seen, self.hearing, self.states)
        self._judging = Judging(self.hearing)
        self.states.watch(lambda state: self.push(state))
        self._unsettled = 0
        self._healed_at = float("-inf")
        self._stepped_at = self.clock.now

    @property
    def state(self) -> NameState | None:
        return self.states.find(NAME)

    def get(self, event: Callable[[], None]) -> None:
        if self.is_stopped:
            self._backlog.append(event)
        else:
            event()

    def stop(self) -> None:
        self.is_stopped = True

    def go_on(self) -> None:
        """Let a process that was stopped run on; one that ended does not come back by that."""
        if self.is_ended:
            return
        self.is_stopped = False
        backlog, self._backlog = self._backlog, []
        for event in backlog:
            event()

    def end(self, *, in_order: bool, of_file: bool = False) -> None:
        """End the process; in order it gives up the lead, when no lease that it granted can run any more.

        With the file as engine that is at once: who leads next begins later.
        """
        lead, left = self.leading.lead, granted_seconds(self.leading, self.clock.now)
        if in_order and lead is not None and self.is_reached:
            self._agenda.after(0.0 if of_file else self.clock.real(left), lambda: self.engine.resign(lead))
        self._run += 1
        self._backlog, self.is_stopped, self.is_ended = [], True, True

    def start(self) -> None:
        """Begin a new process."""
        self.is_stopped = self.is_ended = False
        self._run += 1
        self._begin()
        run, random = self._run, self._agenda.random
        for step in (self._lead, self._look, self._judge):
            self._agenda.after(random.uniform(0, 0.3), lambda step=step: step(run))  # type: ignore[misc]

    # Leading

    def _lead(self, run: int) -> None:
        """Do the next step of leading, and the one after it when that is done."""
        if run != self._run:
            return
        if self.is_stopped:
            self._agenda.after(0.1, lambda: self._lead(run))
            return
        leading, now = self.leading, self.clock.now
        match leading.step(now, may_lead=self._may_lead(now)):
            case Step.STAND:
                self._ask_engine(lambda: (self.engine.lead(self.name),), self._took)
            case Step.RENEW if leading.lead is not None:
                leading.began_round(now)
                self._renew(leading.lead, now)
            case Step.READ:
                self._read(self._has_read)
            case Step.RESIGN if leading.lead is not None:
                lead, left = leading.lead, granted_seconds(leading, now)
                leading.lost(now)
                self._agenda.after(
                    self.clock.real(left), lambda: self._ask_engine(lambda: self.engine.resign(lead), lambda _: None)
                )
                self._again(left + 0.8)
            case _:
                if self.is_reached and self.engine.is_lead_free:
                    leading.vacant(now)
                self._again(min(max(leading.wait_seconds(now), 0.02), 0.2))

    def _may_lead(self, now: float) -> bool:
        is_any = any(state.replicas for state in self.states.all().values())
        return not is_any or self.hearing.hears_anybody(now)

    def _again(self, seconds: float = 0.0) -> None:
        run = self._run
        self._agenda.after(self.clock.real(seconds), lambda: self._lead(run))

    def _took(self, answer: tuple[Lead | None] | None) -> None:
        if answer is None:
            self.leading.failed(self.clock.now)
        else:
            self.leading.took(answer[0], self.clock.now)
        self._again()

    def _renew(self, lead: Lead, began: float) -> None:
        """Read, then keep the lease alive: a keep-alive alone proves nothing."""

        def read(holds: bool | None) -> None:
            if not is_own(holds):
                self._renewed(holds, began)
            elif self.is_at_stuck_member:
                self._renewed(True, began)
            else:
                self._ask_engine(lambda: self.engine.renew(lead), lambda kept: self._renewed(kept, began))

        self._ask_engine(lambda: self.engine.holds_lead(lead), read)

    def _renewed(self, holds: bool | None, began: float) -> None:
        now = self.clock.now
        if holds and now - began < ATTEMPT_SECONDS:
            self.leading.renewed(valid_until(began), now)
        elif holds is False:
            self.leading.lost(now)
        else:
            self.leading.failed(now)
        self._again()

    def _has_read(self, is_read: bool) -> None:
        if is_read:
            self.leading.has_read()
        else:
            self.leading.failed(self.clock.now)
        self._again()

    # Reading

    def _look(self, run: int) -> None:
        if run != self._run:
            return
        self._agenda.after(self.clock.real(POLL_SECONDS), lambda: self._look(run))
        if not self.is_stopped:
            self._read(lambda _: None)

    def _rung(self) -> None:
        """Hear a change, unless the watch is silent; the poll finds it then."""
        if self.watch_delay is not None and self.is_reached:
            run = self._run
            delay = self._agenda.random.uniform(0.001, 0.015) + self.watch_delay
            self._agenda.after(
                delay, lambda: self.get(lambda: self._read(lambda _: None) if run == self._run else None)
            )

    def _read(self, done: Callable[[bool], None]) -> None:
        began = self.clock.now

        def take(answer: tuple[int, Any] | None) -> None:
            if answer is not None and (self.states.read_at is None or began >= self.states.read_at):
                self.states.begin_read()
                self.states.take_all(*answer, began)
                at_once(self.trust.took(began))
            done(answer is not None)

        self._ask_engine(lambda: (self.engine.revision, self.engine.names()), take)

    def _ask_engine(
        self,
        ask: Callable[[], object],
        take: Callable[..., None],
        *,
        lateness: float = 0.0,
        settled: Callable[[], None] = lambda: None,
    ) -> None:
        """Ask; the answer comes later, or None does after the controller has given up, whatever happened.

        `settled` is called when it has happened, or never will.
        """
        random, run = self._agenda.random, self._run

        def by_chance(likelihood: float) -> bool:
            return random.random() < likelihood and not self.engine.is_healed

        def mine(answer: object) -> None:
            self.get(lambda: take(answer) if run == self._run else None)

        late = lateness > 0 or by_chance(0.02)
        arrives = lateness or (random.uniform(0.5, 8.0) if late else random.uniform(0.001, 0.01))
        is_lost = by_chance(0.005)
        if not self.is_reached or self.is_at_stuck_member or not self.engine.has_quorum or is_lost:
            settled()
            self._agenda.after(ATTEMPT_SECONDS, lambda: mine(None))
            return
        restored = self.engine.restored

        def happen() -> None:
            settled()
            if self.engine.restored != restored:
                return  # the engine was ended before it was restored, with all that was asked of it
            if not self.engine.has_quorum and not late:
                mine(None)
                return
            answer = ask()
            if not late:
                self._agenda.after(random.uniform(0.001, 0.01), lambda: mine(answer))

        self._agenda.after(arrives, happen)
        if late:
            self._agenda.after(ATTEMPT_SECONDS, lambda: mine(None))

    # Judging

    def _judge(self, run: int) -> None:
        if run != self._run:
            return
        self._agenda.after(self.clock.real(0.25), lambda: self._judge(run))
        if self.is_stopped:
            return
        now = self.clock.now
        if now - self._stepped_at > 1.0:
            self.hearing.woke(now)
        self._stepped_at = now
        at_once(self.trust.review(now))
        if not self.leading.is_leading(now):
            return
        states = {} if self.trust.is_set_back(NAME) else self.states.all()
        if self.hearing.hears_anybody(now):
            for election in self._judging.step(states, now):
                self.command(election, lambda *_: None)
        if now - self._healed_at >= HEAL_SECONDS and self.trust.is_set_back(NAME):
            self._healed_at = now
            self.ask_states(self._heal)

    def _heal(self, told: dict[int, NameState]) -> None:
        heard = {each.id: each.life for each in self.hearing.heard(NAME, self.clock.now)}
        command = healing(self.state, told, heard, self.hearing.newest(NAME))
        if command is not None:
            self.command(command, lambda outcome, _: self.trust.trust(NAME) if outcome is Outcome.DONE else None)

    @property
    def is_unsettled(self) -> bool:
        """Whether it does not know what became of a command."""
        return self._unsettled > 0

    def alive(self) -> tuple[Candidate, ...]:
        return self.hearing.alive(NAME, self.clock.now)

    @property
    def newest(self) -> View:
        """The newest view that may have been told, as far as this controller knows."""
        return self.trust.newest(NAME) if self.states.read_at is not None else (1 << 62, 0)

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
        told = state if message.wants_state or state.view > message.known else None
        grant = self._grant(state, message)
        return Heard(self.number, sent_at, self.leading.is_leading(now), grant, state.epoch, told)

    def _grant(self, state: NameState, message: SendHeartbeat) -> float:
        is_master = state.epoch == message.epoch and state.master == MasterLife(message.broker_id, message.life)
        if not is_master or must_not_grant(self.is_unsettled, self.trust.is_set_back(NAME)):
            return 0.0
        return granted(self.leading, self.clock.now)

    def pushed(self, state: NameState) -> Heard:
        """Return what is pushed to replicas: a state, and no grant."""
        return Heard(self.number, float("-inf"), self.leading.is_leading(self.clock.now), state=state)

    def command(self, command: Command, take: Callable[[Outcome, NameState | None], None]) -> None:
        """Have a command decided; `take` gets what is to be answered."""
        needs_lead = isinstance(command, Elect | AcceptLoss)
        lead = self.leading.lead if self.leading.is_leading(self.clock.now) else None
        if needs_lead and lead is None:
            take(Outcome.ASK_ANOTHER, None)
            return
        try:
            newest = self.trust.newest(NAME)
        except Refused:
            take(Outcome.ASK_ANOTHER, None)
            return

        def ask() -> tuple[Outcome, NameState | None]:
            if needs_lead and lead is not None and not may_elect(self.engine, lead):
                return Outcome.ASK_ANOTHER, None
            try:
                return Outcome.DONE, self.engine.decide(command, self.name, newest)
            except Refused as refused:
                is_told = refused.code is not ResponseCode.CONTROLLER_NOT_LEADER
                return (Outcome.REFUSED, self.engine.state) if is_told else (Outcome.ASK_ANOTHER, None)

        def settled() -> None:
            self._unsettled -= 1

        def answer(decided: tuple[Outcome, NameState | None] | None) -> None:
            outcome, state = decided or (Outcome.ASK_ANOTHER, None)
            if state is not None and (self.state is None or state.view > self.state.view):
                self.states.take(NAME, self.engine.names()[NAME])
            take(outcome, state)

        self._unsettled += 1
        self._ask_engine(ask, answer, lateness=self.lateness(command), settled=settled)


def at_once(work: Coroutine[Any, Any, object]) -> None:
    """Run what waits for nothing."""
    try:
        work.send(None)
    except StopIteration:
        return
    raise AssertionError("it waits")


def _is_registered(state: NameState, message: SendHeartbeat) -> bool:
    return message.broker_id in state.replicas and state.replicas[message.broker_id].life == message.life


def is_own(read: bool | None) -> bool:
    """Tell whether the read before a keep-alive showed the lead as own."""
    return bool(read)


def valid_until(began: float) -> float:
    """Return until when a renewal that began then lets a controller lead."""
    return began + VALID_SECONDS


def granted(leading: Leading, now: float) -> float:
    return leading.grant(now) / 1000


def granted_seconds(leading: Leading, now: float) -> float:
    """Return how long a controller that ends keeps the lead."""
    return leading.granted_seconds(now)


def must_not_grant(is_unsettled: bool, is_set_back: bool) -> bool:
    """Tell whether no lease may be granted for a name."""
    return is_unsettled or is_set_back


def may_elect(engine: Engine, lead: Lead) -> bool:
    """Tell whether an election is written: the transaction compares the text of the leader key."""
    return engine.leader[0] == lead.text
