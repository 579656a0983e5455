"""Requirements of `console.lag.turns`: important ones come first, and none waits forever."""

from __future__ import annotations

from console.lag.turns import Turns


def test_all_are_asked_where_there_are_few() -> None:
    assert Turns[str]().pick(["a", "b"], 5, 0) == ["a", "b"]


def test_who_waited_longest_is_next() -> None:
    turns = Turns[int]()
    assert [turns.pick(range(5), 2, now) for now in range(4)] == [[0, 1], [2, 3], [4, 0], [1, 2]]


def test_some_come_first_and_the_others_still_have_their_turn() -> None:
    turns = Turns[int]()
    urgent = set(range(50))
    seen: set[int] = set()
    for now in range(60):
        picked = turns.pick(range(100), 8, now, first=urgent)
        assert len(picked) == len(set(picked)) == 8
        assert len(urgent & set(picked)) >= 6
        seen |= set(picked)
    assert seen == set(range(100))


def test_those_that_matter_share_their_places() -> None:
    turns = Turns[int]()
    for now in range(50):
        turns.pick(range(100), 8, now, first={7, 8})
        assert {7, 8} <= set(turns.pick(range(100), 8, now, first={7, 8}))


def test_who_is_gone_is_forgotten() -> None:
    turns = Turns[int]()
    for now in range(20):
        turns.pick(range(now * 10, now * 10 + 10), 5, now)
    assert len(turns._asked) <= 30
