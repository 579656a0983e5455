"""The kinds of settings: each parses and formats a value, and describes the texts it accepts.

A parser raises ValueError with the reason; the caller adds the name of the setting.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from broker_core.protocol.networks import Networks

_UNITS_MS: Final = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_LEVEL: Final = re.compile(r"([0-9]{1,9})([smhd])")
_MAX_LEVELS: Final = 1_000
_NUMBER: Final = re.compile(r"-?[0-9]{1,19}")
_PLACE: Final = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})")
_LAST_PORT: Final = 65_535


@dataclass(frozen=True, slots=True)
class SettingKind:
    """A kind of setting. `takes` completes the sentence "it takes …"."""

    takes: str
    read: Callable[[str], Any]
    write: Callable[[Any], str]


def switch() -> SettingKind:
    """``true`` or ``false``."""
    return choice({"true": True, "false": False})


def choice(values: Mapping[str, Any]) -> SettingKind:
    """One of the given words, ignoring case."""
    by_word = {word.lower(): value for word, value in values.items()}
    takes = " or ".join(values)

    def read(text: str) -> Any:
        if text.lower() not in by_word:
            raise ValueError(f"{text[:80]!r} is not {takes}")
        return by_word[text.lower()]

    return SettingKind(takes, read, lambda value: next(word for word, known in values.items() if known == value))


def number(low: int, high: int, *, times: int = 1, share: int = 1) -> SettingKind:
    """A whole number within [low, high]; stored multiplied by `times`, or divided by `share` and rounded up."""
    takes = f"a number from {low:,} to {high:,}"

    def read(text: str) -> int:
        if _NUMBER.fullmatch(text) is None or not low <= int(text) <= high:
            raise ValueError(f"{text[:80]!r} is not {takes}")
        return -(-int(text) // share) * times

    return SettingKind(takes, read, lambda value: str(value // times * share))


def percentage(low: int, high: int) -> SettingKind:
    """A whole number of percent within [low, high], stored as a ratio."""
    whole = number(low, high)
    return SettingKind(whole.takes, lambda text: whole.read(text) / 100, lambda ratio: str(round(ratio * 100)))


def delay_levels() -> SettingKind:
    """Times like ``1s 5s 1m 2h``, stored in ms: the delay of each level."""

    def read(text: str) -> tuple[int, ...]:
        found = [_LEVEL.fullmatch(word) for word in text.split(" ") if word]
        levels = tuple(int(level[1]) * _UNITS_MS[level[2]] for level in found if level is not None)
        if not levels or len(levels) != len(found) or len(levels) > _MAX_LEVELS:
            raise ValueError(f"{text[:80]!r} is not a list of times like 1s 5s 1m 2h 1d, separated by spaces")
        return levels

    return SettingKind("times like 1s 5s 1m 2h 1d", read, lambda levels: " ".join(map(_time, levels)))


def hours() -> SettingKind:
    """Hours of the day like ``04`` or ``04;16``, stored as numbers."""

    def read(text: str) -> tuple[int, ...]:
        words = [word.strip() for word in text.split(";")]
        if not all(word.isascii() and word.isdecimal() and int(word) < 24 for word in words):
            raise ValueError(f"{text[:80]!r} is not hours of the day like 04 or 04;16")
        return tuple(dict.fromkeys(map(int, words)))

    return SettingKind(
        "hours of the day like 04 or 04;16", read, lambda found: ";".join(f"{hour:02}" for hour in found)
    )


def word(pattern: str, takes: str) -> SettingKind:
    """A text that matches a pattern as a whole."""
    wanted = re.compile(pattern)

    def read(text: str) -> str:
        if wanted.fullmatch(text) is None:
            raise ValueError(f"{text[:80]!r} is not {takes}")
        return text

    return SettingKind(takes, read, str)


def place() -> SettingKind:
    """A host with a port, or nothing."""
    takes = "host:port, or nothing"

    def read(text: str) -> str:
        found = _PLACE.fullmatch(text)
        if text and (found is None or not 1 <= int(found[1]) <= _LAST_PORT):
            raise ValueError(f"{text[:80]!r} is not {takes}")
        return text

    return SettingKind(takes, read, str)


def places() -> SettingKind:
    """Hosts with ports, separated by semicolons, or nothing."""
    one = place()

    def read(text: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.read(word.strip()) for word in text.split(";") if word.strip()))

    return SettingKind("host:port;host:port, or nothing", read, ";".join)


def access_keys() -> SettingKind:
    """The access keys of accounts, a comma list that may be empty."""

    def read(text: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))

    return SettingKind("access keys with commas between them, or nothing", read, ",".join)


def networks() -> SettingKind:
    """Addresses and networks, a comma list that may be empty."""
    takes = "networks such as 10.0.0.0/8 with commas between them, or nothing"
    return SettingKind(takes, Networks.parse, lambda found: found.text)


def _time(ms: int) -> str:
    unit = next((unit for unit in "dhm" if ms and ms % _UNITS_MS[unit] == 0), "s")
    return f"{ms // _UNITS_MS[unit]}{unit}"
