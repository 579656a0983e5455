"""Gantry and Apache RocketMQ in one cluster: a name server and a broker of each, and both brokers at both of them."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from broker_core.client.config import ClientConfig
from broker_core.client.session import Session
from tests.support.apache import ApacheBroker, ApacheNameServer
from tests.support.cluster import ROOT, RunningBroker
from tests.support.ports import free_ports

BROKERS = ("broker-a", "broker-b")
"""Gantry's, and Apache RocketMQ's."""

# As often as it may be: name servers that start anew know nobody until the next one.
_SETTINGS = {"registerNameServerPeriod": "10000"}


@dataclass
class GantryNameServer:
    """Gantry's name server in a process of its own."""

    address: str = ""
    """``host:port``; taken again by a later start."""
    process: subprocess.Popen[str] | None = field(default=None, repr=False)

    def start(self) -> None:
        """Start it and wait until it serves."""
        self.address = self.address or f"127.0.0.1:{free_ports()}"
        port = self.address.rpartition(":")[2]
        command = [sys.executable, "-m", "broker_core.namesrv", "--port", port, "--log-level", "ERROR"]
        self.process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        said = self.process.stdout.readline()
        assert re.match(rf"ready namesrv={self.address}\b", said), said

    def stop(self) -> None:
        """Kill it."""
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()


@dataclass
class Mixed:
    """The cluster."""

    gantry_names: GantryNameServer
    apache_names: ApacheNameServer
    gantry: RunningBroker
    apache: ApacheBroker

    @property
    def names(self) -> str:
        """Both name servers, as a client is told of them."""
        return f"{self.gantry_names.address};{self.apache_names.address}"

    def name_server(self, kind: str) -> str:
        """Return the address of one name server: ``gantry`` or ``apache``."""
        return self.gantry_names.address if kind == "gantry" else self.apache_names.address

    def session(self, names: str) -> Session:
        """Return a session that is not started yet and looks for routes often."""
        return Session(ClientConfig(names.split(";"), route_refresh_ms=500))


@contextmanager
def started_mixed(folder: Path) -> Iterator[Mixed]:
    """Start it, and kill all of it at the end."""
    with ExitStack() as stack:
        gantry_names, apache_names = GantryNameServer(), ApacheNameServer(folder / "names")
        stack.callback(gantry_names.stop)
        gantry_names.start()
        stack.callback(lambda: apache_names.stop(kill=True))
        apache_names.start()
        both = f"{gantry_names.address};{apache_names.address}"
        gantry = RunningBroker(folder / "gantry", settings=_SETTINGS, name_servers=both, broker_name=BROKERS[0])
        stack.callback(lambda: gantry.stop(kill=True))
        gantry.start()
        apache = ApacheBroker(folder / "apache", settings=_SETTINGS, name_servers=both, broker_name=BROKERS[1])
        stack.callback(lambda: apache.stop(kill=True))
        apache.start()
        yield Mixed(gantry_names, apache_names, gantry, apache)
