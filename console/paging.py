"""Paging with ``limit`` and an opaque ``cursor`` bound to its filter; page numbers would not suit changing data.

A cursor contains the key beside which a page lies, and the query that it belongs to. A cursor of another query, or an
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
S = TypeVar("S")
M = TypeVar("M", bound=Model)

DEFAULT_LIMIT: Final = 50
MAX_LIMIT: Final = 500

LIMIT: Final = OpenApiParameter(
    "limit", {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT}, description="Page size."
)
CURSOR: Final = OpenApiParameter("cursor", str, description="`next_cursor` or `prev_cursor` of another page.")
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
    prev_cursor: str | None = None
    """Of the rows right before this page; None at the beginning."""
    total: int | None = None

    def of(self, items: list[S]) -> Page[S]:
        """Return this page with other items in the places of its own."""
        return Page(items, self.next_cursor, self.prev_cursor, self.total)


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
        "prev_cursor": serializers.CharField(allow_null=True),
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


def make_cursor(request: Request, place: Any) -> str:
    """Return the cursor of the page at a place (JSON), for the query of this request."""
    return base64.urlsafe_b64encode(orjson.dumps([_seal(request, place), place])).rstrip(b"=").decode()


def page_sequence(request: Request, rows: Sequence[T], *, key: Callable[[T], str]) -> Page[T]:
    """Return a page of the sorted `rows`: it follows or precedes the row whose unique `key` is in the cursor.

    If that row no longer exists, the page lies where it was.
    """
    start, end = _bounds(cursor_of(request), limit_of(request), rows, key)
    items = list(rows[start:end])
    return Page(
        items,
        next_cursor=make_cursor(request, ["after", key(items[-1]), end]) if items and end < len(rows) else None,
        prev_cursor=make_cursor(request, ["before", key(items[0]), start]) if items and start else None,
        total=len(rows),
    )


def page_queryset(request: Request, rows: QuerySet[M]) -> Page[M]:
    """Return a page of a queryset, newest (highest primary key) first."""
    limit = limit_of(request)
    side, key = cursor_of(request) or ("", None)
    newer = side == "before"
    if key is not None:
        rows = rows.filter(**{"pk__gt" if newer else "pk__lt": key})
    found = list(rows.order_by("pk" if newer else "-pk")[: limit + 1])
    has_more = len(found) > limit
    items = found[:limit][::-1] if newer else found[:limit]
    has_older, has_newer = (True, has_more) if newer else (has_more, key is not None)
    return Page(
        items,
        next_cursor=make_cursor(request, ["after", items[-1].pk]) if items and has_older else None,
        prev_cursor=make_cursor(request, ["before", items[0].pk]) if items and has_newer else None,
    )


def _bounds(place: Any, limit: int, rows: Sequence[T], key: Callable[[T], str]) -> tuple[int, int]:
    """Return from which index on up to which one the page at a place has the rows."""
    if place is None:
        return 0, min(limit, len(rows))
    side, beside, position = place
    index = next((index for index, row in enumerate(rows) if key(row) == beside), None)
    if side == "before":
        end = min(position, len(rows)) if index is None else index
        return max(0, end - limit), end
    start = min(position, len(rows)) if index is None else index + 1
    return start, min(start + limit, len(rows))


def _seal(request: Request, place: Any) -> str:
    """Return a signature that binds a place to the query of this request, so that cursors cannot be forged."""
    asked = sorted((name, value) for name, value in request.query_params.items() if name not in ("cursor", "limit"))
    return salted_hmac("console.paging.sides", orjson.dumps([request.path, asked, place])).hexdigest()[:20]
