"""Runs of sends: what one call does for many is what the handler does for each."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from broker_core.broker import BrokerLimits
from broker_core.broker.disk import Disk, Done
from broker_core.broker.processors import send_runs
from broker_core.broker.processors.send_runs import MOST_AT_ONCE, SendLane, find_kind
from broker_core.native import native
from broker_core.protocol import properties as names
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.frame import Frame, FrameReader, frame_parts
from broker_core.protocol.headers.send import SendMessageResponse
from broker_core.protocol.message import StoredMessage
from broker_core.protocol.message_id import parse_offset_id
from broker_core.protocol.properties import format_properties
from broker_core.protocol.topics import TRACE_TOPIC
from broker_core.store.errors import FlushFailed
from tests.support.broker import BORN, Wire, small_store, started
from tests.support.wait import eventually

pytestmark = pytest.mark.skipif(native is None, reason="runs need the compiled functions")

TEXTS = ("", "TAGS\x01a", "WAIT\x01true\x02KEYS\x01k1 k2\x02TAGS\x01é", "UNIQ_KEY\x01蛇🐍\x02", 'a\x01"\\/\b\f\n\r\t')
ODD_TEXTS = (
    "DELAY\x013",
    "TIMER_DELAY_SEC\x011000",
    "CLUSTER\x01elsewhere",
    "WAIT\x01true\x02WAIT\x01false",
    "a\x01" + "b" * 5000,
    "\x00",
)


@dataclass
class Sent:
    """One send of a test."""

    body: bytes = b"body"
    text: str = "TAGS\x01a"
    queue_id: int = 0
    born: int = BORN
    changes: dict[str, Any] = field(default_factory=dict)

    def frame(self, opaque: int, *, topic: str = "orders", is_compact: bool = True) -> bytes:
        """Return the frame as a Java client writes it; one with spaces in its JSON never begins a run."""
        fields = {
            "a": "producers", "b": topic, "c": "TBW102", "d": "4", "e": str(self.queue_id), "f": "0",
            "g": str(self.born), "h": "0", "i": self.text, "j": "0", "k": "false", "l": "0", "m": "false",
        } | self.changes  # fmt: skip
        header = {
            "code": 310, "extFields": fields, "flag": 0, "language": "JAVA", "opaque": opaque,
            "serializeTypeCurrentRPC": "JSON", "version": 435,
        }  # fmt: skip
        text = json.dumps(header, separators=(",", ":") if is_compact else None, ensure_ascii=False)
        return b"".join(frame_parts(0, text.encode(), self.body))


@dataclass
class Producer:
    """A connection that writes frames together and collects their answers by number."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    next: int = 100

    async def send(self, sends: Iterable[Sent], **options: Any) -> list[Command]:
        """Send all in one write and return the answers, in the order of the sends."""
        first, count = self.next, 0
        written = b""
        for count, each in enumerate(sends, 1):
            written += each.frame(first + count - 1, **options)
        self.next += count
        self.writer.write(written)
        frames = FrameReader()
        answers: dict[int, Command] = {}
        while len(answers) < count:
            data = await asyncio.wait_for(self.reader.read(1 << 16), 20)
            assert data, "closed by the broker"
            for frame in frames.feed(data):
                answer = Command.decode(frame)
                assert answer.opaque not in answers
                answers[answer.opaque] = answer
        return [answers[first + number] for number in range(count)]


@asynccontextmanager
async def connected(wire: Wire) -> AsyncIterator[Producer]:
    """Connect to the broker."""
    reader, writer = await asyncio.open_connection("127.0.0.1", wire.broker.port)
    yield Producer(reader, writer)
    writer.close()
    await writer.wait_closed()


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Counter[int]:
    """Count the runs by their length; 0 are those that were left to the handler."""
    lengths: Counter[int] = Counter()
    take = SendLane.take

    def counting(self: SendLane, frames: list[Frame], at: int) -> int:
        length = take(self, frames, at)
        lengths[length] += 1
        return length

    monkeypatch.setattr(SendLane, "take", counting)
    return lengths


def in_runs(taken: Counter[int]) -> int:
    return sum(length * times for length, times in taken.items())


def stored(wire: Wire, answer: Command) -> StoredMessage:
    """Return the message that an answer names."""
    assert answer.code == ResponseCode.SUCCESS, answer.remark
    place = parse_offset_id(answer.header(SendMessageResponse).msg_id)
    message = wire.broker.store.find(place.log_offset)
    assert message is not None
    return message


def told(wire: Wire, answer: Command) -> tuple[Any, ...]:
    """Return what an answer and the message behind it say, but for where and when it was stored."""
    said = {name: value for name, value in answer.ext_fields.items() if name not in ("msgId", "queueOffset")}
    about = list(answer.ext_fields), said, answer.code, answer.flag, answer.remark, answer.language, answer.version
    if answer.code != ResponseCode.SUCCESS:
        return about
    each = stored(wire, answer)
    pairs = {name: value for name, value in each.properties.items() if name != names.TIMER_OUT_MS}
    return (
        *about, each.topic, each.queue_id, each.body, list(pairs.items()), each.flag, each.sys_flag,
        each.born_timestamp, each.reconsume_times, each.store_size, each.damage, each.store_host,
    )  # fmt: skip


async def test_a_send_in_a_run_is_stored_and_answered_like_one_alone(wire: Wire, taken: Counter[int]) -> None:
    await wire.create_topic("orders", queues=4)
    source = random.Random(12)
    sends = [
        Sent(
            source.randbytes(source.choice((0, 1, 100, 5000))),
            source.choice(TEXTS * 6 + ODD_TEXTS),
            source.choice((0, 1, 2, 3, 3, 9)),
            BORN + source.randrange(10**6),
            source.choice(({}, {}, {}, {"f": "1"}, {"h": "7"}, {"m": "maybe"})),
        )
        for _ in range(1_500)
    ]
    async with connected(wire) as one, connected(wire) as other:
        together = await one.send(sends)
        assert in_runs(taken) > 200, "else the test compares nothing"
        before = in_runs(taken)
        alone = await other.send(sends, is_compact=False)

    assert in_runs(taken) == before
    assert [told(wire, each) for each in together] == [told(wire, each) for each in alone]


async def _answers_with(wire: Wire, odd: bytes) -> list[tuple[int, tuple[Any, ...]]]:
    """Return what is told to a producer that writes an odd frame among four plain ones, in the order of the numbers."""
    reader, writer = await asyncio.open_connection("127.0.0.1", wire.broker.port)
    writer.write(b"".join(Sent().frame(number) for number in range(3)) + odd + Sent().frame(3))
    frames = FrameReader()
    answers: list[Command] = []
    while len(answers) < 5 and (data := await asyncio.wait_for(reader.read(1 << 16), 20)):
        answers += map(Command.decode, frames.feed(data))
    writer.close()
    return [(each.opaque, told(wire, each)) for each in sorted(answers, key=lambda each: each.opaque)]


async def test_a_damaged_frame_is_told_what_the_handler_tells(wire: Wire, taken: Counter[int]) -> None:
    await wire.create_topic("orders", queues=2)
    source = random.Random(12)
    take = SendLane.take
    plain = Sent(b"body", "TAGS\x01a\x02KEYS\x01k").frame(9)
    for _ in range(150):
        odd = bytearray(plain)
        at = source.randrange(8, odd.index(b'"flag"'))  # a flag may say that no answer is wanted
        odd[at : at + source.randrange(3)] = source.choice((b"", b'"', b"\\", b"9", b"-", b"\xff", b"}", b"\x00"))
        odd[:8] = b"".join(frame_parts(0, bytes(odd[8:-4]), b""))[:8]
        odd[:4] = (len(odd) - 4).to_bytes(4, "big")
        together = await _answers_with(wire, bytes(odd))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(SendLane, "take", lambda *_: 0)
            alone = await _answers_with(wire, bytes(odd))
        assert together == alone, bytes(odd)
    assert SendLane.take is take
    assert in_runs(taken) > 300


async def test_runs_get_the_next_offsets_of_their_queues_and_can_be_read(wire: Wire, taken: Counter[int]) -> None:
    await wire.create_topic("orders", queues=3)
    bodies = [str(number).encode() for number in range(200)]
    async with connected(wire) as producer:
        answers = await producer.send([Sent(body, queue_id=number % 3) for number, body in enumerate(bodies)])

    assert in_runs(taken) > 150
    assert max(taken) == MOST_AT_ONCE
    assert [each.header(SendMessageResponse).queue_offset for each in answers] == [number // 3 for number in range(200)]
    read = [await wire.pull("orders", offset, queue_id=number, count=32) for number in range(3) for offset in (0, 32)]
    assert sorted(int(each.body) for batch in read for each in batch) == sorted([*range(192)])
    assert {each.properties["TAGS"] for each in read[0]} == {"a"}


async def test_a_run_goes_on_in_the_next_segment(tmp_path: Path, taken: Counter[int]) -> None:
    async with started(tmp_path, store=small_store(tmp_path, commit_log_file_size=64 * 1024)) as wire:
        await wire.create_topic("orders")
        async with connected(wire) as producer:
            answers = await producer.send([Sent(b"x" * 3000)] * 200)
        assert in_runs(taken) > 60
        assert {stored(wire, each).damage for each in answers} == {None}
        assert [stored(wire, each).queue_offset for each in answers] == list(range(200))


async def test_two_kinds_of_sends_take_turns(wire: Wire, taken: Counter[int]) -> None:
    await wire.create_topic("orders")
    kinds = Sent(b"plain"), Sent(b"compressed", changes={"f": "1"})
    async with connected(wire) as producer:
        answers = await producer.send([kinds[number // 5 % 2] for number in range(400)])

    assert in_runs(taken) > 200
    assert [stored(wire, each).sys_flag for each in answers] == [number // 5 % 2 for number in range(400)]


async def test_what_is_never_plain_is_seldom_looked_at(wire: Wire, taken: Counter[int]) -> None:
    await wire.create_topic("orders")
    async with connected(wire) as producer:
        await producer.send([Sent()])
        looked = 0
        find = send_runs.find_kind

        def counting(frame: Frame) -> send_runs.Kind | None:
            nonlocal looked
            looked += 1
            return find(frame)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(send_runs, "find_kind", counting)
            await producer.send([Sent(changes={"f": "8"})] * 640)
    assert in_runs(taken) == 0
    assert looked < 30


async def test_what_changes_between_runs_holds_for_the_next(wire: Wire, taken: Counter[int]) -> None:
    await wire.create_topic("orders", queues=2)
    async with connected(wire) as producer:
        await producer.send([Sent()] * 100)
        [refused] = await producer.send([Sent(queue_id=2)])
        assert refused.code == ResponseCode.SYSTEM_ERROR
        assert "orders" in (refused.remark or "")

        await wire.send(TRACE_TOPIC, b"the first trace creates it")
        traced = await producer.send([Sent()] * 100)
        assert stored(wire, traced[-1]).properties["MSG_REGION"] == "DefaultRegion"

        wire.broker.components.topics.delete("orders", now=BORN)
        wire.broker.store.delete_topic("orders")
        await wire.create_topic("orders", queues=4)
        anew = await producer.send([Sent(queue_id=3)] * 100)
        assert [stored(wire, each).queue_offset for each in anew] == list(range(100))

        wire.broker.components.intake.refusal = "the disk is full"
        full = await producer.send([Sent()] * 60)
        assert {each.code for each in full} == {ResponseCode.SERVICE_NOT_AVAILABLE}
        assert all("full" in (each.remark or "") for each in full)
    assert in_runs(taken) > 150


async def test_limits_hold_in_a_run(tmp_path: Path, taken: Counter[int]) -> None:
    limits = BrokerLimits(body_bytes=100, properties_bytes=50)
    async with started(tmp_path, limits=limits) as wire:
        await wire.create_topic("orders")
        sends = [Sent(), Sent(b"x" * 101), Sent(text="a\x01" + "b" * 49)]
        async with connected(wire) as producer:
            answers = await producer.send(sends[number // 50 % 3] for number in range(300))
    codes = [each.code for each in answers]
    assert codes == [
        ResponseCode.SUCCESS if number // 50 % 3 == 0 else ResponseCode.MESSAGE_ILLEGAL for number in range(300)
    ]
    assert in_runs(taken) > 20


@asynccontextmanager
async def flushing(folder: Path) -> AsyncIterator[Wire]:
    """Start a broker that answers when a message is on the disk."""
    async with started(folder, store=small_store(folder, flush="sync")) as wire:
        await wire.create_topic("orders")
        yield wire


async def test_a_run_waits_for_the_disk(tmp_path: Path, taken: Counter[int]) -> None:
    async with flushing(tmp_path) as wire, connected(wire) as producer:
        answers = await producer.send([Sent(text="WAIT\x01true")] * 200)
        last = stored(wire, answers[-1])
        assert wire.broker.store.flushed_log_offset >= last.log_offset + last.store_size
        assert len(wire.broker.components.durability) == 0
    assert in_runs(taken) > 100


class HeldDisk:
    """A disk that begins no flush before it is released."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._held: list[Done] | None = []

    def flush(self, done: Done) -> None:
        if self._held is None:
            self._disk.flush(done)
        else:
            self._held.append(done)

    def look(self) -> None:
        self._disk.look()

    def close(self) -> None:
        self._disk.close()

    def release(self) -> None:
        held, self._held = self._held or [], None
        for done in held:
            self._disk.flush(done)


async def test_a_server_that_stops_answers_the_runs_that_wait_for_the_disk(tmp_path: Path, taken: Counter[int]) -> None:
    async with flushing(tmp_path) as wire, connected(wire) as producer:
        await producer.send([Sent()])
        durability, [server] = wire.broker.components.durability, wire.broker._servers[:1]
        durability._disk = held = HeldDisk(durability._disk)
        sending = asyncio.create_task(producer.send([Sent()] * 100))
        await eventually(lambda: len(durability) == 100)
        stopping = asyncio.create_task(server.close(10))
        await eventually(lambda: all(each._is_deaf for each in server.connections))
        held.release()
        assert {each.code for each in await sending} == {ResponseCode.SUCCESS}
        await stopping
    assert in_runs(taken) > 90


async def test_those_that_do_not_wait_are_left_to_the_handler(tmp_path: Path, taken: Counter[int]) -> None:
    async with flushing(tmp_path) as wire, connected(wire) as producer:
        answers = await producer.send([Sent(text="WAIT\x01false")] * 200)
        assert {each.code for each in answers} == {ResponseCode.SUCCESS}
    assert in_runs(taken) == 0


async def test_a_run_that_did_not_reach_the_disk_says_so(
    tmp_path: Path, taken: Counter[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with flushing(tmp_path) as wire, connected(wire) as producer:
        await producer.send([Sent()] * 100)
        wire.broker.components.durability._failure = FlushFailed("the disk is gone")
        answers = await producer.send([Sent()] * 100)
    assert in_runs(taken) > 100
    assert {each.code for each in answers} == {ResponseCode.FLUSH_DISK_TIMEOUT}
    assert {each.remark for each in answers} == {"stored, but not known to be on the disk"}


async def test_a_broker_with_access_control_checks_each_send(tmp_path: Path, taken: Counter[int]) -> None:
    async with started(tmp_path, access_control=True) as wire, connected(wire) as producer:
        answers = await producer.send([Sent()] * 100)
    assert {each.remark for each in answers} == {
        "org.apache.rocketmq.acl.common.AclException: No accessKey is configured"
    }
    assert not taken


async def test_producers_and_statistics_count_each_send(wire: Wire) -> None:
    await wire.create_topic("orders")
    before = wire.broker.components.stats.put.total
    async with connected(wire) as producer:
        await producer.send([Sent()] * 150)
    assert wire.broker.components.stats.put.total - before == 150
    [sends] = wire.broker.components.beside.producers.of("orders").values()
    assert sends.messages == 150
    nums, sizes = wire.broker.components.stats._put_by_topic["orders"]
    assert (nums.sum, nums.times, sizes.times) == (150, 150, 150)


@pytest.mark.parametrize(
    "changes",
    [
        {"b": "%RETRY%group"},
        {"b": "SCHEDULE_TOPIC_XXXX"},
        {"f": "4"},
        {"m": "true"},
        {"e": "-1"},
        {"e": "+1"},
        {"a": "g" * 300},
        {"x": "a\\b"},
    ],
)
def test_only_plain_sends_begin_a_run(changes: dict[str, str]) -> None:
    [frame] = FrameReader().feed(Sent(changes=changes).frame(7))
    assert find_kind(frame) is None


def test_a_plain_send_begins_a_run() -> None:
    [frame] = FrameReader().feed(Sent(text=format_properties({"TAGS": "a", "UNIQ_KEY": "7F"})).frame(7))
    kind = find_kind(frame)
    assert kind is not None
    assert (kind.topic, kind.group, kind.flag, kind.sys_flag, kind.reconsume_times) == ("orders", "producers", 0, 0, 0)


@pytest.mark.parametrize(
    "twice",
    [
        '"\\u0065":"0"',
        '"e": "0"',
        '"e":0',
        "'e':'0'",
        f'"g": "{BORN}"',
        '"g":5',
        '"i": "TAGS\\u0001a"',
        '"i":5',
    ],
)
def test_a_name_that_is_said_twice_begins_no_run(twice: str) -> None:
    [frame] = FrameReader().feed(Sent().frame(7))
    header = frame.header.replace(b'"e":"0"', b'"e":"0",' + twice.encode()).replace(
        b'"m":"false"', b'"m":"false",' + twice.encode()
    )
    assert find_kind(frame._replace(header=header)) is None


def test_a_number_that_is_said_twice_begins_no_run() -> None:
    [frame] = FrameReader().feed(Sent().frame(7))
    header = frame.header.replace(b'"version"', b'"opaque": 7,"version"')
    assert find_kind(frame._replace(header=header)) is None
