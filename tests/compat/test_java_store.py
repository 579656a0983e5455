"""One folder, two brokers: RocketMQ's own store opens ours and ours opens its, after good and bad stops."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from broker_core.protocol.message import Message, StoredMessage
from broker_core.protocol.record import decode_many
from broker_core.store import MessageStore, StoreConfig
from broker_core.store.reader import StoreReader
from broker_core.store.verify import verify
from tests.compat.java_store import Seen, visit
from tests.support.stores import BROKER, PRODUCER, incoming, small

pytestmark = pytest.mark.compat

HOSTS = [PRODUCER, ("fe80::1", 7)]


def config_of(folder: Path) -> StoreConfig:
    return small(
        folder, commit_log_file_size=64 * 1024, consume_queue_file_units=100, index_slots=100, index_entries=400
    )


def now() -> int:
    return time.time_ns() // 1_000_000


def put(store: MessageStore, name: str, count: int) -> None:
    for number in range(count):
        body = f"{name}{number} ".encode() + bytes(number * 7 % 900)
        message = Message.create("P", body, keys=[f"{name}{number}"], tag=("TagA", "order-created")[number % 2])
        store.put(
            incoming(
                message,
                queue_id=number % 3,
                born_timestamp=now(),
                born_host=HOSTS[number % 2],
                store_host=BROKER,
                now=now(),
            )
        )
    store.dispatch()


def read(store: MessageStore) -> list[StoredMessage]:
    found = []
    for topic, queue_id in sorted(store.queues()):
        offset = int(store.min_offset(topic, queue_id))
        while offset < store.max_offset(topic, queue_id):
            answer = store.get(topic, queue_id, offset, max_messages=32, max_bytes=1 << 20)
            found += decode_many(b"".join(answer.records))
            offset = answer.next_offset
    return found


def as_java_sees(messages: list[StoredMessage]) -> list[Seen]:
    return [
        Seen(
            message.topic,
            message.queue_id,
            message.queue_offset,
            " ".join(message.keys),
            str(message.tag),
            message.born_host.rpartition(":")[0].strip("[]").replace("fe80::1", "fe80:0:0:0:0:0:0:1"),
            java_array_hash(message.body),
        )
        for message in messages
    ]


def java_array_hash(data: bytes) -> int:
    """Return what java.util.Arrays.hashCode says of these bytes."""
    hashed = 1
    for byte in data:
        hashed = (31 * hashed + (byte ^ 0x80) - 0x80) & 0xFFFFFFFF
    return hashed - (1 << 32) if hashed >> 31 else hashed


def check_sound(config: StoreConfig) -> None:
    with StoreReader.open(config.folder, config) as reader:
        assert verify(reader).told == []


def test_each_store_reads_what_the_other_wrote(tmp_path: Path) -> None:
    config = config_of(tmp_path)
    # Given messages of ours, closed well
    with MessageStore.open(config, now=now()) as store:
        put(store, "a", 400)
        ours, end = read(store), store.appended_log_offset
    # When RocketMQ opens the folder, then it sees the same and finds keys; it puts some of its own
    told = visit(config, put=50, keys=[("P", "a7"), ("P", "a399"), ("P", "none")])
    assert told.other == []
    assert told.messages == as_java_sees(ours)
    assert told.found == {"a7": [(1, 2)], "a399": [(0, 133)]}
    assert told.end > end
    # When we open it again, then nothing needs mending and all is there
    with MessageStore.open(config, now=now()) as store:
        assert store.recovered.was_clean
        assert store.appended_log_offset == told.end
        messages = read(store)
        assert [message.body for message in messages if message.topic == "Java"] == [
            b"java%d" % number for queue_id in (0, 1) for number in range(queue_id, 50, 2)
        ]
        assert len(messages) == 450
        found = store.search("Java", "j49", begin=0, end=1 << 60, max_count=5)
        assert [message.body for message in found.messages] == [b"java49"]
    check_sound(config)


def test_each_store_mends_what_the_other_left_after_a_bad_stop(tmp_path: Path) -> None:
    config = config_of(tmp_path)
    # Given RocketMQ halted in the middle of its life
    assert visit(config, put=300, end="halt", keys=[]).other == []
    assert (tmp_path / "abort").exists()
    # When we open what it left, then all is there, by queue and by key
    with MessageStore.open(config, now=now()) as store:
        assert not store.recovered.was_clean
        assert len(read(store)) == 300
        found = store.search("Java", "j299", begin=0, end=1 << 60, max_count=5)
        assert [message.body for message in found.messages] == [b"java299"]
        put(store, "b", 200)
        ours = read(store)
    check_sound(config)
    # When RocketMQ is told that we did not close it well, then it mends it and sees the same
    (tmp_path / "abort").touch()
    told = visit(config, put=10, keys=[("P", "b199"), ("Java", "j5")])
    assert told.other == []
    assert told.messages == as_java_sees(ours)
    assert {"b199", "j5"} == set(told.found)
    with MessageStore.open(config, now=now()) as store:
        assert store.recovered.was_clean
        assert len(read(store)) == 510
    check_sound(config)
