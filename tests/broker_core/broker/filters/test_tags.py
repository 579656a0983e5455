"""Tag expressions and the hashes by which they are matched."""

from __future__ import annotations

import pytest

from broker_core.broker.errors import BadSubscription
from broker_core.broker.filters.tags import accept_codes, accept_expression, parse_tags


@pytest.mark.parametrize(
    ("expression", "tags"),
    [
        (None, ()),
        ("", ()),
        ("*", ()),
        ("TagA", ("TagA",)),
        ("TagA||TagB", ("TagA", "TagB")),
        (" TagA ||  TagB||TagA ", ("TagA", "TagB")),
    ],
)
def test_an_expression_names_its_tags(expression: str | None, tags: tuple[str, ...]) -> None:
    assert parse_tags(expression) == tags


@pytest.mark.parametrize("expression", ["||", " || ", "  "])
def test_an_expression_without_a_tag_is_refused(expression: str) -> None:
    with pytest.raises(BadSubscription):
        parse_tags(expression)


def test_a_filter_wants_the_hashes_of_its_tags() -> None:
    accept = accept_expression("TagA || 订单")

    assert accept is not None
    assert accept(2598919)
    assert accept(1129459)
    assert not accept(0)


def test_no_tags_want_everything() -> None:
    assert accept_expression("*") is None
    assert accept_codes([]) is None
