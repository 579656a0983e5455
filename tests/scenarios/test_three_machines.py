"""docs/replication.md, Three machines, as it is written: etcd with TLS and users, name servers, replicas, a death."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from broker_core.client.admin import Admin
from broker_core.client.config import ClientConfig
from broker_core.client.producer import Producer
from broker_core.client.session import Session
from broker_core.errors import GantryError
from broker_core.protocol.message import Message
from tests.support.cluster import create_topic
from tests.support.compose import ROOT
from tests.support.etcd import NOT_INSTALLED, find_etcd
from tests.support.ports import free_ports
from tests.support.wait import eventually, wait_until

pytestmark = [
    pytest.mark.scenario,
    pytest.mark.skipif(find_etcd() is None, reason=NOT_INSTALLED),
    pytest.mark.skipif(shutil.which("etcdctl") is None, reason="etcdctl is not installed: apt-get install etcd-client"),
    pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed"),
]

PAGE: Final = (ROOT / "docs/replication.md").read_text(encoding="utf-8").partition("## Three machines")[2]
MACHINES: Final = ("10.0.0.11", "10.0.0.12", "10.0.0.13")
_USED: Final = ("2379", "2380", "9876", "10911")


def block(language: str, number: int = 0) -> str:
    return str(re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[number])


def restoring() -> tuple[str, str]:
    """Return the lines that copy etcd, and those that restore a member; what needs a unit or its user is left out."""
    steps = PAGE.partition("## Restore etcd")[2]
    copy, restore = re.findall(r"^ +```sh\n(.*?)^ +```", steps, re.MULTILINE | re.DOTALL)[:2]
    ours = [line for line in restore.splitlines() if not line.strip().startswith(("systemctl", "chown"))]
    return copy.replace("etcdctl --user root", "ETCDCTL_USER=root:of-root etcdctl"), "\n".join(ours)


@dataclass
class Machines:
    """Three machines on this one: an address and a folder each."""

    folder: Path
    running: ExitStack
    ports: dict[str, str] = field(default_factory=lambda: {used: str(free_ports(4) + 2) for used in _USED})
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def told(self, text: str, number: int) -> str:
        """Return a text of the page for a machine: its own address where the page has that of the first one."""
        own = (
            text
            if number == 1
            else re.sub(
                r"(?m)^(?!ETCD_INITIAL_CLUSTER=| *--initial-cluster |.*;).*$", lambda line: _of(line[0], number), text
            )
        )
        own = own.replace("10.0.0.", "127.0.0.")
        for used, port in self.ports.items():
            own = re.sub(rf"(?<=[:=]){used}\b", port, own)
        for place in ("/etc/etcd", "/etc/gantry", "/var/lib/etcd", "/var/lib/gantry"):
            own = own.replace(place, str(self.folder / str(number)))
        return own

    def start(self, name: str, command: list[str], environment: dict[str, str] | None = None) -> None:
        log = self.running.enter_context((self.folder / f"{name}.log").open("wb"))
        variables = os.environ | (environment or {})
        process = subprocess.Popen(command, cwd=ROOT, env=variables, stdout=log, stderr=subprocess.STDOUT)
        self.running.callback(_end, process)
        self.processes[name] = process

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(encoding="utf-8", errors="replace")

    def shell(self, lines: str, number: int) -> str:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", self.told(lines, number)],
            cwd=self.folder / str(number),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def _of(line: str, number: int) -> str:
    return line.replace(MACHINES[0], MACHINES[number - 1]).replace("=mq1", f"=mq{number}")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def machines_in(folder: Path) -> Iterator[Machines]:
    with ExitStack() as running:
        machines = Machines(folder, running)
        for number in (1, 2, 3):
            (folder / str(number)).mkdir()
        yield machines


def start_etcd(machines: Machines) -> None:
    authority, *certificate = block("sh").splitlines()
    machines.shell(authority, 1)
    for number in (1, 2, 3):
        for name in ("ca.pem", "ca.key") if number > 1 else ():
            shutil.copy(machines.folder / "1" / name, machines.folder / str(number) / name)
        machines.shell("\n".join(certificate), number)
        start_member(machines, number)
    users = (
        block("sh", 1)
        .replace("user add root", "user add root:of-root")
        .replace("user add gantry", "user add gantry:secret")
    )
    health = "\n".join(users.splitlines()[:2])
    wait_until(lambda: succeeds(machines, health))
    machines.shell(users, 1)


def start_member(machines: Machines, number: int) -> None:
    lines = machines.told(block("ini"), number).splitlines()
    machines.start(f"etcd-{number}", [str(find_etcd())], dict(line.split("=", 1) for line in lines))


def succeeds(machines: Machines, lines: str) -> bool:
    try:
        machines.shell(lines, 1)
    except AssertionError:
        return False
    return True


def start_gantry(machines: Machines) -> None:
    for number in (1, 2, 3):
        folder = machines.folder / str(number)
        (folder / "etcd.password").write_text("secret")
        own = f"bindAddress=127.0.0.1{number}\n"
        (folder / "namesrv.conf").write_text(machines.told(block("properties"), number) + own)
        (folder / "broker-a.conf").write_text(machines.told(block("properties", 1), number) + own)
        machines.start(
            f"namesrv-{number}", [sys.executable, "-m", "broker_core.namesrv", "--config", str(folder / "namesrv.conf")]
        )
    for number in (1, 2, 3):
        folder = machines.folder / str(number)
        command = [sys.executable, "-m", "broker_core", "--config", str(folder / "broker-a.conf")]
        machines.start(f"replica-{number}", [*command, "--data-dir", str(folder / "a")])


async def test_the_steps_lead_to_replicas_that_replace_a_dead_master(tmp_path: Path) -> None:
    with machines_in(tmp_path) as machines:
        start_etcd(machines)
        start_gantry(machines)
        servers = [f"127.0.0.1{number}:{machines.ports['9876']}" for number in (1, 2, 3)]
        async with Session(ClientConfig(servers)) as session:
            state = Admin(session).replication.state

            async def in_sync() -> int:
                try:
                    return len((await state("broker-a")).state.in_sync)
                except GantryError:
                    return 0

            async def are_all_in_sync() -> bool:
                return await in_sync() == 3

            await eventually(are_all_in_sync)
            before = (await state("broker-a")).state
            assert before.cluster == "shop"
            assert before.master is not None
            await create_topic(session, "orders")
            async with Producer(session, "checkout") as producer:

                async def is_taken() -> bool:
                    try:
                        await producer.send(Message.create("orders", b"paid"))
                    except GantryError:  # not every name server knows the topic yet
                        return False
                    return True

                await eventually(is_taken)

            # When the master's machine loses its process
            host = before.replicas[before.master.id].address.partition(":")[0]
            number = int(host[-1])
            machines.processes[f"replica-{number}"].kill()

            async def is_replaced() -> bool:
                now = (await state("broker-a")).state
                return now.epoch > before.epoch and now.master is not None

            await eventually(is_replaced)
            after = (await state("broker-a")).state
            assert after.master is not None
            assert after.master.id in set(before.in_sync) - {before.master.id}
        # Then the checks of the page hold
        for each in (1, 2, 3):
            assert machines.log(f"namesrv-{each}").count(" answers") >= 3
            assert "role=" in machines.log(f"replica-{each}")
        assert any(" leads" in machines.log(f"namesrv-{each}") for each in (1, 2, 3))


def test_a_copy_of_etcd_is_made_and_restored_as_the_page_says(tmp_path: Path) -> None:
    """Access control is on by then: only root may copy, and who may do what is in the copy."""
    copy, restore = restoring()
    as_gantry = copy.splitlines()[0] + "\netcdctl --user gantry:secret "
    with machines_in(tmp_path) as machines:
        start_etcd(machines)
        machines.shell(as_gantry + "put /gantry/shop/names old", 1)
        machines.shell(copy, 1)
        with pytest.raises(AssertionError, match="permission denied"):
            machines.shell(as_gantry + "snapshot save other.db", 1)
        machines.shell(as_gantry + "put /gantry/shop/names new", 1)
        for number in (1, 2, 3):
            _end(machines.processes[f"etcd-{number}"])
        for number in (1, 2, 3):
            if number > 1:
                shutil.copy(tmp_path / "1" / "gantry.db", tmp_path / str(number) / "gantry.db")
            machines.shell(restore, number)
            start_member(machines, number)
        wait_until(lambda: succeeds(machines, as_gantry + "endpoint health --cluster"))
        assert machines.shell(as_gantry + "get --print-value-only /gantry/shop/names", 1).strip() == "old"
        with pytest.raises(AssertionError, match="user name is empty"):
            machines.shell(copy.splitlines()[0] + "\netcdctl get /gantry/shop/names", 1)
