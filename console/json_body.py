"""Reads the JSON body of a request safely."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

import orjson
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser
from rest_framework.renderers import JSONRenderer


class JsonParser(BaseParser):
    """JSON in UTF-8 as RFC 8259 defines it.

    Python's own parser fails on thousands of nested levels, accepts NaN, and returns lone surrogates that no answer can
    contain. Integers beyond 64 bits become floats, so integer fields refuse them.
    """

    media_type = "application/json"
    renderer_class = JSONRenderer

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        """Return the content of the body; raise ParseError if it is not JSON."""
        try:
            return orjson.loads(stream.read())
        except orjson.JSONDecodeError as error:
            raise ParseError(f"The body is not JSON: {error}.") from None
