"""The texts of options as values: each function takes the option's name, for its error, and its text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, TypeVar

from broker_core.key_lines import KeysMalformed, keys_of
from broker_core.moments import NoMoment, read_moment
from broker_core.protocol.applications import TagsMalformed, tags_of
from broker_core.spark.errors import BadOption

EARLIEST: Final = -2
LATEST: Final = -1

MOST_PULLED: Final = 1024
"""How many messages RocketMQ's own clients ask a broker for at once; it may send fewer."""
MOST_PULLS: Final = 64
LONGEST_PULL_MS: Final = 10 * 60 * 1000
_MOST_DIGITS: Final = 18

# 1973 and 5138 in ms: values outside this range are in another unit.
_LEAST_MS: Final = 100_000_000_000
_MOST_MS: Final = 100_000_000_000_000
_EXAMPLE_MS: Final = 1_767_225_600_000

T = TypeVar("T")
QueueOffsets = Mapping[str, Mapping[int, int]]
"""Broker name → queue id → queue offset, `EARLIEST` or `LATEST`."""


class Mode(StrEnum):
    """What to do with a damaged record, in Spark's own terms."""

    PERMISSIVE = "permissive"
    DROP_MALFORMED = "dropMalformed"
    FAIL_FAST = "failFast"


def parse_time(name: str, text: str) -> int:
    """Return a time in ms, from epoch ms or from RFC 3339."""
    if re.fullmatch(r"-?[0-9]+", text.strip()):
        return _epoch_ms(name, int(text))
    try:
        return round(read_moment(text.strip()).timestamp() * 1000)
    except NoMoment as error:
        raise BadOption(name, text, f"{error}; milliseconds since 1970 are allowed, too") from None


def _epoch_ms(name: str, number: int) -> int:
    if number == 0 or _LEAST_MS <= abs(number) < _MOST_MS:
        return number
    unit = "seconds" if abs(number) < _LEAST_MS else "micro- or nanoseconds"
    raise BadOption(name, number, f"looks like {unit}; expected milliseconds since 1970, as {_EXAMPLE_MS}")


def read_words(name: str, text: str) -> tuple[str, ...]:
    words = _words(text)
    _check_once(name, text, words)
    return words


def read_some_words(name: str, text: str) -> tuple[str, ...]:
    """Return words of an option that means everything where it is left out: none at all would mean that, or nothing."""
    words = read_words(name, text)
    if not words:
        raise _empty(name, text)
    return words


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def read_servers(name: str, text: str) -> tuple[str, ...]:
    servers = tuple(word.strip() for word in re.split("[;,]", text) if word.strip())
    if any("/" in server for server in servers):
        raise BadOption(name, text, "expected host:port, without a scheme or a path")
    return servers


def read_folders(name: str, text: str) -> tuple[Path, ...]:
    folders = tuple(Path(word) for word in read_words(name, text))
    _check_once(name, text, [folder.resolve() for folder in folders])
    return folders


def read_file(name: str, text: str) -> Path:
    return Path(read_text(name, text))


def _check_once(name: str, text: str, found: Sequence[object]) -> None:
    """What is named twice would be read twice."""
    twice = next((each for each in found if found.count(each) > 1), None)
    if twice is not None:
        raise BadOption(name, text, f"names {twice} twice")


def read_flag(name: str, text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise BadOption(name, text, "expected true or false")
    return text.lower() == "true"


def read_count(name: str, text: str, *, most: int | None = None) -> int:
    # A number of more digits is none that Python reads.
    if not is_number(text) or len(text) > _MOST_DIGITS or int(text) < 1:
        raise BadOption(name, text, "expected a whole number, at least 1")
    if most is not None and int(text) > most:
        raise BadOption(name, text, f"expected at most {most:,}")
    return int(text)


def is_number(text: str) -> bool:
    """Return whether a text is a whole number, at least 0, in plain digits."""
    return text.isascii() and text.isdecimal()


def read_text(name: str, text: str) -> str:
    """Return a text that is not blank."""
    if not text.strip():
        raise BadOption(name, text, "is empty")
    return text


def read_secret(name: str, text: str) -> str:
    """Return a text that no error shows."""
    if not text:
        raise BadOption(name, "…", "is empty")
    return text


def read_mode(name: str, text: str) -> Mode:
    by_lower_name = {mode.value.lower(): mode for mode in Mode}
    if text.lower() not in by_lower_name:
        raise BadOption(name, text, f"expected one of {', '.join(Mode)}")
    return by_lower_name[text.lower()]


def read_queues(name: str, text: str) -> frozenset[tuple[str | None, int]]:
    found: set[tuple[str | None, int]] = set()
    for word in _words(text):
        broker, _, number = word.rpartition(":")
        if not is_number(number):
            raise BadOption(name, text, "expected queue ids as in 0,1 or broker-a:0,broker-b:1")
        found.add((broker or None, int(number)))
    return _not_empty(name, text, frozenset(found))


def _not_empty(name: str, text: str, words: frozenset[Any]) -> frozenset[Any]:
    if not words:
        raise _empty(name, text)
    return words


def _empty(name: str, text: str) -> BadOption:
    return BadOption(name, text, "is empty; leave the option out for everything")


def read_tags(name: str, text: str) -> frozenset[str] | None:
    try:
        return tags_of(text)
    except TagsMalformed as error:
        raise BadOption(name, text, str(error)) from None


def read_keys(name: str, text: str) -> frozenset[str]:
    words = _json_words(name, text) if text.lstrip().startswith("[") else _words(text)
    return _not_empty(name, text, frozenset(words))


def _json_words(name: str, text: str) -> Sequence[str]:
    words = _json(name, text)
    if not all(isinstance(word, str) for word in words):
        raise BadOption(name, text, "expected a list of strings")
    return list(words)


def read_keys_file(name: str, text: str) -> frozenset[str]:
    try:
        return frozenset(keys_of(Path(text).read_bytes()))
    except OSError as error:
        raise BadOption(name, text, f"cannot be read: {error.strerror}") from None
    except KeysMalformed as error:
        raise BadOption(name, text, str(error)) from None


def read_offsets(name: str, text: str) -> Mapping[str, QueueOffsets] | int:
    """Return ``earliest``, ``latest`` or queue offsets by topic, broker and queue id."""
    if text.lower() in ("earliest", "latest"):
        return EARLIEST if text.lower() == "earliest" else LATEST
    wanted = 'expected earliest, latest or {"topic":{"broker":{"0":23,"1":-2}}}'
    if not text.lstrip().startswith("{"):
        raise BadOption(name, text, wanted)
    return _by_queue(name, text, wanted, _offset)


def read_times(name: str, text: str) -> Mapping[str, QueueOffsets]:
    """Return times in ms by topic, broker and queue id."""
    wanted = f'expected {{"topic":{{"broker":{{"0":{_EXAMPLE_MS}}}}}}}'
    return _by_queue(name, text, wanted, lambda value: parse_time(name, str(value)))


def _offset(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < EARLIEST:
        raise ValueError(value)
    return value


def _queue(text: str) -> int:
    if not is_number(text):
        raise ValueError(text)
    return int(text)


def _by_queue(name: str, text: str, wanted: str, read: Callable[[Any], T]) -> dict[str, dict[str, dict[int, T]]]:
    try:
        return {
            topic: {
                broker: {_queue(q): read(value) for q, value in queues.items()} for broker, queues in brokers.items()
            }
            for topic, brokers in _json(name, text).items()
        }
    except (AttributeError, TypeError, ValueError):
        raise BadOption(name, text, wanted) from None


def read_pattern(name: str, text: str) -> re.Pattern[str]:
    """Return a regular expression that whole names of topics must match."""
    try:
        return re.compile(read_text(name, text))
    except re.error as error:
        raise BadOption(name, text, f"is not a regular expression: {error}") from None


def _json(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise BadOption(name, text, "is not JSON") from None
