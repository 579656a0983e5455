"""Queues and index, compared with a prediction made record by record from the formats (store/README.md)."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.protocol.message import Message
from broker_core.protocol.record import decode_one
from broker_core.store import MessageStore
from tests.support.stores import BROKER, NOW, PRODUCER, bodies, files_of, incoming, small

UNITS, SLOTS, ENTRIES = 8, 10, 20


def java_hash(text: str) -> int:
    hashed = 0
    for character in text:
        hashed = (31 * hashed + ord(character)) & 0xFFFFFFFF
    return hashed - (1 << 32) if hashed >> 31 else hashed


@dataclass
class Predicted:
    """The files that Apache RocketMQ would derive, one record at a time."""

    queues: dict[str, bytearray] = field(default_factory=dict)
    indexes: list[bytearray] = field(default_factory=list)
    index_counts: list[int] = field(default_factory=list)
    least_end: int = 0

    def add(self, record: bytes) -> None:
        message = decode_one(record)
        transaction = message.sys_flag & 0xC
        if transaction in (0x0, 0x8):
            code = java_hash(message.tag) if message.tag else 0
            delay = message.properties.get("DELAY")
            if message.topic == "SCHEDULE_TOPIC_XXXX" and delay:
                code = message.store_timestamp + {1: 1000, 2: 5000, 3: 10000}[int(delay)]
            place = f"consumequeue/{message.topic}/{message.queue_id}"
            file = f"{place}/{message.queue_offset // UNITS * UNITS * 20:020d}"
            data = self.queues.setdefault(file, bytearray(UNITS * 20))
            struct.pack_into(
                ">qiq", data, message.queue_offset % UNITS * 20, message.log_offset, message.store_size, code
            )
        # The file is created before anything is known of keys.
        if not self.indexes or self.index_counts[-1] >= ENTRIES:
            self.roll()
        if transaction != 0xC:
            for key in ([message.unique_id] if message.unique_id else []) + message.keys:
                self.add_key(f"{message.topic}#{key}", message.log_offset, message.store_timestamp)

    def add_key(self, text: str, log_offset: int, store_time: int) -> None:
        if not self.indexes or self.index_counts[-1] >= ENTRIES:
            self.roll()
        data, count = self.indexes[-1], self.index_counts[-1]
        hashed = abs(java_hash(text))
        slot_at = 40 + hashed % SLOTS * 4
        older = struct.unpack_from(">i", data, slot_at)[0]
        begin_time = struct.unpack_from(">q", data, 0)[0]
        seconds = (store_time - begin_time) // 1000 if begin_time > 0 else 0
        struct.pack_into(">iqii", data, 40 + SLOTS * 4 + count * 20, hashed, log_offset, seconds, older)
        struct.pack_into(">i", data, slot_at, count)
        if count == 1:
            struct.pack_into(">q", data, 0, store_time)
            struct.pack_into(">q", data, 16, log_offset)
        used = struct.unpack_from(">i", data, 32)[0] + (older == 0)
        struct.pack_into(">q", data, 8, max(store_time, self.least_end))
        struct.pack_into(">qii", data, 24, log_offset, used, count + 1)
        self.index_counts[-1] += 1

    def roll(self) -> None:
        data = bytearray(40 + SLOTS * 4 + ENTRIES * 20)
        if self.indexes:
            end_time, _, end_offset = struct.unpack_from(">qqq", self.indexes[-1], 8)
            # The one difference: if the keys of a record continue in the next file, that file ends 1 ms later.
            self.least_end = end_time + 1
            struct.pack_into(">qqqq", data, 0, end_time, end_time, end_offset, end_offset)
        self.indexes.append(data)
        self.index_counts.append(1)

    def files(self) -> dict[str, bytes]:
        return {name: bytes(data) for name, data in self.queues.items()}


_words: Any = st.fixed_dictionaries(
    {
        "topic": st.sampled_from(["T", "Other", "SCHEDULE_TOPIC_XXXX"]),
        "queue_id": st.integers(0, 1),
        "sys_flag": st.sampled_from([0, 0, 0, 0x4, 0x8, 0xC]),
        "properties": st.fixed_dictionaries(
            {},
            optional={
                "TAGS": st.sampled_from(["TagA", "order-created"]),
                "KEYS": st.sampled_from(["K1 K2", "K1", "K3  K1 "]),
                "UNIQ_KEY": st.sampled_from(["0A000001000018B4AAC2000000000000", "0A000001000018B4AAC2000000000001"]),
                "DELAY": st.sampled_from(["1", "2", "3"]),
            },
        ),
        "born_host": st.sampled_from([PRODUCER, ("fe80::1", 7)]),
        "size": st.integers(0, 300),
        "run": st.integers(1, 4),
    }
)


@settings(max_examples=60)
@given(st.lists(_words, max_size=60))
def test_queues_and_index_are_those_that_rocketmq_would_derive(
    tmp_path_factory: pytest.TempPathFactory, messages: list[dict[str, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("store")
    predicted = Predicted()
    with MessageStore.open(small(folder), now=NOW) as store:
        for number, words in enumerate(messages):
            message = Message(words["topic"], b"x" * words["size"], words["properties"], 0, words["sys_flag"])
            result = store.put(
                incoming(
                    message,
                    queue_id=words["queue_id"],
                    born_timestamp=NOW,
                    born_host=words["born_host"],
                    store_host=BROKER,
                    # Each a little more than a second later, so that no two files end in the same millisecond.
                    now=NOW + number * 1037,
                )
            )
            record = store.find_raw(result.log_offset)
            assert record is not None
            predicted.add(record)
            if number % words["run"] == 0:
                store.dispatch()
    files = files_of(folder)
    assert {name: data for name, data in files.items() if name.startswith("consumequeue")} == predicted.files()
    indexes = [data for name, data in sorted(files.items()) if name.startswith("index")]
    assert indexes == [bytes(data) for data in predicted.indexes]


def test_two_records_of_one_run_before_and_after_a_deletion_are_distinguished(tmp_path: Path) -> None:
    # Given a topic that was deleted and created again, and whose queue is then rebuilt from the log
    with MessageStore.open(small(tmp_path), now=NOW) as store:
        hosts: dict[str, Any] = {"born_host": PRODUCER, "store_host": BROKER}
        for number in range(5):
            store.put(incoming(Message("T", b"old%d" % number), queue_id=0, born_timestamp=1, now=NOW, **hosts))
        store.delete_topic("T")
        for number in range(3):
            store.put(incoming(Message("T", b"new%d" % number), queue_id=0, born_timestamp=1, now=NOW, **hosts))
    for path in sorted((tmp_path / "consumequeue").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    # When all its records are dispatched at once, then the queue has only the messages after the deletion
    with MessageStore.open(small(tmp_path), now=NOW) as store:
        assert bodies(store) == [b"new0", b"new1", b"new2"]
