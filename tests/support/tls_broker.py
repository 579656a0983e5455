"""A broker with its name server as a process of its own that speaks TLS, with an authority made for the test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from broker_core.remoting import TlsOfClient
from tests.support.certificates import Authority, Issued
from tests.support.cluster import RunningBroker


def tls_settings(issued: Issued, mode: str, **others: str) -> dict[str, str]:
    """Return RocketMQ's settings of a server with this certificate."""
    return {
        "tls.server.mode": mode,
        "tls.server.certPath": str(issued.certificate),
        "tls.server.keyPath": str(issued.key),
        **others,
    }


@contextmanager
def tls_broker(data: Path, settings: Mapping[str, str], tls: TlsOfClient | None) -> Iterator[RunningBroker]:
    """Run it."""
    running = RunningBroker(data, settings=settings, tls=tls)
    running.start()
    try:
        yield running
    finally:
        running.stop()


def listeners(running: RunningBroker) -> dict[str, str]:
    """Return ``host:port`` of everything that listens."""
    host, _, port = running.address.rpartition(":")
    return {"name server": running.name_server, "broker": running.address, "second port": f"{host}:{int(port) - 2}"}


def authority_in(folder: Path) -> tuple[Authority, Issued]:
    """Make an authority and the certificate of a server."""
    authority = Authority.create(folder / "ca")
    return authority, authority.issue("server")
