"""The whole run of a job, from the files that its program writes: its rates over time, and how far each queue is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final, TypeVar

import msgspec
from msgspec import Meta, Struct

from broker_core.structs import decoded
from console.fields import moment
from console.moments import Moment

MOST_SAMPLES: Final = 500
_Line = TypeVar("_Line", bound=Struct)


class _Totals(Struct, frozen=True):
    read: int | None = 0
    written: int = 0


@decoded
class _ProgressLine(Struct, frozen=True):
    at: str
    counters: _Totals = _Totals()


class _Source(Struct, frozen=True):
    broker: str
    queue_id: int
    begin: int
    end: int


class _Lane(Struct, frozen=True):
    number: int
    source: _Source
    chunks: Annotated[list[tuple[int, int, int]], Meta(description="Number, begin and end of each.")]


@decoded
class _Plan(Struct, frozen=True):
    lanes: list[_Lane] = []


@decoded
class _ChunkLine(Struct, frozen=True):
    chunk: int
    lane: int
    next: int
    state: str = "partial"
    written: int = 0


class ProgressSample(Struct, frozen=True, kw_only=True):
    """The totals of a job at one moment."""

    at: Moment
    read: int
    written: int


class QueueProgress(Struct, frozen=True, kw_only=True, rename={"begin": "from", "end": "to"}):
    """How far the job is in one source queue."""

    broker: str
    queue_id: int
    begin: int
    end: int
    next: Annotated[int, Meta(description="The offset at which a resumed run continues this queue.")]
    written: int


class JobProgressShape(Struct, frozen=True, kw_only=True):
    """The rates of a job over its whole run, and its checkpoints."""

    samples: Annotated[list[ProgressSample], Meta(description="Totals since the first run, oldest first; at most 500.")]
    queues: Annotated[list[QueueProgress], Meta(description="Empty for a job that has no plan yet, or makes none.")]
    saved_at: Annotated[Moment | None, Meta(description="When the last checkpoint was written; null for none.")]


def history_of(folder: Path) -> JobProgressShape:
    """Read the files of a job; those that its program has not written yet count as empty."""
    checkpoints = folder / "checkpoint.jsonl"
    saved = datetime.fromtimestamp(checkpoints.stat().st_mtime, UTC) if checkpoints.exists() else None
    return JobProgressShape(
        samples=_samples(list(_lines(folder / "progress.jsonl", _ProgressLine))),
        queues=_queues(_plan(folder / "plan.json"), _lines(checkpoints, _ChunkLine)),
        saved_at=moment(saved) if saved else None,
    )


def _samples(lines: Sequence[_ProgressLine]) -> list[ProgressSample]:
    """Return what is known at even distances, always with the last one: a chart has no more points."""
    known = [
        ProgressSample(at=line.at, read=line.counters.read, written=line.counters.written)
        for line in lines
        if line.counters.read is not None
    ]
    step = -(-len(known) // MOST_SAMPLES) or 1
    return known[::-1][::step][::-1]


def _queues(plan: _Plan, lines: Iterator[_ChunkLine]) -> list[QueueProgress]:
    latest: dict[int, _ChunkLine] = {}
    for line in lines:
        known = latest.get(line.chunk)
        if known is None or (known.state == "done", known.next) <= (line.state == "done", line.next):
            latest[line.chunk] = line
    return [_queue(lane, latest) for lane in plan.lanes]


def _queue(lane: _Lane, latest: dict[int, _ChunkLine]) -> QueueProgress:
    """Chunks of a lane run one after another: the first that has not ended says where a run continues."""
    source = lane.source
    known = [latest.get(number) for number, _, _ in lane.chunks]
    begun = [line for line in known if line is not None]
    reached = source.end
    for (_, begin, _), line in zip(lane.chunks, known, strict=True):
        if line is None or line.state != "done":
            reached = begin if line is None else line.next
            break
    return QueueProgress(
        broker=source.broker,
        queue_id=source.queue_id,
        begin=source.begin,
        end=source.end,
        next=reached,
        written=sum(line.written for line in begun),
    )


def _plan(file: Path) -> _Plan:
    try:
        return msgspec.json.decode(file.read_bytes(), type=_Plan)
    except FileNotFoundError:
        return _Plan()


def _lines(file: Path, kind: type[_Line]) -> Iterator[_Line]:
    """Yield the whole lines of a file; a kill may have cut off any of them."""
    decoder = msgspec.json.Decoder(kind)
    try:
        with file.open("rb") as opened:
            for line in opened:
                try:
                    yield decoder.decode(line)
                except msgspec.DecodeError:
                    continue
    except FileNotFoundError:
        return
