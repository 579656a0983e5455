"""A real name server and broker under damaged requests of every code.

Each is answered soon, or its connection closed; no traceback is logged; memory does not grow; and afterwards, also
after a restart, a well-behaved client is served as usual.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import takewhile
from pathlib import Path
from random import Random
from typing import Final

import pytest

from broker_core.client.producer import Producer
from broker_core.protocol import bodies
from broker_core.protocol.bodies.heartbeat import (
    ConsumerData,
    ConsumeType,
    HeartbeatData,
    MessageModel,
    SubscriptionData,
)
from broker_core.protocol.codes import FLAG_ONE_WAY, FLAG_RESPONSE, RequestCode
from broker_core.protocol.command import Command
from broker_core.protocol.errors import ProtocolError
from broker_core.protocol.frame import FrameReader
from broker_core.protocol.headers.clients import HeartBeatRequest
from broker_core.protocol.message import Message
from tests.fuzz import requests
from tests.fuzz.cases import BASE_SEED, TIMES
from tests.fuzz.mutations import mutate
from tests.support.cluster import RunningBroker, create_topic, started_broker

FIELDS_EACH: Final = int(200 * TIMES)
FRAMES_EACH: Final = int(30 * TIMES)
ANSWER_SECONDS: Final = 20.0
MOST_GROWTH: Final = 200 * 1024 * 1024
CODES: Final = sorted({int(code) for code in RequestCode} | {0, 9999, -7})


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> object:
    """A broker for this file alone, small enough that fuzzed topics do not fill the disk."""
    with started_broker(tmp_path_factory.mktemp("broker"), settings={"mappedFileSizeConsumeQueue": "20000"}) as broker:
        yield broker


@asynccontextmanager
async def connected(address: str) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        yield reader, writer
    finally:
        writer.close()


def resident_bytes(running: RunningBroker) -> int:
    """Return the resident memory of the process."""
    assert running.process is not None
    status = Path(f"/proc/{running.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) * 1024


def tracebacks(running: RunningBroker) -> list[str]:
    """Return the tracebacks in the log, one of each kind: its last frame and its error."""
    found: dict[str, None] = {}
    for text in running.log.read_text(errors="replace").split("Traceback (most recent call last):")[1:]:
        lines = list(takewhile(lambda line: not line[:1].isdigit(), text.splitlines()[1:]))
        found["\n".join(lines[-4:])[:600]] = None
    return list(found)


def says_undecided(command: Command) -> bool:
    """Say whether a producer tells that it does not know yet how a transaction ends, which nobody answers."""
    return command.code == RequestCode.END_TRANSACTION and command.ext_fields.get("commitOrRollback") == "0"


async def answers_to(address: str, commands: list[Command]) -> str:
    """Send requests on one connection; return what happened to those that were not answered."""
    wanted = set()
    async with connected(address) as (reader, writer):
        for number, command in enumerate(commands):
            command.opaque = number
            try:
                writer.write(command.encode())
            except ProtocolError:
                continue
            if not (command.flag & FLAG_ONE_WAY or says_undecided(command)):
                wanted.add(number)
        frames = FrameReader()
        while wanted:
            try:
                data = await asyncio.wait_for(reader.read(1 << 16), ANSWER_SECONDS)
            except TimeoutError:
                return f"not answered: {[commands[number] for number in list(wanted)[:3]]}"
            except ConnectionError:
                data = b""
            if not data:
                return f"closed before {len(wanted)} answers: {[commands[number] for number in list(wanted)[:3]]}"
            for answer in map(Command.decode, frames.feed(data)):
                if answer.flag & FLAG_RESPONSE:
                    wanted.discard(answer.opaque)
            if frames.fault is not None:
                return f"an answer that is no frame: {frames.fault}"
    return ""


@asynccontextmanager
async def unhelpful_client(address: str) -> AsyncIterator[None]:
    """A consumer to which the broker forwards requests, and which returns nonsense."""
    random = Random(BASE_SEED)
    subscription = SubscriptionData(requests.TOPIC, sub_version=1)
    consumer = ConsumerData(
        requests.GROUP, ConsumeType.CONSUME_PASSIVELY, MessageModel.CLUSTERING, None, [subscription]
    )
    hello = Command.request(HeartBeatRequest(), bodies.encode(HeartbeatData("client-a", [], [consumer])))

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        frames = FrameReader()
        while data := await reader.read(1 << 16):
            for request in map(Command.decode, frames.feed(data)):
                if not request.flag & (FLAG_RESPONSE | FLAG_ONE_WAY):
                    response = requests.sound(random, request.code)
                    response.code = random.choice((0, 1, 206, 9999))
                    response.body = mutate(random, random.choice((request.body, b"{}", b'{"properties":{}}')))
                    writer.write(response.answering(request).encode())
            if frames.fault is not None:
                raise frames.fault

    async with connected(address) as (reader, writer):
        writer.write(hello.encode())
        answering = asyncio.create_task(answer(reader, writer))
        try:
            yield
        finally:
            answering.cancel()
            with suppress(asyncio.CancelledError):
                await answering


async def ends(address: str, data: bytes) -> bool:
    """Return whether a connection ends after these bytes and the end of our stream."""
    async with connected(address) as (reader, writer):
        try:
            writer.write(data)
            writer.write_eof()
            await asyncio.wait_for(reader.read(), ANSWER_SECONDS)
        except ConnectionError:
            return True
        except TimeoutError:
            return False
    return True


def seeds(code: int, count: int) -> list[int]:
    return [BASE_SEED * 1_000_003 + code * 1_000 + number for number in range(count)]


async def prepared(running: RunningBroker) -> None:
    """Create a topic with messages for the broker to find."""
    async with running.session() as session:
        await create_topic(session, requests.TOPIC)
        producer = await Producer(session).start()
        for number in range(400):
            await producer.send(Message.create(requests.TOPIC, b"%d" % number, keys=[f"k{number}"], tag="TagA"))
        await producer.close()


async def serves_well(running: RunningBroker, topic: str) -> None:
    """Send to a new topic, as any client would."""
    async with running.session() as session:
        await create_topic(session, topic)
        producer = await Producer(session).start()
        results = [await producer.send(Message.create(topic, b"good")) for _ in range(8)]
        assert len({result.message_id for result in results}) == 8
        await producer.close()


async def test_damaged_requests_of_every_code(running: RunningBroker) -> None:
    await prepared(running)
    warm = resident_bytes(running)

    # Fields and bodies: the frame is valid, so there must be an answer, whatever its content.
    failures = []
    async with unhelpful_client(running.address):
        for code in CODES:
            made = [requests.damaged(Random(seed), code) for seed in seeds(code, FIELDS_EACH)]
            problem = await answers_to(running.address, made)
            if problem:
                failures.append(f"code {code}: {problem}")
    assert not failures, "\n".join(failures)

    # Frames: the stream may be unreadable, so the connection ends at the latest when we close our side.
    for code in CODES:
        for seed in seeds(code, FRAMES_EACH):
            random = Random(seed)
            command = requests.sound(random, code)
            command.serializer = 0 if not 0 <= code <= 0x7FFF else random.randrange(2)
            assert await ends(running.address, mutate(random, command.encode())), f"code {code} seed {seed}"

    assert tracebacks(running) == []
    assert resident_bytes(running) - warm < MOST_GROWTH
    await serves_well(running, "well-after")


async def test_damaged_requests_to_the_name_server(running: RunningBroker) -> None:
    for code in CODES:
        for seed in seeds(code, FRAMES_EACH):
            random = Random(seed)
            command = requests.damaged(random, code)
            data = command.encode() if code >= 0 else b""
            if random.random() < 0.3:
                data = mutate(random, data)
            assert await ends(running.name_server, data), f"code {code} seed {seed}"

    assert tracebacks(running) == []


async def test_the_files_it_leaves_are_good_to_start_from(running: RunningBroker) -> None:
    await asyncio.to_thread(running.restart)
    await serves_well(running, "well-again")
    await asyncio.to_thread(running.restart, kill=True)
    await serves_well(running, "well-after-a-kill")

    assert tracebacks(running) == []
