"""Tag expressions, and expressions over properties with every kind of consumer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from broker_core.client.config import PushConfig
from broker_core.client.consumer.lite import LITE, LitePullConsumer
from broker_core.client.consumer.pop import LeaseConsumer
from broker_core.client.consumer.pull import PullConsumer
from broker_core.client.consumer.push import PushConsumer
from broker_core.client.consumer.subscriptions import SQL92, subscription, tags_of, wants
from broker_core.client.errors import SubscriptionRefused
from broker_core.protocol.message import Message, StoredMessage
from tests.broker_core.client.conftest import Live
from tests.support.stored import stored
from tests.support.wait import eventually


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


EXPRESSION = "amount > 100 AND region IN ('eu', 'us')"
FIRST = replace(LITE, start_from="first")


async def send_orders(live: Live) -> str:
    topic = await live.topic(queues=2)
    for amount, region in (("50", "eu"), ("150", "eu"), ("900", "us"), ("900", "asia"), ("x", "eu"), ("101", "us")):
        properties = {"amount": amount, "region": region}
        await live.producer.send(Message.create(topic, f"{amount} {region}".encode(), properties=properties))
    await live.send(topic, "no property at all")
    return topic


WANTED = [b"101 us", b"150 eu", b"900 us"]


async def test_a_push_consumer_selects_by_properties(live: Live) -> None:
    topic, handled = await send_orders(live), list[bytes]()

    async def handle(message: StoredMessage) -> None:
        handled.append(message.body)

    consumer = PushConsumer(live.session, live.group(), handle, PushConfig(start_from="first"))
    consumer.subscribe(topic, EXPRESSION, kind=SQL92)
    async with consumer:
        await eventually(lambda: sorted(handled) == WANTED)
        # What does not match counts as read
        await eventually(lambda: sum(consumer.positions(topic).values()) == 7)
    assert sorted(handled) == WANTED


async def test_a_lite_pull_consumer_selects_by_properties(live: Live) -> None:
    topic, polled = await send_orders(live), list[bytes]()
    consumer = LitePullConsumer(live.session, live.group(), FIRST)
    consumer.subscribe(topic, EXPRESSION, kind=SQL92)
    async with consumer:
        while len(polled) < len(WANTED):
            polled += [message.body for message in await consumer.poll()]
    assert sorted(polled) == WANTED


async def test_a_pull_selects_by_properties(live: Live) -> None:
    topic, found = await send_orders(live), list[bytes]()
    puller = PullConsumer(live.session)
    for queue in await puller.queues(topic):
        result = await puller.pull(queue, 0, expression=EXPRESSION, expression_type=SQL92)
        found += [message.body for message in result.messages]
    assert sorted(found) == WANTED


async def test_a_lease_consumer_selects_by_properties(live: Live) -> None:
    topic, found = await send_orders(live), list[bytes]()
    consumer = LeaseConsumer(live.session, live.group())
    while len(found) < len(WANTED):
        received = await consumer.receive(topic, wait_ms=5_000, tag_expression=EXPRESSION, expression_type=SQL92)
        found += [leased.message.body for leased in received.messages]
    assert sorted(found) == WANTED


@pytest.mark.parametrize("make", [PushConsumer, LitePullConsumer])
async def test_an_expression_that_does_not_compile_is_refused_at_the_start(
    live: Live, make: type[PushConsumer] | type[LitePullConsumer]
) -> None:
    async def handle(message: StoredMessage) -> None:
        raise AssertionError(message)

    topic, group = await live.topic(queues=1), live.group()
    consumer = (
        PushConsumer(live.session, group, handle) if make is PushConsumer else LitePullConsumer(live.session, group)
    )
    consumer.subscribe(topic, "amount > 'x'", kind=SQL92)
    with pytest.raises(SubscriptionRefused, match="at character 10"):
        await consumer.start()
    # And the group may be joined with another one
    consumer.subscribe(topic, "amount > 1", kind=SQL92)
    async with consumer:
        await eventually(lambda: consumer.assigned)
