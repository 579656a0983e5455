"""What goes wrong in a page without being shown: errors in the console, failed requests, refused answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from playwright.sync_api import ConsoleMessage, Error, Page, Request, Response, WebSocket

# A page that is left, or a search that is typed on, gives up what it asked for.
_GIVEN_UP = "net::ERR_ABORTED"


@dataclass(frozen=True)
class Fault:
    """One thing that went wrong: the path it concerns, and what the browser said."""

    path: str
    words: str

    def __str__(self) -> str:
        return f"{self.path}: {self.words}"


class Watch:
    """Collects the faults of a page, all requests, and what the live channel brought."""

    def __init__(self, page: Page) -> None:
        self.faults: list[Fault] = []
        self.requests: list[str] = []
        self.subjects: list[str] = []
        self._is_away = False
        self._page = page
        page.on("websocket", self._on_socket)
        page.on("console", self._on_console)
        page.on("pageerror", self._on_error)
        page.on("request", self._on_request)
        page.on("requestfailed", self._on_failed)
        page.on("response", self._on_response)

    def asked(self, path: str) -> int:
        """Return how often `path`, whatever its query, was asked for."""
        return self.requests.count(path)

    def heard(self, subject: str) -> int:
        """Return how many states of `subject` came over the live channel."""
        return self.subjects.count(subject)

    def forgive(self, path: str, status: int, *, is_certain: bool = True) -> None:
        """Drop the faults of a refusal that the test provoked; raises AssertionError when there was none.

        A refusal is not certain (`is_certain`) where the page may be left before the answer comes.
        """
        kept = [fault for fault in self.faults if fault.path != path or str(status) not in fault.words]
        assert not is_certain or len(kept) < len(self.faults), f"{path} was not answered with {status}: {self}"
        self.faults = kept

    @contextmanager
    def looking_away(self) -> Iterator[None]:
        """Collect nothing until the block ends: the test itself breaks something."""
        self._is_away = True
        try:
            yield
        finally:
            self._is_away = False

    def __str__(self) -> str:
        return "\n".join(map(str, self.faults)) or "nothing went wrong"

    def _note(self, url: str, words: str) -> None:
        if not self._is_away:
            self.faults.append(Fault(urlsplit(url).path, words))

    def _on_socket(self, socket: WebSocket) -> None:
        socket.on("framereceived", self._on_frame)

    def _on_frame(self, frame: str | bytes) -> None:
        self.subjects.append(json.loads(frame).get("subject", ""))

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self._note(message.location["url"], f"console: {message.text}")

    def _on_error(self, error: Error) -> None:
        self._note(self._page.url, f"not caught: {error}")

    def _on_request(self, request: Request) -> None:
        self.requests.append(urlsplit(request.url).path)

    def _on_failed(self, request: Request) -> None:
        if request.failure != _GIVEN_UP:
            self._note(request.url, f"{request.method} failed: {request.failure}")

    def _on_response(self, response: Response) -> None:
        if response.status >= 400:
            self._note(response.url, f"{response.request.method} was answered with {response.status}")
