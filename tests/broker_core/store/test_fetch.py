"""Reading a queue."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from broker_core.protocol.record import decode_one
from broker_core.protocol.string_hash import tags_code
from broker_core.store import GetResult, GetStatus, MessageStore, fetch
from broker_core.store.fetch import Accept, PropertyTest
from tests.support.stores import NOW, fill, opened, put, segment


def get(store: MessageStore, offset: int, *, max_messages: int = 32, max_bytes: int = 1 << 20) -> GetResult:
    return store.get("T", 0, offset, max_messages=max_messages, max_bytes=max_bytes)


def read(answer: GetResult) -> list[bytes]:
    return [decode_one(record).body for record in answer.records]


@pytest.mark.parametrize(
    ("offset", "status", "next_offset"),
    [
        (-1, GetStatus.OFFSET_TOO_SMALL, 0),
        (5, GetStatus.OFFSET_OVERFLOW_ONE, 5),
        (6, GetStatus.OFFSET_OVERFLOW_BADLY, 5),
        (1 << 62, GetStatus.OFFSET_OVERFLOW_BADLY, 5),
    ],
)
def test_an_offset_outside_the_queue_is_answered_with_where_to_go(
    tmp_path: Path, offset: int, status: GetStatus, next_offset: int
) -> None:
    with opened(tmp_path) as store:
        fill(store, 5)
        answer = get(store, offset)
        assert (answer.status, answer.next_offset, answer.records) == (status, next_offset, [])
        assert (answer.min_offset, answer.max_offset) == (0, 5)


def test_records_come_raw_and_in_order(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 5)
        answer = get(store, 1)
        assert (answer.status, answer.next_offset) == (GetStatus.FOUND, 5)
        assert read(answer) == [b"1", b"2", b"3", b"4"]
        del answer


def test_no_more_messages_and_bytes_than_asked_but_always_one(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        sizes = [put(store, b"x" * size).size for size in (10, 10, 500, 10)]
        assert read(get(store, 0, max_messages=2)) == [b"x" * 10] * 2
        assert read(get(store, 0, max_bytes=sizes[0] * 2)) == [b"x" * 10] * 2
        assert read(get(store, 0, max_bytes=sizes[0] * 2 - 1)) == [b"x" * 10]
        assert read(get(store, 2, max_bytes=1)) == [b"x" * 500]
        assert get(store, 0, max_bytes=1).next_offset == 1


def test_an_answer_ends_with_the_file_of_the_queue(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 20)
        answer = get(store, 3)
        assert (len(answer.records), answer.next_offset) == (5, 8)
        assert len(get(store, 8).records) == 8
        del answer


def test_messages_with_other_tags_are_passed_over(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        for number in range(6):
            put(store, b"%d" % number, tag="order-created" if number % 2 else "TagA")
        wanted = tags_code("order-created")
        answer = store.get("T", 0, 0, max_messages=2, max_bytes=1 << 20, accept=Accept(lambda code: code == wanted))
        assert wanted < 0
        assert (read(answer), answer.next_offset) == ([b"1", b"3"], 4)
        nothing = store.get("T", 0, 0, max_messages=2, max_bytes=1 << 20, accept=Accept(lambda _: False))
        assert (nothing.status, nothing.next_offset) == (GetStatus.NO_MATCHED_MESSAGE, 6)
        del answer


def test_messages_are_tested_by_their_properties(tmp_path: Path) -> None:
    asked: list[tuple[str | None, ...]] = []

    def test(*values: str | None) -> bool:
        asked.append(values)
        return values[0] == "eu"

    with opened(tmp_path) as store:
        for region in ("eu", None, "us", "eu"):
            properties = {"x": "\u20ac"} | ({} if region is None else {"region": region})
            put(store, str(region).encode(), properties=properties)
        accept = Accept(None, PropertyTest(("region", "x"), test))
        answer = store.get("T", 0, 0, max_messages=9, max_bytes=1 << 20, accept=accept)
        assert (read(answer), answer.next_offset) == ([b"eu", b"eu"], 4)
        assert asked == [("eu", "\u20ac"), (None, "\u20ac"), ("us", "\u20ac"), ("eu", "\u20ac")]
        # And a message whose tag is not wanted is not read
        both = Accept(lambda _: False, PropertyTest(("region",), lambda _: True))
        nothing = store.get("T", 0, 0, max_messages=9, max_bytes=1 << 20, accept=both)
        assert (nothing.status, nothing.next_offset) == (GetStatus.NO_MATCHED_MESSAGE, 4)
        del answer


def test_a_filter_that_wants_nothing_looks_at_800_messages_at_most(tmp_path: Path) -> None:
    with opened(tmp_path, consume_queue_file_units=10_000, commit_log_file_size=1 << 20) as store:
        fill(store, 1000)
        answer = store.get("T", 0, 0, max_messages=32, max_bytes=1, accept=Accept(lambda _: False))
        assert (answer.status, answer.next_offset) == (GetStatus.NO_MATCHED_MESSAGE, 800)


def test_a_filter_that_takes_long_ends_a_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = count()
    monkeypatch.setattr(fetch, "monotonic", lambda: next(clock))
    accept = Accept(None, PropertyTest(("a",), lambda _: False))
    with opened(tmp_path, consume_queue_file_units=1_000, commit_log_file_size=1 << 20) as store:
        fill(store, 100)
        answer = store.get("T", 0, 0, max_messages=32, max_bytes=1, accept=accept)
        assert (answer.status, answer.next_offset) == (GetStatus.NO_MATCHED_MESSAGE, 64)


def test_messages_whose_segment_is_gone_are_passed_over(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 100)
    segment(tmp_path).unlink()
    with opened(tmp_path) as store:
        low = store.min_offset("T", 0)
        assert low > 0
        assert get(store, 0).status is GetStatus.OFFSET_TOO_SMALL
        # A reader that arrived just before the minimum moved.
        store._queues.by_key["T", 0].min_offset = 0
        answer = get(store, 0)
        assert (answer.status, answer.next_offset) == (GetStatus.MESSAGE_WAS_REMOVING, 8)


def test_an_offset_whose_file_is_gone_is_answered_with_the_next_file(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 20)
        store._queues.by_key["T", 0]._files.drop_first()
        answer = get(store, 3)
        assert answer.status is GetStatus.OFFSET_FOUND_NULL
        assert answer.next_offset >= 8


def test_records_stay_readable_when_their_segment_is_dropped(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 100)
        answer = get(store, 0)
        dropped = store.drop_expired(NOW * 2)
        assert dropped.segments > 0
        assert read(answer)[0] == b"0"
        del answer
