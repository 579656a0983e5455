"""Leases: a message is delivered again unless it is acknowledged in time, and the offset shows what is done."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from broker_core.broker.pop.changes import Change
from broker_core.broker.pop.leases import Leases, Settled
from broker_core.broker.pop.queue_leases import QueueLeases


class Desk:
    """A set of leases with one open queue, a clock, and a record of all changes."""

    def __init__(self, start: int = 0) -> None:
        self.recorded: list[Change] = []
        self.leases = Leases(self.recorded.append)
        self.queue: QueueLeases = self.leases.open("billing", "orders", 0, start)
        self.now = 1_000

    def pop(self, *offsets: int, lease_ms: int = 100) -> int:
        """Lease messages and return the time of the pop."""
        self.leases.lease(self.queue, offsets, next_offset=max(offsets) + 1, now=self.now, invisible_ms=lease_ms)
        return self.now

    def ack(self, offset: int, pop_time: int) -> Settled:
        return self.leases.settle(self.queue, offset, pop_time=pop_time, now=self.now)

    def after(self, ms: int) -> list[int]:
        """Let time pass and return what is due again."""
        self.now += ms
        self.leases.end_due(self.now)
        due = self.take_due()
        for offset in due:
            self.queue.give_back(offset)
        return due

    def take_due(self, count: int = 1_000) -> list[int]:
        """Take the due messages, to be leased."""
        taken: list[int] = []
        while len(taken) < count and (offset := self.queue.take_due(self.now)) is not None:
            taken.append(offset)
        return taken


def again(recorded: list[Change]) -> Leases:
    leases = Leases(lambda change: None)
    for change in recorded:
        leases.apply(change)
    return leases


def state(leases: Leases) -> list[tuple[object, ...]]:
    return [
        (queue.group, queue.topic, queue.queue_id, queue.committed, queue.next_offset, sorted(queue.leases(), key=str))
        for queue in leases.queues()
    ]


def test_the_committed_offset_is_the_lowest_message_that_is_not_done() -> None:
    desk = Desk(start=5)
    pop_time = desk.pop(5, 6, 7)
    assert desk.queue.committed == 5

    desk.ack(6, pop_time)
    assert desk.queue.committed == 5

    desk.ack(5, pop_time)
    assert desk.queue.committed == 7

    desk.ack(7, pop_time)
    assert desk.queue.committed == desk.queue.next_offset == 8


def test_messages_that_were_filtered_out_count_as_done() -> None:
    desk = Desk()
    desk.leases.lease(desk.queue, (2, 4), next_offset=9, now=desk.now, invisible_ms=100)

    assert desk.queue.committed == 2
    assert desk.queue.is_done(3)
    assert desk.queue.next_offset == 9


def test_a_message_whose_lease_ended_is_due_again_with_its_count() -> None:
    desk = Desk()
    desk.pop(0)
    assert desk.after(99) == []
    assert desk.after(1) == [0]

    desk.take_due(1)
    desk.pop(0)

    lease = desk.queue.find(0)
    assert lease is not None
    assert lease.deliveries == 2


def test_an_acknowledgement_in_time_ends_it_and_a_second_one_changes_nothing() -> None:
    desk = Desk()
    pop_time = desk.pop(0)

    assert desk.ack(0, pop_time) is Settled.DONE
    assert desk.ack(0, pop_time) is Settled.ALREADY_DONE
    assert desk.after(1_000) == []


def test_an_acknowledgement_after_the_end_is_refused() -> None:
    desk = Desk()
    pop_time = desk.pop(0)
    desk.now += 100

    assert desk.ack(0, pop_time) is Settled.LOST
    assert desk.queue.committed == 0


def test_an_acknowledgement_of_an_earlier_delivery_is_refused() -> None:
    desk = Desk()
    first = desk.pop(0)
    desk.after(100)
    desk.take_due(1)
    second = desk.pop(0)

    assert desk.ack(0, first) is Settled.LOST
    assert desk.ack(0, second) is Settled.DONE


def test_a_message_that_never_went_out_cannot_be_acknowledged() -> None:
    desk = Desk()

    assert desk.ack(7, desk.now) is Settled.LOST


def test_an_extension_makes_a_new_lease_and_voids_the_old_one() -> None:
    desk = Desk()
    pop_time = desk.pop(0)
    desk.now += 50

    settled, lease = desk.leases.extend(desk.queue, 0, pop_time=pop_time, now=desk.now, invisible_ms=200)

    assert settled is Settled.DONE
    assert lease is not None
    assert lease.deliveries == 1
    assert desk.after(100) == []
    assert desk.ack(0, pop_time) is Settled.LOST
    assert desk.ack(0, lease.pop_time) is Settled.DONE


def test_an_extension_by_nothing_gives_the_message_back() -> None:
    desk = Desk()
    pop_time = desk.pop(0)

    desk.leases.extend(desk.queue, 0, pop_time=pop_time, now=desk.now, invisible_ms=0)

    assert desk.after(2) == [0]


def test_an_extension_to_the_same_end_makes_the_message_due_once() -> None:
    desk = Desk()
    popped = desk.pop(0, 1, lease_ms=2)
    desk.leases.extend(desk.queue, 0, pop_time=popped, now=desk.now, invisible_ms=0)  # ends first: in 2 ms

    assert desk.after(2) == [0, 1]


def test_an_ordered_group_sees_whether_something_is_out() -> None:
    desk = Desk()
    desk.pop(0, 1)
    assert desk.queue.has_live_lease(desk.now)

    assert not desk.queue.has_live_lease(desk.now + 100)


def test_offsets_that_were_taken_and_not_leased_can_be_found_again() -> None:
    desk = Desk()
    desk.pop(0, 1, 2)
    desk.after(100)
    desk.take_due(2)

    desk.queue.find_due(desk.now)

    assert desk.take_due() == [0, 1, 2]


def test_held_messages_are_counted_for_the_group() -> None:
    desk = Desk()
    pop_time = desk.pop(0, 1, 2)
    desk.ack(1, pop_time)
    assert desk.leases.held_by("billing") == 2

    desk.leases.close_matching(topic="orders")

    assert desk.leases.held_by("billing") == 0
    assert not desk.leases.takes("billing", "orders")


def test_opening_a_queue_again_forgets_what_was_held() -> None:
    desk = Desk()
    pop_time = desk.pop(0, 1)

    desk.queue = desk.leases.open("billing", "orders", 0, 40)

    assert desk.queue.committed == 40
    assert desk.leases.held_by("billing") == 0
    assert desk.leases.settle(desk.queue, 50, pop_time=pop_time, now=desk.now) is Settled.LOST
    assert desk.after(1_000) == []


def test_no_part_of_a_snapshot_finishes_what_is_open() -> None:
    desk = Desk()
    first = desk.pop(0, 1, 2, 3, 4)
    desk.ack(1, first)
    desk.ack(3, first)
    desk.after(200)
    desk.pop(4)
    desk.pop(0)  # held later than those behind it
    changes = list(desk.leases.snapshot())

    for count in range(1, len(changes) + 1):
        queue = again(changes[:count]).find("billing", "orders", 0)
        assert queue is not None
        assert not [offset for offset in (0, 2, 4) if queue.is_done(offset)]


def test_leases_that_become_those_of_another_broker_are_those_alone() -> None:
    own, other = Desk(), Desk(start=5)
    own.pop(0, 1)
    own.leases.open("shipping", "orders", 0, 0)
    other.pop(5, 6)
    other.ack(6, other.now)

    own.leases.become(again(list(other.leases.snapshot())))

    assert state(own.leases) == state(other.leases) == state(again(own.recorded))
    assert own.leases.find("shipping", "orders", 0) is None
    assert own.leases.held_by("billing") == 1
    assert [queue.queue_id for queue in own.leases.end_due(other.now + 200)] == [0]


def test_a_queue_that_lost_its_tail_takes_new_messages_at_the_same_offsets() -> None:
    desk = Desk()
    desk.pop(3, 8)

    desk.leases.clamp(lambda topic, queue_id: 5)

    queue = desk.leases.find("billing", "orders", 0)
    assert queue is not None
    assert queue.next_offset == 5
    assert queue.committed == 3
    assert state(again(desk.recorded)) == state(desk.leases)


def test_a_queue_that_was_only_popped_from_is_clamped_to_its_end() -> None:
    desk = Desk(start=9)

    desk.leases.clamp(lambda topic, queue_id: 5)

    queue = desk.leases.find("billing", "orders", 0)
    assert queue is not None
    assert queue.next_offset == queue.committed == 5


def test_many_settled_leases_leave_no_garbage() -> None:
    desk = Desk()
    for offset in range(5_000):
        desk.ack(offset, desk.pop(offset, lease_ms=43_200_000))
        desk.pop(10_000_000, lease_ms=1)

    assert desk.leases._ending == sum(len(offsets) for _, _, offsets in desk.leases._ends) < 1_000
    assert len(desk.queue._lowest) < 1_000


class LeaseModel(RuleBasedStateMachine):
    """Leases against the simplest model: a dict of offsets with their end, and a set of what is done."""

    def __init__(self) -> None:
        super().__init__()
        self.desk = Desk()
        self.next = 0
        self.out: dict[int, tuple[int, int]] = {}

    @rule(count=st.integers(1, 5), skip=st.integers(0, 2), lease_ms=st.integers(1, 300))
    def take_new(self, count: int, skip: int, lease_ms: int) -> None:
        offsets = range(self.next + skip, self.next + skip + count)
        self.desk.pop(*offsets, lease_ms=lease_ms)
        for offset in offsets:
            self.out[offset] = self.desk.now, self.desk.now + lease_ms
        self.next = offsets.stop

    @rule(count=st.integers(1, 4), lease_ms=st.integers(1, 300))
    def take_due(self, count: int, lease_ms: int) -> None:
        self.desk.leases.end_due(self.desk.now)
        due = self.desk.take_due(count)
        ended = sorted(offset for offset, (_, end) in self.out.items() if end <= self.desk.now)
        assert due == ended[:count]
        if due:
            self.desk.leases.lease(self.desk.queue, due, next_offset=0, now=self.desk.now, invisible_ms=lease_ms)
        for offset in due:
            self.out[offset] = self.desk.now, self.desk.now + lease_ms

    @rule(ms=st.integers(0, 400))
    def wait(self, ms: int) -> None:
        self.desk.now += ms

    @rule(data=st.data())
    def acknowledge(self, data: st.DataObject) -> None:
        if not self.out:
            return
        offset = data.draw(st.sampled_from(sorted(self.out)))
        pop_time, end = self.out[offset]
        settled = self.desk.ack(offset, pop_time)
        assert settled is (Settled.DONE if end > self.desk.now else Settled.LOST)
        if settled is Settled.DONE:
            del self.out[offset]

    @rule(data=st.data())
    def acknowledge_a_pop(self, data: st.DataObject) -> None:
        """Acknowledge some messages by the time of one pop: those of other pops, and those done, are not touched."""
        if not self.out:
            return
        pop_time = data.draw(st.sampled_from(sorted({pop_time for pop_time, _ in self.out.values()})))
        offsets = data.draw(st.lists(st.integers(0, self.next), unique=True, max_size=6))
        desk = self.desk
        states = desk.leases.settle_all(desk.queue, offsets, pop_time=pop_time, now=desk.now)
        for offset, settled in zip(offsets, states, strict=True):
            of_pop, end = self.out.get(offset, (None, 0))
            if of_pop is None:
                assert settled is (Settled.ALREADY_DONE if offset < self.next else Settled.LOST)
            else:
                assert settled is (Settled.DONE if of_pop == pop_time and end > desk.now else Settled.LOST)
            if settled is Settled.DONE:
                del self.out[offset]

    @rule(data=st.data(), lease_ms=st.integers(0, 300))
    def extend(self, data: st.DataObject, lease_ms: int) -> None:
        if not self.out:
            return
        offset = data.draw(st.sampled_from(sorted(self.out)))
        pop_time, end = self.out[offset]
        settled, lease = self.desk.leases.extend(
            self.desk.queue, offset, pop_time=pop_time, now=self.desk.now, invisible_ms=lease_ms
        )
        assert (settled is Settled.DONE) == (end > self.desk.now)
        if lease is not None:
            self.out[offset] = lease.pop_time, lease.visible_at

    @invariant()
    def committed_is_the_lowest_that_is_out(self) -> None:
        assert self.desk.queue.committed == min(self.out, default=self.next)
        assert self.desk.queue.next_offset == self.next
        assert self.desk.leases.held_by("billing") == len(self.out)

    @invariant()
    def the_record_leads_to_the_same_state(self) -> None:
        assert state(again(self.desk.recorded)) == state(self.desk.leases)
        assert state(again(list(self.desk.leases.snapshot()))) == state(self.desk.leases)


TestLeaseModel = LeaseModel.TestCase
TestLeaseModel.settings = settings(max_examples=30, stateful_step_count=25)
