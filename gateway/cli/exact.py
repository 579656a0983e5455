"""JSON whose numbers keep their digits: 1.10 stays 1.10, and a whole number of any length stays exact."""

from __future__ import annotations

import json
from typing import Any, Final

import orjson

_PLAIN_DIGITS: Final = 18
"""Whole numbers of so many characters fit 64 bits."""


class Number:
    """A number as it was written."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        """Return the number as it was written."""
        return self.text


def decode(text: str | bytes) -> Any:
    """Return what JSON says; fractions and very long numbers are `Number`."""
    return json.loads(text, parse_float=Number, parse_int=_whole)


def encode(value: Any) -> str:
    """Return one line of JSON."""
    return orjson.dumps(value, default=_fragment).decode()


def _whole(text: str) -> int | Number:
    return int(text) if len(text) <= _PLAIN_DIGITS else Number(text)


def _fragment(value: object) -> orjson.Fragment:
    if isinstance(value, Number):
        return orjson.Fragment(value.text)
    raise TypeError(type(value).__name__)
