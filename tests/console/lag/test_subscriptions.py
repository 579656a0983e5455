"""Requirements of `console.lag.subscriptions`."""

from __future__ import annotations

from broker_core.protocol.bodies import SubscriptionData
from console.lag.subscriptions import agree, subscriptions_of


def data(expression: str, *, topic: str = "orders", type_: str = "TAG") -> SubscriptionData:
    return SubscriptionData(topic, expression, type_)


def test_the_order_of_tags_and_the_retry_topic_make_no_difference() -> None:
    one = subscriptions_of([data("paid || sent"), data("*", topic="%RETRY%billing")])
    assert agree({"a": one, "b": subscriptions_of([data("sent||paid")])})


def test_members_disagree_on_topics_expressions_and_their_types() -> None:
    one = subscriptions_of([data("paid")])
    for other in ([data("sent")], [data("paid", type_="SQL92")], [data("paid"), data("*", topic="more")], []):
        assert not agree({"a": one, "b": subscriptions_of(other)}), other


def test_one_member_or_none_disagrees_with_nobody() -> None:
    assert agree({})
    assert agree({"a": subscriptions_of([data("paid")])})
