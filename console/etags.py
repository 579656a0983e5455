"""ETag and If-Match: a change of a configuration names the version that the caller has read."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from operator import eq
from typing import Any, Final, TypeVar

import msgspec
import orjson
from django.db import transaction
from django.db.models import Model, QuerySet
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from console.errors import Fault, NotServed, PreconditionFailed, PreconditionRequired
from console.rows import row_of

M = TypeVar("M", bound=Model)

# RFC 9110, 8.8.3 and 5.6.1: a list may have empty elements, which count for nothing.
_TAG: Final = re.compile(r'"[!\x23-\x7e\x80-\xff]*"')
_CONDITION: Final = re.compile(rf"\*|[ \t,]*(W/)?{_TAG.pattern}([ \t]*,[ \t,]*(W/)?{_TAG.pattern})*[ \t,]*")

IF_MATCH: Final = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, required=True, description="The ETag of the resource to change, or `*`."
)


def etag(configuration: Any) -> str:
    """Return the tag of a configuration: a struct, or anything that JSON holds."""
    plain = orjson.dumps(configuration, default=msgspec.to_builtins, option=orjson.OPT_SORT_KEYS)
    digest = hashlib.sha256(plain).hexdigest()
    return f'"{digest[:20]}"'


def check(request: Request, *configurations: Any) -> None:
    """Raise unless If-Match names a current configuration, or ``*``; there are several if brokers differ.

    PreconditionRequired without the header, NotServed if it is malformed, PreconditionFailed if it names another
    configuration.
    """
    _check_tag(request, *map(etag, configurations))


def require(request: Request) -> None:
    """Raise PreconditionRequired without If-Match, for a resource whose tag is unknown."""
    if not request.headers.get("If-Match", "").strip():
        raise PreconditionRequired


def match(request: Request, shown: Mapping[str, Any], same: Callable[[str, str], bool] = eq) -> None:
    """Like `check` for a resource that shows its tag as the field `etag`; `same` compares a given tag with it."""
    _check_tag(request, shown["etag"], same=same)


@contextmanager
def locked(request: Request, rows: QuerySet[M], tag: Callable[[M], str]) -> Iterator[M]:
    """Yield the only one of `rows` for a change, which the transaction of the block makes.

    Raises PreconditionFailed if its tag is not the one that If-Match names. Until the block ends nobody else changes
    the row: SQLite locks its database, other databases lock the row.
    """
    with transaction.atomic():
        row = row_of(rows.select_for_update())
        _check_tag(request, tag(row))
        yield row


def tagged(shown: Mapping[str, Any], *, status: int = 200) -> Response:
    """Return the answer that shows a resource with a field `etag`."""
    return Response(shown, status=status, headers={"ETag": shown["etag"]})


def _check_tag(request: Request, *present: str, same: Callable[[str, str], bool] = eq) -> None:
    require(request)
    wanted = request.headers["If-Match"].strip()
    if not _CONDITION.fullmatch(wanted):
        fault = f"If-Match must be an ETag in quotation marks, such as {present[0]}, or *; {wanted[:60]!r} is not."
        raise NotServed([Fault("If-Match", "INVALID", fault)])
    # A server that compresses answers marks their tags as weak; the configuration is still the same.
    if wanted != "*" and not any(same(given, each) for given in _TAG.findall(wanted) for each in present):
        raise PreconditionFailed
