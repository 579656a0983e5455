"""The store as a whole."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.protocol.message import Message
from broker_core.protocol.record import decode_one
from broker_core.store import AppendedRecord, Arrived, GetStatus, MessageStore, StoreConfig, mapped_file
from broker_core.store.consume_queue import ConsumeQueue
from broker_core.store.errors import FlushFailed, MessageUnstorable, StoreClosed, StoreFull, StoreLocked
from tests.support.stores import (
    BROKER,
    NOW,
    PRODUCER,
    bodies,
    fill,
    incoming,
    opened,
    put,
    put_batch,
    queue_file,
    segment,
    small,
)

# store/README.md#worked-record
WORKED_RECORD = bytes.fromhex(
    "000000b0daa320a769c865ed0000000000000000000000000000000000000000000000000000000000000"
    "18bcfe568000a000001000013880000018bcfe568050a00000200002a9f0000000000000000000000000"
    "000000e48656c6c6f20526f636b65744d5109546f70696354657374003e4b455953014b31204b3202554"
    "e49515f4b4559013041303030303031303030303138423441414332303030303030303030303030025441"
    "4753015461674 1".replace(" ", "")
)


def put_only(store: MessageStore, message: Message, **changes: Any) -> AppendedRecord:
    """Put a message without dispatching it."""
    words: dict[str, Any] = {
        "queue_id": 0, "born_timestamp": 1, "born_host": PRODUCER, "store_host": BROKER, "now": NOW,
    }  # fmt: skip
    return store.put(incoming(message, **words | changes))


def put_worked_record(store: MessageStore) -> None:
    properties = {"KEYS": "K1 K2", "UNIQ_KEY": "0A000001000018B4AAC2000000000000", "TAGS": "TagA"}
    store.put(
        incoming(
            Message("TopicTest", b"Hello RocketMQ", properties),
            queue_id=0,
            born_timestamp=1_700_000_000_000,
            born_host=PRODUCER,
            store_host=BROKER,
            now=1_700_000_000_005,
        )
    )
    store.dispatch()


def test_the_worked_record_and_its_unit_come_out_byte_for_byte(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        put_worked_record(store)
        assert segment(tmp_path).read_bytes()[:176] == WORKED_RECORD
        unit = queue_file(tmp_path, "TopicTest").read_bytes()[:20]
        assert unit.hex() == "0000000000000000000000b0000000000027a807"


def test_a_delayed_message_keeps_its_time_of_delivery_in_the_queue(tmp_path: Path) -> None:
    # Level 3 is 10 s, the message is stored at 1700000002500: see store/README.md#delayed-messages
    with opened(tmp_path) as store:
        put_worked_record(store)
        put(store, b"x" * 16, topic="SCHEDULE_TOPIC_XXXX", queue_id=2, now=1_700_000_002_500, properties={"DELAY": "3"})
        unit = queue_file(tmp_path, "SCHEDULE_TOPIC_XXXX", 2).read_bytes()[:20]
        assert unit[:8].hex() == "00000000000000b0"
        assert unit[12:].hex() == "0000018bcfe598d4"
        put(store, topic="SCHEDULE_TOPIC_XXXX", queue_id=17, now=NOW, properties={"DELAY": "99"})
        assert store.tags_code("SCHEDULE_TOPIC_XXXX", 17, 0) == NOW + 7_200_000
        assert store.tags_code("SCHEDULE_TOPIC_XXXX", 17, 1) is None


def test_a_tag_whose_hash_is_negative_is_kept_with_its_sign(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        put(store, tag="order-created")
        assert queue_file(tmp_path).read_bytes()[12:20].hex() == "ffffffffe897bb69"


def test_entries_of_a_queue_are_read_from_an_offset_on(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        results = [put(store, b"x") for _ in range(3)]

        units = store.units("T", 0, 1, 5)

        assert [(unit.log_offset, unit.size) for unit in units] == [
            (result.log_offset, result.size) for result in results[1:]
        ]
        assert [len(store.units("T", 0, *asked)) for asked in ((0, 2), (3, 1), (-1, 1), (0, 0))] == [2, 0, 0, 0]
        assert store.units("other", 0, 0, 5) == []


def test_limits_can_change_while_the_store_is_open(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.reconfigure(replace(store.config, max_message_size=3))

        put(store, b"abc")
        with pytest.raises(MessageUnstorable):
            put(store, b"abcd")


def test_a_put_reports_where_the_message_is(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        put(store)
        result = put(store, b"second", queue_id=0, now=NOW + 5)
        assert (result.log_offset, result.queue_offset, result.store_timestamp) == (94, 1, NOW + 5)
        assert result.end == store.appended_log_offset == result.log_offset + result.size
        assert result.offset_id == "0A00000200002A9F000000000000005E"


def test_offsets_are_counted_for_each_queue(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        offsets = [put(store, topic=topic, queue_id=queue).queue_offset for topic in "ab" for queue in (0, 1, 0)]
        assert offsets == [0, 0, 1, 0, 0, 1]
        assert sorted(store.queues()) == [("a", 0), ("a", 1), ("b", 0), ("b", 1)]


def test_a_message_is_readable_after_dispatch_and_dispatch_reports_which_queues(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        for queue_id in (0, 1, 0):
            put_only(store, Message("T", b"x"), queue_id=queue_id)
        assert store.max_offset("T", 0) == 0
        assert store.dispatched_log_offset == 0
        assert sorted(store.dispatch()) == [Arrived("T", 0, 0, 2), Arrived("T", 1, 0, 1)]  # type: ignore[arg-type]
        assert store.dispatch() == []
        assert store.max_offset("T", 0) == 2
        assert store.dispatched_log_offset == store.appended_log_offset


def test_what_waits_for_dispatch_is_bounded_and_no_arrival_is_lost(tmp_path: Path) -> None:
    with opened(tmp_path, max_undispatched=3) as store:
        for number in range(8):
            store.put(
                incoming(
                    Message("T", b"x"),
                    queue_id=number % 2,
                    born_timestamp=1,
                    born_host=PRODUCER,
                    store_host=BROKER,
                    now=NOW,
                )
            )
        assert store.max_offset("T", 0) == 3
        assert sorted(store.dispatch()) == [Arrived("T", 0, 0, 4), Arrived("T", 1, 0, 4)]  # type: ignore[arg-type]


def test_prepared_and_rolled_back_messages_enter_no_queue(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        results = [put(store, bytes([bits]), sys_flag=bits, keys=["k"]) for bits in (0x0, 0x4, 0xC, 0x8)]
        assert [result.queue_offset for result in results] == [0, 0, 0, 1]
        assert bodies(store) == [b"\x00", b"\x08"]
        found = store.search("T", "k", begin=0, end=1 << 60, max_count=10)
        assert [message.body for message in found.messages] == [b"\x00", b"\x04", b"\x08"]


def test_a_batch_is_put_whole_with_consecutive_offsets_into_one_segment(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        put(store, b"x" * 1000)
        batch = [Message("any", bytes([number]) * 300, {"KEYS": f"k{number}"}, number) for number in range(4)]
        series = put_batch(store, batch)
        store.dispatch()
        assert (series.queue_offset, len(series.log_offsets)) == (1, 4)
        assert series.log_offsets[0] == 2048
        assert series.end == store.appended_log_offset
        assert bodies(store)[1:] == [message.body for message in batch]
        found = store.search("T", "k2", begin=0, end=1 << 60, max_count=10).messages
        assert [(message.body, message.flag, message.topic) for message in found] == [(b"\x02" * 300, 2, "T")]


def test_a_batch_that_is_refused_leaves_nothing(tmp_path: Path) -> None:
    with opened(tmp_path, max_message_size=100) as store:
        with pytest.raises(MessageUnstorable):
            put_batch(store, [Message("T", b""), Message("T", b"x" * 101)])
        with pytest.raises(MessageUnstorable):
            put_batch(store, [Message("T", b"")], sys_flag=0x4)
        with pytest.raises(MessageUnstorable):
            put_batch(store, [Message("T", b"")], common="k\x01" + "v" * 32766)
        assert store.appended_log_offset == 0
        assert put(store).queue_offset == 0


@pytest.mark.parametrize(
    "message",
    [
        Message("T", b"x" * 101),
        Message("T", b"", {"a": "b" * 40_000}),
        Message("", b""),
        Message("../T", b""),
        Message("t" * 128, b""),
        Message("a b", b""),
        Message("T", b"", {}, 1 << 31),
        Message("T", b"", {"a": "\ud800"}),
        Message("T", b"", {"a": "b\x02DELAY\x013"}),
    ],
)
def test_what_the_format_or_the_limits_do_not_allow_is_refused(tmp_path: Path, message: Message) -> None:
    with opened(tmp_path, max_message_size=100) as store:
        with pytest.raises(MessageUnstorable):
            put_only(store, message)
        with pytest.raises(MessageUnstorable):
            put_only(store, Message("T", b""), queue_id=-1)
        assert store.appended_log_offset == 0


def test_ipv6_hosts_are_kept(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        result = store.put(
            incoming(
                Message("T", b""),
                queue_id=0,
                born_timestamp=1,
                born_host=("fe80::1", 7),
                store_host=("::1", 10911),
                now=NOW,
            )
        )
        found = store.find(result.log_offset)
        assert found is not None
        assert (found.sys_flag, found.born_host, found.store_host) == (0x30, "[fe80::1]:7", "[::1]:10911")
        assert found.offset_id == result.offset_id


def test_messages_are_found_by_log_offset(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        result = put(store, b"one", properties={"a": "b"})
        found = store.find(result.log_offset)
        assert found is not None
        assert (found.body, found.properties) == (b"one", {"a": "b"})
        raw = store.find_raw(result.log_offset)
        assert raw is not None
        assert decode_one(raw) == found
        assert store.find(result.log_offset + 1) is None
        assert store.find_raw(1 << 40) is None


def test_what_looks_like_a_record_inside_a_body_is_no_message(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        first = put(store, b"real")
        store.dispatch()
        raw = store.find_named(first.log_offset)
        assert raw is not None
        # As a sender makes it who guesses where his message will lie: 88 bytes before its body.
        place = first.end + 88
        forged = raw[:28] + place.to_bytes(8, "big") + raw[36:]
        second = put(store, forged)
        store.dispatch()
        assert second.log_offset == first.end
        assert store.find_raw(place) == forged
        assert store.find_named(place) is None
        assert store.find_named(second.log_offset) == store.find_raw(second.log_offset)


def test_a_message_that_no_queue_has_yet_is_not_found_by_name(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        place = store.put(incoming(Message("T", b"one"), queue_id=0, now=NOW)).log_offset
        assert store.find_named(place) is None
        store.dispatch()
        assert store.find_named(place) is not None


def test_the_times_and_ends_of_a_queue_that_never_was_are_nothing(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        assert (store.min_offset("T", 0), store.max_offset("T", 0)) == (0, 0)
        assert store.offset_by_time("T", 0, NOW) == 0
        assert store.store_time("T", 0, 0) is None
        assert store.get("T", 0, 0, max_messages=1, max_bytes=1).status is GetStatus.NO_MESSAGE_IN_QUEUE
        assert store.queues() == []


def test_flush_reports_how_far_the_log_is_on_the_disk(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        assert store.flush() == (0, 0)
        fill(store, 30)
        assert store.flushed_log_offset == 0
        assert store.flush() == (store.appended_log_offset, NOW + 29)
        assert store.flushed_log_offset == store.appended_log_offset


def test_another_thread_may_flush_while_messages_are_put(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        done = threading.Event()
        flushed: list[int] = []

        def flush() -> None:
            while not done.is_set():
                flushed.append(store.flush().log_offset)
                store.checkpoint()

        thread = threading.Thread(target=flush)
        thread.start()
        fill(store, 2000)
        done.set()
        thread.join()
        assert flushed == sorted(flushed)
        assert len(bodies(store)) == 2000
    with opened(tmp_path) as store:
        assert len(bodies(store)) == 2000


@pytest.fixture
def broken_disk(monkeypatch: pytest.MonkeyPatch) -> Callable[[], AbstractContextManager[None]]:
    """Return a block in which each sync of a file fails."""

    def broken(_: Path) -> int:
        raise OSError(errno.EIO, "broken disk")

    @contextmanager
    def block() -> Iterator[None]:
        with monkeypatch.context() as patch:
            patch.setattr(mapped_file, "sync_file", broken)
            yield

    return block


def test_a_flush_that_fails_ends_the_taking_of_messages(
    tmp_path: Path, broken_disk: Callable[[], AbstractContextManager[None]]
) -> None:
    store = opened(tmp_path)
    put(store)
    with broken_disk(), pytest.raises(FlushFailed):
        store.flush()
    with pytest.raises(FlushFailed):
        put(store)
    with pytest.raises(FlushFailed):
        put(store, topic="New")
    assert bodies(store) == [b"hi"]
    store.close()
    # Closed without removing the mark.
    assert (tmp_path / "abort").exists()


def test_after_a_flush_that_failed_no_later_one_confirms_anything(
    tmp_path: Path, broken_disk: Callable[[], AbstractContextManager[None]]
) -> None:
    """The system reports an error once, and a second sync succeeds without the pages that it discarded."""
    store = opened(tmp_path)
    put(store)
    confirmed = store.flush()
    put(store)
    plan = store.plan_flush()
    assert plan is not None
    with broken_disk(), pytest.raises(FlushFailed):
        store.checkpoint()
    for again in (store.flush, store.checkpoint, lambda: store.note_flushed(plan, 1)):
        with pytest.raises(FlushFailed):
            again()
    assert store.plan_flush() is None
    assert store.flushed_log_offset == confirmed.log_offset
    store.close()


def test_queues_that_cannot_be_flushed_end_the_taking_of_messages_too(
    tmp_path: Path, broken_disk: Callable[[], AbstractContextManager[None]]
) -> None:
    store = opened(tmp_path)
    put(store)
    store.flush()
    with broken_disk(), pytest.raises(FlushFailed):
        store.checkpoint()
    with pytest.raises(FlushFailed):
        store.checkpoint()
    with pytest.raises(FlushFailed):
        put(store)
    store.close()


def test_a_full_disk_refuses_the_message_and_the_store_continues_when_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space")

    with opened(tmp_path, reserve_bytes=256) as store:
        put(store, b"first")
        with monkeypatch.context() as patch:
            patch.setattr(os, "posix_fallocate", full)
            with pytest.raises(StoreFull):
                put(store, b"x" * 1000)
            with pytest.raises(StoreFull):
                put(store, b"x" * 1940)
        put(store, b"x" * 1940)
        assert [len(body) for body in bodies(store)] == [5, 1940]
    with opened(tmp_path) as store:
        assert [len(body) for body in bodies(store)] == [5, 1940]


def test_a_disk_that_fills_up_during_dispatch_delays_but_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.posix_fallocate
    refused = 0

    def full_for_queues(descriptor: int, begin: int, length: int) -> None:
        nonlocal refused
        if "commitlog" not in str(Path(f"/proc/self/fd/{descriptor}").readlink()):
            refused += 1
            raise OSError(errno.ENOSPC, "no space")
        real(descriptor, begin, length)

    with opened(tmp_path, commit_log_file_size=1 << 20) as store:
        put(store, b"first", keys=["k"])
        for number in range(30):
            put_only(store, Message("T", b"%d" % number, {"KEYS": "k"}))
        with monkeypatch.context() as patch:
            patch.setattr(os, "posix_fallocate", full_for_queues)
            for _ in range(3):
                with pytest.raises(StoreFull):
                    store.dispatch()
        assert refused
        assert [arrived.end for arrived in store.dispatch()] == [31]
        assert bodies(store) == [b"first", *(b"%d" % number for number in range(30))]
        found = store.search("T", "k", begin=0, end=1 << 60, max_count=100)
        assert len(found.records) == 31


def test_deleting_a_topic_removes_its_queues_and_leaves_others(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 20, topic="gone")
        fill(store, 3, topic="stays")
        put_only(store, Message("gone", b""), queue_id=1)
        assert store.delete_topic("gone") == 2
        assert store.delete_topic("gone") == 0
        assert store.queues() == [("stays", 0)]
        assert not (tmp_path / "consumequeue" / "gone").exists()
        assert put(store, b"again", topic="gone").queue_offset == 0
        assert bodies(store, "gone") == [b"again"]
    with opened(tmp_path) as store:
        assert bodies(store, "gone") == [b"again"]


def test_a_topic_is_made_again_while_the_files_of_the_deleted_one_are_removed(tmp_path: Path) -> None:
    def left() -> int:
        return len(list(tmp_path.glob("gone-*/*")))

    with opened(tmp_path) as store:
        for queue_id in range(40):
            put_only(store, Message("T", b"old"), queue_id=queue_id)
        count, removing = store.detach_topic("T")
        assert (count, left(), store.queues()) == (40, 40, [])
        # When a message comes, then it is the first of its queue, and stays
        assert put(store, b"new", queue_id=7).queue_offset == 0
        lefts = [left() for _ in removing]
        assert (lefts, left()) == ([24, 8], 0)
        assert bodies(store, "T", 7) == [b"new"]
        # When the removal does not end, then the next start ends it
        store.detach_topic("T")
        assert left() == 1
        put(store, b"another", topic="stays")
    with opened(tmp_path) as store:
        assert (left(), store.queues()) == (0, [("stays", 0)])


def test_a_topic_may_be_deleted_while_its_queues_are_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sync = ConsumeQueue.sync

    def late(queue: ConsumeQueue) -> None:
        store.delete_topic("T")
        sync(queue)

    with opened(tmp_path) as store:
        put(store, b"old")
        store.checkpoint()
        fill(store, 300)  # of several files
        with monkeypatch.context() as patched:
            patched.setattr(ConsumeQueue, "sync", late)
            store.checkpoint()
        assert put(store, b"new").queue_offset == 0


def test_a_store_can_be_open_once_only(tmp_path: Path) -> None:
    with opened(tmp_path), pytest.raises(StoreLocked):
        opened(tmp_path)
    opened(tmp_path).close()


def test_a_closed_store_refuses_messages(tmp_path: Path) -> None:
    store = opened(tmp_path)
    put(store)
    store.close()
    store.close()
    with pytest.raises(StoreClosed):
        put(store)
    assert not (tmp_path / "abort").exists()


def test_a_new_store_of_the_embedded_broker_is_small_on_the_disk(tmp_path: Path) -> None:
    with MessageStore.open(StoreConfig.embedded(tmp_path), now=NOW) as store:
        fill(store, 3)
        used = sum(path.stat().st_blocks * 512 for path in tmp_path.rglob("*"))
        assert used < 24 << 20


def test_rocketmqs_own_sizes_are_the_default(tmp_path: Path) -> None:
    with MessageStore.open(StoreConfig(tmp_path), now=NOW) as store:
        fill(store, 3)
        assert segment(tmp_path).stat().st_size == 1 << 30
        assert queue_file(tmp_path).stat().st_size == 6_000_000
        assert next((tmp_path / "index").iterdir()).stat().st_size == 420_000_040
    with MessageStore.open(StoreConfig(tmp_path), now=NOW) as store:
        assert bodies(store) == [b"0", b"1", b"2"]


_steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(0, 2), st.integers(0, 900)),
        st.tuples(st.just("batch"), st.integers(0, 2), st.integers(1, 5)),
        st.tuples(st.just("reopen"), st.booleans(), st.just(0)),
        st.tuples(st.just("dispatch"), st.just(0), st.just(0)),
    ),
    max_size=40,
)


@settings(max_examples=60)
@given(_steps)
def test_whatever_is_put_comes_back_in_order_after_good_and_bad_stops(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, int]]
) -> None:
    folder = tmp_path_factory.mktemp("store")
    expected: dict[int, list[bytes]] = {0: [], 1: [], 2: []}
    store = MessageStore.open(small(folder), now=NOW)
    now = NOW
    for kind, first, second in steps:
        now += 1
        if kind == "put":
            body = b"%d" % now + b"x" * second
            put_only(store, Message("T", body, {"KEYS": str(now)}), queue_id=first, now=now)
            expected[first].append(body)
        elif kind == "batch":
            batch = [Message("T", b"%d-%d" % (now, number)) for number in range(second)]
            put_batch(store, batch, queue_id=first, now=now)
            expected[first] += [message.body for message in batch]
        elif kind == "dispatch":
            store.dispatch()
        elif first:
            store.close()
            store = MessageStore.open(small(folder), now=now)
        else:
            store = _killed_and_opened(store, folder, now)
    store.dispatch()
    assert {queue_id: bodies(store, "T", queue_id) for queue_id in expected} == expected
    for bodies_of_queue in expected.values():
        for body in bodies_of_queue:
            if b"-" not in body:
                found = store.search("T", body[:13].decode(), begin=0, end=1 << 60, max_count=3)
                assert [message.body for message in found.messages] == [body]
    store.close()


def _killed_and_opened(store: MessageStore, folder: Path, now: int) -> MessageStore:
    """Release the lock as a killed process does, and open its files."""
    store._guard.release()
    return MessageStore.open(small(folder), now=now)
