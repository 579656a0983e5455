"""Processes of a group of replicas, with the relays that lead to them: started, killed, stopped for a while."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.relay import Relay
from tests.support.serving import Serving

_TOLD_LINES = 40


@dataclass
class Node:
    """One process, which may live several times; it is known by `name` to the links of others."""

    name: str
    folder: Path
    module: str
    arguments: Sequence[str]
    relays: list[Relay] = field(default_factory=list)
    """Those that lead here: while the process is gone they refuse connections, as its machine would."""
    pids: list[int] = field(default_factory=list)
    """Of all its lives."""
    _serving: Serving | None = field(default=None, init=False)

    @property
    def log(self) -> Path:
        """What it wrote, over all its lives."""
        return self.folder / f"{self.name}.log"

    @property
    def is_running(self) -> bool:
        """Whether there is a process, be it stopped."""
        return self._serving is not None and self._serving.process.poll() is None

    def start(self) -> None:
        """Begin a life and wait until it serves."""
        self.begin()
        self.wait_until_ready()

    def begin(self) -> None:
        """Begin a life; it does not serve yet."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._serving = Serving(self.log, self.module, *self.arguments)
        self.pids.append(self._serving.process.pid)

    def wait_until_ready(self) -> None:
        """Wait until it serves; raises AssertionError with its log if it ends instead."""
        assert self._serving is not None
        self._serving.ready()
        for relay in self.relays:
            relay.up()

    def kill(self) -> None:
        """End it as ``kill -9`` does; nothing happens if there is no process."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Ask it to end, and wait."""
        self._end(signal.SIGTERM)

    def pause(self) -> None:
        """Stop it, as a machine does that hangs: its sockets stay open."""
        self._send(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        self._send(signal.SIGCONT)

    def last_lines(self) -> str:
        """Return the end of its log."""
        lines = self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
        return "\n".join([f"--- {self.name}, lives: {self.pids}", *lines[-_TOLD_LINES:]])

    def _send(self, number: signal.Signals) -> None:
        if self.is_running:
            os.kill(self.pids[-1], number)

    def _end(self, number: signal.Signals) -> None:
        serving, self._serving = self._serving, None
        if serving is None:
            return
        with serving:
            if number is signal.SIGTERM and serving.process.poll() is None:
                serving.process.send_signal(signal.SIGCONT)
                serving.stop()
            serving.process.kill()
            serving.process.wait()
            for relay in self.relays:
                relay.down()
