"""The newest changes of leases, numbered."""

from __future__ import annotations

from broker_core.broker.pop.feed import LeaseFeed


def test_changes_are_kept_once_somebody_has_asked() -> None:
    feed = LeaseFeed()
    feed.note(b"one")
    assert feed.count == 1
    assert feed.since(0) is None
    assert feed.since(1) == b""
    feed.begin()
    feed.note(b"two")
    feed.note(b"three")
    assert (feed.since(1), feed.since(2), feed.since(3)) == (b"twothree", b"three", b"")
    assert feed.since(0) is None


def test_the_oldest_are_forgotten_when_they_are_too_many() -> None:
    feed = LeaseFeed(kept_bytes=4)
    feed.begin()
    for frame in (b"aa", b"bb", b"cc"):
        feed.note(frame)
    assert feed.since(0) is None
    assert feed.since(1) == b"bbcc"
