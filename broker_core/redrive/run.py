"""One run of a redrive: plan, send in windows at the wanted rate, report (redrive/README.md)."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
from msgspec import Struct

from broker_core.client.admin import Admin
from broker_core.client.admin.placed import PlacedMessage
from broker_core.client.config import ClientConfig
from broker_core.client.producer import Producer
from broker_core.client.session import Session
from broker_core.job_folder import JobFolder, Progress, say
from broker_core.protocol.dead_letters import DeadLetterFilter, cause_of
from broker_core.redrive.copies import outcome_of
from broker_core.redrive.journal import Journal, Outcome, Source
from broker_core.redrive.pace import Pace
from broker_core.redrive.reading import Range, letters, ranges_now
from broker_core.redrive.request import BadRequest, RedriveRequest
from broker_core.redrive.sending import Sender
from broker_core.structs import decoded

OK: Final = 0
PARTIAL: Final = 3
PAUSED: Final = 75
CANCELLED: Final = 130
WINDOW: Final = 32
"""Copies that are on the way at the same time: what a kill leaves to be looked up."""
_MOST_FAILURES: Final = 100
_TELL_EVERY_S: Final = 1.0
_LISTEN_EVERY_S: Final = 0.25


@decoded
class Plan(Struct, frozen=True, kw_only=True):
    """What a job covers, fixed when it begins."""

    request_hash: str
    ranges: list[Range]
    planned: int
    """How many dead letters the filter chose, with those among them that other jobs have sent."""
    read: int | None = None
    """How many are read to find these; None in a plan of an older release."""


class ProgramResult(Struct, frozen=True, kw_only=True):
    """The outcome of a run."""

    exit_code: int
    reason: str


@dataclass(slots=True)
class Redrive:
    """The state of one run."""

    folder: JobFolder
    request: RedriveRequest
    stop: asyncio.Event
    journal: Journal = field(init=False)
    progress: Progress = field(init=False)
    counters: dict[str, int] = field(init=False)
    pace: Pace = field(init=False)
    is_paused: bool = False
    _filter: DeadLetterFilter = field(init=False)
    _earlier: dict[tuple[Source, str], str] = field(init=False)
    _skipped: list[Outcome] = field(default_factory=list)
    """Not noted yet: those of a window are written together."""
    _matched: int = 0
    """How many this run chose; what of them still has no outcome when it is stopped was not dealt with."""
    _chosen_in_all: int = 0
    """By the plan."""
    _told_at: float = 0.0
    _parent: int = field(default_factory=os.getppid)

    def __post_init__(self) -> None:
        """Read what earlier runs have done."""
        self.journal, self.progress = Journal(self.folder), Progress(self.folder)
        self.pace = Pace(self.request.asked.limits.messages_per_second, self.stop)
        self.counters = dict.fromkeys(("planned", "filtered", "damaged", "bytes"), 0)
        self._filter = self.request.asked.filter.as_filter()
        self._earlier = {
            (Source(each.broker, each.queue_id, each.offset), each.message_id): each.copy_id
            for each in self.request.redriven
        }

    async def run(self) -> ProgramResult:
        """Send every chosen dead letter that no earlier run has sent; raise BadRequest or ClientError."""
        place = self.request.source
        session = Session(
            ClientConfig(place.name_servers, address_map=place.address_map, credentials=place.account, tls=place.tls)
        )
        async with session, Producer(session, "GANTRY_REDRIVE") as producer:
            admin = Admin(session)
            sender = Sender(admin, producer, self.journal, self.request, self.stop)
            plan = await self._plan(admin)
            self._chosen_in_all = plan.planned
            self.counters["planned"] = plan.planned if plan.read is None else plan.read
            if self.request.attempt > 1:
                say(f"{await sender.settle()} copies of an earlier run were found stored")
            try:
                await self._send_all(admin, sender, plan)
            finally:
                self._report()
        return self._result()

    async def listen(self) -> None:
        """Do what the user wants while the run goes on, until cancelled: another rate, or a pause."""
        while True:
            control = self.folder.control
            if isinstance(control.messages_per_second, int):
                self.pace.per_second = control.messages_per_second
            if control.pause:
                self.is_paused = True
                self.stop.set()
            await asyncio.sleep(_LISTEN_EVERY_S)

    async def _plan(self, admin: Admin) -> Plan:
        kept = self.folder.find_json("plan.json")
        if kept is not None:
            plan = msgspec.convert(kept, Plan)
            if plan.request_hash != self.request.request_hash:
                raise BadRequest("the folder of the job belongs to another request")
            return plan
        asked = self.request.asked
        ranges, chosen, unsent, seen, read = await ranges_now(admin, asked.group), 0, 0, 0, 0
        async for placed in letters(admin, asked.group, ranges):
            seen += 1
            if self._filter.chooses(placed.message):
                # A run ends with the last one that it chooses.
                chosen, read = chosen + 1, seen
                unsent += self._copy_of_earlier(placed) is None
            self._tell("counting")
            if unsent == asked.limits.max_messages or self._is_stopping():
                break
        plan = Plan(request_hash=self.request.request_hash, ranges=ranges, planned=chosen, read=read)
        if not self._is_stopping():
            self.folder.write_json("plan.json", msgspec.to_builtins(plan))
        return plan

    async def _send_all(self, admin: Admin, sender: Sender, plan: Plan) -> None:
        window: list[PlacedMessage] = []
        async for placed in self._chosen(admin, plan):
            window.append(placed)
            if len(window) >= min(WINDOW, self.pace.window):
                await self._send(sender, window)
                window = []
            if self._is_stopping():
                return
        await self._send(sender, window)

    async def _send(self, sender: Sender, window: list[PlacedMessage]) -> None:
        self.journal.end(self._skipped)
        self._skipped = []
        if window and await self.pace.wait_for(len(window)):
            await sender.send(window)
            self.counters["bytes"] += sum(len(each.message.body) for each in window)
        self._tell("running")

    async def _chosen(self, admin: Admin, plan: Plan) -> AsyncIterator[PlacedMessage]:
        """Yield the dead letters that are still to be sent, and note those that another job has sent."""
        async for placed in letters(admin, self.request.asked.group, plan.ranges):
            if self._matched == plan.planned or self._is_stopping():
                return
            if not self._filter.chooses(placed.message):
                self.counters["filtered"] += 1
                continue
            self._matched += 1
            if self.journal.is_ended(_source(placed)):
                continue
            earlier = self._copy_of_earlier(placed)
            if earlier is None:
                yield placed
            else:
                self._skipped.append(_skip(placed, earlier))

    def _copy_of_earlier(self, placed: PlacedMessage) -> str | None:
        """Return the id of the copy that another job has sent, or None."""
        return self._earlier.get((_source(placed), placed.message.message_id))

    def _is_stopping(self) -> bool:
        if os.getppid() != self._parent:
            # The launcher has ended: another one continues the job.
            self.stop.set()
        return self.stop.is_set()

    def _totals(self) -> dict[str, int]:
        counts = self.journal.counts()
        matched = counts.total()
        return self.counters | {
            "read": self.counters["filtered"] + matched, "matched": matched,
            "written": counts["redriven"], "failed": counts["failed"], "skipped": counts["skipped"],
            "unknown": counts["unknown"],
        }  # fmt: skip

    def _tell(self, phase: str, *, at_once: bool = False) -> None:
        if at_once or time.monotonic() - self._told_at >= _TELL_EVERY_S:
            self._told_at = time.monotonic()
            self.progress.write(self._totals(), phase=phase, done=at_once)

    def _report(self) -> None:
        self._tell("done", at_once=True)
        self.journal.write_results()
        failed = [each for each in self.journal.outcomes.values() if each.outcome in ("failed", "unknown")]
        report: dict[str, Any] = {
            "summary": self._sentence(),
            "outcomes": dict(self.journal.counts()),
            "failures": msgspec.to_builtins(failed[:_MOST_FAILURES]),
        }
        self.folder.write_json("report.json", report)

    def _result(self) -> ProgramResult:
        if self._is_stopping():
            code, word = (PAUSED, "paused") if self.is_paused else (CANCELLED, "stopped")
            return ProgramResult(exit_code=code, reason=f"{word}; {self._sentence()}")
        totals = self._totals()
        code = PARTIAL if totals["failed"] or totals["unknown"] else OK
        return ProgramResult(exit_code=code, reason=self._sentence())

    def _sentence(self) -> str:
        totals = self._totals()
        others = {
            "failed": "failed",
            "unknown": "sent without learning whether they are stored",
            "skipped": "were sent again before and skipped",
        }
        rest = "".join(f", {totals[name]:,} {what}" for name, what in others.items() if totals[name])
        return f"{totals['written']:,} of {self._chosen_in_all:,} dead letters redriven{rest}; the originals are kept"


def _source(placed: PlacedMessage) -> Source:
    return Source(placed.broker_name, placed.message.queue_id, placed.message.queue_offset)


def _skip(placed: PlacedMessage, earlier: str) -> Outcome:
    failed = outcome_of(placed, cause_of(placed.message).text)
    return msgspec.structs.replace(failed, outcome="skipped", copy_id=earlier, why="it was sent again before")
