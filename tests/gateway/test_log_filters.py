"""Requirements of `gateway.log_filters`."""

from __future__ import annotations

import logging
import socket

import pytest

from gateway.log_filters import PER_SECOND, Rare
from tests.gateway.installation import Installation
from tests.support.wait import wait_until


def ask(installation: Installation, head: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", installation.port)) as connection:
        connection.sendall(head + b"Connection: close\r\n\r\n")
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    return answer


def test_a_wrong_host_is_one_line_of_the_log(installation: Installation) -> None:
    before = len(installation.log)
    for hosts in (b"Host: mars\r\n", b"Host: mars.example\r\n"):
        answer = ask(installation, b"GET /api/v1/me HTTP/1.1\r\n" + hosts)
        assert b" 400 " in answer.partition(b"\r\n")[0]
    lines = [line for line in installation.log[before:].splitlines() if "DisallowedHost" in line]
    assert len(lines) == 2
    assert all(" WARNING " in line for line in lines)
    assert "Traceback" not in installation.log[before:]


def test_refused_requests_fill_no_log(installation: Installation) -> None:
    before = len(installation.log)
    path = b"/api/v1/" + b"z" * 60_000
    for _ in range(3 * PER_SECOND):
        assert b" 404 " in ask(installation, b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\n").partition(b"\r\n")[0]
    wait_until(lambda: "such warnings were left out" in installation.log[before:])
    lines = [line for line in installation.log[before:].splitlines() if "django.request" in line]
    assert len(lines) < 3 * PER_SECOND
    assert all(len(line) < 400 for line in lines)


def test_ten_warnings_a_second_are_logged_and_the_others_counted(caplog: pytest.LogCaptureFixture) -> None:
    now = 0.0
    log = logging.getLogger("tests.rare")
    log.addFilter(Rare(lambda: now, sum_seconds=0.01))
    for _ in range(PER_SECOND + 7):
        log.warning("Not Found: %s", "/" + "z" * 1000)
    log.error("Internal Server Error: %s", "/")
    now = 1.0
    log.warning("Not Found: %s", "/a")
    wait_until(lambda: "7 such warnings were left out" in caplog.text)
    assert [caplog.messages.count(f"Not Found: /{'z' * 199}…"), caplog.messages.count("Not Found: /a")] == [10, 1]
    assert caplog.messages.count("Internal Server Error: /") == 1
