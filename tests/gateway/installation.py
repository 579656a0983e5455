"""A whole gateway process: granian with `gateway.asgi`, its own database and users, a real broker and a real Redis."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx

from gateway.up.processes import gateway_command
from tests.support.ports import free_ports
from tests.support.wait import wait_until

ROOT: Final = Path(__file__).resolve().parents[2]
PASSWORD: Final = "correct horse battery"

_PREPARE: Final = """
import json, sys, django
from datetime import timedelta
django.setup()
from django.utils import timezone
from django.core.management import call_command
from console.accounts import rights, roles, rules, services, tokens
from console.accounts.models import User
from console.audit.record import Actor
from console.clusters.services import ensure_embedded
call_command("migrate", verbosity=0)
ensure_embedded()
made = {}
for role in rights.ROLES:
    user = User.objects.filter(username=role).first() or services.add_user(
        Actor.system("test"), username=role, password=%r, role=role
    )
    if role == "developer":
        for name, scopes in json.loads(sys.argv[1]).items():
            made[name] = services.add_token(Actor.system("test"), user, name=name, scopes=scopes)[1]
    made[role] = services.add_token(Actor.system("test"), user, name="all", scopes=list(rights.VERBS))[1]
scopes = ["produce:orders*", "read:orders*"]
made["narrow"] = services.add_token(Actor.system("test"), user, name="narrow", scopes=scopes)[1]
old = services.add_token(Actor.system("test"), user, name="old", scopes=list(rights.VERBS))
made["revoked"] = old[1]
services.remove_token(Actor.system("test"), old[0])
yesterday = timezone.now() - timedelta(days=1)
late = services.add_token(Actor.system("test"), user, name="late", scopes=list(rights.VERBS), expires_at=yesterday)
made["expired"] = late[1]
gone = services.add_user(Actor.system("test"), username="gone", password=%r, role="admin")
made["disabled"] = services.add_token(Actor.system("test"), gone, name="all", scopes=list(rights.VERBS))[1]
gone.is_active = False
gone.save()
rule = lambda kind, pattern, **verbs: {"kind": kind, "pattern": pattern, "allow": [], "refuse": [], **verbs}
oncall = roles.add_role(Actor.system("test"), name="oncall", description="", rules=[
    *(rule(kind, "orders*", allow=list(rules.KIND_VERBS[kind])) for kind in ("topic", "group")),
    *(rule(kind, "*-secret-*", refuse=list(rules.KIND_VERBS[kind])) for kind in ("topic", "group")),
])
user = services.add_user(Actor.system("test"), username="oncall", password=%r, role=None, own_roles=[oncall])
made["oncall"] = services.add_token(Actor.system("test"), user, name="all", scopes=list(rights.VERBS))[1]
print(json.dumps(made))
"""

# By name server and umask: a prepared data folder and the tokens of its users.
_prepared: dict[tuple[str, int], tuple[Path, dict[str, str]]] = {}
_kept = tempfile.TemporaryDirectory(prefix="gantry-prepared-")
atexit.register(_kept.cleanup)


@dataclass
class Installation:
    """A running gateway: its address, and a token for each role."""

    data: Path
    port: int
    tokens: dict[str, str]
    process: subprocess.Popen[bytes]
    environment: Mapping[str, str]
    log_file: Path

    @property
    def url(self) -> str:
        """Return the address over HTTP."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def sockets(self) -> str:
        """Return the address of the WebSockets."""
        return f"ws://127.0.0.1:{self.port}/ws/v1"

    @property
    def log(self) -> str:
        """Return the output of the process."""
        return self.log_file.read_text(errors="replace")

    def client(self, role: str | None = "admin") -> httpx.Client:
        """Return a client with the token of the role, or without a token."""
        headers = {} if role is None else {"Authorization": f"Bearer {self.tokens[role]}"}
        return httpx.Client(base_url=self.url, headers=headers, trust_env=False, timeout=180)

    def kill(self) -> None:
        """End its processes at once, as a machine does that loses its power: no lease is given back."""
        pid = self.process.pid
        workers = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
        for each in (pid, *map(int, workers)):  # the parent first: it would replace a worker
            os.kill(each, signal.SIGKILL)
        self.process.wait(20)

    def stop(self) -> int:
        """Stop it as a supervisor does; return its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(20)


@contextmanager
def running_installation(data: Path, *, name_server: str, redis_url: str, **settings: str) -> Iterator[Installation]:
    """Prepare a database and run a gateway with these settings on it until the block ends."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GANTRY_")},
        "PYTHONPATH": str(ROOT),
        "DJANGO_SETTINGS_MODULE": "gateway.settings",
        "GANTRY_DATA_DIR": str(data),
        "GANTRY_PROXIES": "127.0.0.1",
        "GANTRY_REDIS_URL": redis_url,
        "GANTRY_NAME_SERVERS": name_server,
        **settings,
    }
    tokens = _prepare(data, environment)
    with gateway_process(data, environment, tokens, log="gateway.log") as running:
        yield running


@contextmanager
def another_process(of: Installation) -> Iterator[Installation]:
    """Run one more gateway on the database, Redis and cluster of an installation until the block ends."""
    with gateway_process(of.data, of.environment, of.tokens, log=f"gateway-{free_ports()}.log") as running:
        yield running


@contextmanager
def gateway_process(
    data: Path,
    environment: Mapping[str, str],
    tokens: dict[str, str],
    *,
    log: str,
    command: Callable[[int], Sequence[str]] = lambda port: gateway_command("127.0.0.1", port),
) -> Iterator[Installation]:
    """Run a gateway in this environment until the block ends; its database must be there, its output goes to `log`.

    `command` makes the command for a port.
    """
    port = free_ports()
    with (data / log).open("wb") as output:
        process = subprocess.Popen(command(port), env=environment, cwd=ROOT, stdout=output, stderr=output)
    running = Installation(data, port, tokens, process, environment, data / log)
    try:
        wait_until(lambda: _answers(running))
        yield running
    finally:
        running.stop()


def prepare(environment: Mapping[str, str], more: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Make the users and their tokens in the database of an environment; return the tokens.

    `more` are further tokens of the developer: their names, and the scopes of each.
    """
    made = subprocess.run(
        [sys.executable, "-c", _PREPARE % (PASSWORD, PASSWORD, PASSWORD), json.dumps(more)],
        env=environment, check=True, capture_output=True, text=True,
    )  # fmt: skip
    tokens: dict[str, str] = json.loads(made.stdout)
    return tokens


def _prepare(data: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Create the database and its users in `data`; return the tokens. They are created once, then copied."""
    umask = os.umask(0)
    os.umask(umask)
    key = (environment["GANTRY_NAME_SERVERS"], umask)
    if key not in _prepared:
        folder = Path(_kept.name) / str(len(_prepared))
        _prepared[key] = folder, prepare({**environment, "GANTRY_DATA_DIR": str(folder)}, {})
    folder, tokens = _prepared[key]
    shutil.copytree(folder, data, dirs_exist_ok=True)
    return dict(tokens)


def _answers(running: Installation) -> bool:
    if running.process.poll() is not None:
        raise RuntimeError(f"the gateway ended: {running.log}")
    try:
        return httpx.get(f"{running.url}/healthz", trust_env=False).status_code == 200
    except httpx.TransportError:
        return False
