"""Tag expressions."""

from __future__ import annotations

import pytest

from broker_core.client.consumer.subscriptions import subscription, tags_of, wants
from broker_core.protocol.message import StoredMessage
from tests.support.stored import stored


@pytest.mark.parametrize(
    ("expression", "tags"),
    [
        ("*", []),
        ("", []),
        ("  ", []),
        ("created", ["created"]),
        ("created || paid", ["created", "paid"]),
        (" a||b ||  || a ", ["a", "b"]),
    ],
)
def test_an_expression_has_its_tags(expression: str, tags: list[str]) -> None:
    assert tags_of(expression) == tags


def test_brokers_get_the_hashes_that_java_makes() -> None:
    data = subscription("orders", "TagA || TagB", version=7)

    assert (data.tags_set, data.code_set) == (["TagA", "TagB"], [2598919, 2598920])
    assert (data.sub_string, data.expression_type, data.sub_version) == ("TagA || TagB", "TAG", 7)


def test_everything_is_a_star() -> None:
    assert subscription("orders", "").sub_string == "*"


def test_sql_is_left_to_the_broker() -> None:
    data = subscription("orders", "amount > 10", kind="SQL92")

    assert (data.sub_string, data.tags_set, data.expression_type) == ("amount > 10", [], "SQL92")
    assert wants(data, stored(tag=None))


@pytest.mark.parametrize(("tag", "wanted"), [("AaAa", True), ("BBBB", False), ("AaBB", False), (None, False)])
def test_a_tag_that_only_hashes_alike_is_not_wanted(tag: str | None, wanted: bool) -> None:
    message: StoredMessage = stored(tag=tag)

    assert wants(subscription("orders", "AaAa"), message) is wanted
