r"""The text form of Java properties, used for settings (protocol/README.md#administration).

``key=value`` lines; ``:`` or spaces may replace the equals sign, ``#`` and ``!`` start comments, a backslash at the end
continues the line, ``\t \n \r \f \uXXXX`` are escapes and any other ``\x`` is ``x``. Java reads the bytes
as ISO-8859-1, RocketMQ's tools send UTF-8. This module reads UTF-8, a file that is none as Java does, and writes ASCII
with escapes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from broker_core.protocol.errors import MalformedBody

_BLANKS: Final = " \t\f"
_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_SEPARATOR: Final = re.compile(r"[ \t\f]*[=:]?[ \t\f]*")
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_TO_ESCAPE: Final = re.compile(r"[^ -\[\]-~]|^ ")
_TO_ESCAPE_IN_KEY: Final = re.compile(r"[^ -\[\]-~]|[ =:]|^[#!]")


def parse(body: bytes) -> dict[str, str]:
    """Return the keys and their texts; the last duplicate wins.

    Raises MalformedBody for invalid UTF-8 and invalid escapes.
    """
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise MalformedBody(f"properties are not UTF-8: {error}") from error
    return dict(_pairs(text))


def parse_file(content: bytes) -> list[tuple[str, str]]:
    """Return the keys and their texts in their order, duplicates too, also of a file in another encoding.

    Its comments may be in any. A byte order mark, with which some editors begin a file, is no part of the first key.
    Raises MalformedBody for invalid escapes.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("iso-8859-1")
    return list(_pairs(text))


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for line in _logical_lines(text):
        end = _end_of_key(line)
        separator = _SEPARATOR.match(line, end)
        try:
            yield _plain(line[:end]), _plain(line[separator.end() if separator else end :])
        except MalformedBody as error:
            raise MalformedBody(f"{line[:end][:80]}: {error}") from error


def dump(pairs: Mapping[str, str]) -> bytes:
    """Return ``key=value`` lines that every reader of properties reads back unchanged."""
    lines = (f"{_TO_ESCAPE_IN_KEY.sub(_escape, key)}={_TO_ESCAPE.sub(_escape, text)}\n" for key, text in pairs.items())
    return "".join(lines).encode("ascii")


def _logical_lines(text: str) -> Iterator[str]:
    """Return lines without comments and blank lines, with continuations joined."""
    parts: list[str] = []
    for natural in _LINE_END.split(text):
        line = natural.lstrip(_BLANKS)
        if not parts and (not line or line[0] in "#!"):
            continue
        if _ends_in_escape(line):
            parts.append(line[:-1])
            continue
        yield "".join(parts) + line
        parts.clear()
    if parts:
        yield "".join(parts)


def _ends_in_escape(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _end_of_key(line: str) -> int:
    at = 0
    while at < len(line) and line[at] not in "=: \t\f":
        at += 2 if line[at] == "\\" else 1
    return min(at, len(line))


def _plain(text: str) -> str:
    if "\\" not in text:
        return text
    try:
        return _ESCAPE.sub(_unescape, text).encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError as error:
        raise MalformedBody("half of a surrogate pair") from error


def _unescape(found: re.Match[str]) -> str:
    escaped = found[1]
    if escaped == "u":
        raise MalformedBody("\\u without four hexadecimal digits")
    if len(escaped) == 5:
        return chr(int(escaped[1:], 16))
    return _ESCAPED.get(escaped, escaped)


def _escape(found: re.Match[str]) -> str:
    letter = found[0]
    if " " <= letter <= "~":
        return f"\\{letter}"
    pairs = letter.encode("utf-16-be")
    return "".join(f"\\u{pairs[at]:02x}{pairs[at + 1]:02x}" for at in range(0, len(pairs), 2))
