"""The options of ``format("rocketmq")``, parsed once into a frozen object.

Ranges, queues, keys and tags are options, never pushed filters (spark/README.md#what-pyspark-does).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from broker_core.protocol.topics import BROWSING_GROUP
from broker_core.spark.errors import BadOption, UnknownOption

EARLIEST: Final = -2
LATEST: Final = -1

# 1973 and 5138 in ms: values outside this range are in another unit.
_LEAST_MS: Final = 100_000_000_000
_MOST_MS: Final = 100_000_000_000_000
_EXAMPLE_MS: Final = 1_767_225_600_000

QueueOffsets = Mapping[str, Mapping[int, int]]
"""Broker name → queue id → queue offset, `EARLIEST` or `LATEST`."""


class Mode(StrEnum):
    """What to do with a damaged record, in Spark's own terms."""

    PERMISSIVE = "permissive"
    DROP_MALFORMED = "dropMalformed"
    FAIL_FAST = "failFast"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """The range of one ``load()``. Times are store times in ms; the end is exclusive."""

    topics: tuple[str, ...]
    stores: tuple[Path, ...] = ()
    brokers: tuple[str, ...] = ()
    """Names of the brokers that own the stores, one each; over the wire, the brokers to read, all by default."""
    name_servers: tuple[str, ...] = ()
    queues: frozenset[tuple[str | None, int]] | None = None
    """Broker name (None: any) and queue id."""
    starting_offsets: Mapping[str, QueueOffsets] | int = EARLIEST
    ending_offsets: Mapping[str, QueueOffsets] | int = LATEST
    starting_timestamp: int | None = None
    ending_timestamp: int | None = None
    keys: frozenset[str] | None = None
    tags: frozenset[str] | None = None
    columns: tuple[str, ...] | None = None
    mode: Mode = Mode.PERMISSIVE
    fail_on_data_loss: bool = True
    decompress: bool = True
    min_partitions: int = 1
    max_partition_bytes: int | None = None
    pull_batch_size: int = 32
    pull_timeout_ms: int = 3000
    pull_parallelism: int = 4
    group: str = BROWSING_GROUP
    count_to: str | None = None
    """Where tasks report their numbers of rows (`counting.RowCounter.start`)."""


def parse_source_options(given: Mapping[str, str]) -> SourceOptions:
    """Return the options; raises UnknownOption with the nearest name, or BadOption with the expected form."""
    fields: dict[str, Any] = {}
    for name, text in given.items():
        if name.lower() not in _BY_LOWER_NAME:
            raise UnknownOption(name, (spelled for spelled, _field, _read in _OPTIONS))
        spelled, target, read = _BY_LOWER_NAME[name.lower()]
        value = read(spelled, text)
        if target == "keys" and target in fields:
            value |= fields["keys"]
        fields[target] = value
    return _checked(fields)


def _checked(fields: dict[str, Any]) -> SourceOptions:
    if not fields.get("topics"):
        raise BadOption("topic", "", "name the topic to read")
    stores, servers = fields.get("stores", ()), fields.get("name_servers", ())
    if bool(stores) == bool(servers):
        raise BadOption("store", ",".join(map(str, stores)), "give either store (a folder) or nameServer (host:port)")
    brokers = fields.setdefault("brokers", tuple(f"broker-{chr(97 + index)}" for index in range(len(stores))))
    if stores and len(brokers) != len(stores):
        raise BadOption("broker", ",".join(brokers), f"name as many brokers as stores, {len(stores)}")
    options = SourceOptions(**fields)
    start, end = options.starting_timestamp, options.ending_timestamp
    if start is not None and end is not None and end < start:
        raise BadOption("endingTimestamp", end, f"is before startingTimestamp {start}")
    return options


def parse_time(name: str, text: str) -> int:
    """Return a time in ms, from epoch ms or from ISO 8601 with a zone."""
    if re.fullmatch(r"-?\d+", text.strip()):
        return _epoch_ms(name, int(text))
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise BadOption(name, text, "expected epoch milliseconds or ISO 8601 with a zone") from None
    if moment.tzinfo is None:
        raise BadOption(name, text, "has no zone; append Z for UTC")
    return round(moment.timestamp() * 1000)


def _epoch_ms(name: str, number: int) -> int:
    if number == 0 or _LEAST_MS <= abs(number) < _MOST_MS:
        return number
    unit = "seconds" if abs(number) < _LEAST_MS else "micro- or nanoseconds"
    raise BadOption(name, number, f"looks like {unit}; expected milliseconds since 1970, as {_EXAMPLE_MS}")


def _words(_name: str, text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _servers(_name: str, text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in re.split("[;,]", text) if word.strip())


def _folders(name: str, text: str) -> tuple[Path, ...]:
    return tuple(Path(word) for word in _words(name, text))


def _flag(name: str, text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise BadOption(name, text, "expected true or false")
    return text.lower() == "true"


def _count(name: str, text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise BadOption(name, text, "expected a whole number, at least 1")
    return int(text)


def _text(_name: str, text: str) -> str:
    return text


def _mode(name: str, text: str) -> Mode:
    by_lower_name = {mode.value.lower(): mode for mode in Mode}
    if text.lower() not in by_lower_name:
        raise BadOption(name, text, f"expected one of {', '.join(Mode)}")
    return by_lower_name[text.lower()]


def _queues(name: str, text: str) -> frozenset[tuple[str | None, int]]:
    found: set[tuple[str | None, int]] = set()
    for word in _words(name, text):
        broker, _, number = word.rpartition(":")
        if not number.isdecimal():
            raise BadOption(name, text, "expected queue ids as in 0,1 or broker-a:0,broker-b:1")
        found.add((broker or None, int(number)))
    return _not_empty(name, text, frozenset(found))


def _not_empty(name: str, text: str, words: frozenset[Any]) -> frozenset[Any]:
    if not words:
        raise BadOption(name, text, "is empty; leave the option out to read everything")
    return words


def _tags(name: str, text: str) -> frozenset[str] | None:
    tags = _not_empty(name, text, frozenset(word.strip() for word in text.split("||") if word.strip()))
    return None if "*" in tags else tags


def _keys(name: str, text: str) -> frozenset[str]:
    words = _json_words(name, text) if text.lstrip().startswith("[") else _words(name, text)
    return _not_empty(name, text, frozenset(words))


def _json_words(name: str, text: str) -> Sequence[str]:
    words = _json(name, text)
    if not all(isinstance(word, str) for word in words):
        raise BadOption(name, text, "expected a list of strings")
    return list(words)


def _keys_file(name: str, text: str) -> frozenset[str]:
    try:
        lines = Path(text).read_text().splitlines()
    except OSError as error:
        raise BadOption(name, text, f"cannot be read: {error.strerror}") from None
    return _not_empty(name, text, frozenset(line.strip() for line in lines if line.strip()))


def _offsets(name: str, text: str) -> Mapping[str, QueueOffsets] | int:
    if text.lower() in ("earliest", "latest"):
        return EARLIEST if text.lower() == "earliest" else LATEST
    wanted = 'expected earliest, latest or {"topic":{"broker":{"0":23,"1":-2}}}'
    try:
        return {
            topic: {broker: {int(q): int(offset) for q, offset in queues.items()} for broker, queues in brokers.items()}
            for topic, brokers in _json(name, text).items()
        }
    except (AttributeError, TypeError, ValueError):
        raise BadOption(name, text, wanted) from None


def _json(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise BadOption(name, text, "is not JSON") from None


_OPTIONS: Final[Sequence[tuple[str, str, Callable[[str, str], Any]]]] = (
    ("store", "stores", _folders),
    ("broker", "brokers", _words),
    ("nameServer", "name_servers", _servers),
    ("topic", "topics", _words),
    ("topics", "topics", _words),
    ("queues", "queues", _queues),
    ("startingOffsets", "starting_offsets", _offsets),
    ("endingOffsets", "ending_offsets", _offsets),
    ("startingTimestamp", "starting_timestamp", parse_time),
    ("endingTimestamp", "ending_timestamp", parse_time),
    ("keys", "keys", _keys),
    ("keysFile", "keys", _keys_file),
    ("tags", "tags", _tags),
    ("columns", "columns", _words),
    ("mode", "mode", _mode),
    ("failOnDataLoss", "fail_on_data_loss", _flag),
    ("decompress", "decompress", _flag),
    ("minPartitions", "min_partitions", _count),
    ("maxPartitionBytes", "max_partition_bytes", _count),
    ("pullBatchSize", "pull_batch_size", _count),
    ("pullTimeoutMs", "pull_timeout_ms", _count),
    ("pullParallelism", "pull_parallelism", _count),
    ("group", "group", _text),
    ("countTo", "count_to", _text),
)
_BY_LOWER_NAME: Final = {option[0].lower(): option for option in _OPTIONS}
