"""Requirements of `gateway.control.topics`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from broker_core.client.admin.topics import Topic, TopicKind
from broker_core.protocol.bodies import TopicConfig
from console.lag.shapes import TopicState
from gateway.control.topic_shapes import summary_of
from tests.gateway.control.conftest import Broker, Control
from tests.support.cluster import create_topic
from tests.support.wait import wait_until


@pytest.mark.sample
def test_a_created_topic_is_shown_with_its_settings(control: Control) -> None:
    name = control.name()
    wanted = {"name": name, "read_queues": 2, "write_queues": 3, "permission": "r"}
    made = control.call("POST", "/topics", json=wanted)
    assert made.status_code == 201
    shown = control.get(f"/topics/{name}")
    assert wanted.items() <= shown.items()
    assert (shown["kind"], shown["order"], shown["brokers"]) == ("normal", False, ["broker-a"])


def test_a_name_that_is_taken_is_refused(control: Control) -> None:
    answer = control.call("POST", "/topics", json={"name": control.topic()})
    assert (answer.status_code, answer.json()["code"]) == (409, "ALREADY_EXISTS")


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"name": "no blanks"}, "#/name"),
        ({}, "#/name"),
        ({"name": "RMQ_SYS_mine"}, "#/name"),
        ({"name": "rmq_sys_mine"}, "#/name"),
        ({"name": "TBW102"}, "#/name"),
        ({"name": "ok", "read_queues": 0}, "#/read_queues"),
        ({"name": "ok", "permission": "x"}, "#/permission"),
    ],
)
def test_a_refusal_points_at_the_field(control: Control, body: dict[str, Any], pointer: str) -> None:
    answer = control.call("POST", "/topics", json=body)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]


def test_a_topic_that_nobody_made_is_not_there(control: Control) -> None:
    for path in ("", "/queues", "/groups", "/producers", "/messages"):
        answer = control.call("GET", f"/topics/nobody-made-this{path}")
        assert (answer.status_code, answer.json()["code"]) == (404, "TOPIC_NOT_FOUND"), path


def test_a_cluster_that_nobody_added_is_not_there(control: Control) -> None:
    answer = control.as_("admin").get("/api/v1/clusters/mars/topics")
    assert (answer.status_code, answer.json()["code"]) == (404, "CLUSTER_NOT_FOUND")


@pytest.mark.sample
def test_a_change_keeps_what_it_does_not_name(control: Control) -> None:
    name = control.topic(queues=2)
    changed = control.change("PATCH", f"/topics/{name}", json={"permission": "r"})
    assert changed.status_code == 200
    shown = control.get(f"/topics/{name}")
    assert (shown["permission"], shown["read_queues"], shown["write_queues"]) == ("r", 2, 2)


def test_a_change_from_an_old_reading_is_refused(control: Control) -> None:
    # Given two who read the same settings
    name = control.topic()
    tag = control.call("GET", f"/topics/{name}").headers["etag"]
    # When the first changes them
    first = control.call("PATCH", f"/topics/{name}", json={"write_queues": 2}, headers={"If-Match": tag})
    assert first.status_code == 200
    # Then the second is refused, and the first can continue with the answer
    second = control.call("PATCH", f"/topics/{name}", json={"write_queues": 5}, headers={"If-Match": tag})
    assert (second.status_code, second.json()["code"]) == (412, "PRECONDITION_FAILED")
    assert control.get(f"/topics/{name}")["write_queues"] == 2
    again = control.call(
        "PATCH", f"/topics/{name}", json={"write_queues": 5}, headers={"If-Match": first.headers["etag"]}
    )
    assert again.status_code == 200


def test_a_dry_deletion_says_what_would_go_and_deletes_nothing(control: Control) -> None:
    topic, group = control.topic(), control.group()
    control.produce(topic, "a", "b", "c")
    control.consume(group, topic, 1)
    impact = control.call("DELETE", f"/topics/{topic}", params={"dry_run": "true"})
    lost = impact.json()
    del lost["scheduled"], lost["transactions"]  # RocketMQ's own brokers do not tell
    assert lost == {"groups": [group], "hidden_groups": 0, "messages": 3}
    assert control.get(f"/topics/{topic}")["name"] == topic


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("DELETE", "", None),
        ("GET", "/impact", None),
        ("PATCH", "/queues", {"brokers": [{"broker": "broker-a", "permission": "r"}]}),
        ("POST", ":pause", {}),
        ("POST", ":resume", None),
        ("POST", ":purge", {}),
    ],
)
def test_what_is_refused_is_not_planned_either(control: Control, method: str, path: str, body: Any) -> None:
    query = {} if method == "GET" else {"dry_run": "true"}
    headers = {"If-Match": "*"} if method in ("DELETE", "PATCH") else {}
    answer = control.call(method, f"/topics/TBW102{path}", params=query, json=body, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (409, "CONFLICT"), answer.text
    assert "belongs to the brokers" in answer.json()["detail"]


def test_what_a_deletion_removes_from_a_broker_that_does_not_answer_is_not_known(
    control: Control, gone: Callable[[str], None]
) -> None:
    topic = control.topic()
    control.produce(topic, "a")
    assert control.get(f"/topics/{topic}/impact")["messages"] == 1
    gone(topic)
    impact = control.get(f"/topics/{topic}/impact")
    assert (impact["messages"], impact["transactions"]) == (None, None)


def test_the_impact_of_a_deletion_is_read_like_anything_else(control: Control) -> None:
    topic, group = control.topic(), control.group()
    control.produce(topic, "a", "b", "c")
    control.consume(group, topic, 1)
    # Given the impact, which a dry run also returns
    impact = control.call("GET", f"/topics/{topic}/impact")
    dry = control.call("DELETE", f"/topics/{topic}", params={"dry_run": "true"})
    assert (impact.status_code, impact.json()["groups"], impact.json()["messages"]) == (200, [group], 3)
    assert (dry.json(), dry.headers["etag"]) == (impact.json(), impact.headers["etag"])
    # Then its tag allows the deletion
    assert control.call("DELETE", f"/topics/{topic}", headers={"If-Match": impact.headers["etag"]}).status_code == 204
    assert control.call("GET", f"/topics/{topic}/impact").status_code == 404


@pytest.mark.sample
def test_a_deleted_topic_is_gone(control: Control) -> None:
    topic = control.topic()
    assert control.change("DELETE", f"/topics/{topic}").status_code == 204
    assert control.call("GET", f"/topics/{topic}").status_code == 404
    assert control.call("DELETE", f"/topics/{topic}").status_code == 404


def test_a_topic_of_the_brokers_cannot_be_deleted(control: Control) -> None:
    answer = control.call("DELETE", "/topics/TBW102")
    assert (answer.status_code, answer.json()["code"]) == (409, "CONFLICT")


@pytest.mark.sample
def test_queues_show_what_is_stored(control: Control) -> None:
    topic = control.topic(queues=2)
    control.produce(topic, "a", "b", "c")
    queues = control.get(f"/topics/{topic}/queues")["items"]
    assert [queue["queue_id"] for queue in queues] == [0, 1]
    assert sum(queue["count"] for queue in queues) == 3
    assert all((queue["last_stored_at"] is None) == (queue["count"] == 0) for queue in queues)


def test_the_list_is_searched_counted_and_paged(control: Control) -> None:
    # Given three topics with a common, unused part of their names
    stem = control.name("paged")
    names = [control.topic(f"{stem}{letter}") for letter in "abc"]
    # When they are listed two by two
    first = control.get("/topics", search=stem.upper(), limit=2)
    second = control.get("/topics", search=stem.upper(), limit=2, cursor=first["next_cursor"])
    # Then each appears once, in order
    assert [row["name"] for page in (first, second) for row in page["items"]] == names
    assert (first["total"], second["next_cursor"]) == (3, None)
    assert first["counts"] == {"normal": 3, "retry": 0, "dlq": 0, "system": 0}


def test_system_topics_are_shown_when_asked_for(control: Control) -> None:
    assert "TBW102" not in [row["name"] for row in control.get("/topics", limit=500)["items"]]
    assert "TBW102" in [row["name"] for row in control.get("/topics", kind="system", limit=500)["items"]]


def test_a_cursor_of_another_question_is_gone(control: Control) -> None:
    control.topic("cursor-a"), control.topic("cursor-b")
    cursor = control.get("/topics", search="cursor", limit=1)["next_cursor"]
    for query in (
        {"search": "other", "cursor": cursor},
        {"search": "cursor", "cursor": cursor[:-3]},
        {"cursor": "AAAA"},
    ):
        answer = control.call("GET", "/topics", params=query)
        assert (answer.status_code, answer.json()["code"]) == (410, "CURSOR_GONE")


@pytest.mark.parametrize(
    "query",
    [{"limit": "0"}, {"limit": "501"}, {"limit": "x"}, {"sort": "size"}, {"kind": "odd"}],
)
def test_a_question_that_makes_no_sense_is_refused(control: Control, query: dict[str, str]) -> None:
    answer = control.call("GET", "/topics", params=query)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == f"?{next(iter(query))}"


async def test_what_a_page_shows_is_measured_however_many_topics_there_are(control: Control, broker: Broker) -> None:
    # Given more topics than are measured at a time while no sampler runs
    async with broker.session() as session:
        for _ in range(205):
            await create_topic(session, control.name(), queues=1)
    last = control.topic(f"zz-{control.name('last')}", queues=1)
    wait_until(lambda: control.get("/topics", search=last)["items"][0]["messages"] == 0)


def test_the_list_falls_by_a_figure(control: Control) -> None:
    stem = control.name("sorted")
    few, many = control.topic(f"{stem}few"), control.topic(f"{stem}many")
    control.produce(few, "a")
    control.produce(many, "a", "b")

    def falling() -> list[str]:
        return [row["name"] for row in control.get("/topics", search=stem, sort="-messages")["items"]]

    # The figures of a list may be a moment old.
    wait_until(lambda: falling() == [many, few])
    assert [row["name"] for row in control.get("/topics", search=stem, sort="messages")["items"]] == [few, many]


@pytest.mark.gantry_only("sizes of topics")
def test_the_list_tells_the_size_and_falls_by_it(control: Control) -> None:
    stem = control.name("sized")
    small, large = control.topic(f"{stem}small"), control.topic(f"{stem}large")
    control.produce(small, "a")
    control.produce(large, "a", "b")

    def falling() -> list[tuple[str, int | None]]:
        return [
            (row["name"], row["size_bytes"]) for row in control.get("/topics", search=stem, sort="-size_bytes")["items"]
        ]

    wait_until(lambda: falling()[0][0] == large and all(size for _, size in falling()))
    (first, more), (second, less) = falling()
    assert (first, second) == (large, small)
    # The names that stand in the messages may differ by a digit
    assert abs((more or 0) - 2 * (less or 0)) <= 4


def test_a_topic_that_no_group_reads_has_less_lag_than_none(control: Control) -> None:
    stem = control.name("behind")
    unread, read = control.topic(f"{stem}a"), control.topic(f"{stem}b")
    control.produce(read, "a")
    control.consume(control.group(), read, 1)

    def listed(sort: str) -> list[tuple[str, int, int]]:
        rows = control.get("/topics", search=stem, sort=sort)["items"]
        return [(row["name"], row["groups"], row["max_lag"]) for row in rows]

    wait_until(lambda: listed("-max_lag,name") == [(read, 1, 0), (unread, 0, 0)])
    assert listed("max_lag,name") == [(unread, 0, 0), (read, 1, 0)]


def test_queues_of_all_brokers_are_counted_together(control: Control) -> None:
    config = TopicConfig("orders", 4, 3, 6)
    topic = Topic("orders", TopicKind.NORMAL, {"broker-a": config, "broker-b": config})
    summary = summary_of(topic, TopicState(name=topic.name))
    assert (summary.read_queues, summary.total_read_queues, summary.total_write_queues) == (4, 8, 6)
    name = control.topic(queues=3)
    for shown in (control.get(f"/topics/{name}"), control.get("/topics", search=name)["items"][0]):
        assert (shown["total_read_queues"], shown["total_write_queues"]) == (3, 3)


def test_a_topic_of_the_brokers_is_not_changed(control: Control) -> None:
    answer = control.call("PATCH", "/topics/TBW102", headers={"If-Match": "*"}, json={"write_queues": 4})
    assert (answer.status_code, answer.json()["code"]) == (409, "CONFLICT"), answer.text


def test_a_list_is_narrowed_by_a_pattern_of_the_name(control: Control) -> None:
    name = control.topic("narrowed-by-pattern")
    for pattern, expected in ((f"NARROWED*{name[-2:]}", [name]), (f"~nbp{name[-2:]}", [name]), ("pattern*", [])):
        names = [row["name"] for row in control.get("/topics", search=pattern)["items"]]
        assert [each for each in names if each == name] == expected, pattern
    answer = control.call("GET", "/topics", params={"search": "a" * 256})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "?search")


@pytest.mark.gantry_only("message types")
def test_a_declared_message_type_is_shown_and_filtered(control: Control) -> None:
    stem = control.name("typed")
    plain = control.topic(f"{stem}-plain")
    ordered = f"{stem}-ordered"
    wanted = {"name": ordered, "message_type": "fifo"}
    made = control.call("POST", "/topics", json=wanted)
    assert (made.status_code, made.json()["message_type"]) == (201, "fifo")
    found = control.get("/topics", search=stem, message_type="fifo")
    assert [(row["name"], row["message_type"]) for row in found["items"]] == [(ordered, "fifo")]
    assert (control.get(f"/topics/{plain}")["message_type"], found["total"]) == (None, 1)
    assert control.call("POST", "/topics", json=wanted).json()["code"] == "ALREADY_EXISTS"
    # and a change of something else keeps it
    assert control.change("PATCH", f"/topics/{ordered}", json={"permission": "r"}).json()["message_type"] == "fifo"


def test_a_message_type_that_is_not_one_is_refused(control: Control) -> None:
    made = control.call("POST", "/topics", json={"name": control.name(), "message_type": "express"})
    listed = control.call("GET", "/topics", params={"message_type": "express"})
    assert (made.status_code, listed.status_code) == (422, 422)
