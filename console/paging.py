"""Paging with ``limit`` and an opaque ``cursor`` bound to its filter; page numbers would not suit changing data.

A cursor contains the last key of the previous page and the query that it belongs to. A cursor of another query, or an
invalid one, is refused.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import orjson
from django.db.models import Model, QuerySet
from django.utils.crypto import salted_hmac
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.request import Request

T = TypeVar("T")
M = TypeVar("M", bound=Model)

DEFAULT_LIMIT: Final = 50
MAX_LIMIT: Final = 500

LIMIT: Final = OpenApiParameter(
    "limit", {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT}, description="Page size."
)
CURSOR: Final = OpenApiParameter("cursor", str, description="`next_cursor` of the previous page.")
PAGE_PARAMETERS: Final = [LIMIT, CURSOR]
_pages: dict[str, type[serializers.Serializer[Any]]] = {}


class CursorGone(APIException):
    """The cursor belongs to another query or is invalid."""

    status_code = 410
    default_detail = "The cursor does not belong to this query; start again without one."
    default_code = "cursor_gone"


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page of answers."""

    items: list[T]
    next_cursor: str | None
    total: int | None = None


def page_of(item: type[serializers.BaseSerializer[Any]]) -> type[serializers.Serializer[Any]]:
    """Return the serializer of a page of `item`, named ``<Item>Page``."""
    # One class per item: the OpenAPI document needs unique names.
    page = _pages.get(item.__name__)
    if page is None:
        page = _pages[item.__name__] = _make_page(item)
    return page


def _make_page(item: type[serializers.BaseSerializer[Any]]) -> type[serializers.Serializer[Any]]:
    fields = {
        "items": item(many=True),
        "next_cursor": serializers.CharField(allow_null=True),
        "total": serializers.IntegerField(allow_null=True),
        "__doc__": f"A page of {item.__name__.removesuffix('Serializer')}.",
    }
    return type(item.__name__.removesuffix("Serializer") + "PageSerializer", (serializers.Serializer,), fields)


def limit_of(request: Request) -> int:
    """Return the requested page size; raise ValidationError outside 1 to 500."""
    text = request.query_params.get("limit", str(DEFAULT_LIMIT))
    if not text.isascii() or not text.isdigit() or len(text) > 9 or not 1 <= int(text) <= MAX_LIMIT:
        raise ValidationError({"limit": f"must be a number from 1 to {MAX_LIMIT}"})
    return int(text)


def cursor_of(request: Request) -> Any:
    """Return where the page begins, None for the first one; raise CursorGone for a cursor of another query."""
    text = request.query_params.get("cursor")
    if not text:
        return None
    try:
        kept = orjson.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (binascii.Error, orjson.JSONDecodeError, ValueError):
        raise CursorGone from None
    if not isinstance(kept, list) or len(kept) != 2 or kept[0] != _seal(request, kept[1]):
        raise CursorGone
    return kept[1]


def make_cursor(request: Request, after: Any) -> str:
    """Return the cursor for the page that begins after the key `after` (JSON), for the query of this request."""
    return base64.urlsafe_b64encode(orjson.dumps([_seal(request, after), after])).rstrip(b"=").decode()


def page_sequence(request: Request, rows: Sequence[T], *, key: Callable[[T], str]) -> Page[T]:
    """Return a page of the sorted `rows`; it begins after the row whose unique `key` is in the cursor.

    If that row no longer exists, the page begins where it was.
    """
    limit = limit_of(request)
    start = _start(cursor_of(request), rows, key)
    items = list(rows[start : start + limit])
    more = start + limit < len(rows)
    after = [key(items[-1]), start + limit] if more and items else None
    return Page(items, None if after is None else make_cursor(request, after), total=len(rows))


def page_queryset(request: Request, rows: QuerySet[M]) -> Page[M]:
    """Return a page of a queryset, newest (highest primary key) first."""
    limit = limit_of(request)
    after = cursor_of(request)
    rows = rows.order_by("-pk")
    if after is not None:
        rows = rows.filter(pk__lt=after)
    items = list(rows[: limit + 1])
    more = len(items) > limit
    items = items[:limit]
    return Page(items, make_cursor(request, items[-1].pk) if more else None)


def _start(after: Any, rows: Sequence[T], key: Callable[[T], str]) -> int:
    if after is None:
        return 0
    if not isinstance(after, list) or len(after) != 2 or not isinstance(after[1], int):
        raise CursorGone
    last, position = after
    return next((index + 1 for index, row in enumerate(rows) if key(row) == last), position)


def _seal(request: Request, after: Any) -> str:
    """Return a signature that binds `after` to the query of this request, so that cursors cannot be forged."""
    asked = sorted((name, value) for name, value in request.query_params.items() if name not in ("cursor", "limit"))
    return salted_hmac("console.paging", orjson.dumps([request.path, asked, after])).hexdigest()[:20]
