"""What applications may give a message, and how its tags are chosen."""

from __future__ import annotations

import pytest

from broker_core.protocol.applications import TagsMalformed, body_fault, tags_of


@pytest.mark.parametrize(
    ("text", "tags"),
    [("a", {"a"}), ("a || b", {"a", "b"}), (" a||b ||", {"a", "b"}), ("a b", {"a b"}), (" * ", None), ("a|b", {"a|b"})],
)
def test_blanks_around_a_tag_do_not_count_and_a_star_is_all_messages(text: str, tags: set[str] | None) -> None:
    assert tags_of(text) == tags


@pytest.mark.parametrize(("text", "why"), [("", "names no tag"), (" || ", "names no tag"), ("a || *", "stands alone")])
def test_what_chooses_no_tags_is_refused(text: str, why: str) -> None:
    with pytest.raises(TagsMalformed, match=why):
        tags_of(text)


def test_no_empty_body_can_be_sent() -> None:
    """docs/http-api.md: An empty one is refused, over HTTP and by Spark's writer alike: brokers accept none."""
    assert body_fault(b"") == "is empty; brokers accept no empty message"
    assert body_fault(b"\0") is None
