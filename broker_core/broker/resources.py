"""What a broker is made of and has to close again."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass

from broker_core.broker.arrivals import CallSoon
from broker_core.broker.intake import Host
from broker_core.broker.pop.journal import Journal
from broker_core.broker.replication.peers import Peers
from broker_core.broker.timer.index import TimerIndex
from broker_core.remoting.client import RemotingClient
from broker_core.remoting.memory import ConnectionMemory
from broker_core.remoting.open_files import Sockets
from broker_core.remoting.tls import ServerTls
from broker_core.store import MessageStore


@dataclass(frozen=True, slots=True)
class Resources:
    """Open files, sockets and threads, which `server.py` opens and closes."""

    store: MessageStore
    journal: Journal
    remoting: RemotingClient
    """For name servers."""
    peers: Peers
    """For the other brokers of the name."""
    address: str
    store_host: Host
    tls: ServerTls | None
    """Of all ports."""
    sockets: Sockets
    disk: Executor
    files: Executor
    timers: Executor
    timer_index: TimerIndex
    clock: Callable[[], int]
    call_soon: CallSoon
    memory: ConnectionMemory
