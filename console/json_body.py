"""Reads the JSON body of a request safely."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import IO, Any, Final

import msgspec
import orjson
from rest_framework.exceptions import ParseError, UnsupportedMediaType
from rest_framework.parsers import BaseParser
from rest_framework.renderers import JSONRenderer

from console.charsets import charset_fault
from console.errors import Fault, NotServed
from console.pointers import escaped

_MAX_FAULTS: Final = 100
_decode_exactly = msgspec.json.Decoder(float_hook=Decimal).decode


class JsonParser(BaseParser):
    """JSON in UTF-8 as RFC 8259 defines it.

    Python's own parser fails on thousands of nested levels, accepts NaN, and returns lone surrogates that no answer can
    contain. Integers beyond 64 bits become floats, so integer fields refuse them.
    """

    media_type = "application/json"
    renderer_class = JSONRenderer

    def load(self, text: bytes) -> Any:
        """Return the value of the text; raise ValueError if it is not JSON."""
        return orjson.loads(text)

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        """Return the content of the body; raise ParseError if it is not JSON, NotServed for a repeated name.

        Raises UnsupportedMediaType for a charset that is not UTF-8.
        """
        fault = charset_fault(media_type or "")
        if fault is not None:
            raise UnsupportedMediaType(media_type or "", fault)
        text = stream.read()
        try:
            text.decode()
        except UnicodeDecodeError as error:
            raise ParseError(f"The body is not UTF-8: byte 0x{text[error.start]:02x} at {error.start}.") from None
        try:
            content = self.load(text)
        except ValueError as error:
            raise ParseError(f"The body is not JSON: {error}.") from None
        try:
            faults = _repetitions(text)
        except RecursionError:
            raise ParseError("The body is nested too deeply.") from None
        if faults:
            raise NotServed(faults)
        return content


class ExactJsonParser(JsonParser):
    """JSON whose numbers stay as they are written: whole ones of any size are int, the others Decimal."""

    def load(self, text: bytes) -> Any:
        """Return the value of the text; raise ValueError if it is not JSON or has a number that is too long."""
        orjson.loads(text)
        try:
            return _decode_exactly(text)
        except (InvalidOperation, msgspec.DecodeError):
            raise ValueError("a number is too long") from None


class _Members(list[tuple[str, Any]]):
    """The members of an object, in order, with their repetitions."""


def _repetitions(text: bytes) -> list[Fault]:
    """Return the repeated names of a text that is JSON: readers differ in which of their values counts."""
    has_any = False

    def members(pairs: list[tuple[str, Any]]) -> _Members:
        nonlocal has_any
        has_any = has_any or len(dict(pairs)) < len(pairs)
        return _Members(pairs)

    # Numbers stay text: Python refuses to convert very long ones.
    content = json.loads(text, object_pairs_hook=members, parse_int=str, parse_float=str)
    return list(islice(_faults(content, "#"), _MAX_FAULTS)) if has_any else []


def _faults(value: Any, pointer: str) -> Iterator[Fault]:
    pairs = value if isinstance(value, _Members) else enumerate(value) if isinstance(value, list) else ()
    seen = set[str | int]()
    for name, inner in pairs:
        step = f"{pointer}/{escaped(str(name))}"
        if name in seen:
            yield Fault(step, "REPEATED_FIELD", f"{name!r} is given more than once.")
        if isinstance(value, _Members):
            seen.add(name)
        yield from _faults(inner, step)
