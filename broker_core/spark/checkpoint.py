"""The progress of one chunk of a replay: a task updates it and sends it to the driver; ``checkpoint.jsonl`` stores it.

Lines of older releases lack some of the fields, which take their defaults, and have others, which are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

import msgspec

from broker_core.job_folder import COUNTERS
from broker_core.structs import decoded

COUNTED: Final = tuple(name for name in COUNTERS if name != "planned")


class Failure(msgspec.Struct, frozen=True):
    """A message that no broker accepts."""

    source: str
    """``cluster/broker/topic/queue/offset``."""
    reason: str


@decoded
class LeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """A message that was not copied; a line of ``failures.jsonl``. No checkpoint has it: these would grow with them."""

    kind: Literal["failed", "damaged"]
    broker: str
    topic: str
    queue_id: int
    queue_offset: int
    log_offset: int | None = None
    """Of a damaged one, if it is known."""
    reason: str


class Damage(msgspec.Struct, frozen=True):
    """A damaged message and its position."""

    broker: str
    topic: str
    queue_id: int
    queue_offset: int
    log_offset: int | None
    """None where it is not known."""
    reason: str

    def __str__(self) -> str:
        return (
            f"the message at offset {self.queue_offset} of queue {self.queue_id} of topic {self.topic} on "
            f"{self.broker} is damaged: {self.reason}"
        )


def left_out_of(damage: Damage) -> LeftOut:
    """Return a damaged message as one that was not copied."""
    return LeftOut(kind="damaged", **msgspec.structs.asdict(damage))


@decoded
class Checkpoint(msgspec.Struct, kw_only=True):
    """The totals of one chunk; `COUNTERS` of the job folder defines how they add up."""

    chunk: int
    lane: int
    state: Literal["partial", "done"] = "partial"
    read: int = 0
    filtered: int = 0
    damaged: int = 0
    matched: int = 0
    written: int = 0
    failed: int = 0
    bytes: int = 0
    next: int
    """The source queue offset up to which every message is processed."""
    target: int
    """The target queue offset after the last copy."""
    targets: list[int] = []
    """With order by key instead the offset in each queue of the target, in the order of the plan."""

    @property
    def is_done(self) -> bool:
        return self.state == "done"

    def is_behind(self, other: Checkpoint) -> bool:
        """Return whether `other` is a later state of the same chunk."""
        return (self.is_done, self.next) < (other.is_done, other.next)

    def resumed(self, *, target: int, targets: list[int]) -> Checkpoint:
        """Return a copy for a run that continues from here."""
        return msgspec.structs.replace(self, target=target, targets=targets)


def sum_counters(checkpoints: Iterable[Checkpoint]) -> dict[str, int]:
    """Return the totals by name."""
    totals = dict.fromkeys(COUNTED, 0)
    for checkpoint in checkpoints:
        for name in COUNTED:
            totals[name] += getattr(checkpoint, name)
    return totals
