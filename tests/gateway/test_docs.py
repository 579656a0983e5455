"""The commands of docs/http-api.md work when pasted."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gateway import problems, sockets
from tests.gateway.installation import Installation
from tests.gateway.large_frames import end_of_socket
from tests.gateway.test_composition import BEATS, beat

PAGE = Path(__file__).resolve().parents[2] / "docs/http-api.md"

# Each call must succeed, and the shell stops at the first one that does not.
_STRICT = 'set -euo pipefail\ncurl() { command curl --silent --show-error --fail-with-body "$@"; echo; }\n'


@contextmanager
def beating(redis_url: str) -> Iterator[None]:
    """Let the other processes show that they live, as long as the block takes."""
    enough = threading.Event()
    beat(redis_url, *BEATS)

    def go_on() -> None:
        while not enough.wait(1):
            beat(redis_url, *BEATS)

    thread = threading.Thread(target=go_on, name="beats", daemon=True)
    thread.start()
    try:
        yield
    finally:
        enough.set()
        thread.join()


@pytest.mark.skipif(shutil.which("curl") is None, reason="the page is about curl")
def test_every_shell_line_of_the_page_succeeds(installation: Installation, redis_url: str, tmp_path: Path) -> None:
    token = tmp_path / "data" / "quickstart.token"
    token.parent.mkdir()
    token.write_text(installation.tokens["admin"])
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 7
    script = _STRICT + "".join(blocks).replace("http://127.0.0.1:8000", installation.url)
    with beating(redis_url):
        done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_table_of_problems_has_every_kind() -> None:
    kinds = [value for value in vars(problems).values() if isinstance(value, problems.ProblemKind)]
    table = PAGE.read_text(encoding="utf-8").partition("\n## Problems\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (\d{3}) \| (.*) \|$", table, re.MULTILINE)
    named = [(int(status), code) for status, codes in rows for code in re.findall(r"`([A-Z_]+)`", codes)]
    assert sorted(named) == sorted((kind.status, kind.code) for kind in kinds)


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400),
        (f"GET /{'x' * 70_000} HTTP/1.1\r\nHost: x\r\n\r\n", 414),
        ("GET / HTTP/1.1\r\nHost: x\r\n" + "".join(f"X-{i}: 1\r\n" for i in range(100)) + "\r\n", 431),
        (f"GET / HTTP/1.1\r\nHost: x\r\nX-Long: {'x' * 65_536}\r\n\r\n", 431),
    ],
)
def test_what_is_not_http_is_refused_without_a_body_as_the_page_says(
    installation: Installation, head: str, status: int
) -> None:
    assert "a 400, 414 (the address is\ntoo long) or 431 (the headers are) without a body" in PAGE.read_text("utf-8")
    assert "A head has at most 64 KiB, and 100 headers: above that the answer is 431, or 414" in PAGE.read_text("utf-8")
    with socket.create_connection(("127.0.0.1", installation.port), timeout=60) as stranger:
        stranger.sendall(head.encode())
        stranger.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: stranger.recv(65_536), b""))
    assert answer.startswith(b"HTTP/1.1 %d " % status), answer
    assert answer.endswith(b"\r\n\r\n")


@pytest.mark.parametrize("frame", ["x" * 17_000_000, b"\xff"])
@pytest.mark.parametrize("socket_of", ["produce", "lag"])
def test_a_frame_that_the_server_cannot_read_ends_a_socket_as_the_page_says(
    installation: Installation, socket_of: str, frame: str | bytes
) -> None:
    sentence = "A frame of more than 16 MiB is not even read, and neither is what is no frame or no UTF-8: 4413"
    assert sentence in PAGE.read_text("utf-8")
    admin = {"Authorization": f"Bearer {installation.tokens['admin']}"}
    ended = end_of_socket(f"{installation.sockets}/{socket_of}", admin, frame)
    assert ended == (4413, sockets.UNREADABLE_REASON)


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics", "/docs/api", "/api/v1/openapi.json"])
def test_pages_that_ignore_unknown_parameters_are_those_that_the_page_names(
    installation: Installation, redis_url: str, path: str
) -> None:
    beat(redis_url, *BEATS)
    ignoring = PAGE.read_text(encoding="utf-8").partition(" Only `/healthz`")[2].partition(" ignore parameters")[0]
    assert f"`{path}`" in f"`/healthz`{ignoring}"
    with installation.client(None) as stranger:
        assert stranger.get(path, params={"nonsense": "1"}).status_code == 200
