"""What has to hold, looked at after every event that can break it (broker/replication/README.md#invariants)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from broker_core.protocol.bodies.controller import MasterLife, NameState
from broker_core.protocol.ha_epochs import EpochStart

NO_QUEUE = -1
"""The queue of what is in the log and no record."""


class Violation(AssertionError):
    """An invariant does not hold."""


@dataclass(frozen=True, slots=True)
class Reign:
    """What the log of a master held when it began."""

    epoch: int
    node: int
    log: Sequence[Any]


class Checks:
    """Everything that anybody was told or shown, and what is compared with it."""

    def __init__(self) -> None:
        self.sent: defaultdict[int, int] = defaultdict(int)  # message → how often it was sent
        self.stored: defaultdict[int, int] = defaultdict(int)
        self.acked: dict[int, Any] = {}  # log offset → first unit of a record answered 0
        self.shown: dict[int, Any] = {}  # log offset → unit, for all that was ever confirmed anywhere
        self.written: dict[tuple[int, int], Any] = {}  # (epoch, log offset) → unit
        self.masters: dict[int, MasterLife] = {}  # epoch → who was elected
        self.reigns: list[Reign] = []
        self.seen_by_readers: dict[tuple[int, int], int] = {}  # (queue, queue offset) → message
        self.told: dict[tuple[int, int], str] = {}  # the view that a replica was told → its change
        self.is_loss_accepted = False
        self.state: NameState | None = None
        self.logs_of_set: Callable[[], list[tuple[int, Sequence[Any]]]] = list
        """The logs of the members of the set that run in their registered life."""

    # The store

    def put(self, node: int, at: int, units: Sequence[Any], last: EpochStart) -> None:
        for offset, unit in enumerate(units, at):
            _check(unit.epoch == last.number, f"I7: node {node} writes {unit} in epoch {last}")
            known = self.written.setdefault((unit.epoch, offset), unit)
            _check(known == unit, f"I4: node {node} writes {unit} at {offset}, where {known} is")
        message = units[0].message
        self.stored[message] += 1
        _check(self.stored[message] <= self.sent[message], f"I13: {message} is stored more often than sent")

    def copied(self, node: int, at: int, unit: Any, last: EpochStart) -> None:
        _check(unit.epoch == last.number, f"I7: node {node} copies {unit} to {at} in epoch {last}")
        _check(self.written.get((unit.epoch, at)) == unit, f"I7, I13: nobody wrote {unit} at {at}; node {node} has it")

    def rolled(self, node: int, epochs: Sequence[EpochStart], new: EpochStart, end: int) -> None:
        _check(new.start == end or not end, f"I7: {new} begins beside the end {end} of node {node}")
        _check(new.start % 2 == 0, f"I7: {new} of node {node} begins inside a record")
        rises = not epochs or (new.number > epochs[-1].number and new.start > epochs[-1].start)
        _check(rises, f"I7: {new} behind {epochs[-1:]} of node {node}")

    def confirmed(self, node: int, log: Sequence[Any], before: int, upto: int) -> None:
        _check(upto >= before, f"I6: the confirm offset of node {node} falls from {before} to {upto}")
        _check(upto % 2 == 0, f"I6: node {node} confirms {upto}, inside a record")
        _check(upto <= len(log), f"I6: node {node} confirms {upto}, its log ends at {len(log)}")
        for at in range(before, upto):
            if log[at] is None:  # retention has removed it
                continue
            known = self.shown.setdefault(at, log[at])
            _check(known == log[at], f"I2, I5: node {node} shows {log[at]} at {at}, where {known} was seen")

    def read(self, node: int, queue: int, queue_offset: int, message: int) -> None:
        """Note what a reader sees."""
        if self.is_loss_accepted:
            return
        known = self.seen_by_readers.setdefault((queue, queue_offset), message)
        _check(
            known == message, f"I2: node {node} shows {message} at {queue_offset} of {queue}, where {known} was seen"
        )

    def opened(self, node: int, log: Sequence[Any], confirm: int) -> None:
        if not self.is_loss_accepted:  # else this may be what was given up
            self.confirmed(node, log, 0, confirm)
        self.numbered(node, log)

    def numbered(self, node: int, log: Sequence[Any]) -> None:
        counts = self._next_at_begin(log)
        stored_at = float("-inf")
        for unit in log:
            if unit is not None and unit.half:
                _check(unit.stored_at >= stored_at, f"F5: node {node} has {unit} behind one of {stored_at}")
                stored_at = unit.stored_at
                number = counts.get(unit.queue, unit.queue_offset if self.is_loss_accepted else 0)
                _check(unit.queue_offset == number, f"I3: node {node} has {unit} where queue offset {number} is due")
                counts[unit.queue] = number + 1

    def _next_at_begin(self, log: Sequence[Any]) -> dict[int, int]:
        """Return the next offset of each queue where a log begins: retention removed only what was confirmed."""
        if self.is_loss_accepted:
            return {}
        begin = next((at for at, unit in enumerate(log) if unit is not None), 0)
        gone = (self.shown.get(at) for at in range(begin))
        return {unit.queue: unit.queue_offset + 1 for unit in gone if unit is not None and unit.queue != NO_QUEUE}

    # Decisions

    def seen(self, state: NameState) -> None:
        """Note what a replica was told: no two states may have one number, also after a restore."""
        known = self.told.setdefault(state.view, state.change)
        _check(known == state.change, f"I14: {state.view} was told as change {known} and as {state.change}")

    def decided(self, before: NameState | None, after: NameState, command: str) -> None:
        self.state = after
        if before is not None:
            _check(after.version > before.version, f"I14: version {before.version} → {after.version}")
            _check(after.epoch >= before.epoch, f"I14: epoch {before.epoch} → {after.epoch}")
            if after.in_sync != before.in_sync and command != "Heal":
                for member, log in self.logs_of_set():
                    self.has_all(member, log, f"I10: {member}, in the set {after.in_sync},")
                _check(command != "Elect", f"I9: an election changed the set {before.in_sync} → {after.in_sync}")
        _check(
            set(after.in_sync) <= after.replicas.keys(), f"I9: set {after.in_sync}, replicas {sorted(after.replicas)}"
        )
        if after.master is not None:
            _check(after.master.id in after.in_sync, f"I9: master {after.master}, set {after.in_sync}")
            known = self.masters.get(after.epoch, after.master)
            _check(known == after.master, f"I4: epoch {after.epoch} is {known}'s and {after.master}'s")

    def took_over(self, node: int, me: MasterLife, epoch: int, log: Sequence[Any], *, is_present: bool) -> None:
        known = self.masters.setdefault(epoch, me)
        _check(known == me, f"I4: {me} takes over epoch {epoch}, which is {known}'s")
        self.numbered(node, log)
        if not is_present:  # A late view: it can acknowledge nothing.
            return
        self.has_all(node, log, f"I1: master {node} of epoch {epoch}")
        self.reigns.append(Reign(epoch, node, list(log)))

    def has_all(self, node: int, log: Sequence[Any], who: str) -> None:
        for at, unit in self.acked.items():
            _check(_has_record(log, at, unit), f"{who} lacks {unit} at {at}, which was answered 0")

    def is_whole(self, log: Sequence[Any]) -> bool:
        """Tell whether a log has all that was answered 0."""
        return all(_has_record(log, at, unit) for at, unit in self.acked.items())

    def loss_accepted(self, log: Sequence[Any]) -> None:
        """Expect no more than what a log has; a half record at its end will be cut."""
        self.acked = {at: unit for at, unit in self.acked.items() if _has_record(log, at, unit)}
        whole = log[: len(log) - 1] if log and log[-1] is not None and not log[-1].half else log
        self.shown = {at: unit for at, unit in self.shown.items() if _has(whole, at, unit)}
        self.reigns.clear()
        self.is_loss_accepted = True
        self.seen_by_readers.clear()

    # Answers

    def answered(self, node: int, epoch: int, at: int, unit: Any) -> None:
        for member, log in self.logs_of_set():
            has = _has_record(log, at, unit)
            _check(
                has, f"I10: {node} of epoch {epoch} answers 0 for {unit} at {at}; {member} is in the set and lacks it"
            )
        for reign in self.reigns:
            if reign.epoch > epoch:
                has = _has_record(reign.log, at, unit)
                _check(
                    has,
                    f"I1, I11: {node} of epoch {epoch} answers 0 for {unit}, {reign.node} of {reign.epoch} lacks it",
                )
        self.acked[at] = unit
        self.shown.setdefault(at, unit)


def _has(log: Sequence[Any], at: int, unit: Any) -> bool:
    """Tell whether a log has a unit, or had it until retention removed it."""
    return at < len(log) and (log[at] is None or log[at] == unit)


def _has_record(log: Sequence[Any], at: int, first: Any) -> bool:
    """Tell whether a log has both halves of a record, given the first: a half one at its end will be cut."""
    return at + 1 < len(log) and _has(log, at, first)


def _check(holds: bool, what: str) -> None:
    if not holds:
        raise Violation(what)
