"""Requirements of `gateway.log_filters`."""

from __future__ import annotations

import socket

from tests.gateway.installation import Installation


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
