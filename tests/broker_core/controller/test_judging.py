"""Whom the leading controller elects."""

from __future__ import annotations

from dataclasses import replace

import pytest

from broker_core.controller.hearing import Hearing
from broker_core.controller.judging import Judging
from broker_core.protocol.bodies.controller import MasterLife, NameState
from tests.broker_core.controller.states import after, life, replica, state
from tests.broker_core.controller.test_hearing import beat, killed
from tests.broker_core.controller.test_replicas import register


def heard(*numbers: int, now: float = 10.0) -> Hearing:
    hearing = Hearing(started=0.0, timeout=3.0)
    for number in numbers:
        hearing.heartbeat(beat(number), now)
    return hearing


def test_a_name_with_a_living_master_needs_nothing() -> None:
    judging = Judging(heard(1, 2, 3))
    assert judging.step({"b": state()}, 11.0) == []
    assert judging.why_stuck(state(), 11.0) is None


@pytest.mark.parametrize(("how", "why"), [("silent", "silent"), ("killed", "killed"), ("restarted", "restarted")])
def test_a_dead_master_is_deposed(how: str, why: str) -> None:
    hearing = heard(1, 2, 3)
    if how == "killed":
        killed(hearing, 10.1, 10.2)
    elif how == "restarted":
        hearing.heartbeat(beat(1, 2), 10.2)
    now = 14.0 if how == "silent" else 10.3
    for number in (2, 3):
        hearing.heartbeat(beat(number), now)
    [election] = Judging(hearing).step({"b": state()}, now)
    assert (election.why, election.deposes) == (why, MasterLife(1, life(1)))
    elected = after(state(), election)
    assert (elected.master, elected.epoch) == (MasterLife(2, life(2)), 6)


def test_a_name_without_a_master_gets_one() -> None:
    [election] = Judging(heard(1, 2)).step({"b": state((1, 2), None)}, 10.0)
    assert (election.why, election.deposes) == ("without master", None)


def test_a_master_that_started_again_is_replaced_for_that_reason() -> None:
    hearing = heard(1, 2)
    led = after(state((1, 2), None), *Judging(hearing).step({"b": state((1, 2), None)}, 10.0))
    again = after(led, register(1))
    hearing.heartbeat(beat(1, 2), 10.1)
    assert again.master is None
    assert [each.why for each in Judging(hearing).step({"b": again}, 10.2)] == ["restarted"]


@pytest.mark.parametrize(
    ("stuck", "sentence"),
    [
        (state((1,)), "none of those that have every acknowledged message of b is heard: 1"),
        (state((2,), None, replicas={2: replica(2, clean=False)}), "may have lost"),
        (state((2,), None, replicas={2: replica(2, life=life(2, 0))}), "has not registered since it started"),
    ],
)
def test_nobody_is_elected_who_may_lack_messages(stuck: NameState, sentence: str) -> None:
    judging = Judging(heard(2, 3))
    assert judging.step({"b": stuck}, 10.0) == []
    assert sentence in (judging.why_stuck(stuck, 10.0) or "")


def test_names_are_judged_in_order() -> None:
    hearing = heard(1, 2)
    for number in (1, 2):
        hearing.heartbeat(beat(number, name="a"), 10.0)
    states = {name: replace(state((1, 2), None), name=name) for name in ("b", "a")}
    assert [each.name for each in Judging(hearing).step(states, 10.0)] == ["a", "b"]
