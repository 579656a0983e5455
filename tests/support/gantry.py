"""A whole Gantry as `make up` starts it, on ports and in a folder of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.support.ports import free_ports
from tests.support.wait import wait_until

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "correct horse battery"
START_SECONDS = 180.0
STOP_SECONDS = 45.0
READ_SECONDS = 30.0


@dataclass
class Gantry:
    """A running instance: its addresses, its lines, its first token."""

    data: Path
    http_port: int
    namesrv_port: int
    broker_port: int
    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Return the address of console and API."""
        return f"http://127.0.0.1:{self.http_port}"

    @property
    def live_url(self) -> str:
        """Return the address of the WebSocket endpoints."""
        return f"ws://127.0.0.1:{self.http_port}/ws/v1"

    @property
    def name_server(self) -> str:
        """Return the name server's address for RocketMQ clients."""
        return f"127.0.0.1:{self.namesrv_port}"

    @property
    def token(self) -> str:
        """Return the token that `make up` made for the printed curl command."""
        return (self.data / "quickstart.token").read_text(encoding="ascii").strip()

    @property
    def output(self) -> str:
        """Return all lines so far."""
        return "\n".join(self.lines)

    def client(self) -> httpx.Client:
        """Return an HTTP client of the API that carries the token."""
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx.Client(base_url=f"{self.url}/api/v1", headers=headers, timeout=180, trust_env=False)

    def stop(self) -> int:
        """Press Ctrl-C, wait for the end and return the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.process.wait(STOP_SECONDS)


@dataclass(frozen=True)
class Place:
    """Where an instance lives; starting twice at one place is a restart."""

    data: Path
    http_port: int
    namesrv_port: int
    broker_port: int

    @classmethod
    def free(cls, data: Path) -> Place:
        """Return a place with ports that are free now; the broker's neighbours (fast and replica port) included."""
        return cls(data, free_ports(), free_ports(), free_ports(4) + 2)

    @contextmanager
    def started(self, **settings: str) -> Iterator[Gantry]:
        """Run an instance until the block ends; raises RuntimeError with its lines when it does not come up."""
        gantry = Gantry(self.data, self.http_port, self.namesrv_port, self.broker_port, self._launch(settings))
        reader = threading.Thread(target=_collect, args=(gantry,), daemon=True)
        reader.start()
        try:
            wait_until(
                lambda: "Gantry is up" in gantry.output or gantry.process.poll() is not None, within=START_SECONDS
            )
            if gantry.process.poll() is not None:
                reader.join(READ_SECONDS)  # its last lines say why
                raise RuntimeError(f"it ended with status {gantry.process.returncode}:\n{gantry.output}")
            yield gantry
        finally:
            try:
                gantry.stop()
            except subprocess.TimeoutExpired:
                gantry.process.kill()
                raise
            finally:
                reader.join(READ_SECONDS)

    def _launch(self, settings: Mapping[str, str]) -> subprocess.Popen[str]:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("GANTRY_")},
            "GANTRY_DATA_DIR": str(self.data),
            "GANTRY_HTTP_PORT": str(self.http_port),
            "GANTRY_NAMESRV_PORT": str(self.namesrv_port),
            "GANTRY_BROKER_PORT": str(self.broker_port),
            "GANTRY_ADMIN_PASSWORD": PASSWORD,
            # A second one would double what each start costs; tests/gateway/test_siblings.py has two.
            "GANTRY_WORKERS": "1",
            **settings,
        }
        return subprocess.Popen(
            [sys.executable, "-m", "gateway.up"],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )


def _collect(gantry: Gantry) -> None:
    assert gantry.process.stdout is not None
    with gantry.process.stdout as lines:
        for line in lines:
            gantry.lines.append(line.rstrip("\n"))
