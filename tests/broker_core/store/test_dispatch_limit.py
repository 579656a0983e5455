"""Records behind the dispatch limit are in the log, and in no queue, until the limit rises."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.native import native
from broker_core.protocol.host import encode_host
from broker_core.protocol.message import Message
from broker_core.store import MessageStore
from broker_core.store.errors import TooFarBehind
from broker_core.store.send_plan import NOTHING_STORED, SendPlan, StoredSends
from tests.support.stores import BROKER, NOW, PRODUCER, bodies, fill, incoming, opened, put, put_batch

PLAN = SendPlan(
    (), b"", (), b"", "T", b"\x01T", 1, 0, 0, 0, encode_host(*PRODUCER), encode_host(*BROKER), "", 99, 99, False
)


def keys(store: MessageStore, key: str) -> int:
    return len(store.search("T", key, begin=0, end=1 << 60, max_count=9).messages)


def test_what_ends_behind_the_limit_waits(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        ends = [put(store, b"%d" % number, keys=["k"]).end for number in range(3)]
        store.limit_dispatch(ends[2])
        fourth = put(store, b"3", keys=["k"])
        store.limit_dispatch(fourth.end - 1)
        assert store.dispatch() == []
        assert (bodies(store), keys(store, "k"), store.dispatched_log_offset) == ([b"0", b"1", b"2"], 3, ends[2])
        assert store.find_named(fourth.log_offset) is None
        # Offsets count what is appended
        assert put(store, b"4").queue_offset == 4
        store.limit_dispatch(fourth.end)
        assert [(arrived.begin, arrived.end) for arrived in store.dispatch()] == [(3, 4)]
        assert (bodies(store)[3:], keys(store, "k"), store.dispatched_log_offset) == ([b"3"], 4, fourth.end)
        store.limit_dispatch(None)
        assert [(arrived.begin, arrived.end) for arrived in store.dispatch()] == [(4, 5)]
        assert store.dispatched_log_offset == store.appended_log_offset


def test_a_limit_below_what_is_dispatched_takes_nothing_back(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 3)
        store.limit_dispatch(0)
        assert (store.dispatch(), len(bodies(store))) == ([], 3)


def test_a_batch_waits_for_its_last_message(tmp_path: Path) -> None:
    # In Python alone a batch is appended as single messages, each of which waits for itself.
    early = 0 if native else 2
    with opened(tmp_path) as store:
        store.limit_dispatch(0)
        batch = put_batch(store, [Message("T", b"%d" % number) for number in range(3)])
        for limit, count in ((batch.log_offsets[2], early), (batch.end - 1, early), (batch.end, 3)):
            store.limit_dispatch(limit)
            store.dispatch()
            assert len(bodies(store)) == count


def test_no_message_is_taken_while_as_many_as_may_are_held_back(tmp_path: Path) -> None:
    with opened(tmp_path, max_undispatched=3) as store:
        store.limit_dispatch(0)
        ends = [store.put(incoming(Message("T", b"%d" % number))).end for number in range(3)]
        before = store.appended_log_offset
        for _ in range(2):
            with pytest.raises(TooFarBehind, match="3 messages wait to become readable, held back at log offset 0"):
                store.put(incoming(Message("T", b"no")))
        with pytest.raises(TooFarBehind):
            put_batch(store, [Message("T", b"no")])
        assert store.put_sends(PLAN, [], 0, 5, NOW) == NOTHING_STORED
        assert store.appended_log_offset == before
        store.limit_dispatch(ends[0])
        assert put(store, b"3").queue_offset == 3
        store.limit_dispatch(None)
        store.dispatch()
        assert bodies(store) == [b"0", b"1", b"2", b"3"]


def test_a_run_of_sends_ends_where_puts_would(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []

    def note(_appender: object, _plan: SendPlan, _frames: object, at: int, until: int, *_: object) -> StoredSends:
        asked.append((at, until))
        return NOTHING_STORED

    with opened(tmp_path, max_undispatched=3) as store:
        store.limit_dispatch(0)
        put(store)
        monkeypatch.setattr("broker_core.store.appender.Appender.append_sends", note)
        store.put_sends(PLAN, [], 1, 9, NOW)
        assert asked == [(1, 3)]


def test_what_is_held_back_of_a_deleted_topic_is_gone(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.limit_dispatch(0)
        put(store, b"gone")
        put(store, b"stays", topic="other")
        store.delete_topic("T")
        store.limit_dispatch(None)
        assert [arrived.topic for arrived in store.dispatch()] == ["other"]
        assert put(store, b"new").queue_offset == 0
        assert (bodies(store), bodies(store, "other")) == ([b"new"], [b"stays"])


@settings(max_examples=40, deadline=None)
@given(limits=st.lists(st.integers(0, 4000), max_size=12))
def test_limits_that_rise_dispatch_as_none_does(limits: list[int]) -> None:
    with TemporaryDirectory() as name, opened(Path(name)) as store:
        ends = []
        store.limit_dispatch(0)
        for number, limit in enumerate(sorted(limits)):
            ends.append(put(store, b"%d" % number).end)
            store.limit_dispatch(limit)
            store.dispatch()
            assert bodies(store) == [b"%d" % each for each, end in enumerate(ends) if end <= limit]
        store.limit_dispatch(None)
        store.dispatch()
        assert bodies(store) == [b"%d" % number for number in range(len(limits))]
