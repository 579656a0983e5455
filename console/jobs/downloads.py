"""Answers with a file, or with the part of it that a Range header asks for (RFC 9110, 14)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import IO, Final

from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import content_disposition_header
from rest_framework.exceptions import APIException
from rest_framework.request import Request

MEDIA_TYPES: Final = {
    ".json": "application/json",
    ".jsonl": "application/x-ndjson",
    ".csv": "text/csv; charset=utf-8",
    ".parquet": "application/vnd.apache.parquet",
}
_PIECE_BYTES: Final = 1 << 18
_RANGE: Final = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


class RangeBehindEnd(APIException):
    """No byte of the file is in the range."""

    status_code = 416
    default_code = "range_not_satisfiable"


def media_type_of(name: str) -> str:
    """Return the media type of a file of a job."""
    return MEDIA_TYPES.get(Path(name).suffix, "application/octet-stream")


def download(request: Request, file: Path, name: str) -> HttpResponseBase:
    """Return a response with the file as an attachment of this name.

    One range is served (206), several are answered by the whole file. Raises RangeBehindEnd.
    """
    stat = file.stat()
    tag = f'"{stat.st_size:x}-{stat.st_mtime_ns:x}"'
    asked = request.headers.get("Range", "")
    if request.headers.get("If-Range", tag) != tag:
        asked = ""
    found = _RANGE.fullmatch(asked.replace(" ", ""))
    bounds = None if found is None else _bounds(found[1], found[2], stat.st_size)
    if found is not None and bounds is None and found[0] != "bytes=-":
        raise RangeBehindEnd(f"The file has {stat.st_size:,} bytes; no byte of it is in the range {asked[:60]!r}.")
    begin, end = bounds or (0, stat.st_size)
    response = StreamingHttpResponse(_Part(file.open("rb"), begin, end), content_type=media_type_of(name))
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name) or ""
    response["Content-Length"] = str(end - begin)
    response["Accept-Ranges"] = "bytes"
    response["ETag"] = tag
    response["X-Content-Type-Options"] = "nosniff"
    if bounds is not None:
        response.status_code = 206
        response["Content-Range"] = f"bytes {begin}-{end - 1}/{stat.st_size}"
    return response


def _bounds(first: str, last: str, size: int) -> tuple[int, int] | None:
    """Return begin and end of a range, None for one without any byte."""
    if first:
        begin, end = int(first), min(size, int(last) + 1 if last else size)
    elif last:
        begin, end = max(0, size - int(last)), size
    else:
        return None
    return (begin, end) if begin < end else None


class _Part:
    """The bytes of a file from one position to another, in pieces.

    It is read asynchronously: under ASGI Django collects what a plain iterator yields, here a file of any size.
    """

    def __init__(self, file: IO[bytes], begin: int, end: int) -> None:
        file.seek(begin)
        self._file, self._left = file, end - begin

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while piece := await asyncio.to_thread(self._file.read, min(_PIECE_BYTES, self._left)):
            self._left -= len(piece)
            yield piece

    def close(self) -> None:
        """Close the file."""
        self._file.close()
