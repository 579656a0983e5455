"""What keeps decisions and the lead: linearisable, and not always there, and sometimes older than what it told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from broker_core.controller.commands import Command, Stamp, View
from broker_core.controller.decisions import Kept, Lead
from broker_core.controller.replicas import decide
from broker_core.protocol.bodies.controller import NameState, encode_state
from tests.broker_core.replication.simulation.checks import Checks
from tests.broker_core.replication.simulation.clock import Agenda

NAME = "b"
LEAD_SECONDS = 4.0


@dataclass(frozen=True, slots=True)
class Copy:
    """What an engine held at a moment."""

    state: NameState | None
    revision: int


class Engine:
    """Each command and each renewal takes effect at one moment."""

    def __init__(self, agenda: Agenda, checks: Checks) -> None:
        self.state: NameState | None = None
        self.decided: NameState | None = None
        """What was decided last, also if an older copy was restored since."""
        self.revision = 1
        self.has_quorum = True
        self.is_healed = False
        """Whether no command is late or lost by chance any more."""
        self.leader: tuple[str, float] = ("", 0.0)
        self.bells: list[Callable[[], None]] = []
        """What rings after each change."""
        self.restored = 0
        """How often it was set back."""
        self._text: tuple[NameState, str] | None = None
        self._agenda = agenda
        self._checks = checks
        self._changes = 0

    def decide(self, command: Command, why: str, newest: View = (0, 0)) -> NameState:
        """Carry a command out at this moment; raises Refused."""
        self._changes += 1
        before = self.state
        after = decide(before, command, Stamp(str(self._changes), why, 0), newest)
        if after is not before:
            self.state = self.decided = after
            self.revision += 1
            self._checks.decided(before, after, type(command).__name__)
            for ring in self.bells:
                ring()
        return after

    def names(self) -> dict[str, Kept]:
        """Return what is kept for each name, as a read does."""
        if self.state is None:
            return {}
        if self._text is None or self._text[0] is not self.state:
            self._text = self.state, encode_state(self.state).decode()
        return {NAME: Kept(self._text[1], self.revision)}

    def copy(self) -> Copy:
        return Copy(self.state, self.revision)

    def restore(self, copy: Copy) -> None:
        """Become what it was when it was copied; nobody leads then."""
        self.state, self.revision, self.leader = copy.state, copy.revision, ("", 0.0)
        self.restored += 1

    @property
    def is_lead_free(self) -> bool:
        return self.leader[1] <= self._agenda.now

    def holds_lead(self, lead: Lead) -> bool:
        return self.leader[0] == lead.text and not self.is_lead_free

    def lead(self, who: str) -> Lead | None:
        """Take the lead for LEAD_SECONDS if nobody has it."""
        if not self.is_lead_free:
            return None
        self._changes += 1
        self.leader = f"{who} {self._changes}", self._agenda.now + LEAD_SECONDS
        return Lead(who, self.leader[0], None)

    def renew(self, lead: Lead) -> bool:
        """Keep the lead for LEAD_SECONDS more; False if it is another's."""
        if not self.holds_lead(lead):
            return False
        self.leader = lead.text, self._agenda.now + LEAD_SECONDS
        return True

    def resign(self, lead: Lead) -> None:
        if self.leader[0] == lead.text:
            self.leader = ("", 0.0)
