"""What became of each dead letter, written so that a kill loses nothing (redrive/README.md#exact-outcomes).

::

    intents.jsonl   the ids of the copies, on disk before they are sent
    journal.jsonl   the outcome of each message; a later line of the same message replaces the earlier one
    outcomes.jsonl, outcomes.csv   one line per message, written at the end of a run
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple

import msgspec
from msgspec import Struct

from broker_core.csv_text import guarded
from broker_core.job_folder import JobFolder
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.structs import decoded

INTENTS: Final = "intents.jsonl"
JOURNAL: Final = "journal.jsonl"
_COLUMNS: Final = (
    "at", "outcome", "message_id", "keys", "cause", "broker", "queue_id", "offset", "topic", "target_broker",
    "target_queue_id", "target_offset", "copy_id", "why",
)  # fmt: skip

OutcomeWord = Literal["redriven", "failed", "skipped", "unknown"]
"""`failed`: no copy is stored; `unknown`: one was sent, and nobody could say whether it is."""


class Source(NamedTuple):
    """The place of a dead letter."""

    broker: str
    queue_id: int
    offset: int


@decoded
class Outcome(Struct, frozen=True, kw_only=True):
    """What became of one dead letter."""

    at: str
    broker: str
    queue_id: int
    offset: int
    message_id: str
    keys: list[str]
    cause: str | None
    outcome: OutcomeWord
    topic: str | None = None
    """Where the copy went, or would have gone."""
    target_broker: str | None = None
    target_queue_id: int | None = None
    target_offset: int | None = None
    copy_id: str | None = None
    """Of the copy; of the earlier copy if it was skipped; if it is unknown, of the one that may be stored."""
    why: str | None = None

    @property
    def source(self) -> Source:
        """The place of the dead letter."""
        return Source(self.broker, self.queue_id, self.offset)


@decoded
class Intent(Struct, frozen=True, kw_only=True):
    """A copy that is about to be sent."""

    letter: Outcome
    """The outcome if the copy turns out to be stored; its place is then added."""
    topic: str
    copy_id: str


class Journal:
    """The outcomes of all runs of a job."""

    def __init__(self, folder: JobFolder) -> None:
        """Read what earlier runs have written."""
        self._folder = folder
        self.outcomes: dict[Source, Outcome] = {each.source: each for each in folder.lines(JOURNAL, Outcome)}

    def counts(self) -> Counter[str]:
        """Return how many messages have each outcome."""
        return Counter(each.outcome for each in self.outcomes.values())

    def is_ended(self, source: Source) -> bool:
        """Return whether a run has nothing left to do for a dead letter; what failed is tried again by a later one.

        Of one that is unknown a copy may be stored: it is not sent before a later run has found out.
        """
        known = self.outcomes.get(source)
        return known is not None and known.outcome != "failed"

    def is_unknown(self, source: Source) -> bool:
        """Return whether an earlier run could not find out if the copy of a dead letter is stored."""
        known = self.outcomes.get(source)
        return known is not None and known.outcome == "unknown"

    def open_intents(self) -> list[Intent]:
        """Return the copies that an earlier run may have stored without having noted it."""
        intents = {each.letter.source: each for each in self._folder.lines(INTENTS, Intent)}
        return [each for source, each in intents.items() if self._is_open(source, each)]

    def _is_open(self, source: Source, intent: Intent) -> bool:
        known = self.outcomes.get(source)
        # Earlier versions noted an unknown outcome as failed, with the id of the copy.
        return known is None or (known.outcome in ("failed", "unknown") and known.copy_id == intent.copy_id)

    def intend(self, intents: Sequence[Intent]) -> None:
        """Note what is about to be sent; it is on disk when this returns."""
        if intents:
            self._folder.append_lines(INTENTS, intents)

    def end(self, outcomes: Sequence[Outcome]) -> None:
        """Note outcomes; they are on disk when this returns."""
        if outcomes:
            self._folder.append_lines(JOURNAL, outcomes)
            self.outcomes.update((each.source, each) for each in outcomes)

    def write_results(self) -> None:
        """Write one line per message, in the order in which they ended."""
        ended = sorted(self.outcomes.values(), key=lambda each: each.at)
        _write(self._folder, "outcomes.jsonl", (msgspec.json.encode(each) + b"\n" for each in ended))
        with (self._folder.path / "outcomes.csv.part").open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(_COLUMNS)
            rows.writerows([_cell(getattr(each, name)) for name in _COLUMNS] for each in ended)
        (self._folder.path / "outcomes.csv.part").replace(self._folder.path / "outcomes.csv")


def stored_at(outcome: Outcome, queue: MessageQueue, offset: int) -> Outcome:
    """Return the outcome with the place of the copy."""
    return msgspec.structs.replace(
        outcome,
        outcome="redriven",
        topic=queue.topic,
        target_broker=queue.broker_name,
        target_queue_id=queue.queue_id,
        target_offset=offset,
    )


def _write(folder: JobFolder, name: str, lines: Iterable[bytes]) -> None:
    beside = folder.path / f"{name}.part"
    with beside.open("wb") as file:
        file.writelines(lines)
    beside.replace(folder.path / name)


def _cell(value: object) -> object:
    """Return a value for a CSV file."""
    text = " ".join(value) if isinstance(value, list) else value
    return guarded(text) if isinstance(text, str) else text
