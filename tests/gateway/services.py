"""The services of ``docker-compose.yml`` as processes: its commands and environments, PostgreSQL, several gateways."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import count, cycle
from pathlib import Path
from typing import Final

import pytest

from tests.gateway.installation import PASSWORD, ROOT, Installation, gateway_process, prepare
from tests.support.compose import services
from tests.support.ports import free_ports
from tests.support.postgres import PostgresServer, postgres_server
from tests.support.redis import redis_server

PROCESS: Final = "process"
SERVICES: Final = "services"
# What a suite of the data plane calls its callers, as scopes of the developer's tokens.
SCOPES: Final = {
    "writer": ["produce", "consume", "read"],
    "orders": ["produce:orders*", "consume:orders*"],
    "billing": ["consume:orders*@billing*"],
}
_VARIABLES: Final = {"GANTRY_ADMIN_PASSWORD": PASSWORD, "POSTGRES_PASSWORD": "staple", "GANTRY_ADVERTISE": "127.0.0.1"}
_OTHERS: Final = ("sampler", "worker", "beat")
_GATEWAYS: Final = 2


def is_wanted() -> bool:
    """Return whether all tests that can run on the services do, not only the sample."""
    return os.environ.get("SERVICES") == "1"


def is_left_out(item: pytest.Item) -> bool:
    """Return whether a test would run on the services, and cannot or is not in the sample."""
    call = getattr(item, "callspec", None)
    if call is None or call.params.get("runs_as") != SERVICES:
        return False
    return bool(item.get_closest_marker("in_process")) or not (is_wanted() or item.get_closest_marker("sample"))


class ByTurns(Installation):
    """Several gateways of one installation: each time that its address is asked for, it is that of the next one."""

    def __init__(self, gateways: Sequence[Installation]) -> None:
        self.gateways = gateways
        super().__init__(**vars(gateways[0]))
        self._ports = cycle([each.port for each in gateways])

    @property
    def url(self) -> str:
        """Return the address of the next gateway over HTTP."""
        return f"http://127.0.0.1:{next(self._ports)}"

    @property
    def sockets(self) -> str:
        """Return the address of the WebSockets of the next gateway."""
        return f"ws://127.0.0.1:{next(self._ports)}/ws/v1"


@dataclass(frozen=True)
class Services:
    """A running installation of several processes on PostgreSQL."""

    gateways: list[Installation]
    database: PostgresServer
    redis_url: str
    name_server: str
    another: Callable[[], AbstractContextManager[Installation]]
    """Runs one more gateway until its block ends."""

    @property
    def by_turns(self) -> Installation:
        """Return the gateways as one, each asked in its turn."""
        return ByTurns(self.gateways)


@contextmanager
def running_services(data: Path, programs: Path) -> Iterator[Services]:
    """Run every service on an empty database until the block ends; `programs` are PostgreSQL's."""
    compose = services(_VARIABLES)
    with ExitStack() as stack:
        database = stack.enter_context(postgres_server(programs))
        redis_url = stack.enter_context(redis_server())
        name_server, broker = free_ports(), free_ports(4) + 2
        addresses = {
            "GANTRY_BIND": "127.0.0.1",
            "GANTRY_REDIS_URL": redis_url,
            "GANTRY_NAME_SERVERS": f"127.0.0.1:{name_server}",
        }
        outside = {name: value for name, value in os.environ.items() if not name.startswith("GANTRY_")}
        image = {"PYTHONUNBUFFERED": "1", "PYTHONPATH": str(ROOT), "GANTRY_DATA_DIR": str(data)}
        common = {**outside, **image}
        environments = {
            name: {**common, **each.environment, **addresses, "GANTRY_DATABASE_URL": database.named(name)}
            for name, each in compose.items()
        }
        subprocess.run(
            compose["setup"].here(data=data), env=environments["setup"], cwd=ROOT, check=True, capture_output=True
        )
        ports = ("--namesrv-port", str(name_server), "--broker-port", str(broker))
        commands = {name: compose[name].here(data=data) for name in _OTHERS}
        commands["broker"] = compose["broker"].here(data=data, more=ports)
        stack.enter_context(_processes(commands, environments, data))
        serve = compose["gateway"].here(data=data)
        numbers = count(1)

        def another(tokens: dict[str, str]) -> AbstractContextManager[Installation]:
            name = f"gateway-{next(numbers)}"
            environment = {**environments["gateway"], "GANTRY_DATABASE_URL": database.named(name)}
            return gateway_process(
                data, environment, tokens, log=f"{name}.log",
                command=lambda port: (*serve, "--host", "127.0.0.1", "--port", str(port)),
            )  # fmt: skip

        with ThreadPoolExecutor() as pool:
            prepared = {**environments["setup"], "DJANGO_SETTINGS_MODULE": "gateway.settings"}
            made = pool.submit(prepare, prepared, SCOPES)
            running = [another({}) for _ in range(_GATEWAYS)]
            started = list(pool.map(lambda each: each.__enter__(), running))
        for each in running:
            stack.push(each.__exit__)
        tokens = made.result()
        gateways = [replace(each, tokens=tokens) for each in started]
        yield Services(gateways, database, redis_url, addresses["GANTRY_NAME_SERVERS"], lambda: another(tokens))


@contextmanager
def _processes(
    commands: Mapping[str, Sequence[str]], environments: Mapping[str, Mapping[str, str]], data: Path
) -> Iterator[None]:
    """Run the commands by the names of their services until the block ends."""
    running: list[subprocess.Popen[bytes]] = []
    try:
        for name, command in commands.items():
            with (data / f"{name}.log").open("wb") as log:
                running.append(subprocess.Popen(command, env=environments[name], cwd=ROOT, stdout=log, stderr=log))
        yield
    finally:
        for process in running:
            process.send_signal(signal.SIGTERM)
        for process in running:
            process.wait(60)
