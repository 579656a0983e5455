"""Each check accepts a history in which nothing went wrong, and tells a fault that is planted in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.scenarios.failover import checks
from tests.scenarios.failover.operations import Commit, Fault, Outcome, Queue, Read, Record, Send, Work

QUEUE: Queue = ("orders", 0)
RECORD_BYTES = 200


def sent(number: int, offset: int | None = None, **changes: object) -> Send:
    """A send that was acknowledged at the queue offset of its number, or another."""
    place = number if offset is None else offset
    send = Send(
        "producer", f"m{number}", QUEUE, Outcome.ACKNOWLEDGED, float(number), number + 0.5, place, place * RECORD_BYTES
    )
    return replace(send, **changes)  # type: ignore[arg-type]


def uncertain(number: int) -> Send:
    return sent(number, outcome=Outcome.UNCERTAIN, queue_offset=None, log_offset=None)


def read(number: int, offset: int | None = None, **changes: object) -> Read:
    """A read of the message of this number at its queue offset, or another."""
    place = number if offset is None else offset
    return replace(Read("reader", f"m{number}", QUEUE, place, place * RECORD_BYTES, 100.0), **changes)  # type: ignore[arg-type]


def work(client: str, began: float, ended: float) -> Work:
    return Work(client, "m", QUEUE, 0, began, ended)


@pytest.fixture
def record() -> Record:
    """Five messages, of which the second took two attempts that both were stored."""
    record = Record()
    for send in (sent(0), uncertain(1), sent(1, 2), sent(2, 3), sent(3, 4), sent(4, 5)):
        record.add(send)
    for each in (read(0), read(1), read(1, 2)):
        record.add(each)
    return record


FINAL = [read(0), read(1), read(1, 2), read(2, 3), read(3, 4), read(4, 5)]


def test_nothing_is_told_of_a_history_in_which_all_holds(record: Record) -> None:
    assert checks.broken(record, FINAL) == {}
    assert checks.vanished(record.reads, FINAL) == []


def without(number: int) -> list[Read]:
    return FINAL[:number] + FINAL[number + 1 :]


def instead(number: int, other: Read) -> list[Read]:
    return [*FINAL[:number], other, *FINAL[number + 1 :]]


PLANTED: dict[str, tuple[list[Read], set[str]]] = {
    "the last acknowledged message is gone": (without(5), {"lost"}),
    "an acknowledged message is gone, and the ones behind it moved": (
        [read(0), read(1), read(1, 2), read(3, 3), read(4, 4)],
        {"lost"},
    ),
    "an acknowledged message left a hole": (without(4), {"lost", "gap"}),
    "another message is in its place": (instead(5, read(3, 5)), {"lost", "double"}),
    "it lies elsewhere in the log": (instead(5, read(4, 5, log_offset=7_000)), {"lost"}),
    "what nobody sent": ([*FINAL, read(99, 6)], {"phantom"}),
    "sent to another queue": ([*FINAL, read(0, queue=("orders", 1))], {"phantom", "double"}),
    "what was read has changed": (instead(1, read(4, 1)), {"changed", "double"}),
    "what was read lies elsewhere in the log": (instead(1, read(1, log_offset=201)), {"changed"}),
    "one place twice": ([*FINAL, read(4, 5)], {"gap", "double"}),
    "the log has another order": (instead(2, read(1, 2, log_offset=900)), {"lost", "changed", "gap"}),
    "there twice after one send": ([*FINAL, read(4, 6)], {"double"}),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_told(record: Record, fault: str) -> None:
    final, broken = PLANTED[fault]
    assert set(checks.broken(record, final)) == broken


def test_an_acknowledged_message_needs_a_place() -> None:
    assert checks.lost([sent(0, queue_offset=None)], [read(0)]) == ["m0 was acknowledged without its place"]


def test_messages_of_one_client_that_lie_in_another_order_are_told() -> None:
    assert checks.reordered([sent(0, 1), sent(1, 0)]) == [
        "producer sent m1 after m0, and it lies before it in ('orders', 0)"
    ]


@pytest.mark.parametrize(
    "others",
    [
        [sent(0, 1), sent(1, 0, client="another")],
        [sent(0, 1), sent(1, 0, queue=("orders", 1))],
        [sent(0, 1, ended=3.0), sent(1, 0)],
        [sent(0, 1, outcome=Outcome.STORED), sent(1, 0)],
    ],
)
def test_messages_whose_order_nobody_told_may_lie_as_they_like(others: list[Send]) -> None:
    assert checks.reordered(others) == []


def test_a_refused_message_that_is_there_is_told() -> None:
    refused = sent(0, outcome=Outcome.REFUSED)
    assert checks.doubled([refused], [read(0)])
    assert not checks.doubled([refused, uncertain(0)], [read(0)])


@pytest.mark.parametrize("offset", [1, 2])
def test_a_reader_that_is_turned_back_is_told(offset: int) -> None:
    assert checks.unordered([read(2), read(offset, replica="")])
    assert not checks.unordered([read(2), read(offset, replica="another")])
    assert not checks.unordered([read(2), read(offset, client="another")])


def test_what_somebody_read_and_is_gone_is_told() -> None:
    assert checks.vanished([read(1), read(5)], FINAL) == []
    assert checks.vanished([read(5)], without(5)) == ["reader read m5 at ('orders', 0) 5, and it is gone"]


def test_two_clients_at_one_queue_are_told_but_soon_after_a_switch() -> None:
    overlap = [work("one", 0.0, 2.0), work("other", 1.0, 3.0)]
    assert checks.overlapping(overlap) == ["other and one worked on ('orders', 0) at once"]
    assert checks.overlapping(overlap, [0.5]) == []
    assert checks.overlapping(overlap, [0.5], life_s=0.0)
    assert checks.overlapping(overlap, [1.5])
    assert checks.overlapping([work("one", 100.0, 102.0), work("other", 101.0, 102.0)], [0.5])


def test_a_short_work_within_a_long_one_does_not_hide_the_long_one() -> None:
    assert checks.overlapping([work("one", 0.0, 9.0), work("one", 1.0, 2.0), work("other", 3.0, 4.0)])


def test_works_one_after_the_other_and_of_one_client_do_not_overlap() -> None:
    assert checks.overlapping([work("one", 0.0, 2.0), work("other", 2.0, 3.0), work("other", 2.5, 4.0)]) == []


def test_a_delayed_message_that_comes_early_is_told() -> None:
    assert checks.early([sent(0)], [read(0, at=4.9)], 5.0)
    assert checks.early([sent(0)], [read(0, at=5.0)], 5.0) == []
    # Its second attempt does not count from the first one's time, and the other way round is what must hold
    assert checks.early([sent(0), sent(0, began=3.0)], [read(0, at=6.0)], 5.0) == []


def test_an_old_value_of_a_register_is_told() -> None:
    sends = [sent(0, key="k"), sent(1, key="k"), sent(2, key="k", outcome=Outcome.UNCERTAIN)]
    assert checks.stale(sends, {"k": [read(0), read(1)]}) == []
    assert checks.stale(sends, {"k": [read(2), read(0)]}) == []
    assert checks.stale(sends, {"k": [read(0)]})
    assert checks.stale(sends, {"k": []})
    assert checks.stale(sends, {"another": []}) == []


def commit(offset: int, ended: float, *, is_read: bool = False) -> Commit:
    return Commit("member", QUEUE, offset, is_read, ended - 0.1, ended)


def test_an_offset_that_is_turned_back_too_far_is_told() -> None:
    taken = [commit(5, 1.0), commit(9, 4.0)]
    assert checks.turned_back([*taken, commit(5, 4.5, is_read=True)], 1.0) == []
    assert checks.turned_back([*taken, commit(4, 4.5, is_read=True)], 1.0)
    assert checks.turned_back([*taken, commit(5, 5.5, is_read=True)], 1.0)
    assert checks.turned_back([*taken, commit(5, 5.5, is_read=True)], 1.0, [(3.0, 6.0)]) == []
    assert checks.turned_back([*taken, commit(4, 5.5, is_read=True)], 1.0, [(3.0, 6.0)])
    assert checks.turned_back([*taken, commit(5, 5.5, is_read=True)], 1.0, [(2.0, 5.0)])


def test_a_record_is_kept_in_a_file_too(tmp_path: Path) -> None:
    record = Record(tmp_path / "operations.jsonl")
    operations: list[Callable[[], object]] = [
        lambda: record.add(sent(0)),
        lambda: record.add(read(0)),
        lambda: record.add(work("one", 0, 1)),
        lambda: record.add(commit(1, 1.0)),
        lambda: record.add(Fault("switch", "broker-1", 1.0, 2.0)),
    ]
    for add in operations:
        add()
    lines = [json.loads(line) for line in (tmp_path / "operations.jsonl").read_text().splitlines()]
    assert [line["operation"] for line in lines] == ["Send", "Read", "Work", "Commit", "Fault"]
    assert lines[0]["outcome"] == "acknowledged"
    assert record.switches() == [2.0]
    assert record.acknowledged() == [sent(0)]
