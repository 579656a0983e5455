"""The folder of one job: request, plan, progress and result (spark/README.md#job-folder).

The programs in Spark and the redrive write the same files. Uses no Spark.

::

    request.json       written by the launcher, mode 0600
    control.json       replaced by the launcher while the program runs: pause, and the rate
    plan.json          written once, before anything is sent; a resumed run uses the same plan
    checkpoint.jsonl   a line per finished chunk, on disk before the chunk counts as finished
    progress.jsonl     the complete state, once a second
    log                standard output and standard error
    log.cut            of the launcher, while the program runs: up to where the log is shown
    report.json, …     the results of the run
    result.json        the outcome, written last; tmp/ is deleted at the end of the run
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from broker_core.structs import decoded

COUNTERS: Final = ("planned", "read", "filtered", "damaged", "matched", "written", "failed", "bytes")
"""`planned` is what the job will read; read = filtered + damaged + matched, and matched = written + failed.

`read` is what was looked at: of keys those that an index names, of times also a second on both sides. `written` are
the copies of all runs of the job that are in the target. `bytes` are those of the bodies written, or of the file of an
export; a comparison writes none, and tells what it read."""

NOT_YET_KNOWN: Final = ("filtered", "damaged", "matched")
"""Counters of a program that looks at what was read only when everything is."""

ARTEFACTS: Final = (
    "report.json", "summary.json", "buckets.parquet", "differences.csv", "differences.parquet", "samples.json",
    "missing.jsonl", "failures.jsonl", "outcomes.csv", "outcomes.jsonl", "messages.csv", "messages.jsonl",
    "messages.parquet",
)  # fmt: skip

_RATE_WINDOW_S: Final = 10.0
_SHORTEST_WINDOW_S: Final = 0.5
_TELL_EVERY_S: Final = 10.0
T = TypeVar("T")


def folder_argument(program: str) -> Path:
    """Return the folder of a job on the command line; ends the process, with how it is used, for anything else."""
    parser = argparse.ArgumentParser(description=f"{program}. The console starts it; it is not for the command line.")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="a folder with request.json")
    folder: Path = parser.parse_args().folder
    return folder


def say(text: str) -> None:
    """Write a line into the job's log, which is standard error."""
    at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    sys.stderr.write(f"{at} INFO {text}\n")
    sys.stderr.flush()


class Artefact(msgspec.Struct, frozen=True):
    """A file with results of a run."""

    name: str
    kind: str
    bytes: int


@decoded
class Control(msgspec.Struct, frozen=True):
    """The content of ``control.json``, which the launcher replaces while the program runs."""

    pause: bool = False
    messages_per_second: int | msgspec.UnsetType | None = msgspec.UNSET
    """None is no limit; without it the limit of the request stays."""


@decoded
class ProgressLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line of ``progress.jsonl``."""

    seq: int
    at: str
    phase: str
    counters: dict[str, int | None]
    """By the names of `COUNTERS`; a program may add others. None is unknown."""
    rate: float | None
    """Messages a second over the last ten seconds."""
    eta_ms: int | None
    chunks: tuple[int, int] | msgspec.UnsetType = msgspec.UNSET
    """How many chunks of a replay have ended, and how many there are."""


class JobFolder:
    """The files of a job."""

    def __init__(self, path: Path) -> None:
        """Use an existing folder."""
        self.path = path

    def find_json(self, name: str) -> Any:
        """Return the content of a file of this folder, or None if it does not exist."""
        try:
            return json.loads((self.path / name).read_bytes())
        except FileNotFoundError:
            return None

    @property
    def control(self) -> Control:
        """What the user of the job wants now; raise msgspec.ValidationError if the file is something else."""
        found = self.find_json("control.json")
        return Control() if found is None else msgspec.convert(found, Control)

    def write_json(self, name: str, content: Any) -> None:
        """Write a file atomically; it is on disk when this returns."""
        self._replace(name, json.dumps(content, indent=1).encode())

    def replace_lines(self, name: str, lines: Sequence[msgspec.Struct]) -> None:
        """Write a file of lines of JSON atomically; it is on disk when this returns."""
        self._replace(name, b"".join(_as_json(line) + b"\n" for line in lines))

    def _replace(self, name: str, content: bytes) -> None:
        beside = self.path / f"{name}.part"
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self.path / name)

    def append_line(self, name: str, line: msgspec.Struct) -> None:
        """Append a line of JSON; it is on disk when this returns."""
        self.append_lines(name, [line])

    def append_lines(self, name: str, lines: Sequence[msgspec.Struct]) -> None:
        """Append lines of JSON; all are on disk when this returns. A kill in between cuts off the last ones."""
        text = b"\n".join(map(_as_json, lines))
        with (self.path / name).open("a+b") as file:
            # A line that a kill cut off must not spoil this one.
            file.seek(max(0, file.tell() - 1))
            file.write((b"" if file.read() in (b"", b"\n") else b"\n") + text + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def lines(self, name: str, kind: type[T]) -> Iterator[T]:
        """Yield the lines of a file; a line that a kill cut off is ignored.

        Raises msgspec.ValidationError for a line that is not a `kind`.
        """
        try:
            text = (self.path / name).read_bytes()
        except FileNotFoundError:
            return
        for line in text.split(b"\n"):
            try:
                content = json.loads(line)
            except ValueError:
                continue
            yield msgspec.convert(content, kind)

    def last_line(self, name: str, kind: type[T]) -> T | None:
        """Return the last complete line of a file, or None if there is none."""
        return next(iter(deque(self.lines(name, kind), maxlen=1)), None)

    def artefacts(self) -> list[Artefact]:
        """Return the files with results of the run."""
        found = (self.path / name for name in ARTEFACTS)
        return [Artefact(path.name, path.suffix.lstrip("."), path.stat().st_size) for path in found if path.is_file()]

    def drop_temporary(self) -> None:
        """Remove Spark's files in ``tmp``."""
        shutil.rmtree(self.path / "tmp", ignore_errors=True)


def _as_json(line: msgspec.Struct) -> bytes:
    return json.dumps(msgspec.to_builtins(line)).encode()


class Progress:
    """Writes the state of a run, a complete line each time, so that a lost line does no harm."""

    def __init__(self, folder: JobFolder) -> None:
        """Append to the folder's progress file."""
        self._folder = folder
        self._seq = 0
        self._seen: list[tuple[float, int, int]] = []
        """Of the last ten seconds, when which numbers were processed and read."""
        self.first_after_s: float | None = None
        """How many seconds after the program began the first messages were processed, as far as lines tell."""
        self._moved_before: int | None = None
        self._said = ("", 0.0)
        self._began_at = time.monotonic()

    def write(
        self,
        counters: Mapping[str, int],
        *,
        phase: str,
        unknown: Sequence[str] = (),
        done: bool = False,
        chunks: tuple[int, int] | msgspec.UnsetType = msgspec.UNSET,
        most_left: int | None = None,
    ) -> None:
        """Write a line with the counters, the rate per second over the last ten seconds, and the remaining time.

        The rate is that of the copies, where there are any, and the remaining time follows from what is still to be
        read. `unknown` names the counters of what nobody knows. With `most_left` no more than so many are written.
        """
        self._seq += 1
        read = counters.get("read", 0)
        moved = counters["written"] + counters.get("failed", 0) if "written" in counters else read
        rate, read_rate = self._rates(moved, read)
        if self._moved_before is None:
            # The work of an earlier run of the job is not counted for this one.
            self._moved_before = moved
        if moved > self._moved_before and self.first_after_s is None:
            self.first_after_s = time.monotonic() - self._began_at
            say(f"the first messages were processed {self.first_after_s:.1f} s after the program began")
        ways = [(counters.get("planned", 0) - read, read_rate)] + ([] if most_left is None else [(most_left, rate)])
        remaining_s = [left / speed for left, speed in ways if left > 0 and speed]
        line = ProgressLine(
            seq=self._seq,
            at=datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            phase=phase,
            counters={**dict.fromkeys(COUNTERS, 0), **counters, **dict.fromkeys(unknown)},
            rate=None if done else rate,
            eta_ms=int(min(remaining_s) * 1000) if remaining_s and not done else None,
            chunks=chunks,
        )
        with (self._folder.path / "progress.jsonl").open("ab") as file:
            file.write(json.dumps(msgspec.to_builtins(line)).encode() + b"\n")
        self._log(line)

    def _log(self, line: ProgressLine) -> None:
        """Write a line to the log when a phase begins, and every few seconds."""
        phase, now = line.phase, time.monotonic()
        if phase == self._said[0] and now - self._said[1] < _TELL_EVERY_S:
            return
        self._said = (phase, now)
        counters = line.counters
        planned = "" if counters["planned"] is None else f"planned {counters['planned']:,}, "
        figures = [planned.rstrip(", ") if counters["read"] is None else f"{planned}read {counters['read']:,}"]
        figures += [
            f"{name} {counters[name]:,}" for name in ("written", "filtered", "damaged", "failed") if counters[name]
        ]
        if line.rate:
            figures.append(f"{line.rate:,.0f}/s")
        say(f"{phase}: {', '.join(figures)}")

    def _rates(self, moved: int, read: int) -> tuple[float | None, float | None]:
        """Return how many messages a second were processed and read."""
        now = time.monotonic()
        # The start of Spark is excluded from the rates: the window begins with the first rows.
        self._seen = [seen for seen in self._seen if now - seen[0] <= _RATE_WINDOW_S] if moved or read else []
        self._seen.append((now, moved, read))
        first_at, first_moved, first_read = self._seen[0]
        took = now - first_at
        if took < _SHORTEST_WINDOW_S:
            return None, None
        return round((moved - first_moved) / took, 1), (read - first_read) / took
