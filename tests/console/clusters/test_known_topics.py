"""Requirements of `console.clusters.known_topics`: topics of a broker that does not answer are still listed."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from broker_core.client.admin.topics import TopicKind, Topics
from broker_core.client.errors import TopicNotFound, Unreachable
from console.clusters.known_topics import known_topic, known_topics
from console.clusters.memory import QueueCounts, Sighting, remember
from tests.support.cast import Cast
from tests.support.cluster import RunningBroker, create_topic

AT = datetime(2026, 5, 1, 8, tzinfo=UTC)
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def gone(running: RunningBroker) -> RunningBroker:
    """A cluster with the topic ``orders`` on a broker that answers and on a missing one, which has more topics."""
    asyncio.run(_create(running))
    held = {
        "orders": QueueCounts(2, 2, 6),
        "payments": QueueCounts(3, 3, 6, message_type="FIFO"),
        "%DLQ%billing": QueueCounts(1, 1, 6, TopicKind.DEAD_LETTER),
        "prod-cluster": QueueCounts(1, 1, 7, TopicKind.SYSTEM),
    }
    remember("prod", [Sighting("broker-b", {0: "127.0.0.1:1"}, held, {"billing": ("payments",)})], AT)
    return running


async def _create(running: RunningBroker) -> None:
    async with running.session() as session:
        await create_topic(session, "orders", queues=1)


def test_topics_of_a_broker_that_is_gone_are_known(gone: RunningBroker) -> None:
    topics = known_topics("prod")
    assert topics["orders"].brokers == ("broker-a", "broker-b")
    assert (topics["payments"].brokers, topics["payments"].read_queues) == (("broker-b",), 3)
    assert (topics["payments"].message_type, topics["orders"].message_type) == ("FIFO", None)
    assert (topics["%DLQ%billing"].kind, topics["prod-cluster"].kind) == (TopicKind.DEAD_LETTER, TopicKind.SYSTEM)
    assert known_topic("prod", "orders").brokers == ("broker-a", "broker-b")
    assert known_topic("prod", "payments").brokers == ("broker-b",)
    with pytest.raises(TopicNotFound):
        known_topic("prod", "nowhere")


def test_a_topic_that_its_broker_no_longer_has_is_gone_whatever_is_remembered(running: RunningBroker) -> None:
    asyncio.run(_create(running))
    held = {"orders": QueueCounts(1, 1, 6), "deleted": QueueCounts(1, 1, 6)}
    remember("prod", [Sighting("broker-a", {0: running.address}, held, {})], AT)
    assert known_topic("prod", "orders").brokers == ("broker-a",)
    with pytest.raises(TopicNotFound):
        known_topic("prod", "deleted")


def test_topics_are_known_while_nobody_answers(gone: RunningBroker) -> None:
    gone.stop(kill=True)
    assert "payments" in known_topics("prod")
    assert known_topic("prod", "payments").brokers == ("broker-b",)


def test_a_cluster_of_which_nothing_was_ever_seen_cannot_be_told_of(running: RunningBroker) -> None:
    running.stop(kill=True)
    with pytest.raises(Unreachable):
        known_topics("prod")
    with pytest.raises(Unreachable):
        known_topic("prod", "orders")


def test_every_answer_names_what_is_missing(gone: RunningBroker, cast: Cast) -> None:
    def get(path: str) -> Any:
        answer = cast.browser("viewer").get(f"/api/v1/clusters/prod{path}")
        assert answer.status_code == 200, answer.content
        return answer.json()

    listed = {topic["name"]: topic for topic in get("/topics?kind=all")["items"]}
    for topic in (listed["orders"], listed["payments"], get("/topics/payments")):
        assert [each["broker"] for each in topic["missing"]] == ["broker-b"]
        assert topic["messages"] is None
    queues = get("/topics/orders/queues")["items"]
    assert [(queue["broker"], queue["queue_id"], queue["count"]) for queue in queues] == [
        ("broker-a", 0, 0),
        ("broker-b", 0, None),
        ("broker-b", 1, None),
    ]
    assert "refused the connection" in queues[2]["unknown_reason"]
    group = get("/groups/billing")
    assert (group["state"], group["lag"], [row["broker"] for row in group["queues"]]) == (
        "unknown", None, ["broker-b"] * 3,
    )  # fmt: skip
    assert "billing" in {each["name"] for each in get("/groups")["items"]}
    assert [each["broker"] for each in get("/overview")["missing"]] == ["broker-b"]


def test_topics_are_read_again_only_when_a_broker_says_that_they_are_others(
    running: RunningBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(_create(running))
    read: list[str] = []
    on = Topics.on

    async def counted(topics: Topics, addr: str, **options: Any) -> Any:
        read.append(addr)
        return await on(topics, addr, **options)

    monkeypatch.setattr(Topics, "on", counted)
    first = known_topics("prod")
    assert "orders" in first
    read.clear()
    assert known_topics("prod") is first
    assert read == []

    async def more() -> None:
        async with running.session() as session:
            await create_topic(session, "more", queues=1)

    asyncio.run(more())
    assert "more" in known_topics("prod")
    assert read == [running.address]
