"""Messages as a file, CSV or JSON Lines, written while they are read: what all exports share."""

from __future__ import annotations

import csv
import io
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final, Literal

from django.http import StreamingHttpResponse
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.exceptions import APIException
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from broker_core.csv_text import guarded

CSV: Final = "text/csv"
LINES: Final = "application/x-ndjson"
FORMATS: Final = {"csv": CSV, "jsonl": LINES}
Form = Literal["csv", "jsonl"]
AT_ONCE: Final = 2
"""Exports of one process: each reads messages on the loop that serves producers and consumers."""
AS = OpenApiParameter("as", str, enum=list(FORMATS), default="csv")
BODIES = OpenApiParameter("bodies", bool, default=False, description="With the bodies.")
_slots = threading.BoundedSemaphore(AT_ONCE)


class TooManyExports(APIException):
    """As many exports as are allowed run in this process."""

    status_code = 429
    default_code = "rate_limited"
    default_detail = f"{AT_ONCE} exports run at the moment, which is the limit; try again in a few seconds."
    wait = 5


class CsvRenderer(BaseRenderer):
    """Lets a request accept CSV; the answer is streamed, not rendered."""

    media_type = CSV
    format = "csv"


class LinesRenderer(CsvRenderer):
    """Lets a request accept JSON Lines."""

    media_type = LINES
    format = "jsonl"


class _Streamed:
    """The parts of an answer; its slot is free when Django closes it, read to the end or not."""

    def __init__(self, parts: Callable[[], AsyncIterator[bytes]]) -> None:
        self._parts = parts

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._parts()

    def close(self) -> None:
        """Free the slot."""
        _slots.release()


def streamed_file(
    parts: Callable[[], AsyncIterator[bytes]], name: str, form: Form, *, is_complete: bool
) -> StreamingHttpResponse:
    """Return the file as a download, with `Gantry-Complete`; raise TooManyExports."""
    if not _slots.acquire(blocking=False):
        raise TooManyExports
    answer = StreamingHttpResponse(_Streamed(parts), FORMATS[form])
    answer["Content-Disposition"] = f'attachment; filename="{name}.{form}"'
    answer["Gantry-Complete"] = "true" if is_complete else "false"
    answer["X-Accel-Buffering"] = "no"
    return answer


def form_of(request: Request) -> Form:
    """Return the form that the query wants; raise ValidationError."""
    return "jsonl" if choice(request, "as", tuple(FORMATS), "csv") == "jsonl" else "csv"


def choice(request: Request, name: str, allowed: Sequence[str], usual: str) -> str:
    """Return a word of the query, in lower case; raise ValidationError if it is none of those allowed."""
    word = request.query_params.get(name, usual).lower()
    if word not in allowed:
        raise serializers.ValidationError({name: f"must be {' or '.join(allowed)}"})
    return word


def csv_rows(rows: Sequence[Sequence[object]]) -> bytes:
    """Return rows of CSV; a text that begins like a formula is quoted, and a list is one text."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows([[_cell(value) for value in row] for row in rows])
    return text.getvalue().encode()


def _cell(value: object) -> object:
    text = " ".join(map(str, value)) if isinstance(value, list) else value
    return guarded(text) if isinstance(text, str) else text
