"""What a setting of a broker accepts: each kind checks a text and returns it as brokers write it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Protocol

from broker_core.protocol.networks import Networks

_NUMBER: Final = re.compile(r"-?[0-9]{1,19}")
_SHOWN: Final = 80


class Accepted(Protocol):
    """A kind of texts. `words` completes the sentence "it takes …"."""

    @property
    def words(self) -> str:
        """Return what the texts look like."""
        ...

    def check(self, text: str) -> str:
        """Return the text as brokers write it; raise ValueError with the reason."""
        ...


@dataclass(frozen=True, slots=True)
class Words:
    """One of a few words, ignoring case."""

    allowed: tuple[str, ...]

    @property
    def words(self) -> str:
        """Return the words."""
        return " or ".join(self.allowed)

    def check(self, text: str) -> str:
        """Return the word in its usual case."""
        found = next((word for word in self.allowed if word.lower() == text.strip().lower()), None)
        if found is None:
            raise ValueError(f"{text[:_SHOWN]!r} is not {self.words}")
        return found


@dataclass(frozen=True, slots=True)
class Number:
    """A whole number, both bounds included."""

    low: int
    high: int

    @property
    def words(self) -> str:
        """Return the range."""
        return f"a number from {self.low:,} to {self.high:,}"

    def check(self, text: str) -> str:
        """Return the number without leading zeros."""
        plain = text.strip()
        if _NUMBER.fullmatch(plain) is None or not self.low <= int(plain) <= self.high:
            raise ValueError(f"{text[:_SHOWN]!r} is not {self.words}")
        return str(int(plain))


@dataclass(frozen=True, slots=True)
class Pattern:
    """A text of a certain form."""

    form: str
    words: str

    def check(self, text: str) -> str:
        """Return the text without blanks around it."""
        if re.fullmatch(self.form, text.strip()) is None:
            raise ValueError(f"{text[:_SHOWN]!r} is not {self.words}")
        return text.strip()


@dataclass(frozen=True, slots=True)
class NetworkList:
    """Addresses and networks with commas between them, or nothing."""

    words: str = "networks such as 10.0.0.0/8 with commas between them, or nothing"

    def check(self, text: str) -> str:
        """Return the list without blanks, each with its mask."""
        return Networks.parse(text).text


SWITCH: Final = Words(("true", "false"))
POSITIVE: Final = Number(1, 2**31 - 1)
NAME: Final = Pattern(r"[%|a-zA-Z0-9_-]+", "a name of letters, digits, %, |, _ and -")
PLACE: Final = Pattern(r"((\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):[0-9]{1,5})?", "host:port, or nothing")
PLACES: Final = Pattern(r"((\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):[0-9]{1,5}(;|$))*", "host:port;host:port, or nothing")
HOURS: Final = Pattern(r"([01]?[0-9]|2[0-3])( *; *([01]?[0-9]|2[0-3]))*", "hours of the day like 04 or 04;16")
ACCESS_KEY: Final = Pattern(r"[^,\s]*", "an access key, or nothing")
ACCESS_KEYS: Final = Pattern(r"[^,\s]*( *, *[^,\s]+)*", "access keys with commas between them, or nothing")
LEVELS: Final = Pattern(r"[0-9]{1,9}[smhd]( +[0-9]{1,9}[smhd])*", "times like 1s 5s 1m 2h 1d")
