"""Requirements of `gateway.control.activity`: the kept events of a cluster, filtered, paged, and by rights."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import redis.asyncio
from pytest_django.fixtures import Settings

from console.activity import feed
from console.activity.shapes import ActivityEvent, EventAlert, QueueMove
from tests.gateway.control.conftest import Control

AT = "2026-05-01T08:00:00.000Z"
MOVES = [
    QueueMove(topic=topic, broker="broker-a", queue_id=0, from_client=None, to_client="c")
    for topic in ("orders", "payments")
]
EVENTS = [
    ActivityEvent(seen_at=AT, kind="watch_began"),
    ActivityEvent(seen_at=AT, kind="topic_created", topic="orders", source="audit", by="maria"),
    ActivityEvent(seen_at=AT, kind="topic_created", topic="payments"),
    ActivityEvent(seen_at=AT, kind="group_rebalanced", group="orders-group", moves=MOVES, moves_total=2),
    ActivityEvent(seen_at=AT, kind="offsets_changed", group="orders-group", topic="payments", source="audit"),
    ActivityEvent(seen_at=AT, kind="client_joined", group="billing"),
    ActivityEvent(seen_at=AT, kind="broker_went", broker="broker-a", reason="refused the connection"),
    ActivityEvent(
        seen_at=AT, kind="alert_fired", alert=EventAlert(rule="lag", metric="group_lag", subject="orders-group")
    ),
    ActivityEvent(
        seen_at=AT, kind="alert_fired", alert=EventAlert(rule="disk", metric="broker_disk_used", subject="b")
    ),
]


@pytest.fixture
def events(control: Control, redis_url: str, settings: Settings) -> Any:
    """A feed of the cluster, and a function that asks for it."""
    layer = settings.CHANNEL_LAYERS["default"]
    settings.CHANNEL_LAYERS = {"default": {**layer, "CONFIG": {**layer["CONFIG"], "hosts": [redis_url]}}}

    async def fill() -> None:
        async with redis.asyncio.Redis.from_url(redis_url) as store:
            await feed.forget(control.cluster, store=store)
            await feed.append(control.cluster, EVENTS, None, store=store)

    asyncio.run(fill())

    def ask(role: str = "operator", **query: Any) -> dict[str, Any]:
        answer = control.as_(role).get(f"{control.path}/events", params=query)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    return ask


def about(page: dict[str, Any]) -> list[tuple[str, str | None]]:
    return [(each["kind"], each["topic"] or each["group"] or each["broker"]) for each in page["items"]]


def test_events_are_listed_the_newest_first_and_filtered(events: Any) -> None:
    whole = events()
    assert [each["kind"] for each in whole["items"]] == [each.kind for each in reversed(EVENTS)]
    assert (whole["total"], whole["complete"]) == (len(EVENTS), True)
    assert whole["items"][0]["seq"] == whole["last_seq"]
    assert whole["items"][-2]["by"] == "maria"
    assert about(events(kind="topic_created,broker_went")) == [
        ("broker_went", "broker-a"), ("topic_created", "payments"), ("topic_created", "orders")
    ]  # fmt: skip
    assert {kind for kind, _ in about(events(topic="payments"))} == {
        "topic_created", "group_rebalanced", "offsets_changed"
    }  # fmt: skip
    assert about(events(group="billing")) == [("client_joined", "billing")]
    # And in pages
    first = events(limit=3)
    second = events(limit=3, cursor=first["next_cursor"])
    assert first["items"] + second["items"] == whole["items"][:6]


def test_what_came_after_a_number_and_whether_something_is_lost(events: Any) -> None:
    last = events()["last_seq"]
    assert (events(after=last)["items"], events(after=last)["complete"]) == ([], True)
    assert [each["seq"] for each in events(after=last - 2)["items"]] == [last, last - 1]
    assert events(after=1)["complete"] is False
    assert events(after=last + 1)["complete"] is False


def test_who_may_read_some_names_gets_their_events(events: Any) -> None:
    page = events("narrow")
    assert about(page) == [
        ("alert_fired", None), ("offsets_changed", "orders-group"), ("group_rebalanced", "orders-group"),
        ("topic_created", "orders"), ("watch_began", None),
    ]  # fmt: skip
    offsets, rebalanced, created = page["items"][1:4]
    assert offsets["topic"] is None
    assert ([move["topic"] for move in rebalanced["moves"]], rebalanced["moves_total"]) == (["orders"], None)
    assert created["by"] is None
    assert events("narrow", topic="payments")["items"] == []


def test_what_is_not_served_is_refused_by_name(control: Control) -> None:
    for query in ({"kind": "explosion"}, {"after": "x"}, {"broker": "b"}):
        answer = control.as_("viewer").get(f"{control.path}/events", params=query)
        assert answer.status_code == 422
        assert next(iter(query)) in answer.text
