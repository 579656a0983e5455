"""Numbers in paths as `<number:…>`, for whoever imports this: `01` is not another address of `1`."""

from __future__ import annotations

from django.urls import register_converter
from django.urls.converters import IntConverter


class NumberConverter(IntConverter):
    """Decimal digits without leading zeros."""

    regex = "0|[1-9][0-9]*"


register_converter(NumberConverter, "number")
