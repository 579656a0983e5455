"""Requirements of `gateway.control.scheduled`: what waits is listed, counted, moved and recalled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from broker_core.client.answers import Answers
from broker_core.client.errors import Unreachable
from broker_core.protocol.bodies.timers import TimerSummary, WaitingInTopic
from console.clusters.memory import QueueCounts, Remembered, RememberedBroker
from gateway.control.scheduled_reading import waiting_of
from tests.gateway.control.conftest import Control
from tests.support.wait import wait_until

pytestmark = pytest.mark.usefixtures("documented")

HOUR_MS = 3_600_000


def sent(control: Control, topic: str, *keys: str, delay_ms: int = HOUR_MS) -> list[dict[str, Any]]:
    """Store a message that waits for each of the keys; return the results."""
    body = {"encoding": "json", "data": {"id": "A17"}}
    messages = [{"keys": [key], "tag": "late", "body": body, "delay_ms": delay_ms} for key in keys]
    answer = control.call("POST", f"/topics/{topic}/messages", json={"messages": messages})
    assert answer.status_code == 201, answer.text
    results: list[dict[str, Any]] = answer.json()["results"]
    return results


def waiting(control: Control, topic: str, **query: Any) -> list[str]:
    """Return the keys of the messages that wait for a topic."""
    return [each["keys"][0] for each in control.get("/scheduled", topic=topic, **query)["items"]]


@pytest.mark.gantry_only("delivery times")
def test_what_waits_is_listed_by_its_time_and_paged(control: Control) -> None:
    topic = control.topic()
    (last,) = sent(control, topic, "last", delay_ms=2 * HOUR_MS)
    sent(control, topic, "a", "b")

    page = control.get("/scheduled", topic=topic, limit=2)
    rest = control.get("/scheduled", topic=topic, limit=2, cursor=page["next_cursor"])

    assert [each["keys"] for each in page["items"] + rest["items"]] == [["a"], ["b"], ["last"]]
    assert (rest["next_cursor"], rest["missing"]) == (None, [])
    line = rest["items"][0]
    assert (line["message_id"], line["due_at"], line["tag"]) == (last["message_id"], last["deliver_at"], "late")
    assert waiting(control, topic, key="b") == ["b"]
    assert waiting(control, topic, key=last["message_id"]) == ["last"]
    assert waiting(control, topic, from_=last["deliver_at"]) == ["last"]
    assert waiting(control, topic, to=last["deliver_at"]) == ["a", "b"]


@pytest.mark.gantry_only("delivery times")
def test_what_waits_for_a_topic_is_told_before_the_topic_is_deleted(control: Control) -> None:
    topic, other = control.topic(), control.topic()
    sent(control, topic, "a", "b", "c")

    assert control.get(f"/topics/{topic}/impact")["scheduled"] == 3
    answer = control.call("POST", "/topics:delete", json={"topics": [other, topic]}, params={"dry_run": "true"})
    assert [each["scheduled"] for each in answer.json()["items"]] == [0, 3]


def test_how_many_wait_is_unknown_while_a_broker_that_may_hold_some_does_not_tell() -> None:
    seen = datetime(2026, 7, 1, tzinfo=UTC)
    gone = RememberedBroker("broker-b", {0: "b:2"}, seen, seen, topics={"orders": QueueCounts(4, 4, 6)})
    here = Answers({"broker-a": TimerSummary([WaitingInTopic("orders", 3)])})
    silent = Answers(here.found, {"broker-b": Unreachable("b:2", "refused")})

    def counted(answers: Answers[TimerSummary], *known: RememberedBroker) -> dict[str, int | None]:
        async def summary(*_: int) -> Answers[TimerSummary]:
            return answers

        admin: Any = SimpleNamespace(timers=SimpleNamespace(summary=summary))
        memory = Remembered({each.name: each for each in known})
        return asyncio.run(waiting_of(admin, memory, ["orders", "payments"]))

    assert counted(here) == {"orders": 3, "payments": 0}
    assert counted(here, gone) == {"orders": None, "payments": 0}
    assert counted(silent) == {"orders": None, "payments": None}


@pytest.mark.gantry_only("delivery times")
def test_a_message_that_waits_is_shown_with_its_body_to_who_may_read_it(control: Control) -> None:
    topic = control.topic("payments")
    (result,) = sent(control, topic, "a")
    path = f"/scheduled/{result['message_id']}"

    assert control.get(path)["body"]["data"] == {"id": "A17"}
    hidden = control.get(path, role="viewer")
    assert (hidden["body"], hidden["properties"]) == (None, None)
    assert "'bodies'" in hidden["hidden"]
    assert control.call("GET", path, role="narrow").status_code == 404
    assert control.call("GET", "/scheduled/AC1100010000").status_code == 404


@pytest.mark.gantry_only("delivery times")
def test_the_topic_in_which_all_wait_is_only_for_who_may_read_every_topic(control: Control) -> None:
    # Given a message that waits, and a token for the broker's topic but not for the message's
    (result,) = sent(control, control.topic("payments"), "a")
    verbs = ("read", "bodies", "consume")
    some, every = control.token(*(f"{verb}:rmq_*" for verb in verbs)), control.token(*verbs)
    parked = "rmq_sys_wheel_timer"
    reads = (
        ("GET", f"/messages/{result['message_id']}?topic={parked}"),
        ("GET", f"/messages/{result['message_id']}/body?topic={parked}"),
        ("GET", f"/messages:search?topic={parked}&key=a"),
        ("GET", f"/topics/{parked}/messages"),
        ("GET", f"/topics/{parked}/queues/0/messages?offset=0&bodies=true"),
        ("POST", f"/groups/{control.name('g')}/topics/{parked}:receive"),
    )
    for method, path in reads:
        # Then it is refused at every door, and whoever may read every topic is not
        refused = control.call(method, path, role="stranger", headers=some)
        assert refused.status_code == 403, (path, refused.text)
        if method == "GET":
            allowed = control.call(method, path, role="stranger", headers=every)
            assert allowed.status_code == 200, (path, allowed.text)


@pytest.mark.gantry_only("delivery times")
def test_a_recalled_message_never_comes_and_the_audit_says_who_did_it(control: Control) -> None:
    topic = control.topic()
    (result,) = sent(control, topic, "a")
    path = f"/scheduled/{result['message_id']}"

    assert control.call("DELETE", path, role="viewer").status_code == 403
    for _ in range(2):
        answer = control.call("DELETE", path)
        assert (answer.status_code, answer.json()["outcome"]) == (200, "recalled"), answer.text
    assert waiting(control, topic) == []
    assert control.call("GET", path).status_code == 404
    assert control.call("PATCH", path, json={"delay_ms": 5}).status_code == 409
    changes = control.as_("admin").get("/api/v1/audit", params={"action": "message.recall"}).json()["items"]
    assert any(change["before"] == {"message_id": result["message_id"]} for change in changes)


@pytest.mark.gantry_only("delivery times")
@pytest.mark.parametrize("what", ["", "/timeline"])
def test_a_message_that_is_not_in_its_topic_yet_is_said_to_wait(control: Control, what: str) -> None:
    topic = control.topic()
    (result,) = sent(control, topic, "a")
    waits = f"/scheduled/{result['message_id']}"
    due = control.get(waits)["due_at"]

    def why_not(of: str) -> str:
        answer = control.call("GET", f"/messages/{result['message_id']}{what}", params={"topic": of})
        assert answer.status_code == 404, answer.text
        return str(answer.json()["detail"])

    none = f"No message of topic '{topic}' has the id '{result['message_id']}'"
    assert why_not(topic) == f"{none}: it waits for its delivery time, {due}; see {waits}."
    other = control.topic()
    assert why_not(other) == f"No message of topic '{other}' has the id '{result['message_id']}'."
    assert control.call("DELETE", waits).status_code == 200
    assert why_not(topic) == f"{none}: it waited for a delivery time, and was delivered or recalled."


@pytest.mark.gantry_only("delivery times")
def test_a_message_that_may_wait_on_a_broker_that_is_gone_is_not_said_to_be_nowhere(
    control: Control, gone: Callable[[str], None]
) -> None:
    (result,) = sent(control, control.topic(), "a")
    path, here = f"/scheduled/{'A' * 32}", f"/scheduled/{result['message_id']}"
    requests: list[tuple[str, Any]] = [("GET", None), ("PATCH", {"delay_ms": 5}), ("DELETE", None)]
    assert {control.call(method, path, json=body).status_code for method, body in requests} == {404}

    gone("rmq_sys_wheel_timer")

    for method, body in requests:
        answer = control.call(method, path, json=body)
        assert (answer.status_code, answer.json()["code"]) == (503, "BROKER_UNREACHABLE"), answer.text
        assert "broker-gone was not searched" in answer.json()["detail"]
    # The broker that had this one is there, so that it is known not to wait any more
    assert control.call("DELETE", here).status_code == 200
    assert control.call("GET", here).status_code == 404


@pytest.mark.gantry_only("delivery times")
def test_a_message_is_moved_to_another_time_and_cannot_be_recalled_once_it_came(control: Control) -> None:
    topic = control.topic()
    (result,) = sent(control, topic, "a")
    path = f"/scheduled/{result['message_id']}"
    later = (datetime.now(UTC) + timedelta(hours=5)).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    moved = control.call("PATCH", path, json={"deliver_at": later})
    assert (moved.status_code, moved.json()["due_at"]) == (200, later), moved.text
    assert control.get("/scheduled", topic=topic)["items"][0]["due_at"] == later

    assert control.call("PATCH", path, json={"delay_ms": 0}).status_code == 200
    wait_until(lambda: control.get(f"/topics/{topic}/messages")["items"])
    for method, body in (("DELETE", None), ("PATCH", {"delay_ms": 1000})):
        answer = control.call(method, path, json=body)
        assert answer.status_code == 409, answer.text
        assert "was delivered" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("body", "pointer", "words"),
    [
        ({}, "#/deliver_at", "give deliver_at or delay_ms"),
        ({"delay_ms": 1, "deliver_at": "2100-01-01T00:00:00Z"}, "#/deliver_at", "only one of them"),
        ({"deliver_at": "tomorrow"}, "#/deliver_at", "'tomorrow'"),
        ({"delay_ms": -1}, "#/delay_ms", "Must be at least 0."),
        ({"delay_ms": 2**53 + 1}, "#/delay_ms", "Must be at most 9,007,199,254,740,992."),
    ],
)
@pytest.mark.gantry_only("delivery times")
def test_a_time_that_is_none_is_refused(control: Control, body: dict[str, Any], pointer: str, words: str) -> None:
    topic = control.topic()
    (result,) = sent(control, topic, "a")
    answer = control.call("PATCH", f"/scheduled/{result['message_id']}", json=body)
    (error,) = answer.json()["errors"]
    assert (answer.status_code, error["pointer"]) == (422, pointer), answer.text
    assert words in error["detail"]


@pytest.mark.parametrize(
    "wish",
    [{"delay_ms": 72 * HOUR_MS + 1}, {"delay_ms": 2**53}, {"deliver_at": "2100-01-01T00:00:00Z"}],
)
@pytest.mark.gantry_only("delivery times")
def test_a_time_that_is_too_far_away_is_refused_as_for_a_new_message(control: Control, wish: dict[str, Any]) -> None:
    topic = control.topic()
    (result,) = sent(control, topic, "a")
    produced = control.call(
        "POST", f"/topics/{topic}/messages", json={"body": {"encoding": "text", "data": "b"}, **wish}
    )
    answer = control.call("PATCH", f"/scheduled/{result['message_id']}", json=wish)
    assert (answer.status_code, answer.json()["code"]) == (422, "DELAY_NOT_SERVED"), answer.text
    assert "keeps messages for at most 3 days" in answer.json()["detail"]
    assert answer.json()["errors"][0]["pointer"] == produced.json()["errors"][0]["pointer"] == f"#/{next(iter(wish))}"
    assert produced.json()["code"] == "DELAY_NOT_SERVED"
    assert (
        control.call("PATCH", f"/scheduled/{result['message_id']}", json={"delay_ms": 72 * HOUR_MS}).status_code == 200
    )


@pytest.mark.gantry_only("delivery times")
def test_what_waits_is_counted_by_topic_and_time(control: Control) -> None:
    topic = control.topic("payments")
    begin = datetime.now(UTC).replace(microsecond=0)
    sent(control, topic, "a", "b", delay_ms=HOUR_MS)
    sent(control, topic, "c", delay_ms=50 * HOUR_MS)

    summary = control.get("/scheduled/summary", from_=begin.isoformat(), bucket_ms=2 * HOUR_MS)

    (ours,) = [each for each in summary["topics"] if each["topic"] == topic]
    assert ours["waiting"] == 3
    assert [each["due"] for each in summary["buckets"] if each["topic"] == topic] == [2]
    assert summary["waiting"] >= 3
    assert (summary["max_delay_ms"], summary["partial"], summary["missing"]) == (72 * HOUR_MS, False, [])
    assert summary["last_day"]["recalled"] >= 0
    narrow = control.get("/scheduled/summary", role="narrow")
    assert topic not in {each["topic"] for each in narrow["topics"]}
    assert control.call("GET", "/scheduled/summary", params={"bucket_ms": "5"}).status_code == 422
