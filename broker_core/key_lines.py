"""Text files with a key on each line, for jobs and for the option ``keysFile`` of Spark."""

from __future__ import annotations

import codecs

_OTHERS = {codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16"}


class KeysMalformed(ValueError):
    """The bytes are no such file; the message says why, behind the name of the file."""


def keys_of(data: bytes) -> list[str]:
    """Return the keys of a file in UTF-8, each once and in order; a byte order mark in front is no part of the first.

    Raises KeysMalformed for another encoding, for a line that is no key, and if there is none.
    """
    found = [*dict.fromkeys(line for line in _lines(data) if line)]
    if not found:
        raise KeysMalformed("has no key")
    return found


def _lines(data: bytes) -> list[str]:
    other = _OTHERS.get(data[:2])
    if other is not None:
        raise KeysMalformed(f"is in {other}; save it in UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise KeysMalformed(f"is not in UTF-8: line {line} has the byte 0x{data[error.start]:02x}") from None
    lines = [each.strip() for each in text.split("\n")]
    for number, each in enumerate(lines, 1):
        if "\0" in each:
            raise KeysMalformed(f"line {number} has U+0000, as a file in UTF-16 has without its mark; save it in UTF-8")
        if len(each.split()) > 1:
            raise KeysMalformed(f"line {number} has a space, which no key has; one key on each line")
    return lines
