"""The figures of a report's charts: classes over time, by queue and by tag."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
from msgspec import Struct

from broker_core.spark.comparing.comparison import CLASSES, DAMAGED, SIDES
from broker_core.spark.comparing.fingerprints import MINUTE_MS

BUCKETS: Final = "buckets.parquet"
MOST_BUCKETS: Final = 500
MOST_TAGS: Final = 50
_STEPS_MINUTES: Final = (1, 5, 60, 24 * 60, 7 * 24 * 60, 365 * 24 * 60)
_ALL: Final = (*CLASSES, *DAMAGED)


class TimeBuckets(Struct, frozen=True):
    """How many keys of each class are in each bucket; those without a known time are in none."""

    size_ms: int
    times: list[int]
    """The begins of the buckets that have any, in ms since 1970."""
    classes: dict[str, list[int]]
    """For each class that occurs its number in each bucket."""
    without_time: dict[str, int]


class QueueFigures(Struct, frozen=True):
    """What was found in one queue of a side."""

    side: str
    broker: str
    queue_id: int
    rows: int
    """How many messages of the queue were planned to be read."""
    classes: dict[str, int]


@dataclass(slots=True)
class Tally:
    """Counts the differences while they pass."""

    classes: Counter[str] = field(default_factory=Counter)
    minutes: dict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    queues: dict[tuple[str, str, int], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    tags: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    notes: Counter[str] = field(default_factory=Counter)
    """Why partners do not count."""

    def through(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the batches, counted."""
        for batch in batches:
            self._count(batch)
            yield batch

    def add_matched(self, minutes: Mapping[int, int]) -> None:
        """Add the keys that match, by the minute of their first row."""
        for minute, number in minutes.items():
            self.minutes[minute]["matched"] += number

    def _count(self, batch: Any) -> None:
        names = batch.column("class").to_pylist()
        self.classes.update(names)
        self.notes.update(note for note in batch.column("note").to_pylist() if note is not None)
        times = pc.coalesce(*(batch.column(f"{side}_store_timestamp") for side in SIDES)).cast(pa.int64()).to_pylist()
        for name, time in zip(names, times, strict=True):
            self.minutes[-1 if time is None else time // 1000 // MINUTE_MS][name] += 1
        for name, tag in zip(names, batch.column("tag").to_pylist(), strict=True):
            if tag is not None:
                self.tags[tag][name] += 1
        for side in SIDES:
            places = (batch.column(f"{side}_{name}").to_pylist() for name in ("broker", "queue_id"))
            for name, broker, queue_id in zip(names, *places, strict=True):
                if broker is not None:
                    self.queues[side, broker, queue_id][name] += 1

    def time_buckets(self) -> TimeBuckets:
        """Return the classes over time, in at most `MOST_BUCKETS` buckets of one size."""
        known = {minute: counts for minute, counts in self.minutes.items() if minute >= 0}
        span = max(known, default=0) - min(known, default=0)
        step = next((step for step in _STEPS_MINUTES if span // step < MOST_BUCKETS - 1), _STEPS_MINUTES[-1])
        buckets: dict[int, Counter[str]] = defaultdict(Counter)
        for minute, counts in known.items():
            buckets[minute - minute % step].update(counts)
        times = sorted(buckets)
        used = [name for name in _ALL if any(counts[name] for counts in buckets.values())]
        classes = {name: [buckets[time][name] for time in times] for name in used}
        without = {name: number for name, number in self.minutes.get(-1, {}).items() if number}
        return TimeBuckets(step * MINUTE_MS, [time * MINUTE_MS for time in times], classes, without)

    def queue_figures(self, rows: Mapping[tuple[str, str, int], int]) -> list[QueueFigures]:
        """Return what was found in each queue; `rows` says by side, broker and queue how many messages it had."""
        places = sorted(rows.keys() | self.queues.keys())
        return [QueueFigures(*place, rows.get(place, 0), dict(self.queues.get(place, {}))) for place in places]

    def tag_figures(self) -> dict[str, dict[str, int]]:
        """Return the classes of the tags with the most differences."""
        most = sorted(self.tags.items(), key=lambda each: (-each[1].total(), each[0]))[:MOST_TAGS]
        return {tag: dict(counts) for tag, counts in most}


def write_buckets(buckets: TimeBuckets, folder: Path) -> None:
    """Write `BUCKETS`: a row for each bucket and class."""
    rows = [
        {"bucket": time * 1000, "class": name, "count": number}
        for name, numbers in buckets.classes.items()
        for time, number in zip(buckets.times, numbers, strict=True)
        if number
    ]
    schema = pa.schema([("bucket", pa.timestamp("us", tz="UTC")), ("class", pa.string()), ("count", pa.int64())])
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows, schema=schema), folder / f"{BUCKETS}.part")
    (folder / f"{BUCKETS}.part").replace(folder / BUCKETS)
