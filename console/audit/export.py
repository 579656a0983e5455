"""The audit as a file, CSV or JSON Lines: read page by page, so that its size does not matter."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, Final, Literal

import orjson
from asgiref.sync import sync_to_async
from django.db.models import QuerySet

from broker_core.csv_text import guarded
from console.audit.models import AuditRecord
from console.audit.serializers import AuditRecordSerializer

Form = Literal["csv", "jsonl"]
MEDIA_TYPES: Final[dict[Form, str]] = {"csv": "text/csv", "jsonl": "application/x-ndjson"}
COLUMNS: Final = AuditRecordSerializer.Meta.fields
_PAGE: Final = 500
_BYTE_ORDER_MARK: Final = "\ufeff"


async def lines(rows: QuerySet[AuditRecord], form: Form, upto: int) -> AsyncIterator[bytes]:
    """Yield the file in pieces, the newest record first; records with an id above `upto` are left out."""
    if form == "csv":
        yield (_BYTE_ORDER_MARK + _csv([list(COLUMNS)])).encode()
    write = _WRITERS[form]
    below = upto + 1
    while True:
        page = await sync_to_async(_page)(rows, below)
        if page:
            yield write(page)
        if len(page) < _PAGE:
            return
        below = page[-1]["id"]


def _page(rows: QuerySet[AuditRecord], below: int) -> list[dict[str, Any]]:
    found = rows.filter(pk__lt=below).order_by("-pk")[:_PAGE]
    return list(AuditRecordSerializer(found, many=True).data)


def _csv_page(page: Sequence[dict[str, Any]]) -> bytes:
    return _csv([[_cell(record[name]) for name in COLUMNS] for record in page]).encode()


def _json_page(page: Sequence[dict[str, Any]]) -> bytes:
    return b"".join(orjson.dumps(dict(record), option=orjson.OPT_APPEND_NEWLINE) for record in page)


_WRITERS: Final[dict[Form, Callable[[Sequence[dict[str, Any]]], bytes]]] = {"csv": _csv_page, "jsonl": _json_page}


def _csv(rows: Sequence[Sequence[str]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = orjson.dumps(value).decode() if isinstance(value, dict) else str(value)
    return guarded(text)
