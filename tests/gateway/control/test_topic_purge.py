"""Requirements of `gateway.control.topic_purge`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.gateway.control.conftest import Control


def purge(
    control: Control, topic: str, body: dict[str, Any] | None = None, *, dry: bool = False, role: str = "operator"
) -> Any:
    answer = control.call(
        "POST", f"/topics/{topic}:purge", json=body or {}, params={"dry_run": str(dry).lower()}, role=role
    )
    assert answer.status_code == 200, answer.text
    return answer.json()


def queue_of(control: Control, topic: str) -> Any:
    (queue,) = control.get(f"/topics/{topic}/queues")["items"]
    return queue


def test_a_purge_does_what_its_preview_said_and_offsets_go_on(control: Control) -> None:
    name, group = control.topic(), control.group()
    control.produce(name, *"abcde")
    control.consume(group, name, 2)
    plan = purge(control, name, dry=True)
    (planned,) = plan["queues"]
    assert (planned["min_offset"], planned["max_offset"], planned["before"], plan["messages"]) == (0, 5, 5, 5)
    assert plan["groups"] == [{"name": group, "unread": 3, "reason": None}]
    assert plan["bytes"] > 5 * 91
    assert plan["brokers"] == []
    assert queue_of(control, name)["count"] == 5

    control.produce(name, "after the preview")
    wish = {"queues": [{key: planned[key] for key in ("broker", "queue_id", "before")}]}
    for _ in range(2):  # it may be repeated
        done = purge(control, name, wish)
        assert done["brokers"] == [{"broker": "broker-a", "done": True, "reason": None}]
    assert (done["messages"], done["bytes"]) == (0, None)
    queue = queue_of(control, name)
    assert (queue["min_offset"], queue["max_offset"], queue["count"]) == (5, 6, 1)
    gone = control.call("GET", f"/topics/{name}/queues/0/messages", params={"offset": 3})
    assert (gone.status_code, gone.json()["code"]) == (410, "OFFSET_GONE"), gone.text
    assert control.produce(name, "next")[0]["offset"] == 6


def test_what_a_broker_that_is_away_has_cannot_be_purged(control: Control, gone: Callable[[str], None]) -> None:
    name = control.topic()
    gone(name)
    wish = {"queues": [{"broker": "broker-gone", "queue_id": 0, "before": 1}]}
    answer = control.call("POST", f"/topics/{name}:purge", json=wish)
    assert (answer.status_code, answer.json()["code"]) == (503, "BROKER_UNREACHABLE"), answer.text
    assert answer.json()["detail"].startswith("What queue broker-gone/0 holds is not known: ")


def test_a_purge_is_recorded(control: Control) -> None:
    name = control.topic()
    control.produce(name, "a", "b")
    purge(control, name)
    audit = control.as_("admin").get(
        "/api/v1/audit", params={"action": "topic.purge", "resource": f"local/topics/{name}"}
    )
    (record,) = audit.json()["items"]
    assert (record["result"], record["after"]) == ("ok", {"begins": {"broker-a/0": 2}})


def test_it_takes_the_right_to_delete(control: Control) -> None:
    name = control.topic()
    assert control.call("POST", f"/topics/{name}:purge", json={}, role="viewer").status_code == 403


def test_what_cannot_be_purged_is_refused_by_name(control: Control) -> None:
    name = control.topic()
    system = control.call("POST", "/topics/TBW102:purge", json={})
    assert (system.status_code, system.json()["code"]) == (409, "CONFLICT")
    assert control.call("POST", "/topics/nobody-made-this:purge", json={}).status_code == 404
    for queue, words in (
        ({"broker": "elsewhere", "queue_id": 0, "before": 0}, "elsewhere/0 is not a queue"),
        ({"broker": "broker-a", "queue_id": 0, "before": 7}, "7 is behind that"),
    ):
        odd = control.call("POST", f"/topics/{name}:purge", json={"queues": [queue]})
        assert (odd.status_code, words in odd.text) == (422, True), odd.text
