"""Requirements of `gateway.control.dead_letters`."""

from __future__ import annotations

import pytest

from tests.gateway.control.conftest import Control
from tests.support.wait import wait_until


def bury(control: Control, group: str, topic: str, *reasons: str | None) -> None:
    """Make one dead letter for each reason, and wait until they can be read."""
    control.produce(topic, *("x" for _ in reasons))
    path = f"/groups/{group}/topics/{topic}"
    for reason in reasons:
        received = control.call("POST", f"{path}:receive", json={"wait_ms": 5000, "max_messages": 1}).json()
        receipt = received["messages"][0]["receipt"]
        wanted = {"receipts": [receipt], "dead_letter": True} | ({"reason": reason} if reason else {})
        answer = control.call("POST", f"{path}:nack", json=wanted)
        assert answer.status_code == 200, answer.text
    wait_until(lambda: control.get(f"/dead-letters/{group}/causes")["read"] == len(reasons))


def test_dead_letters_are_counted_by_reason_and_those_without_one_apart(control: Control) -> None:
    topic, group = control.topic(), control.group()
    bury(control, group, topic, "db down", None, "db down")
    shown = control.get(f"/dead-letters/{group}/causes")
    assert [(each["reason"], each["count"]) for each in shown["items"]] == [("db down", 2), (None, 1)]
    assert shown["items"][0]["topics"] == [topic]
    assert (shown["read"], shown["stored"], shown["complete"]) == (3, 3, True)
    newest = control.get(f"/topics/%25DLQ%25{group}/messages")["items"][0]
    assert shown["items"][0]["last_message_id"] == newest["message_id"]
    # A part says that it is one.
    part = control.get(f"/dead-letters/{group}/causes", max_messages=1)
    assert (part["read"], part["stored"], part["complete"]) == (1, 3, False)


def test_a_group_without_dead_letters_has_no_causes_and_an_unknown_one_is_not_found(control: Control) -> None:
    shown = control.get(f"/dead-letters/{control.group()}/causes")
    assert shown == {"items": [], "read": 0, "stored": 0, "complete": True, "missing": []}
    answer = control.call("GET", "/dead-letters/nobody/causes")
    assert (answer.status_code, answer.json()["code"]) == (404, "GROUP_NOT_FOUND")


@pytest.mark.parametrize("limit", ["0", "2001", "many"])
def test_a_limit_out_of_range_is_refused_by_name(control: Control, limit: str) -> None:
    answer = control.call("GET", f"/dead-letters/{control.group()}/causes", params={"max_messages": limit})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "?max_messages")
