"""Requirements of `console.alerts.board` and `growth`."""

from __future__ import annotations

import pytest

from console.alerts import board as board_module
from console.alerts.board import Board, Change, Figures, Watched
from console.alerts.growth import Growth
from console.alerts.life import Limits

LIMITS = Limits(is_above=True, limit=10, for_ms=0, no_data_after_ms=5)
ALL = Watched("all", "group_lag", "*", LIMITS)


def figures(is_whole: bool = True, **values: float | None) -> Figures:
    return Figures({"group_lag": values}, is_whole)


def taken(board: Board, *rules: Watched, now: int, **values: float | None) -> list[tuple[str, str]]:
    """Let the board see the values and accept all changes; return who became what."""
    changes = board.step(rules, figures(**values), now)  # type: ignore[arg-type]
    board.accept(changes)
    return [(change.subject, change.after.word) for change in changes]


def test_only_subjects_that_match_and_cross_change() -> None:
    board = Board()
    some = Watched("some", "group_lag", "billing-*", LIMITS)
    found = taken(board, some, now=1, **{"billing-a": 11, "billing-b": 10, "orders": 11})
    assert found == [("billing-a", "firing")]
    assert taken(board, some, now=2, **{"billing-a": 11, "billing-b": 12, "orders": 11}) == [("billing-b", "firing")]
    assert taken(board, some, now=3, **{"billing-a": 1, "billing-b": 12}) == [("billing-a", "quiet")]


def test_a_change_that_was_not_kept_comes_again() -> None:
    board = Board()
    first = board.step([ALL], figures(a=11), 1)
    assert [change.after.fired_at for change in board.step([ALL], figures(a=11), 2)] == [2]
    assert len(first) == 1


def test_a_subject_that_is_gone_ends_only_when_all_brokers_answer() -> None:
    board = Board()
    taken(board, ALL, now=1, a=11)
    assert board.step([ALL], figures(is_whole=False), 2) == []
    assert [change.after.word for change in board.step([ALL], figures(), 3)] == ["quiet"]


def test_alerts_of_a_rule_that_is_off_end() -> None:
    board = Board()
    taken(board, ALL, now=1, a=11)
    (change,) = board.step([], figures(a=11), 2)
    assert (change.rule, change.after.word) == ("all", "quiet")
    board.accept([change])
    assert board.lives == {}


def test_what_is_too_much_to_follow_is_counted_and_room_is_kept_for_what_crosses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(board_module, "MAX_OPEN_OF_A_RULE", 4)
    monkeypatch.setattr(board_module, "_MAX_UNKNOWN", 2)
    board = Board()
    taken(board, ALL, now=1, **{f"u{n}": None for n in range(5)})
    assert board.unfollowed["all"] == 3
    many: dict[str, float | None] = {f"u{n}": None for n in range(5)} | {"c0": 11, "c1": 13, "c2": 12}
    assert taken(board, ALL, now=2, **many) == [("c1", "firing"), ("c2", "firing")], "the worst first"
    assert board.unfollowed["all"] == 4


def test_a_rule_shows_its_worst_known_subject() -> None:
    board = Board()
    shown = board.now(ALL, figures(a=3, b=7, c=None))
    assert (shown.subjects, shown.worst, shown.value) == (3, "b", 7)
    below = Watched("below", "group_lag", "*", Limits(is_above=False, limit=10, for_ms=0, no_data_after_ms=5))
    assert board.now(below, figures(a=3, b=7)).worst == "a"
    assert board.now(ALL, figures(a=None)).value is None


def test_growth_counts_the_last_hour_and_outlives_the_sampler() -> None:
    minute = 60_000
    growth = Growth()
    assert growth.step(0, {"a": 5}, is_whole=True) == {"a": 0}
    assert growth.step(minute, {"a": 9, "new": 3}, is_whole=True) == {"a": 4, "new": 3}
    growth = Growth(growth.counts())
    assert growth.step(30 * minute, {"a": 12, "new": None}, is_whole=True) == {"a": 7, "new": None}
    assert growth.step(61 * minute, {"a": 12, "new": 3}, is_whole=True) == {"a": 3, "new": 0}
    assert growth.step(62 * minute, {"a": 2}, is_whole=True) == {"a": 0}


def test_thousands_of_subjects_and_hundreds_of_rules_change_only_what_crossed() -> None:
    board = Board()
    rules = [Watched(f"r{n}", "group_lag", "*", LIMITS) for n in range(200)]
    values: dict[str, float | None] = {f"g{n}": float(n % 10) for n in range(5_000)}
    values["g77"] = 11.0
    changes: list[Change] = board.step(rules, Figures({"group_lag": values}, True), 1)
    assert {change.subject for change in changes} == {"g77"}
    assert len(changes) == 200
