"""A disk that is really full: messages are refused with a clear error, reads and commits continue, nothing breaks."""

from __future__ import annotations

import asyncio
import errno
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker_core import exit_status
from broker_core.protocol.codes import PULL_SUBSCRIPTION, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.offsets import QueryConsumerOffsetRequest, UpdateConsumerOffsetRequest
from broker_core.protocol.headers.pull import PullMessageRequest, PullMessageResponse
from broker_core.protocol.headers.send import SendMessageResponse, SendMessageV2Request
from broker_core.protocol.record import decode_many
from broker_core.remoting import RemotingClient
from broker_core.store import MessageStore
from broker_core.store.errors import StoreFull
from broker_core.store.reader import StoreReader
from broker_core.store.verify import verify
from tests.support.cluster import ROOT, NotStarted, RunningBroker, broker
from tests.support.ports import free_ports
from tests.support.small_disk import small_disk
from tests.support.stores import bodies, opened, put, segment, small
from tests.support.stores import fill as fill_store
from tests.support.wait import eventually

pytestmark = pytest.mark.crash

TOPIC, GROUP = "orders", "billing"
TIMEOUT_MS = 60_000
MIB = 1024 * 1024
DISK_BYTES = 8 * MIB
SIZES = (
    "--commit-log-file-size", str(MIB),
    "--setting", "mappedFileSizeConsumeQueue=4000",
    "--setting", "maxHashSlotNum=500",
    "--setting", "maxIndexNum=2000",
    "--setting", "diskFreeBytes=0",
    "--setting", "cleanFileForciblyEnable=false",
)  # fmt: skip


@pytest.fixture(name="small_disk")
def _small_disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk", DISK_BYTES) as folder:
        yield folder


async def send(client: RemotingClient, running: RunningBroker, number: int) -> Command:
    body = b"%d " % number + b"x" * 4000
    header = SendMessageV2Request(TOPIC, 0, 0, 0, 0, "producers", "TBW102", 1, properties=f"KEYS\x01k{number}")
    return await client.invoke(running.address, Command.request(header, body), TIMEOUT_MS)


async def read(client: RemotingClient, running: RunningBroker) -> list[int]:
    numbers: list[int] = []
    offset = 0
    while True:
        header = PullMessageRequest("readers", TOPIC, 0, offset, 32, PULL_SUBSCRIPTION, subscription="*")
        answer = await client.invoke(running.address, Command.request(header), TIMEOUT_MS)
        if answer.code != ResponseCode.SUCCESS:
            assert answer.code == ResponseCode.PULL_NOT_FOUND, answer.remark
            return numbers
        numbers += [int(message.body.split()[0]) for message in decode_many(answer.body)]
        offset = answer.header(PullMessageResponse).next_begin_offset


async def fill(client: RemotingClient, running: RunningBroker) -> tuple[list[int], Command]:
    """Send until the broker refuses; return what it accepted, and its refusal."""
    taken: list[int] = []
    for number in range(DISK_BYTES // 4000):
        answer = await send(client, running, number)
        if answer.code != ResponseCode.SUCCESS:
            return taken, answer
        assert answer.header(SendMessageResponse).queue_offset == number
        taken.append(number)
    raise AssertionError("more was accepted than the disk holds")


async def test_a_disk_without_room_refuses_messages_and_nothing_else(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(2 * MIB))
    full = ("--setting", "diskSpaceWarningLevelRatio=100")
    async with broker(small_disk / "data", flush="sync", arguments=(*SIZES, *full)) as running:
        client = RemotingClient()
        # When more is sent than the disk holds, then the answer names the reason
        taken, refusal = await fill(client, running)
        assert len(taken) > 500
        assert refusal.code == ResponseCode.SERVICE_NOT_AVAILABLE
        assert "no space left on the disk" in str(refusal.remark)
        assert (await send(client, running, -1)).code == ResponseCode.SERVICE_NOT_AVAILABLE
        # And reads and commits continue
        assert await read(client, running) == taken
        commit = UpdateConsumerOffsetRequest(GROUP, TOPIC, 0, 77)
        assert (await client.invoke(running.address, Command.request(commit), TIMEOUT_MS)).code == 0
        asked = await client.invoke(
            running.address, Command.request(QueryConsumerOffsetRequest(GROUP, TOPIC, 0)), TIMEOUT_MS
        )
        assert (asked.ext_fields or {})["offset"] == "77"
        await client.close()
        # When the broker is killed on the full disk, then it opens its store and serves the stored messages
        await asyncio.to_thread(running.restart, kill=True)
        client = RemotingClient()
        assert await read(client, running) == taken
        # When there is room again, then messages are accepted again
        ballast.unlink()
        answer = await send(client, running, len(taken))
        assert answer.code == ResponseCode.SUCCESS, answer.remark
        assert await read(client, running) == [*taken, len(taken)]
        await client.close()
    with StoreReader.open(small_disk / "data" / "broker") as reader:
        assert verify(reader).told == []


async def test_a_disk_beyond_the_ratio_refuses_messages_before_it_has_no_room(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ratio = ("--setting", "diskSpaceWarningLevelRatio=90")
    async with broker(small_disk / "data", arguments=(*SIZES, *ratio)) as running:
        client = RemotingClient()
        assert (await send(client, running, 0)).code == ResponseCode.SUCCESS
        await client.close()
        await asyncio.to_thread(running.stop)
        ballast.write_bytes(bytes(shutil.disk_usage(small_disk).free - DISK_BYTES // 20))
        # When the broker starts on a disk that is nearly full
        await asyncio.to_thread(running.start)
        client = RemotingClient()
        # Then it refuses at once and says at which level it accepts again, and reads continue
        answer = await send(client, running, 1)
        assert answer.code == ResponseCode.SERVICE_NOT_AVAILABLE
        assert "the disk is full: 9" in str(answer.remark)
        assert "accepted again at 90% or less" in str(answer.remark)
        assert await read(client, running) == [0]
        ballast.unlink()

        async def is_taken() -> bool:
            return (await send(client, running, 1)).code == ResponseCode.SUCCESS

        await eventually(is_taken)
        assert await read(client, running) == [0, 1]
        await client.close()


def on_disk(folder: Path, disk: Path, *, is_replica: bool) -> RunningBroker:
    """Return a broker with only its store on the small disk."""
    running = RunningBroker(folder, arguments=(*SIZES, "--store", str(disk / "store")))
    running.name_server = f"127.0.0.1:{free_ports()}"
    if is_replica:
        running.settings = {
            "enableControllerInNamesrv": "true",
            "enableControllerMode": "true",
            "controllerAddr": running.name_server,
        }
    return running


async def start_without_room(running: RunningBroker) -> asyncio.Task[None]:
    """Start it, and return when it says that it waits."""
    running.log.write_text("")
    starting = asyncio.create_task(asyncio.to_thread(running.start))
    await eventually(lambda: "waits for room on its disk" in running.log.read_text())
    assert not starting.done()
    return starting


@pytest.mark.parametrize(("is_replica", "spare"), [(False, 0), (True, 4 * 4096)])
async def test_a_broker_that_starts_on_a_full_disk_waits_for_room(
    tmp_path: Path, small_disk: Path, is_replica: bool, spare: int
) -> None:
    running, ballast = on_disk(tmp_path / "data", small_disk, is_replica=is_replica), small_disk / "ballast"
    await asyncio.to_thread(running.start)
    client = RemotingClient()

    async def is_taken() -> bool:
        return (await send(client, running, 0)).code == ResponseCode.SUCCESS

    await eventually(is_taken)
    assert await asyncio.to_thread(running.stop) == 0
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(small_disk).free - spare)

    # When it is to stop while it waits, then it does
    starting = await start_without_room(running)
    process = running.process
    assert process is not None
    process.terminate()
    with pytest.raises(NotStarted):
        await starting
    assert process.returncode == 0
    # When it has room, then it serves all that it had, and has lost nothing
    starting = await start_without_room(running)
    ballast.unlink()
    await starting
    await eventually(is_taken)
    assert await read(client, running) == [0, 0]
    assert "is built anew" not in running.log.read_text()
    if is_replica:
        assert "unclean=0" in (small_disk / "store" / "brokerIdentity").read_text()
    await client.close()
    assert await asyncio.to_thread(running.stop) == 0


def test_a_start_that_a_limit_of_file_sizes_forbids_ends_with_the_reason(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "broker_core", "--data-dir", str(tmp_path), "--namesrv-port", "0", *SIZES]
    limits = (1024, resource.RLIM_INFINITY)
    ended = subprocess.run(
        [*command, "--broker-port", "0"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limits),
    )  # fmt: skip
    assert ended.returncode == exit_status.SYSTEM, ended.stderr
    *_, last = ended.stderr.splitlines()
    assert last.startswith("broker_core: no space left on the disk for ")
    assert last.endswith("File too large)")


def put_until_full(store: MessageStore) -> list[bytes]:
    """Put messages until the disk has no room; the last one may be stored but not readable yet."""
    taken = [b"%d" % number for number in range(5)]
    for number in range(5, 1000):
        end = store.appended_log_offset
        try:
            put(store, b"%d" % number, keys=[f"k{number}"])
        except StoreFull:
            return taken if store.appended_log_offset == end else [*taken, b"%d" % number]
        taken.append(b"%d" % number)
    raise AssertionError("more was accepted than the disk holds")


def test_a_store_that_runs_out_of_room_continues_when_there_is_some(small_disk: Path) -> None:
    """Try every free size of the disk, so that each kind of file is once the one without room."""
    free, ballast = shutil.disk_usage(small_disk).free, small_disk / "ballast"
    for spare in range(0, 14 * 4096, 4096):
        folder = small_disk / str(spare)
        with opened(folder) as store:
            fill_store(store, 5)
            with ballast.open("wb") as file:
                os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(small_disk).free - spare)
            taken = put_until_full(store)
            assert bodies(store) in (taken, taken[:-1])
            with pytest.raises(StoreFull):
                put(store, b"x" * 1500)
            ballast.unlink()
            put(store, b"more")
            assert bodies(store) == [*taken, b"more"]
        with StoreReader.open(folder, small(folder)) as reader:
            assert verify(reader).told == []
        shutil.rmtree(folder)
        assert shutil.disk_usage(small_disk).free == free


def test_a_limit_of_file_sizes_counts_as_a_full_disk(tmp_path: Path) -> None:
    # Requires no right to mount: the system refuses files beyond a size.
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with opened(tmp_path) as store:
        first = put(store, b"x" * 1500)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, before[1]))
        try:
            with pytest.raises(StoreFull) as refused:
                put(store, b"y" * 1500)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert isinstance(refused.value.__cause__, OSError)
        assert refused.value.__cause__.errno == errno.EFBIG
        assert bodies(store) == [b"x" * 1500]
        assert store.appended_log_offset == first.end
        put(store, b"y" * 1500)
        assert segment(tmp_path, 2048).exists()
        assert len(bodies(store)) == 2
