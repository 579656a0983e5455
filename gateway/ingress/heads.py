"""Request heads of HTTP/1.1 (RFC 9112) that are plain: everything that could be read in two ways is left to the server.

A client sends the same head again and again, so heads are remembered by their bytes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from gateway.data.quick import QuickCall, find_quick_call
from gateway.data.routing import Route, find_route

MOST_BYTES: Final = 8192
"""Of a plain head."""
MOST_CHECKED_BYTES: Final = 64 * 1024
"""Of any head."""
MOST_BODY_BYTES: Final = 1024 * 1024
"""Larger bodies arrive at the pace of the application, which the server knows how to keep."""
_MOST_KEPT: Final = 1024
_LONGEST_KEPT: Final = 2048
_MOST_FIELDS: Final = 64

_LINE: Final = re.compile(rb"POST (/[A-Za-z0-9_./:~-]+) HTTP/1\.1")
# A request line with a host in it (RFC 9112 3.2.2).
_ABSOLUTE: Final = re.compile(rb"\S+ [A-Za-z][A-Za-z0-9+.-]*:/*([^/? ]*)")
_FIELD: Final = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*((?:[!-~\x80-\xff][\t -~\x80-\xff]*)?)")
# Empty lines may come before a request (RFC 9112 2.2). Of what begins otherwise no server makes a request.
_START: Final = re.compile(rb"(?:\r\n)*(?=\n|\r?\Z|[!#$%&'*+.^_`|~0-9A-Za-z-])")
_LENGTH: Final = re.compile(rb"[0-9]{1,9}")
_NOT_PLAIN: Final = frozenset({b"expect", b"te", b"trailer", b"transfer-encoding", b"upgrade"})


@dataclass(slots=True, eq=False)
class Head:
    """The head of a request to the data plane."""

    route: Route
    path: str
    """Without the base path of a proxy."""
    headers: list[tuple[bytes, bytes]]
    """Names are in lower case."""
    length: int
    """Bytes of the body."""
    quick: QuickCall | None
    """Set for a head with which a usual message may come."""


class Heads:
    """Reads heads; `base` is the path before all others, or empty."""

    def __init__(self, base: str = "") -> None:
        self._base = base
        self._known: dict[bytes, Head] = {}

    def find(self, data: bytes) -> Head | None:
        """Return a head that ends with its empty line; None for one that is not plain, or not of the data plane."""
        known = self._known.get(data)
        if known is not None:
            return known
        head = self._read(data)
        if head is not None and len(data) <= _LONGEST_KEPT and not head.route.transaction:
            if len(self._known) >= _MOST_KEPT:
                self._known.clear()
            self._known[data] = head
        return head

    def _read(self, data: bytes) -> Head | None:
        line, *lines = data[:-4].split(b"\r\n")
        found = _LINE.fullmatch(line)
        if found is None or len(lines) > _MOST_FIELDS:
            return None
        path = found[1].decode("ascii")
        if self._base and path.startswith(f"{self._base}/"):
            path = path[len(self._base) :]
        route = find_route("POST", path)
        if route is None:
            return None
        headers: list[tuple[bytes, bytes]] = []
        for each in lines:
            field = _FIELD.fullmatch(each)
            if field is None:
                return None
            headers.append((field[1].lower(), field[2].rstrip(b" \t")))
        return _checked(route, path, headers)


class HeadRefused(Exception):
    """A head that is not passed on; `detail` is for people, or empty where the answer has no body."""

    def __init__(self, status: HTTPStatus, detail: str = "") -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail


def may_pass(data: bytes) -> bool:
    """Return whether the server may have what begins with `data`; False: not before more of the head is here.

    Raises HeadRefused for a head that two readers could read differently (RFC 9112 2.2, 3.2, 6.3), of which the server
    would choose one reading, and for one above `MOST_CHECKED_BYTES`. What the server refuses by itself is left to it.
    """
    begin = _START.match(data)
    if begin is None:
        return True
    end = data.find(b"\r\n\r\n", begin.end())
    head = data[begin.end() : len(data) if end < 0 else end]
    line, *rest = head.split(b"\r\n")
    if any(b"\n" in each for each in (line, *rest)):
        raise HeadRefused(HTTPStatus.BAD_REQUEST, "A line of the head ends with LF alone: it must end with CR and LF.")
    if (rest or end >= 0) and not line.endswith((b" HTTP/1.1", b" HTTP/1.0")):
        return True
    if (len(data) if end < 0 else end) > MOST_CHECKED_BYTES:
        is_line = not 0 <= head.find(b"\r\n") < MOST_CHECKED_BYTES
        raise HeadRefused(HTTPStatus.REQUEST_URI_TOO_LONG if is_line else HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
    if end < 0:
        return False
    fault = _fault_of(line, rest)
    if fault is not None:
        raise HeadRefused(HTTPStatus.BAD_REQUEST, fault)
    return True


def _fault_of(line: bytes, lines: list[bytes]) -> str | None:
    """Return why a head could be read in two ways; None if it cannot."""
    fields = [(name.strip().lower(), value.strip()) for name, _, value in (each.partition(b":") for each in lines)]
    names = [name for name, _ in fields]
    lengths, hosts = names.count(b"content-length"), names.count(b"host")
    codings = [value.lower() for name, value in fields if name == b"transfer-encoding"]
    if lengths > 1:
        return "The header Content-Length is given more than once."
    if codings and lengths:
        return "The request has both Content-Length and Transfer-Encoding."
    if codings and codings != [b"chunked"]:
        return "The only Transfer-Encoding that is read is chunked."
    if hosts > 1:
        return "The header Host is given more than once."
    if not hosts and line.endswith(b"1.1"):
        return "A request of HTTP/1.1 needs the header Host."
    authority = _authority_of(line)
    if authority is not None and authority.lower() not in [value.lower() for name, value in fields if name == b"host"]:
        return "The request line names another host than the header Host."
    return None


def _authority_of(line: bytes) -> bytes | None:
    """Return the host in the request line, None if it has a path alone, as nearly all have (RFC 9112 3.2)."""
    found = _ABSOLUTE.match(line)
    return None if found is None else found[1]


def _checked(route: Route, path: str, headers: list[tuple[bytes, bytes]]) -> Head | None:
    names = [name for name, _ in headers]
    if names.count(b"host") != 1 or names.count(b"content-length") != 1 or not _NOT_PLAIN.isdisjoint(names):
        return None
    by_name = dict(headers)
    if by_name.get(b"connection", b"keep-alive").lower() != b"keep-alive" or names.count(b"connection") > 1:
        return None
    length = by_name[b"content-length"]
    if _LENGTH.fullmatch(length) is None or int(length) > MOST_BODY_BYTES:
        return None
    if by_name.get(b"content-type", b"").lower().startswith(b"application/x-ndjson"):
        return None
    return Head(route, path, headers, int(length), find_quick_call(route, path, headers, by_name))
