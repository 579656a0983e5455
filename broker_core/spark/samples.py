"""The differing values of sample messages as text; the messages are read again, since Spark's rows have no bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from broker_core.job_folder import say
from broker_core.spark.differences import Sample, SamplePlace
from broker_core.spark.errors import SparkError
from broker_core.spark.options import SourceOptions
from broker_core.spark.partitions import FilePartition, WirePartition
from broker_core.spark.reading import Partition, read_rows

_LONGEST: Final = 2000


def add_values(samples: Sequence[Sample], options: Mapping[str, SourceOptions]) -> None:
    """Give each sample that names fields the values of both sides; `options` are those of "left" and "right".

    A message that can no longer be read has no values.
    """
    for sample in samples:
        if sample.fields:
            left = _texts(options["left"], sample.left, sample.fields)
            right = _texts(options["right"], sample.right, sample.fields)
            sample.values = {name: {"left": left.get(name), "right": right.get(name)} for name in sample.fields}


def _texts(options: SourceOptions, place: SamplePlace | None, fields: Sequence[str]) -> Mapping[str, str | None]:
    """Return the text of each field of a message; nothing if the message cannot be read."""
    if place is None:
        return {}
    try:
        for batch in read_rows(_partition(options, place), options, fields):
            for row in batch.to_pylist():
                return {name: shown(row[name]) for name in fields}
    except SparkError as error:
        say(f"a message of the report cannot be read again: {error}")
    return {}


def _partition(options: SourceOptions, place: SamplePlace) -> Partition:
    (topic,) = options.topics
    begin, end = place.queue_offset, place.queue_offset + 1
    if options.stores:
        store = dict(zip(options.brokers, options.stores, strict=True))[place.broker]
        return FilePartition(str(store), place.broker, topic, place.queue_id, begin, end)
    return WirePartition(place.broker, topic, place.queue_id, begin, end)


def shown(value: Any) -> str | None:
    """Return a value as text of limited length: binary bytes as hex, pairs one per line."""
    if value is None:
        return None
    if isinstance(value, bytes):
        try:
            text = value.decode()
        except UnicodeDecodeError:
            text = value.hex(" ")
    elif isinstance(value, list):
        # A map is a list of pairs here.
        text = "\n".join(f"{each[0]}={each[1]}" if isinstance(each, tuple) else str(each) for each in value)
    else:
        text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text):,} characters)"
