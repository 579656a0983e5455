"""Reads a file of Java properties by rules: each name has one, and all that is wrong with a file is told at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from broker_core.errors import GantryError
from broker_core.logs import get_logger
from broker_core.protocol import java_properties
from broker_core.protocol.errors import MalformedBody

Rule = Callable[[str], Any]
"""Returns the value of a text; raises ValueError with what is wrong with it."""


_log: Final = get_logger(__name__)


class BadPropertiesFile(GantryError):
    """A file that cannot be read, or has lines that are refused; the text is one line."""


def read_pairs(file: Path) -> dict[str, str]:
    """Return the names and texts of a file, of a name that is given twice the last one; raise BadPropertiesFile."""
    try:
        pairs = java_properties.parse_file(file.read_bytes())
    except OSError as error:
        raise BadPropertiesFile(f"{file} cannot be read: {error.strerror}") from error
    except MalformedBody as error:
        raise BadPropertiesFile(f"{file}: {error}") from error
    counts = Counter(name for name, _ in pairs)
    if repeated := [name for name, count in counts.items() if count > 1]:
        _log.warning("%s: given more than once, the last one counts: %s", file, ", ".join(repeated))
    return {name: text.strip() for name, text in pairs}


def by_rules(file: Path, pairs: Mapping[str, str], rules: Mapping[str, Rule]) -> dict[str, Any]:
    """Return the value of each name; raise BadPropertiesFile with every name that has no rule or breaks it."""
    values: dict[str, Any] = {}
    refused: list[str] = []
    for name, text in pairs.items():
        if name not in rules:
            refused.append(f"{name} is not known{_like(name, rules)}")
            continue
        try:
            values[name] = rules[name](text)
        except ValueError as error:
            refused.append(f"{name}: {error}")
    if refused:
        raise BadPropertiesFile(f"{file}: {'; '.join(refused)}")
    return values


def only(allowed: str) -> Rule:
    """Return the rule of a name that can have one text only, in any case of letters."""

    def rule(text: str) -> str:
        if text.lower() != allowed.lower():
            raise ValueError(f"{text[:80]!r} is not served, only {allowed!r}")
        return text

    return rule


def tcp_port(text: str) -> int:
    """Return a port from 1 to 65535."""
    if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= 65_535):
        raise ValueError(f"{text[:80]!r} is not a port")
    return int(text)


def absolute_path(text: str) -> Path:
    """Return a path from the root of the file system, or one below a home folder (``~``)."""
    try:
        path = Path(text).expanduser()
    except RuntimeError:
        raise ValueError(f"{text[:80]!r} has no meaning for a user without a home folder") from None
    if not path.is_absolute():
        raise ValueError(f"{text[:80]!r} is not an absolute path")
    return path


def without_effect(_: str) -> None:
    """Take any text: the name sets something that only exists inside RocketMQ's own programs."""


def _like(name: str, rules: Mapping[str, Rule]) -> str:
    near = get_close_matches(name, rules, 1, 0.85)
    return f" (is {near[0]} meant?)" if near else ""
