"""While the in-sync set confirms nothing, what is stored is not shown yet: nothing is lost by it, or comes twice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.broker.errors import AlreadyDelivered, NothingFound, Unconfirmed
from tests.broker_core.broker.timer.scene import START, Scene

DAY = 24 * 3_600_000


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    scene = Scene(tmp_path)
    yield scene
    scene.timer.close()
    scene.store.close()


def test_what_is_recalled_does_not_come_while_its_recall_waits_to_be_confirmed(scene: Scene) -> None:
    scene.park(b"a", due_in=1_000)
    scene.park(b"b", due_in=1_000)
    scene.hold()
    first = scene.timer.recall("orders", "ID-a")
    assert scene.timer.recall("orders", "ID-a") == first  # it waits for the same record
    scene.wait(5_000)
    scene.confirm()
    scene.wait(DAY)

    assert scene.arrived() == [b"b"]


def test_what_is_rescheduled_comes_at_its_new_time_only_though_the_change_is_confirmed_late(scene: Scene) -> None:
    scene.park(b"a", due_in=1_000)
    scene.hold()
    scene.timer.reschedule("orders", "ID-a", START + 20_000)
    scene.wait(10_000)
    scene.confirm()
    scene.wait(9_999)
    assert scene.arrived() == []

    scene.wait(1)
    assert scene.arrived() == [b"a"]


def test_what_is_recalled_cannot_be_rescheduled_while_the_recall_may_still_be_taken_back(scene: Scene) -> None:
    scene.park(b"a", due_in=1_000)
    scene.hold()
    scene.timer.recall("orders", "ID-a")
    with pytest.raises(Unconfirmed, match="not confirmed yet"):
        scene.timer.reschedule("orders", "ID-a", START + 2_000)
    scene.confirm()
    with pytest.raises(NothingFound, match="was recalled"):
        scene.timer.reschedule("orders", "ID-a", START + 2_000)
    scene.wait(DAY)

    assert scene.arrived() == []


def test_what_came_while_a_change_was_taken_back_by_a_switch_is_delivered(scene: Scene) -> None:
    scene.park(b"a", due_in=1_000)
    scene.hold()
    before = scene.store.appended_log_offset
    scene.timer.recall("orders", "ID-a")
    scene.timer.let_go()
    scene.store.cut(before)
    scene.confirm()
    scene.timer.take_up(scene.now, at_once=True)
    scene.wait(1_000)

    assert scene.arrived() == [b"a"]


@pytest.mark.parametrize("is_recalled", [True, False])
def test_what_is_parked_again_to_free_its_segment_does_not_undo_a_change_ahead(scene: Scene, is_recalled: bool) -> None:
    scene.park(b"a", due_in=1_000)
    scene.hold()
    if is_recalled:
        scene.timer.recall("orders", "ID-a")
    else:
        scene.timer.reschedule("orders", "ID-a", START + 20_000)
    scene.roll()
    scene.confirm()
    scene.wait(19_999)
    assert scene.arrived() == []
    scene.wait(DAY)

    assert scene.arrived() == ([] if is_recalled else [b"a"])


def test_many_changes_that_wait_hold_nothing_else_back(scene: Scene) -> None:
    for number in range(300):
        scene.park(b"%d" % number, due_in=100)
    scene.park(b"other", due_in=200)
    scene.hold()
    for number in range(300):
        scene.timer.recall("orders", f"ID-{number}")
    scene.wait(200)
    scene.confirm()

    assert scene.arrived() == [b"other"]


@dataclass
class Expected:
    """What was answered with success of each message: when it is due, or that it is recalled."""

    due: dict[bytes, int] = field(default_factory=dict)
    recalled: set[bytes] = field(default_factory=set)


def _change(scene: Scene, expected: Expected, what: str, ms: int, body: bytes) -> None:
    with suppress(AlreadyDelivered, NothingFound, Unconfirmed):
        if what == "recall":
            scene.timer.recall("orders", f"ID-{body.decode()}")
            expected.recalled.add(body)
        else:
            scene.timer.reschedule("orders", f"ID-{body.decode()}", scene.now + ms)
            expected.due[body] = scene.now + ms


OFTEN = ["park", "wait", "hold", "recall", "reschedule"]
ACTIONS = [*OFTEN, *OFTEN, "confirm", "crash", "lose_index", "roll"]


@settings(max_examples=60, deadline=None)
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(ACTIONS), st.sampled_from([1, 700, 5_000]), st.integers(1, 3)),
        min_size=20,
        max_size=40,
    )
)
def test_whatever_is_confirmed_late_each_message_comes_once_at_its_time_or_is_recalled(
    steps: list[tuple[str, int, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("broker_core.broker.timer.timer._MARK_MS", 0)  # what is delivered is noted at once
        _check(Scene(tmp_path_factory.mktemp("timer")), steps)


def _check(scene: Scene, steps: list[tuple[str, int, int]]) -> None:
    expected = Expected()
    for what, ms, number in steps:
        if what == "park":
            body = b"%d" % len(expected.due)
            expected.due[body] = scene.now + ms
            scene.park(body, due_in=ms)
        elif what == "wait":
            scene.wait(ms)
        elif what in {"hold", "confirm"}:
            getattr(scene, what)()
        elif what == "roll":
            scene.roll()
        elif what in {"crash", "lose_index"}:
            scene.confirm()  # who takes over begins when all is confirmed
            getattr(scene, what)()
        else:
            _change(scene, expected, what, ms, b"%d" % max(0, len(expected.due) - number))
    scene.confirm()
    scene.wait(DAY)
    came = scene.arrived_at()
    scene.timer.close()
    scene.store.close()

    assert sorted(body for body, _ in came) == sorted(expected.due.keys() - expected.recalled)
    assert all(at >= expected.due[body] for body, at in came)
