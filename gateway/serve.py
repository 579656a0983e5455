"""One gateway process: ``python -m gateway.serve --host 0.0.0.0 --port 8000``; several may share the port.

::

    port ──► ingress (gateway/ingress) ──► data plane: plain requests
                      │ all others, by a port of this machine
                      └──► granian ──► gateway.asgi: HTTP/2, WebSockets, console, control plane, bodies of any length
"""

from __future__ import annotations

import argparse
import os
import socket
from typing import Final

from granian import Granian
from granian.constants import Interfaces, Loops
from granian.http import HTTP1Settings
from granian.log import LogLevels

from gateway.ingress.places import BACKLOG, PUBLIC_VARIABLE, SERVER_VARIABLE

_LOOPBACK: Final = "127.0.0.1"
# Above its own limit the server does not answer; `gateway.connections` keeps the number far below it.
_BACKPRESSURE: Final = 65_536
# This also limits how long a connection may wait for its next request.
_HEADER_READ_MS: Final = 30_000
_KILL_SECONDS: Final = 5


def main(arguments: list[str] | None = None) -> None:
    """Serve until a signal."""
    parser = argparse.ArgumentParser(description="One gateway process.")
    parser.add_argument("--host", default=_LOOPBACK)
    parser.add_argument("--port", type=int, default=8000)
    wanted = parser.parse_args(arguments)
    port = _free_port()
    os.environ[PUBLIC_VARIABLE] = f"{wanted.host}:{wanted.port}"
    os.environ[SERVER_VARIABLE] = f"{_LOOPBACK}:{port}"
    Granian(
        "gateway.asgi:application",
        address=_LOOPBACK,
        port=port,
        interface=Interfaces.ASGI,
        loop=Loops.uvloop,
        backlog=BACKLOG,
        backpressure=_BACKPRESSURE,
        http1_settings=HTTP1Settings(header_read_timeout=_HEADER_READ_MS),
        workers_kill_timeout=_KILL_SECONDS,
        log_level=LogLevels.warning,
    ).serve()


def _free_port() -> int:
    with socket.socket() as found:
        found.bind((_LOOPBACK, 0))
        port: int = found.getsockname()[1]
        return port


if __name__ == "__main__":
    main()
