"""Damage to bytes, drawn from a seeded generator, as caused by a faulty peer, a torn file or an attacker."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from random import Random
from typing import Final

_LENGTHS: Final = (
    0,
    1,
    -1,
    2,
    3,
    4,
    7,
    127,
    128,
    255,
    256,
    32767,
    32768,
    65535,
    1 << 20,
    1 << 24,
    0x7FFFFFFF,
    -1 << 31,
)
_WIDTHS: Final = (">b", ">h", ">i", ">q")
_BITS: Final = {">b": 8, ">h": 16, ">i": 32, ">q": 64}
_TOKENS: Final = (
    b"{", b"}", b"[", b"]", b'"', b"'", b":", b",", b"\\", b"null", b"true", b"-1", b"1e999", b"NaN", b'{"$ref":"$"}',
    b"\x00", b"\x01", b"\x02", b"\xff", b"\xed\xa0\x80", b"9" * 25, b"9" * 5000, b"0.1", b"-", b" ", b"/", b"..", b"@",
    b"|", b"\r\n", b"\\u0000", b"\\ud800", "é".encode(), "😀".encode(), b"[" * 200, b'{"a":' * 200,
)  # fmt: skip
_MOST: Final = 4


def mutate(random: Random, data: bytes, others: Sequence[bytes] = ()) -> bytes:
    """Return `data` with one to four damages; `others` are samples of the same kind to take pieces from."""
    changed = bytearray(data)
    for _ in range(random.randint(1, _MOST)):
        if others and random.random() < 0.1:
            _splice(random, changed, random.choice(others))
        else:
            random.choice(_DAMAGES)(random, changed)
    return bytes(changed)


def mutate_text(random: Random, text: str, others: Sequence[str] = ()) -> str:
    """Do the same to a text; bytes that are no longer UTF-8 are read as replacement characters, as in Java."""
    return mutate(random, text.encode(), [each.encode() for each in others]).decode("utf-8", "replace")


def _flip(random: Random, data: bytearray) -> None:
    if data:
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)


def _set(random: Random, data: bytearray) -> None:
    if data:
        data[random.randrange(len(data))] = random.choice((0, 1, 0x7F, 0x80, 0xFF, random.randrange(256)))


def _put_number(random: Random, data: bytearray) -> None:
    """Overwrite a place with a number that often breaks lengths and counts."""
    width = random.choice(_WIDTHS)
    size = struct.calcsize(width)
    if len(data) < size:
        return
    at = random.randrange(len(data) - size + 1)
    top = 1 << (_BITS[width] - 1)
    number = random.choice((*_LENGTHS, len(data), len(data) - at, random.randrange(-top, top)))
    struct.pack_into(width, data, at, (number + top) % (2 * top) - top)


def _insert_token(random: Random, data: bytearray) -> None:
    at = random.randrange(len(data) + 1)
    data[at:at] = random.choice(_TOKENS)


def _insert_noise(random: Random, data: bytearray) -> None:
    at = random.randrange(len(data) + 1)
    data[at:at] = random.randbytes(random.randrange(1, 9))


def _drop(random: Random, data: bytearray) -> None:
    begin, end = _span(random, data)
    del data[begin:end]


def _double(random: Random, data: bytearray) -> None:
    begin, end = _span(random, data)
    data[end:end] = data[begin:end]


def _cut(random: Random, data: bytearray) -> None:
    del data[random.randrange(len(data) + 1) :]


def _clear(random: Random, data: bytearray) -> None:
    begin, end = _span(random, data)
    data[begin:end] = bytes(end - begin)


def _swap(random: Random, data: bytearray) -> None:
    begin, end = _span(random, data)
    data[begin:end] = data[begin:end][::-1]


def _splice(random: Random, data: bytearray, other: bytes) -> None:
    begin, end = _span(random, bytearray(other))
    at, upto = _span(random, data)
    data[at:upto] = other[begin:end]


def _span(random: Random, data: bytearray) -> tuple[int, int]:
    begin = random.randrange(len(data) + 1)
    return begin, min(len(data), begin + random.choice((1, 2, 4, 8, 16, 64, len(data))))


_DAMAGES: Final[tuple[Callable[[Random, bytearray], None], ...]] = (
    _flip, _flip, _set, _set, _put_number, _put_number, _insert_token, _insert_noise, _drop, _double, _cut,
    _clear, _swap,
)  # fmt: skip
