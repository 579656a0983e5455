"""Finds records of the audit by who, what, where from, when, how it ended, and any words in them."""

from __future__ import annotations

import json
from typing import Final

from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from console.audit.models import AuditRecord
from console.audit.serializers import RESULTS
from console.queries import span_of

# A filter that ends with * matches a prefix: action=topic.*; one that ends with /* a resource with all below it.
_NAMES: Final = ("actor", "token", "address", "action", "resource", "request_id")
_STATES: Final = ("before", "after")
_MOST_WORDS: Final = 10
_LONGEST: Final = 200

SEARCH_PARAMETERS: Final = [
    *(
        OpenApiParameter(name, str, description="Exact, or a prefix followed by `*`; `x/*` is also `x`.")
        for name in _NAMES
    ),
    OpenApiParameter("result", str, enum=RESULTS),
    OpenApiParameter("from", str, description="Recorded at this moment or after it (RFC 3339)."),
    OpenApiParameter("to", str, description="Recorded before this moment (RFC 3339)."),
    OpenApiParameter(
        "q",
        str,
        description=f"Words in a record: in its names or its states before and after; at most {_MOST_WORDS}.",
    ),
]


def found(request: Request) -> QuerySet[AuditRecord]:
    """Return the records that the query of a request asks for; raise ValidationError."""
    rows: QuerySet[AuditRecord] = AuditRecord.objects.all()
    for name in _NAMES:
        rows = _named(rows, name, request.query_params.get(name, ""))
    result = request.query_params.get("result", "")
    if result:
        if result not in RESULTS:
            raise ValidationError({"result": f"must be one of {', '.join(RESULTS)}, not {result[:60]!r}"})
        rows = rows.filter(result=result)
    begin, end = span_of(request)
    rows = rows if begin is None else rows.filter(at__gte=begin)
    rows = rows if end is None else rows.filter(at__lt=end)
    return _with_words(rows, request.query_params.get("q", ""))


def _named(rows: QuerySet[AuditRecord], name: str, wanted: str) -> QuerySet[AuditRecord]:
    if wanted.endswith("/*"):
        return rows.filter(Q(**{f"{name}__startswith": wanted[:-1]}) | Q(**{name: wanted[:-2]}))
    if wanted.endswith("*"):
        return rows.filter(**{f"{name}__startswith": wanted[:-1]})
    return rows.filter(**{name: wanted}) if wanted else rows


def _with_words(rows: QuerySet[AuditRecord], text: str) -> QuerySet[AuditRecord]:
    words = text.split()
    if len(text) > _LONGEST or len(words) > _MOST_WORDS:
        raise ValidationError({"q": f"has more than {_MOST_WORDS} words or {_LONGEST} characters"})
    if not words:
        return rows
    rows = rows.annotate(**{f"{name}_text": Cast(name, TextField()) for name in _STATES})
    for word in words:
        rows = rows.filter(_contains(word))
    return rows


def _contains(word: str) -> Q:
    wanted = Q()
    for name in _NAMES:
        wanted |= Q(**{f"{name}__icontains": word})
    # SQLite keeps the text of the JSON with its escapes, PostgreSQL without those of letters.
    spellings = {json.dumps(word, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)}
    for name in _STATES:
        for spelling in spellings:
            wanted |= Q(**{f"{name}_text__icontains": spelling})
    return wanted
