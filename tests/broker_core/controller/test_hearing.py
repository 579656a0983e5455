"""Who counts as alive, from heartbeats, closed connections and refused connects."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from broker_core.controller.commands import Candidate
from broker_core.controller.hearing import STRANGERS, Hearing, Heartbeat
from tests.broker_core.controller.states import life


def beat(number: int, restarts: int = 1, **changed: Any) -> Heartbeat:
    kept = Heartbeat(
        "b", number, life(number, restarts), f"10.0.0.{number}:10911", epoch=5, end=100, confirm=90, last_epoch=5,
        view=(5, 31),
    )  # fmt: skip
    return replace(kept, **changed)


def why(hearing: Hearing, now: float, number: int = 1, restarts: int = 1) -> str | None:
    return hearing.why_dead("b", number, life(number, restarts), now)


def killed(hearing: Hearing, *refusals: float) -> None:
    hearing.closed("b", 1, life(1), refusals[0])
    for now in refusals:
        hearing.refused("b", 1, life(1), now)


def test_silence_is_counted_from_the_last_heartbeat() -> None:
    hearing = Hearing(started=0.0, timeout=3.0)
    hearing.heartbeat(beat(1), 10.0)
    assert why(hearing, 13.0) is None
    assert why(hearing, 13.1) == "silent"
    assert [each.id for each in hearing.alive("b", 13.0)] == [1]
    assert hearing.alive("b", 13.1) == ()


def test_silence_is_counted_from_no_earlier_than_the_own_start() -> None:
    hearing = Hearing(started=100.0, timeout=3.0)
    assert why(hearing, 103.0) is None
    assert why(hearing, 103.1) == "silent"


def test_silence_is_not_counted_while_the_controller_itself_stood_still() -> None:
    hearing = Hearing(started=0.0, timeout=3.0)
    hearing.heartbeat(beat(1), 10.0)
    hearing.woke(20.0)
    assert why(hearing, 23.0) is None
    assert hearing.alive("b", 20.0) == ()  # until it is heard again
    assert why(hearing, 23.1) == "silent"


def test_a_killed_process_is_dead_after_two_refused_connects() -> None:
    hearing = Hearing(0.0)
    hearing.heartbeat(beat(1), 10.0)
    hearing.closed("b", 1, life(1), 10.1)
    hearing.refused("b", 1, life(1), 10.1)
    assert why(hearing, 10.2) is None
    hearing.refused("b", 1, life(1), 10.3)
    assert why(hearing, 10.3) == "killed"
    assert hearing.alive("b", 10.3) == ()


@pytest.mark.parametrize("refusals", [(10.1,), (10.1, 11.2)])
def test_refusals_that_do_not_follow_each_other_prove_nothing(refusals: tuple[float, ...]) -> None:
    hearing = Hearing(0.0)
    hearing.heartbeat(beat(1), 10.0)
    killed(hearing, *refusals)
    assert why(hearing, 11.3) is None


def test_a_refusal_while_the_connection_is_open_proves_nothing() -> None:
    hearing = Hearing(0.0)
    hearing.heartbeat(beat(1), 10.0)
    for now in (10.1, 10.2, 10.3):
        hearing.refused("b", 1, life(1), now)
    assert why(hearing, 10.4) is None


def test_what_is_told_of_an_earlier_life_changes_nothing() -> None:
    hearing = Hearing(0.0)
    hearing.heartbeat(beat(1, 2), 10.0)
    killed(hearing, 10.1, 10.2)
    hearing.heartbeat(beat(1, 1, end=7, view=(6, 1)), 10.2)
    assert why(hearing, 10.3, restarts=2) is None
    assert hearing.alive("b", 10.3) == (Candidate(1, life(1, 2), 5, 100, 0, 5),)
    assert hearing.newest("b") == (6, 1)


def test_a_newer_life_ends_the_one_before() -> None:
    hearing = Hearing(0.0)
    hearing.heartbeat(beat(1), 10.0)
    hearing.heartbeat(beat(1, 2), 10.5)
    assert why(hearing, 10.5) == "restarted"
    assert why(hearing, 10.5, restarts=2) is None


def test_whoever_is_heard_again_is_alive() -> None:
    hearing = Hearing(0.0)
    hearing.heartbeat(beat(1), 10.0)
    killed(hearing, 10.1, 10.2)
    hearing.heartbeat(beat(1), 10.4)
    assert why(hearing, 10.4) is None
    assert hearing.probes(10.5) == []


def test_the_port_is_tried_while_it_may_matter() -> None:
    hearing = Hearing(0.0, timeout=3.0)
    hearing.heartbeat(beat(1), 10.0)
    assert hearing.probes(10.0) == []
    hearing.closed("b", 1, life(1), 10.1)
    assert [each.id for each in hearing.probes(10.1)] == [1]
    assert hearing.probes(10.15) == []
    assert [each.id for each in hearing.probes(10.4)] == [1]
    assert hearing.probes(13.1) == []  # silent by now
    hearing.heartbeat(beat(1), 20.0)
    killed(hearing, 20.1, 20.2)
    assert hearing.probes(20.5) == []


def test_hearing_nobody_shows_after_the_time_out_only() -> None:
    hearing = Hearing(100.0, timeout=3.0)
    assert hearing.hears_anybody(103.0)
    assert not hearing.hears_anybody(103.1)
    hearing.heartbeat(beat(1), 103.2)
    assert hearing.hears_anybody(106.2)
    assert not hearing.hears_anybody(106.3)


def test_strangers_do_not_fill_the_memory() -> None:
    hearing = Hearing(0.0, timeout=3.0)
    for number in range(STRANGERS):
        hearing.heartbeat(beat(number, name=f"n{number}"), 10.0)
    assert not hearing.has_room("b")
    assert hearing.has_room("n1")
    assert hearing.has_room("n1", 1)
    assert not hearing.has_room("n1", 2)
    hearing.prune({"n1": [1]}, 13.0)
    assert not hearing.has_room("b")
    hearing.prune({"n1": [1]}, 13.1)
    assert hearing.names() == ["n1"]
    assert hearing.has_room("b")


def test_the_last_log_that_had_everything_is_remembered_when_its_replica_is_gone() -> None:
    hearing = Hearing(0.0)
    assert hearing.last_whole("b") is None
    hearing.heartbeat(beat(1, end=170), 10.0, whole_at=9.0)
    hearing.heartbeat(beat(2, end=60), 11.0)
    hearing.heartbeat(beat(1, restarts=2, end=150), 12.0)
    assert hearing.last_whole("b") == (beat(1, end=170), 9.0)
    hearing.prune({"b": [1, 2]}, 99.0)
    assert hearing.last_whole("b") is not None
    hearing.prune({}, 99.0)
    assert hearing.last_whole("b") is None
