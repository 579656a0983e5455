"""What differs in some messages, as text for people: read again by place, since bodies do not travel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from broker_core.spark.errors import SparkError
from broker_core.spark.job_folder import say
from broker_core.spark.options import SourceOptions
from broker_core.spark.partitions import FilePartition, WirePartition
from broker_core.spark.reading import Partition, read_rows

_LONGEST: Final = 2000
Place = Mapping[str, Any]


def add_values(samples: Sequence[dict[str, Any]], options: Mapping[str, SourceOptions]) -> None:
    """Give each sample that names fields the values of both sides; `options` are those of each side.

    A message that can no longer be read has no values.
    """
    for sample in samples:
        if sample["fields"]:
            found = {side: _find(options[side], sample[side], sample["fields"]) for side in options}
            sample["values"] = {
                name: {side: shown(row[name]) if row else None for side, row in found.items()}
                for name in sample["fields"]
            }


def _find(options: SourceOptions, place: Place | None, fields: Sequence[str]) -> dict[str, Any] | None:
    if place is None:
        return None
    partition = _partition(options, place)
    try:
        return next(_rows(partition, options, fields), None)
    except SparkError as error:
        say(f"a message of the report cannot be read again: {error}")
        return None


def _rows(partition: Partition, options: SourceOptions, fields: Sequence[str]) -> Iterator[dict[str, Any]]:
    for batch in read_rows(partition, options, fields):
        yield from batch.to_pylist()


def _partition(options: SourceOptions, place: Place) -> Partition:
    (topic,) = options.topics
    broker, queue_id, begin = place["broker"], place["queue_id"], place["queue_offset"]
    if options.stores:
        store = dict(zip(options.brokers, options.stores, strict=True))[broker]
        return FilePartition(str(store), broker, topic, queue_id, begin, begin + 1)
    return WirePartition(broker, topic, queue_id, begin, begin + 1)


def shown(value: Any) -> str | None:
    """Return a value as text of bounded length: bytes that are no text as hex, pairs a line each."""
    if value is None:
        return None
    if isinstance(value, bytes):
        try:
            text = value.decode()
        except UnicodeDecodeError:
            text = value.hex(" ")
    elif isinstance(value, list):
        # A map comes as pairs.
        text = "\n".join(f"{each[0]}={each[1]}" if isinstance(each, tuple) else str(each) for each in value)
    else:
        text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text):,} characters)"
