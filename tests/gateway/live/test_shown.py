"""Requirements of `gateway.live.shown`."""

from __future__ import annotations

from gateway.live.shown import HELD_SECONDS, MOST_HELD, VIEWS_KEPT, HeldViews, Shown

WHO = ("token", 1)


def shown(*seqs: int) -> Shown[str, str]:
    found: Shown[str, str] = Shown(WHO, "watched")
    for seq in seqs:
        found.add(seq, f"view {seq}")
    return found


def test_a_socket_keeps_its_last_views() -> None:
    kept = shown(*range(1, VIEWS_KEPT + 3)).views
    assert list(kept) == list(range(3, VIEWS_KEPT + 3))
    assert kept[3] == "view 3"


def test_views_are_held_for_a_minute_and_taken_once_by_whose_they_are() -> None:
    now = 0.0
    held: HeldViews[str, str] = HeldViews(lambda: now)
    held.hold("a", shown(1))
    assert held.take("a", ("token", 2)) is None
    assert held.take("a", WHO) is not None
    assert held.take("a", WHO) is None
    held.hold("b", shown(1))
    now = HELD_SECONDS
    assert held.take("b", WHO) is None


def test_above_the_limit_the_one_held_longest_goes() -> None:
    held: HeldViews[str, str] = HeldViews(lambda: 0.0)
    for number in range(MOST_HELD + 1):
        held.hold(str(number), shown(1))
    assert held.take("0", WHO) is None
    assert held.take("1", WHO) is not None
    assert held.take(str(MOST_HELD), WHO) is not None
