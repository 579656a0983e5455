"""Members of a real etcd for tests: on ports asked for, with data in the test's folder."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx

from tests.support.ports import free_ports
from tests.support.wait import wait_until

NOT_INSTALLED: Final = "etcd is not installed; on Debian: apt-get install etcd-server"
LEFT_OUT: Final = "left out: failover on etcd, {} tests (no etcd)"
_READY: Final = {"success": [{"request_put": {"key": "cmVhZHk=", "value": "eQ=="}}]}
_SECONDS: Final = 10.0


def find_etcd() -> Path | None:
    """Return the program that GANTRY_ETCD names, or the one of the PATH; None if there is none."""
    named = os.environ.get("GANTRY_ETCD")
    found = named if named and Path(named).is_file() else shutil.which("etcd")
    return Path(found) if found else None


@dataclass(frozen=True)
class Tls:
    """The files with which members serve clients, who show a certificate of the same authority."""

    authority: Path
    certificate: Path
    key: Path

    @property
    def options(self) -> Sequence[str]:
        """The options of a member."""
        files = ("--cert-file", self.certificate), ("--key-file", self.key), ("--trusted-ca-file", self.authority)
        return ["--client-cert-auth", *(str(part) for pair in files for part in pair)]


@dataclass(eq=False)
class Member:
    """One member, which can be killed, stopped for a while, and started again."""

    name: str
    folder: Path
    scheme: str
    client_port: int
    peer_port: int
    announced_port: int
    """Where the others reach it."""
    options: list[str] = field(default_factory=list)
    process: subprocess.Popen[bytes] | None = None

    @property
    def endpoint(self) -> str:
        """Where clients reach it."""
        return f"{self.scheme}://127.0.0.1:{self.client_port}"

    def start(self) -> None:
        """Start it; its data stays between two starts."""
        program = find_etcd()
        assert program is not None
        at = f"http://127.0.0.1:{self.peer_port}"
        command = [
            str(program), "--name", self.name, "--data-dir", str(self.folder / "data"), "--unsafe-no-fsync",
            "--listen-client-urls", self.endpoint, "--advertise-client-urls", self.endpoint,
            "--listen-peer-urls", at, "--initial-advertise-peer-urls", f"http://127.0.0.1:{self.announced_port}",
            *self.options,
        ]  # fmt: skip
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal, if it runs."""
        if self.process is not None:
            self.process.send_signal(number)

    def pause(self) -> None:
        """Stop it for a while: its sockets stay open."""
        self.signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        self.signal(signal.SIGCONT)

    def kill(self) -> None:
        """End it at once."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(_SECONDS)
            self.process = None

    def ask(self, path: str, asked: dict[str, Any], **more: Any) -> dict[str, Any]:
        """Ask it as any client would; raises httpx.HTTPError."""
        response = httpx.post(self.endpoint + path, json=asked, trust_env=False, timeout=_SECONDS, **more)
        response.raise_for_status()
        answer: dict[str, Any] = response.json()
        return answer


@dataclass
class Etcd:
    """All members of one etcd."""

    members: list[Member]
    as_client: dict[str, Any]
    """How httpx reaches them with TLS."""

    @property
    def endpoints(self) -> tuple[str, ...]:
        """Where clients reach the members."""
        return tuple(member.endpoint for member in self.members)

    def start(self) -> None:
        """Start all members, and wait until each commits."""
        for member in self.members:
            member.start()
        wait_until(lambda: all(self.commits(member) for member in self.members))

    def commits(self, member: Member) -> bool:
        """Whether a transaction is done at a member."""
        try:
            return bool(member.ask("/v3/kv/txn", _READY, **self.as_client))
        except httpx.HTTPError:
            return False

    def kill(self) -> None:
        """End all members."""
        for member in self.members:
            member.kill()

    def leader(self) -> Member | None:
        """Return the member that leads the others; None while nobody does."""
        running = [member for member in self.members if member.process is not None]
        statuses = [(member, member.ask("/v3/maintenance/status", {}, **self.as_client)) for member in running]
        # One that is cut off takes itself for the leader a while longer, in an earlier term.
        statuses.sort(key=lambda each: int(each[1]["raftTerm"]), reverse=True)
        leads = (member for member, status in statuses if status["header"]["member_id"] == status.get("leader"))
        return next(leads, None)


@contextmanager
def etcd(folder: Path, members: int = 1, *options: str, tls: Tls | None = None, **as_client: Any) -> Iterator[Etcd]:
    """Run an etcd until the block ends; all its members are ready."""
    with started(joined(members_in(folder, members, *options, tls=tls)), **as_client) as running:
        yield running


@contextmanager
def started(members: list[Member], **as_client: Any) -> Iterator[Etcd]:
    """Run an etcd of these members until the block ends."""
    made = Etcd(members, as_client)
    try:
        made.start()
        yield made
    finally:
        made.kill()


def joined(members: list[Member]) -> list[Member]:
    """Return the members, which are now to be one etcd."""
    all_of_them = ",".join(f"{member.name}=http://127.0.0.1:{member.announced_port}" for member in members)
    for member in members:
        member.options += ["--initial-cluster", all_of_them]
    return members


def members_in(folder: Path, count: int, *options: str, tls: Tls | None = None) -> list[Member]:
    """Return members, not started, with their data below a folder."""
    more = [*options, *(tls.options if tls is not None else ())]
    return [_member(folder / f"m{number}", "https" if tls else "http", more) for number in range(count)]


def _member(folder: Path, scheme: str, options: list[str]) -> Member:
    client, peer = free_ports(), free_ports()
    return Member(folder.name, folder, scheme, client, peer, peer, list(options))
