"""The HTTP API as the commands use it: one connection, pages, entity tags, problems as errors."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import httpx
import msgspec

from gateway.cli.exact import decode

_TIMEOUT: Final = httpx.Timeout(60.0, connect=5.0)
_PAGE: Final = 500

Json = Any
"""What JSON can hold; `msgspec.Raw` in a request is sent as it is."""


_AWAY: Final = (502, 503, 504)


class Refused(Exception):
    """The gateway answered with a problem; the text is for people."""

    def __init__(self, problem: Mapping[str, Any], status: int) -> None:
        title, detail = problem.get("title", f"HTTP {status}"), problem.get("detail", "")
        where = f"{problem.get('code', status)}, request {problem.get('request_id', 'unknown')}"
        faults = [f"\n  {each['pointer']}: {each['detail']}" for each in problem.get("errors", ())]
        super().__init__(f"{title}: {detail} ({where}){''.join(faults)}")
        self.status = status
        self.code: str = problem.get("code", "")
        self.detail: str = detail or title

    @property
    def is_away(self) -> bool:
        """Whether what is needed did not answer: later it may."""
        return self.status in _AWAY

    @property
    def is_uncertain(self) -> bool:
        """Whether what was asked for may have been done."""
        return self.status == 504


class Unreachable(Exception):
    """No gateway answered."""


class Api:
    """Requests to one gateway, below one cluster unless the path begins with a slash."""

    def __init__(self, url: str, token: str | None, cluster: str) -> None:
        self._url = url.rstrip("/")
        self.cluster = cluster
        headers = {"Accept": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        self._authorization = {name: value for name, value in headers.items() if name == "Authorization"}
        self._http = httpx.Client(headers=headers, timeout=_TIMEOUT)

    def call(
        self,
        method: str,
        path: str,
        *,
        body: Json = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        """Send a request and return the answer; raises Refused for a problem, Unreachable without an answer."""
        url = f"{self._url}/api/v1{path if path.startswith('/') else f'/clusters/{part(self.cluster)}/{path}'}"
        content = None if body is None else msgspec.json.encode(body)
        own = {**(headers or {}), **({} if body is None else {"Content-Type": "application/json"})}
        # An empty one would take the query of the path away.
        params = {name: value for name, value in (query or {}).items() if value is not None} or None
        try:
            answer = self._http.request(method, url, content=content, params=params, headers=own)
        except httpx.HTTPError as error:
            raise Unreachable(f"{self._url} does not answer: {error}") from error
        if answer.is_error:
            raise Refused(_problem_of(answer), answer.status_code)
        return answer

    def socket(self, name: str) -> tuple[str, dict[str, str]]:
        """Return address and headers of a WebSocket of the gateway."""
        return f"{self._url.replace('http', 'ws', 1)}/ws/v1/{name}", self._authorization

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def get(self, path: str, **query: Any) -> Json:
        """Return the resource at a path."""
        return decode(self.call("GET", path, query=query).content)

    def post(self, path: str, body: Json = None) -> Json:
        """Return the answer to a POST."""
        return decode(self.call("POST", path, body=body).content)

    def change(self, method: str, path: str, body: Json = None) -> Json:
        """Change or delete a resource as it is now; None for an answer without content."""
        tag = self.call("GET", path).headers.get("etag")
        answer = self.call(method, path, body=body, headers={"If-Match": tag} if tag else None)
        return decode(answer.content) if answer.content else None

    def items(self, path: str, *, limit: int | None = None, **query: Any) -> Iterator[Json]:
        """Yield the items of a list, page after page; at most `limit`."""
        for page in self.pages(path, limit=limit, **query):
            yield from page["items"]

    def pages(self, path: str, *, limit: int | None = None, **query: Any) -> Iterator[Json]:
        """Yield the pages of a list; at most `limit` items together."""
        cursor, left = None, limit
        while True:
            page = self.get(path, limit=min(_PAGE, left) if left else _PAGE, cursor=cursor, **query)
            yield page
            cursor = page.get("next_cursor")
            left = None if left is None else left - len(page["items"])
            if cursor is None or left == 0:
                return


def part(name: str) -> str:
    """Return a name as one part of a path."""
    return quote(name, safe="")


def default_url(environ: Mapping[str, str] = os.environ) -> str:
    """Return the address of the gateway that `make up` starts here."""
    return f"http://127.0.0.1:{environ.get('GANTRY_HTTP_PORT') or 8000}"


def default_token(environ: Mapping[str, str] = os.environ) -> str | None:
    """Return the token that the first `make up` wrote into the data folder, if it is there."""
    file = Path(environ.get("GANTRY_DATA_DIR") or "data") / "quickstart.token"
    try:
        return file.read_text().strip()
    except OSError:
        return None


def _problem_of(answer: httpx.Response) -> Mapping[str, Any]:
    if answer.headers.get("content-type", "").startswith("application/problem+json"):
        problem: Mapping[str, Any] = answer.json()
        return problem
    return {"title": f"HTTP {answer.status_code}", "detail": answer.text[:300]}
