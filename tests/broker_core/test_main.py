"""``python -m broker_core`` as a process: ready line, exit statuses, clean stop."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from broker_core.client.admin import Admin
from broker_core.client.config import ClientConfig
from broker_core.client.session import Session
from broker_core.protocol import Command, ResponseCode
from broker_core.protocol.headers.routes import GetRouteInfoRequest
from broker_core.remoting import RemotingClient
from broker_core.remoting.errors import RemotingError
from broker_core.store.layout import count_files
from tests.support.cluster import ROOT, NotStarted, RunningBroker, broker, create_topic, several_brokers, started_broker
from tests.support.crowd import create_wide_topic, crowd, message, pull
from tests.support.ports import free_ports
from tests.support.serving import Serving


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run it until it ends on its own."""
    command = [sys.executable, "-m", "broker_core", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=180, check=False)


def test_it_says_where_it_serves_and_stops_cleanly(tmp_path: Path) -> None:
    running = RunningBroker(tmp_path)
    running.start()
    assert running.name_server.startswith("127.0.0.1:")
    assert running.address.startswith("127.0.0.1:")

    assert running.stop() == 0

    assert (tmp_path / "broker" / "checkpoint").exists()
    assert not (tmp_path / "broker" / "abort").exists()


@pytest.mark.parametrize("kill", [False, True])
async def test_while_it_restarts_no_topic_is_told_to_be_unknown(tmp_path: Path, kill: bool) -> None:
    async with broker(tmp_path) as running, running.session() as session:
        await create_topic(session, "orders")
        client, codes, is_over = RemotingClient(), Counter[int](), asyncio.Event()

        async def ask() -> None:
            while not is_over.is_set():
                request = Command.request(GetRouteInfoRequest("orders"))
                try:
                    codes[(await client.invoke(running.name_server, request, 3000)).code] += 1
                except RemotingError:
                    codes[-1] += 1
                await asyncio.sleep(0)

        asking = [asyncio.create_task(ask()) for _ in range(8)]
        await asyncio.to_thread(running.restart, kill=kill)
        is_over.set()
        await asyncio.gather(*asking)
        await client.close()
    assert codes.keys() <= {int(ResponseCode.SUCCESS), -1}
    assert codes[-1], "it was away for a while"


def test_under_umask_0_it_makes_nothing_that_others_may_read(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "broker_core", "--data-dir", str(tmp_path / "data")]
    ports = ["--namesrv-port", "0", "--broker-port", "0"]
    process = subprocess.Popen([*command, *ports], cwd=ROOT, stdout=subprocess.PIPE, text=True, umask=0)
    assert process.stdout is not None
    with process.stdout as out:
        assert any(line.startswith("ready") for line in out)
        made = {path: path.stat().st_mode for path in [tmp_path / "data", *(tmp_path / "data").rglob("*")]}
        process.terminate()
        process.wait(30)
    assert len(made) > 3
    assert [path for path, mode in made.items() if mode & 0o077] == []


def test_a_port_that_is_taken_is_one_clear_line_and_status_72(tmp_path: Path) -> None:
    with started_broker(tmp_path / "one") as running:
        for option, port in (("--namesrv-port", running.name_server), ("--broker-port", running.address)):
            ports = {"--namesrv-port": "0", "--broker-port": "0"} | {option: port.rpartition(":")[2]}
            given = [word for pair in ports.items() for word in pair]
            ended = run("--data-dir", str(tmp_path / "two"), "--log-level", "ERROR", *given)

            assert ended.returncode == 72
            (line,) = ended.stderr.splitlines()
            assert port in line


def test_a_store_that_is_in_use_is_one_clear_line_and_status_71(tmp_path: Path) -> None:
    with started_broker(tmp_path):
        ended = run("--data-dir", str(tmp_path), "--namesrv-port", "0", "--broker-port", "0", "--log-level", "ERROR")

    assert ended.returncode == 71
    (line,) = ended.stderr.splitlines()
    assert "in use" in line


def test_a_folder_that_cannot_be_made_is_one_clear_line_and_status_74(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")

    ended = run(
        "--data-dir", str(tmp_path / "file"), "--namesrv-port", "0", "--broker-port", "0", "--log-level", "ERROR"
    )

    assert ended.returncode == 74, "it may be mounted later: a supervisor tries again"
    (line,) = ended.stderr.splitlines()
    assert line.startswith("broker_core: storePathRootDir: ")
    assert str(tmp_path / "file") in line


def under(soft: int, hard: int, data: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run it until it ends, with this limit of open files."""
    shell = ["sh", "-c", f'ulimit -Sn {soft} && ulimit -Hn {hard} && exec "$@"', "sh"]
    command = [*shell, sys.executable, "-m", "broker_core", "--data-dir", str(data), "--log-level", "ERROR"]
    ports = ("--namesrv-port", "0", "--broker-port", "0")
    return subprocess.run(
        [*command, *ports, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=180, check=False
    )


@pytest.mark.parametrize("allowed", [10, 63])
def test_where_hardly_a_file_may_be_open_it_says_how_many_must_be(tmp_path: Path, allowed: int) -> None:
    ended = under(allowed, allowed, tmp_path)

    assert ended.returncode == 2
    (line,) = ended.stderr.splitlines()
    assert line.startswith(
        f"broker_core: the system allows this process {allowed} open files; its store needs 0, and 64 more are "
        "needed. Allow at least 128, half of them for connections: `ulimit -n 128` before the start"
    )
    assert not list(tmp_path.iterdir())


class LowLimit(RunningBroker):
    """A broker that starts with a limit of 100 open files and may raise it itself."""

    def _command(self) -> list[str]:
        return ["sh", "-c", 'ulimit -S -n 100 && exec "$@"', "sh", *super()._command()]


async def test_a_store_of_more_files_than_may_be_open_is_not_touched_and_what_it_needs_is_said(tmp_path: Path) -> None:
    # Given a store of 120 queues and a segment of its log
    running = RunningBroker(tmp_path)
    await asyncio.to_thread(running.start)
    async with crowd(running.address, 1) as [client]:
        await create_wide_topic(client, "wide", 120)
        for queue_id in range(120):
            assert (await client.ask(message("wide", queue_id, b"kept"))).code == 0
    await asyncio.to_thread(running.stop)
    files = count_files(running.store)
    assert files >= 121
    wanted = 2 * (files + 64)

    # When it is started where even the hard limit is too low
    ended = await asyncio.to_thread(under, 100, files + 63, tmp_path)
    # Then one line gives the limits and the required number
    assert ended.returncode == 2
    (line,) = ended.stderr.splitlines()
    said = f"the system allows this process {files + 63} open files; its store needs {files}, and 64 more are needed."
    assert line.startswith(f"broker_core: {said} Allow at least {wanted}, ")
    for way in (f"`ulimit -n {wanted}`", "/etc/security/limits.conf", "LimitNOFILE", f"--ulimit nofile={wanted}"):
        assert way in line

    # … and where only the soft limit is too low, it is raised before the store is opened, also beside a name server
    async with several_brokers(tmp_path / "elsewhere", names=()) as elsewhere:
        own = LowLimit(tmp_path, name_servers=f"127.0.0.1:{elsewhere.name_server.port}")
        await asyncio.to_thread(own.start)
        try:
            async with crowd(own.address, 1) as [client]:
                for queue_id in (0, 119):
                    assert b"kept" in (await client.ask(pull("wide", queue_id))).body
        finally:
            assert await asyncio.to_thread(own.stop) == 0
    assert "Too many open files" not in running.log.read_text()


def test_a_process_that_does_not_start_is_distinguished_from_one_that_does(tmp_path: Path) -> None:
    with pytest.raises(NotStarted):
        RunningBroker(tmp_path, arguments=("--no-such-option",)).start()


async def test_two_stand_side_by_side(tmp_path: Path) -> None:
    first, second = RunningBroker(tmp_path / "one"), RunningBroker(tmp_path / "two")
    await asyncio.gather(asyncio.to_thread(first.start), asyncio.to_thread(second.start))
    assert first.address != second.address
    assert [await asyncio.to_thread(each.stop) for each in (first, second)] == [0, 0]


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("colour=blue", "broker_core: this broker has no setting 'colour'"),
        ("deleteWhen=noon", "broker_core: setting deleteWhen: 'noon' is not hours of the day like 04 or 04;16"),
        ("brokerName=other", "broker_core: setting brokerName is fixed or can be set only at the start"),
    ],
)
def test_a_setting_that_it_does_not_take_is_one_clear_line_and_status_2(
    tmp_path: Path, setting: str, said: str
) -> None:
    ports = ("--namesrv-port", "0", "--broker-port", "0")
    ended = run("--data-dir", str(tmp_path), *ports, "--log-level", "ERROR", "--setting", setting)

    assert ended.returncode == 2
    assert ended.stderr.splitlines() == [said]


async def test_it_serves_as_its_configuration_file_says_and_as_its_options_before_that(tmp_path: Path) -> None:
    # Given a name server of a file of its own, and two that are named, one of which is away
    ports = free_ports(4)
    (tmp_path / "namesrv.conf").write_text(f"bindAddress=127.0.0.1\nlistenPort={ports}\n")
    (tmp_path / "broker.conf").write_text(
        f"brokerClusterName=shop\nbrokerName=broker-b\nnamesrvAddr=127.0.0.1:{ports};127.0.0.1:1\nlistenPort=10911\n"
        f"bindAddress=127.0.0.1\nstorePathRootDir={tmp_path}/store\nmappedFileSizeCommitLog=1048576\n"
        "fileReservedTime=5\nsendMessageThreadPoolNums=4\n"
    )
    log = tmp_path / "log"
    with Serving(log, "broker_core.namesrv", "-c", str(tmp_path / "namesrv.conf")) as name_server:
        assert await asyncio.to_thread(name_server.ready) == f"ready namesrv=127.0.0.1:{ports}"

        # When a broker starts with its file, and options that go before it
        options = ("--broker-port", str(ports + 3), "--setting", "fileReservedTime=6")
        with Serving(log, "broker_core", "--config", str(tmp_path / "broker.conf"), *options) as broker:
            ready = await asyncio.to_thread(broker.ready)

            # Then it serves there, and is registered
            assert ready == f"ready namesrv=127.0.0.1:{ports};127.0.0.1:1 broker=127.0.0.1:{ports + 3}"
            async with Session(ClientConfig([f"127.0.0.1:{ports}"])) as session:
                (found,) = await Admin(session).clusters.brokers()
                settings = await Admin(session).maintenance.settings_of(f"127.0.0.1:{ports + 3}")
            assert (found.cluster, found.name) == ("shop", "broker-b")
            assert settings["fileReservedTime"] == "6"
            assert settings["storePathRootDir"] == f"{tmp_path}/store"
            assert broker.stop() == name_server.stop() == 0
    assert "without effect here: sendMessageThreadPoolNums" in log.read_text()


async def test_a_file_that_says_little_means_what_it_means_to_rocketmq_and_the_log_says_what(tmp_path: Path) -> None:
    (tmp_path / "broker.conf").write_text("brokerName=broker-b\nbindAddress=127.0.0.1\n")
    ports = ("--namesrv-port", "0", "--broker-port", "0")
    log = tmp_path / "log"
    with Serving(log, "broker_core", "--config", str(tmp_path / "broker.conf"), *ports) as broker:
        ready = await asyncio.to_thread(broker.ready)
        async with Session(ClientConfig([ready.partition("namesrv=")[2].split()[0]])) as session:
            (found,) = await Admin(session).clusters.brokers()
        assert await asyncio.to_thread(broker.stop) == 0

    assert (found.cluster, found.name) == ("DefaultCluster", "broker-b")
    assert (tmp_path / "store" / "commitlog").is_dir()
    assert f"cluster=DefaultCluster broker=broker-b store={tmp_path}/store\n" in log.read_text()
    assert "key-value settings of the name server in " in log.read_text()


def test_a_configuration_file_with_names_that_are_not_served_is_one_clear_line_and_status_2(tmp_path: Path) -> None:
    file = tmp_path / "broker.conf"
    file.write_text("channelExpiredTimeout=5\nautoCreateTopicsEnable=true\n")

    ended = run("--config", str(file), "--data-dir", str(tmp_path / "data"))

    assert ended.returncode == 2
    assert ended.stderr == (
        f"broker_core: {file}: channelExpiredTimeout: '5' is not served, only '120000'; "
        "autoCreateTopicsEnable is not known (is autoCreateTopicEnable meant?)\n"
    )
    assert not (tmp_path / "data").exists()


async def test_brokers_that_share_a_machine_share_its_memory(tmp_path: Path) -> None:
    arguments = ("--share", "4", "--store", str(tmp_path / "broker-d"))
    async with broker(tmp_path, arguments=arguments) as running, running.session() as session:
        settings = await Admin(session).maintenance.settings_of(running.address)

    assert settings["limitMemoryBytes"] == str(256 * 1024 * 1024)
    assert settings["accessMessageInMemoryMaxRatio"] == "10"
    assert (tmp_path / "broker-d" / "checkpoint").exists()
    assert not (tmp_path / "broker").exists()
