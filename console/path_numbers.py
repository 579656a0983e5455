"""Numbers in paths as `<number:…>`, for whoever imports this: `01` is not another address of `1`."""

from __future__ import annotations

from django.urls import register_converter
from django.urls.converters import IntConverter


class NumberConverter(IntConverter):
    """Decimal digits without leading zeros, no more than a number of 64 bits has at any rate."""

    regex = "0|[1-9][0-9]{0,17}"


register_converter(NumberConverter, "number")
