"""The connection between the driver and its tasks."""

from __future__ import annotations

import pytest

from broker_core.spark.checkpoint import Checkpoint, LeftOut
from broker_core.spark.collector import Address, Budget, Collector, Reporter

PARTIAL = Checkpoint(chunk=3, lane=2, next=10, target=7)
DONE = Checkpoint(chunk=3, lane=2, next=20, target=17, state="done")


def test_a_budget_without_limits_grants_everything_at_once() -> None:
    assert Budget().take(1000, now=0.0) == (1000, 0.0)


def test_a_total_ends() -> None:
    budget = Budget(total=10)
    assert [budget.take(4, now=0.0)[0] for _ in range(4)] == [4, 4, 2, 0]
    budget.give_back(3)
    assert budget.take(4, now=0.0)[0] == 3


def test_a_rate_makes_all_takers_wait_for_one_another() -> None:
    budget = Budget(per_second=100)
    assert budget.take(50, now=0.0) == (10, 0.0)
    count, wait_s = budget.take(50, now=0.0)
    assert (count, round(wait_s, 3)) == (0, 0.1)
    assert budget.take(50, now=0.11) == (10, 0.0)


def test_what_was_not_used_is_kept_for_a_second_and_no_longer() -> None:
    budget = Budget(per_second=100)
    budget.take(10, now=0.0)
    granted = [budget.take(100, now=60.0)[0] for _ in range(20)]
    assert 100 <= sum(granted) <= 110


def test_who_waits_long_asks_again_before_since_the_rate_may_change() -> None:
    budget = Budget(per_second=0.1)
    assert budget.take(1, now=0.0) == (1, 0.0)
    assert budget.take(1, now=0.0) == (0, 0.25)


def test_a_new_rate_holds_for_the_next_grant() -> None:
    budget = Budget(per_second=1)
    while budget.take(100, now=0.0)[0]:
        pass
    budget.set_rate(1000)
    assert budget.take(100, now=0.0) == (100, 0.0)
    assert budget.take(100, now=0.0)[0] == 0
    budget.set_rate(None)
    assert budget.take(100, now=0.0) == (100, 0.0)


@pytest.fixture
def written() -> list[Checkpoint]:
    """The checkpoints that the driver saved."""
    return []


@pytest.fixture
def collector(written: list[Checkpoint]) -> Collector:
    """A driver with a budget of 100 messages."""
    return Collector(Budget(total=100), written.append, lambda _: None)


def test_a_task_asks_and_the_driver_sees_how_far_it_is(collector: Collector) -> None:
    address = collector.start()
    task = Reporter(address, lane=2)
    permit = task.ask(128, PARTIAL)
    assert (permit.count, permit.wait_s, permit.stop) == (100, 0.0, False)
    assert collector.running == {2: PARTIAL}
    task.close()
    collector.close()


def test_a_finished_chunk_is_written_down_before_the_task_continues(
    collector: Collector, written: list[Checkpoint]
) -> None:
    task = Reporter(collector.start(), lane=0)
    task.ask(1, PARTIAL)
    assert task.ask(0, DONE).stop is False
    assert written == [DONE]
    assert collector.running == {}
    task.close()
    collector.close()


def test_the_driver_has_what_was_left_out_before_the_checkpoint_that_counts_it() -> None:
    seen: list[Checkpoint | LeftOut] = []
    collector = Collector(Budget(), seen.append, seen.extend)
    task = Reporter(collector.start(), lane=2)
    refused = LeftOut(kind="failed", broker="b", topic="t", queue_id=0, queue_offset=19, reason="too large")
    task.ask(0, DONE, left_out=[refused])
    assert seen == [refused, DONE]
    task.close()
    collector.close()


def test_tasks_are_stopped(collector: Collector) -> None:
    task = Reporter(collector.start(), lane=0)
    collector.stop = True
    assert task.ask(5, PARTIAL).stop is True
    assert task.ask(0, DONE).stop is True
    task.close()
    collector.close()


def test_a_stranger_gets_no_answer(collector: Collector, written: list[Checkpoint]) -> None:
    address = collector.start()
    task = Reporter(Address(address.host, address.port, "guess"), lane=0)
    with pytest.raises(ConnectionError):
        task.ask(0, DONE)
    assert written == []
    task.close()
    collector.close()


def test_a_task_notices_that_its_driver_is_gone(collector: Collector) -> None:
    task = Reporter(collector.start(), lane=0)
    task.ask(1, PARTIAL)
    collector.close()
    task._socket.shutdown(2)
    with pytest.raises(ConnectionError):
        task.ask(1, PARTIAL)
    task._socket.close()
