"""Requirements of changing a group's offsets: preview, apply, undo."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from broker_core.client.config import ClientConfig, PushConfig
from broker_core.client.consumer.push import PushConsumer
from broker_core.client.session import Session
from broker_core.protocol.message import StoredMessage
from tests.gateway.control.conftest import Broker, Control
from tests.support.wait import eventually


def offsets(control: Control, group: str) -> dict[int, int | None]:
    return {queue["queue_id"]: queue["group_offset"] for queue in control.get(f"/groups/{group}")["queues"]}


def preview(control: Control, group: str, topic: str, **wanted: Any) -> Any:
    answer = control.call("POST", f"/groups/{group}/offsets:preview", json={"topic": topic, **wanted})
    assert answer.status_code == 200, answer.text
    return answer.json()


def apply(control: Control, group: str, plan: Any, **more: Any) -> Any:
    answer = control.call("POST", f"/groups/{group}/offsets:apply", json={"plan_id": plan["plan_id"], **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


def ready(control: Control, messages: int = 5, consumed: int = 3) -> tuple[str, str]:
    """Return a topic with one queue, and a group that consumed some of its messages."""
    topic, group = control.topic(), control.group()
    control.produce(topic, *map(str, range(messages)))
    control.consume(group, topic, consumed)
    return topic, group


@pytest.mark.parametrize(
    ("wanted", "new", "to_replay", "skipped", "warning"),
    [
        ({"mode": "earliest"}, 0, 3, 0, None),
        ({"mode": "latest"}, 5, 0, 2, None),
        ({"mode": "offset", "offset": 4}, 4, 0, 1, None),
        ({"mode": "offset", "offset": 99}, 5, 0, 2, "clamped"),
        ({"mode": "offset", "offsets": [{"broker": "broker-a", "queue_id": 0, "offset": 1}]}, 1, 2, 0, None),
        ({"mode": "shift", "shift": -2}, 1, 2, 0, None),
        ({"mode": "time", "time": "2001-01-01T00:00:00Z"}, 0, 3, 0, None),
        ({"mode": "time", "time": "2101-01-01T00:00:00Z"}, 5, 0, 2, None),
    ],
)
def test_a_preview_says_what_would_happen_and_changes_nothing(
    control: Control, wanted: dict[str, Any], new: int, to_replay: int, skipped: int, warning: str | None
) -> None:
    topic, group = ready(control)
    plan = preview(control, group, topic, **wanted)
    assert plan["queues"] == [
        {
            "broker": "broker-a", "queue_id": 0, "current": 3, "new": new, "delta": new - 3, "min": 0, "max": 5,
            "to_replay": to_replay, "skipped": skipped, "warning": warning,
        }
    ]  # fmt: skip
    assert (plan["to_replay"], plan["skipped"], plan["members"], plan["unknown"]) == (to_replay, skipped, 0, [])
    assert offsets(control, group) == {0: 3}


@pytest.mark.parametrize(
    "wanted",
    [
        {"mode": "latest", "queues": [{"broker": "broker-gone", "queue_id": 0}]},
        {"mode": "offset", "offsets": [{"broker": "broker-gone", "queue_id": 0, "offset": 1}]},
    ],
)
def test_where_a_group_is_on_a_broker_that_is_away_is_unknown(
    control: Control, gone: Callable[[str, str], None], wanted: dict[str, Any]
) -> None:
    topic, group = ready(control)
    gone(topic, group)
    answer = control.call("POST", f"/groups/{group}/offsets:preview", json={"topic": topic, **wanted})
    assert (answer.status_code, answer.json()["code"]) == (503, "BROKER_UNREACHABLE"), answer.text
    unknown = "Where the group is in broker-gone/0 is not known: broker-gone is not listed by any name server."
    assert answer.json()["detail"] == unknown


def test_a_time_goes_to_the_first_message_stored_then_or_later(control: Control) -> None:
    topic, group = control.topic(), control.group()
    control.produce(topic, "old")
    [row] = control.get(f"/topics/{topic}/queues/0/messages", offset=0)["items"]
    control.produce(topic, "new")
    [_, second] = control.get(f"/topics/{topic}/queues/0/messages", offset=0)["items"]
    control.consume(group, topic, 2)
    if row["stored_at"] != second["stored_at"]:
        assert preview(control, group, topic, mode="time", time=second["stored_at"])["queues"][0]["new"] == 1
    assert preview(control, group, topic, mode="time", time=row["stored_at"])["queues"][0]["new"] == 0


def test_apply_and_undo_leave_the_group_where_it_was(control: Control) -> None:
    topic, group = ready(control)
    moved = apply(control, group, preview(control, group, topic, mode="earliest"))
    assert offsets(control, group) == {0: 0}
    [row] = moved["queues"]
    assert (row["before"], row["after"], row["done"], row["reason"]) == (3, 0, True, None)

    back = control.call("POST", f"/groups/{group}/offsets:undo", json={"snapshot_id": moved["snapshot_id"]})
    assert back.status_code == 200, back.text
    assert offsets(control, group) == {0: 3}
    again = control.call("POST", f"/groups/{group}/offsets:undo", json={"snapshot_id": moved["snapshot_id"]})
    assert (again.status_code, again.json()["detail"]) == (409, "This change was already undone.")

    history = control.get(f"/groups/{group}/offsets/snapshots")["items"]
    assert [each["mode"] for each in history] == ["undo", "earliest"]
    assert history[1]["undone_at"] is not None
    changes = control.as_("admin").get("/api/v1/audit", params={"action": "group.offsets"}).json()["items"]
    ours = [each for each in changes if group in each["resource"]]
    assert [each["before"] for each in ours] == [{"broker-a/0": 0}, {"broker-a/0": 3}]


@pytest.mark.gantry_only("leases")
def test_what_comes_after_is_what_the_group_receives(control: Control) -> None:
    topic, group = ready(control)
    apply(control, group, preview(control, group, topic, mode="offset", offset=1))
    answer = control.call("POST", f"/groups/{group}/topics/{topic}:receive", json={"max_messages": 1, "wait_ms": 5000})
    assert answer.json()["messages"][0]["offset"] == 1


def test_a_group_can_be_put_where_another_one_is(control: Control) -> None:
    topic, group = ready(control)
    fresh = control.group()
    plan = preview(control, fresh, topic, mode="copy_from", from_group=group)
    assert [(row["current"], row["new"], row["warning"]) for row in plan["queues"]] == [(None, 3, "no_offset")]
    apply(control, fresh, plan)
    assert offsets(control, fresh) == {0: 3}
    none = control.call(
        "POST", f"/groups/{group}/offsets:preview", json={"topic": topic, "mode": "copy_from", "from_group": "nobody"}
    )
    assert (none.status_code, none.json()["code"]) == (422, "NO_EFFECT")
    assert "'nobody' has no offset" in none.json()["detail"]


def test_a_group_has_to_be_there_and_then_its_offsets_can_be_set_before_its_first_consumer(control: Control) -> None:
    topic, group = control.topic(), control.name("billing")
    control.produce(topic, "a", "b")
    path, wish = f"/groups/{group}/offsets:preview", {"topic": topic, "mode": "latest"}
    refused = control.call("POST", path, json=wish)
    assert (refused.status_code, refused.json()["code"]) == (404, "GROUP_NOT_FOUND")
    assert f"no consumer group is named {group!r}" in refused.json()["detail"].lower()
    assert control.call("POST", "/groups", json={"name": group}).status_code == 201
    moved = apply(control, group, preview(control, group, topic, mode="latest"))
    assert [(queue["before"], queue["after"]) for queue in moved["queues"]] == [(None, 2)]


def test_a_plan_that_the_group_has_overtaken_is_refused_if_strict(control: Control) -> None:
    topic, group = ready(control)
    plan = preview(control, group, topic, mode="earliest")
    control.consume(group, topic, 1)
    path = f"/groups/{group}/offsets:apply"
    refused = control.call("POST", path, json={"plan_id": plan["plan_id"], "strict": True})
    assert (refused.status_code, refused.json()["code"]) == (409, "CONFLICT")
    assert "broker-a/0 from 3 to 4" in refused.json()["detail"]
    assert offsets(control, group) == {0: 4}
    moved = apply(control, group, plan)
    assert moved["queues"][0]["before"] == 4
    twice = control.call("POST", path, json={"plan_id": plan["plan_id"]})
    assert (twice.status_code, twice.json()["code"]) == (409, "CONFLICT")


def test_a_change_that_failed_can_be_tried_again_and_is_in_the_audit(control: Control) -> None:
    topic, group = ready(control)
    plan = preview(control, group, topic, mode="latest")
    assert control.change("DELETE", f"/topics/{topic}").status_code == 204
    for _ in "ab":
        answer = control.call("POST", f"/groups/{group}/offsets:apply", json={"plan_id": plan["plan_id"]})
        assert answer.status_code == 404, f"the plan still waits, since nothing was moved: {answer.text}"
    changes = control.as_("admin").get("/api/v1/audit", params={"action": "group.offsets"}).json()["items"]
    assert [each["result"] for each in changes if topic in each["resource"]] == ["failed", "failed"]


def test_only_the_named_queues_move(control: Control) -> None:
    topic, group = control.topic(queues=2), control.group()
    for number in range(6):
        control.produce(topic, str(number))  # one by one, so that both queues get some
    control.consume(group, topic, 6)
    plan = preview(control, group, topic, mode="earliest", queues=[{"broker": "broker-a", "queue_id": 1}])
    assert [row["queue_id"] for row in plan["queues"]] == [1]
    before = offsets(control, group)
    apply(control, group, plan)
    assert offsets(control, group) == {0: before[0], 1: 0}


@pytest.mark.parametrize(
    ("wanted", "status", "code"),
    [
        ({"mode": "earliest", "offset": 1}, 422, "INVALID"),
        ({"mode": "offset"}, 422, "INVALID"),
        ({"mode": "offset", "offset": 1, "offsets": []}, 422, "INVALID"),
        ({"mode": "sideways"}, 422, "INVALID"),
        ({"mode": "time", "time": "2001-01-01T00:00:00"}, 422, "INVALID"),
        ({"mode": "earliest", "value": 1}, 422, "INVALID"),
        ({"mode": "earliest", "queues": [{"broker": "broker-a", "queue_id": 7}]}, 404, "NOT_FOUND"),
        ({"mode": "offset", "offset": 3}, 422, "NO_EFFECT"),
        ({"mode": "earliest", "topic": "nowhere"}, 404, "TOPIC_NOT_FOUND"),
    ],
)
def test_what_cannot_be_planned_is_refused_by_name(
    control: Control, wanted: dict[str, Any], status: int, code: str
) -> None:
    topic, group = ready(control)
    answer = control.call("POST", f"/groups/{group}/offsets:preview", json={"topic": topic, **wanted})
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text


def test_plans_and_changes_of_others_are_not_found(control: Control) -> None:
    topic, group = ready(control)
    plan = preview(control, group, topic, mode="earliest")
    other = control.group()
    for path, body in (("apply", {"plan_id": plan["plan_id"]}), ("undo", {"snapshot_id": "0" * 16})):
        answer = control.call("POST", f"/groups/{other}/offsets:{path}", json=body)
        assert (answer.status_code, answer.json()["code"]) == (404, "NOT_FOUND")
    for role in ("viewer", "stranger"):
        answer = control.call("POST", f"/groups/{group}/offsets:apply", role=role, json={"plan_id": plan["plan_id"]})
        assert answer.status_code in (401, 403)


@pytest.mark.gantry_only("offsets of connected members")
async def test_apply_and_undo_beside_a_consumer_and_strict_shows_the_conflict(control: Control, broker: Broker) -> None:
    # Given a native consumer that has had all five messages
    topic, group = control.topic(), control.group()
    control.produce(topic, *map(str, range(5)))
    heard: list[bytes] = []

    async def handle(message: StoredMessage) -> None:
        heard.append(message.body)

    config = PushConfig(start_from="first", persist_offsets_ms=100)
    async with Session(ClientConfig([broker.name_server])) as session:
        consumer = PushConsumer(session, group, handle, config)
        consumer.subscribe(topic)
        await consumer.start()
        await eventually(lambda: len(heard) == 5)
        await eventually(lambda: offsets(control, group) == {0: 5})
        # When the group is moved to the second message
        plan = await asyncio.to_thread(preview, control, group, topic, mode="offset", offset=1)
        assert plan["members"] == 1
        moved = await asyncio.to_thread(apply, control, group, plan)
        # Then it gets the messages from there on again
        await eventually(lambda: heard[5:] == [b"1", b"2", b"3", b"4"])
        await eventually(lambda: offsets(control, group) == {0: 5})
        # And a plan that it overtakes is refused if strict, and moves nothing
        overtaken = await asyncio.to_thread(preview, control, group, topic, mode="earliest")
        await asyncio.to_thread(control.produce, topic, "5")
        await eventually(lambda: offsets(control, group) == {0: 6})
        wish = {"plan_id": overtaken["plan_id"], "strict": True}
        refused = await asyncio.to_thread(control.call, "POST", f"/groups/{group}/offsets:apply", json=wish)
        assert (refused.status_code, refused.json()["code"]) == (409, "CONFLICT")
        assert "broker-a/0 from 5 to 6" in refused.json()["detail"]
        assert heard[9:] == [b"5"]
        # And undoing the move takes it back to where it was before: at the sixth message
        undo = {"snapshot_id": moved["snapshot_id"]}
        back = await asyncio.to_thread(control.call, "POST", f"/groups/{group}/offsets:undo", json=undo)
        assert back.status_code == 200, back.text
        await eventually(lambda: heard[9:] == [b"5", b"5"])
        await consumer.close()


def test_a_plan_names_a_broker_that_is_not_listed_any_more(control: Control, gone: Callable[..., None]) -> None:
    topic, group = control.topic(), control.group()
    control.produce(topic, "a", "b")
    assert preview(control, group, topic, mode="earliest")["unknown"] == []
    gone(topic)
    plan = preview(control, group, topic, mode="earliest")
    assert plan["unknown"] == [{"broker": "broker-gone", "reason": "broker-gone is not listed by any name server"}]
    assert "broker-gone" not in {queue["broker"] for queue in plan["queues"]}
