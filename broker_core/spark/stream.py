"""``spark.readStream.format("rocketmq")``: topics as a stream of batches with exact offsets.

One instance lives in a planner process as long as its query and gives the offsets; others, made from its pickle, read.
So whatever a task needs is in its partition. Spark writes the end of a batch into the checkpoint before it reads the
batch, and after a restart asks for the same range again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxRows,
    ReadMinRows,
    SupportsTriggerAvailableNow,
)

from broker_core.client.retry import backoff
from broker_core.spark.errors import QueueGone, UnknownOption, Unreachable
from broker_core.spark.options import EARLIEST, LATEST, SourceOptions
from broker_core.spark.partitions import FilePartition, WirePartition
from broker_core.spark.places import Places, QueuePlace, Reach, by_topic, cluster_name, resolved
from broker_core.spark.reading import plan, read_rows
from broker_core.spark.stream_offsets import Limits, Offsets, Position, starts
from broker_core.spark.wire import close_sessions

Json = dict[str, Any]
T = TypeVar("T")
_FIRST_PAUSE_S: Final = 0.2
_LONGEST_PAUSE_S: Final = 5.0
_GIVE_UP_AFTER_S: Final = 60.0


class RocketMQStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Gives offsets and ranges in the planner, and reads in workers."""

    def __init__(self, options: SourceOptions, columns: Sequence[str]) -> None:
        """Read `columns` of the topics in `options`."""
        self.options_read, self.columns = options, tuple(columns)
        self._cluster: str | None = None
        self._target: Mapping[QueuePlace, Reach] | None = None
        self._seen: Offsets = {}
        self._waiting_since: float | None = None

    # Spark's names.
    def initialOffset(self) -> Json:  # noqa: N802
        """Return where a new query starts; it waits for a broker that is away, as `latestOffset` does."""
        return _patiently(self._initial)

    def _initial(self) -> Json:
        options = resolved(self.options_read)
        places = Places(options)
        reaches = places.reaches()
        if options.starting_timestamp is not None:
            found = places.at_times(dict.fromkeys(places.queues, options.starting_timestamp))
        else:
            found = {place: _start(options, place, reach) for place, reach in reaches.items()}
        return Position(self._name(), found, began=found).to_json()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """Return the limit of the options; only one can be told, all are heeded."""
        options = self.options_read
        if options.max_offsets_per_trigger is not None:
            return ReadMaxRows(options.max_offsets_per_trigger)
        if options.max_bytes_per_trigger is not None:
            return ReadMaxBytes(options.max_bytes_per_trigger)
        if options.min_offsets_per_trigger is not None:
            return ReadMinRows(options.min_offsets_per_trigger)
        return ReadAllAvailable()

    def latestOffset(self, start: Json, limit: ReadLimit) -> Json:  # noqa: N802
        """Return where the next batch ends; `start` itself if there is nothing to read yet.

        A broker may be away for a minute, as while it is restarted.
        """
        return _patiently(lambda: self._latest(start, limit))

    def _latest(self, start: Json, limit: ReadLimit) -> Json:
        options, places, before = self._at(start)
        reaches = places.reaches()
        self._seen = {place: reach.end for place, reach in reaches.items()}
        begins, new = starts(before, reaches, may_lose=not options.fail_on_data_loss)
        ends = {place: max(begin, self._end(place, reaches)) for place, begin in begins.items()}
        if self._target is not None:
            # What has come since then belongs to the next run.
            new = {place: begin for place, begin in new.items() if place in self._target or place in before.offsets}
            begins = {place: at for place, at in begins.items() if place in self._target or place in before.offsets}
        if not isinstance(limit, ReadAllAvailable):
            if self._is_too_little(sum(ends[place] - begin for place, begin in begins.items())):
                return start
            limits = Limits(options.max_offsets_per_trigger, options.max_bytes_per_trigger)
            ends = limits.cut(begins, ends, places.sizes)
        after = {place: ends[place] for place in begins}
        return start if after == before.offsets else Position(before.cluster, after, began=new).to_json()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Note what is there: the query ends when it has read that."""
        self._target = _patiently(self._reaches)

    def _reaches(self) -> Mapping[QueuePlace, Reach]:
        options = resolved(self.options_read)
        return Places(options).reaches() if options.topics else {}

    def reportLatestOffset(self) -> Json | None:  # noqa: N802
        """Return the ends of the queues as last seen, for the progress of the query."""
        return Position(self._name(), self._seen).to_json() if self._seen else None

    def partitions(self, start: Json, end: Json) -> Sequence[InputPartition]:
        """Return the ranges from one offset to the other, the same ones after a restart."""
        return _patiently(lambda: self._ranges(start, end))

    def _ranges(self, start: Json, end: Json) -> Sequence[InputPartition]:
        options, places, before = self._at(start)
        after = self._position(end, options)
        begins = {place: at for place, at in after.begins(before).items() if at < after.offsets[place]}
        exist = set(places.queues)
        gone = sorted(set(begins) - exist)
        if gone and options.fail_on_data_loss:
            raise QueueGone(f"{gone[0]} does not exist any more; failOnDataLoss=false goes on with what is left")
        if not set(begins) & exist:
            return []
        planned = plan(
            replace(
                options,
                topics=tuple(sorted({place.topic for place in exist})),
                starting_offsets=by_topic({place: begins.get(place, 0) for place in exist}),
                ending_offsets=by_topic({place: after.offsets[place] if place in begins else 0 for place in exist}),
                starting_timestamp=None,
            )
        )
        # A queue may have been added since the places were looked up.
        return [part for part in planned if QueuePlace(part.topic, part.broker, part.queue_id) in begins]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Yield the rows of a range as Arrow batches."""
        assert isinstance(partition, FilePartition | WirePartition)
        # The start of the stream is an offset by now; a row stored by a clock set back belongs to it all the same.
        yield from read_rows(partition, replace(self.options_read, starting_timestamp=None), self.columns)

    def commit(self, end: Json) -> None:
        """Do nothing: offsets are in the checkpoint, and no group follows them."""

    def stop(self) -> None:
        """Close connections; Spark usually just ends the process."""
        close_sessions()

    def _at(self, start: Json) -> tuple[SourceOptions, Places, Position]:
        options = resolved(replace(self.options_read, starting_times=None))
        before = self._position(start, options)
        try:
            return options, Places(replace(options, starting_offsets=EARLIEST)), before
        except UnknownOption as error:
            # A name server that was restarted learns of the brokers one by one.
            if error.name in {name for place in before.offsets for name in _names(place)}:
                raise QueueGone(f"{error}; the stream has read it: it was deleted, or its broker is away") from error
            raise

    def _position(self, found: Json, options: SourceOptions) -> Position:
        """Return a position of the checkpoint; raise QueueGone if a topic of the pattern is listed no more."""
        pattern = self.options_read.topic_pattern
        missing = set(found.get("topics", ())) - set(options.topics)
        gone = sorted(topic for topic in missing if pattern is not None and pattern.fullmatch(topic))
        if gone and options.fail_on_data_loss:
            raise QueueGone(
                f"topic {gone[0]!r} does not exist any more, or its broker is away; failOnDataLoss=false goes on with "
                "what is left"
            )
        return Position.from_json(found, cluster=self._name(), topics=(*options.topics, *gone))

    def _name(self) -> str:
        self._cluster = self._cluster or cluster_name(self.options_read)
        return self._cluster

    def _end(self, place: QueuePlace, reaches: Mapping[QueuePlace, Reach]) -> int:
        end = reaches[place].end if place in reaches else 0
        return end if self._target is None or place not in self._target else min(end, self._target[place].end)

    def _is_too_little(self, count: int) -> bool:
        """Return whether a batch of so many messages shall wait for others."""
        least = self.options_read.min_offsets_per_trigger
        if not count or least is None or count >= least or self._target is not None:
            self._waiting_since = None
            return False
        now = time.monotonic()
        if self._waiting_since is None:
            self._waiting_since = now
        if (now - self._waiting_since) * 1000 < self.options_read.max_trigger_delay_ms:
            return True
        self._waiting_since = None
        return False


def _names(place: QueuePlace) -> tuple[str, ...]:
    """Return what options call a queue, its topic and its broker."""
    return place.topic, place.broker, str(place.queue_id), f"{place.broker}:{place.queue_id}"


def _patiently(ask: Callable[[], T]) -> T:
    failure: Unreachable | QueueGone | None = None
    for pause_s in backoff(first_s=_FIRST_PAUSE_S, longest_s=_LONGEST_PAUSE_S, within_s=_GIVE_UP_AFTER_S):
        time.sleep(pause_s)
        try:
            return ask()
        except (Unreachable, QueueGone) as error:
            failure = error
    assert failure is not None
    raise failure


def _start(options: SourceOptions, place: QueuePlace, reach: Reach) -> int:
    given = options.starting_offsets
    if isinstance(given, int):
        offset = given
    else:
        # As in a batch read, a queue that is not named is read from its beginning.
        offset = given.get(place.topic, {}).get(place.broker, {}).get(place.queue_id, EARLIEST)
    return {EARLIEST: reach.begin, LATEST: reach.end}.get(offset, offset)
