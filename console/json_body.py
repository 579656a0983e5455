"""Reading the JSON body of a request, whatever it holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

import orjson
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser
from rest_framework.renderers import JSONRenderer


class JsonParser(BaseParser):
    """JSON in UTF-8 as RFC 8259 has it.

    Python's own reader fails on what is nested thousands deep, takes NaN for a number, and passes on halves of
    characters that no answer can carry. Whole numbers beyond 64 bits come as floats, so no field takes them for whole.
    """

    media_type = "application/json"
    renderer_class = JSONRenderer

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        """Return what the body says; raise ParseError for what is no JSON."""
        try:
            return orjson.loads(stream.read())
        except orjson.JSONDecodeError as error:
            raise ParseError(f"The body is not JSON: {error}.") from None
