"""Headers in JSON that differ in few values: cut there, two of them are compared without being read.

::

    {"code":310,"extFields":{"b":"T","e":"3","g":"1700000000000","i":"KEYS\\u0001A17"},"flag":0, … ,"opaque":7, … }
    └──────────── piece 0 ────────────┘ q └1┘      t       └─2──┘        p       └───── 3 ────────┘ o └── 4 ──┘
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

MOST_BYTES: Final = 8 * 1024
"""Longer headers are not cut: a peer chooses how long they are, and searching them takes time."""

_STRING: Final = rb'([^"\\]*(?:\\.[^"\\]*)*)'
_SEND: Final = {
    b"q": re.compile(rb'"e":"(\d+)"'),
    b"t": re.compile(rb'"g":"(\d+)"'),
    b"p": re.compile(rb'"i":"' + _STRING + rb'"'),
    b"o": re.compile(rb'"opaque":(\d+)'),
}
_ANSWER: Final = {
    b"i": re.compile(rb'"msgId":"(\w*)"'),
    b"q": re.compile(rb'"queueId":"(\d+)"'),
    b"n": re.compile(rb'"queueOffset":"(\d+)"'),
    b"o": re.compile(rb'"opaque":(\d+)'),
}


class HeaderForm(NamedTuple):
    """The pieces between the values that differ, and a letter for each value, in their order."""

    pieces: tuple[bytes, ...]
    cuts: bytes


class CutHeader(NamedTuple):
    """A header's form, and by letter the values that stood at its cuts."""

    form: HeaderForm
    values: Mapping[bytes, bytes]

    def with_others(self, values: Mapping[bytes, bytes]) -> bytes:
        """Return the header with other values at its cuts."""
        between = [*(values[bytes([letter])] for letter in self.form.cuts), b""]
        return b"".join(piece + value for piece, value in zip(self.form.pieces, between, strict=True))


def cut_send(header: bytes) -> CutHeader | None:
    """Cut the header of a send (310) at queue id, born time, properties and number; None if it has other forms.

    A header with an escape anywhere but in the properties is not cut: a name in it might say the same as another.
    """
    cut = _cut(header, _SEND) if len(header) <= MOST_BYTES else None
    return None if cut is None or any(b"\\" in piece for piece in cut.form.pieces) else cut


def cut_answer(header: bytes) -> CutHeader | None:
    """Cut the header of the answer to a send at message id, queue id, queue offset and number."""
    return _cut(header, _ANSWER)


def _cut(header: bytes, patterns: Mapping[bytes, re.Pattern[bytes]]) -> CutHeader | None:
    found = []
    for letter, pattern in patterns.items():
        matches = list(pattern.finditer(header))
        if len(matches) != 1:
            return None
        found.append((*matches[0].span(1), letter))
    found.sort()
    ends = [*(begin for begin, _, _ in found), len(header)]
    begins = [0, *(end for _, end, _ in found)]
    pieces = tuple(header[begin:end] for begin, end in zip(begins, ends, strict=True))
    form = HeaderForm(pieces, b"".join(letter for _, _, letter in found))
    return CutHeader(form, {letter: header[begin:end] for begin, end, letter in found})
