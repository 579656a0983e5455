"""What clients did to a group of replicas, and what became of it: the record that checks are made on.

Times are seconds of one monotonic clock. A record is also written to a file as it grows, for whoever looks into a test
that failed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

Queue = tuple[str, int]
"""Topic and queue id; all replicas have one broker name."""


class Outcome(StrEnum):
    """What a client knows of a send."""

    ACKNOWLEDGED = "acknowledged"
    """Answered 0."""
    STORED = "stored"
    """Answered 10, 11 or 12: on the master, and not known to be elsewhere."""
    UNCERTAIN = "uncertain"
    """No answer, or one that does not tell whether it is stored."""
    REFUSED = "refused"
    """Not stored."""


@dataclass(frozen=True, slots=True)
class Send:
    """One attempt to send; attempts of one message have one text."""

    client: str
    text: str
    queue: Queue
    outcome: Outcome
    began: float
    ended: float
    queue_offset: int | None = None
    log_offset: int | None = None
    key: str = ""
    """Of the register whose new value this is, if it is one."""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Read:
    """One message that a reader was given. `replica` is the one it was read from, if the reader chose it."""

    client: str
    text: str
    queue: Queue
    queue_offset: int
    log_offset: int
    at: float
    replica: str = ""


@dataclass(frozen=True, slots=True)
class Work:
    """One message in the hands of a member of an orderly group."""

    client: str
    text: str
    queue: Queue
    queue_offset: int
    began: float
    ended: float


@dataclass(frozen=True, slots=True)
class Commit:
    """A group's offset that a broker took (`is_read` false), or told (true)."""

    client: str
    queue: Queue
    offset: int
    is_read: bool
    began: float
    ended: float


@dataclass(frozen=True, slots=True)
class Fault:
    """What the nemesis did, or a change of master that was seen (`kind` "switch")."""

    kind: str
    target: str
    began: float
    ended: float


Operation = Send | Read | Work | Commit | Fault


@dataclass
class Record:
    """All operations of a test, in the order of their ends."""

    file: Path | None = None
    now: Callable[[], float] = time.monotonic
    sends: list[Send] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)
    works: list[Work] = field(default_factory=list)
    commits: list[Commit] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def add(self, operation: Operation) -> None:
        """Keep one operation."""
        match operation:
            case Send():
                self.sends.append(operation)
            case Read():
                self.reads.append(operation)
            case Work():
                self.works.append(operation)
            case Commit():
                self.commits.append(operation)
            case Fault():
                self.faults.append(operation)
        if self.file is not None:
            with self.file.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(_tree(operation)) + "\n")

    def of(self, topic: str) -> Record:
        """Return what concerns one topic."""
        part = Record(faults=self.faults)
        part.sends = [send for send in self.sends if send.queue[0] == topic]
        part.reads = [read for read in self.reads if read.queue[0] == topic]
        part.works = [work for work in self.works if work.queue[0] == topic]
        part.commits = [commit for commit in self.commits if commit.queue[0] == topic]
        return part

    def acknowledged(self) -> list[Send]:
        """Return the sends that were answered 0."""
        return [send for send in self.sends if send.outcome is Outcome.ACKNOWLEDGED]

    def switches(self) -> list[float]:
        """Return when each change of master was seen."""
        return [fault.ended for fault in self.faults if fault.kind == "switch"]


def _tree(operation: Operation) -> dict[str, Any]:
    return {"operation": type(operation).__name__, **asdict(operation)}
