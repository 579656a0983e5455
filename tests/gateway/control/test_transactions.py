"""Requirements of `gateway.control.transactions`: what is open or was given up is listed, shown and checked again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from broker_core.client import Admin, Decision, Session, StoredMessage, TransactionProducer
from tests.gateway.control.conftest import Control
from tests.support.wait import eventually, wait_until

pytestmark = pytest.mark.usefixtures("documented")

BODY = {"encoding": "json", "data": {"id": "A17"}}


def prepared(control: Control, topic: str, group: str = "payments", key: str = "A17") -> dict[str, Any]:
    """Prepare a message; return the answer."""
    path = f"/topics/{topic}/messages?transaction=prepare&group={group}"
    answer = control.call("POST", path, json={"body": BODY, "keys": [key], "tag": "paid"})
    assert answer.status_code == 201, answer.text
    half: dict[str, Any] = answer.json()
    return half


def decided(control: Control, half: dict[str, Any], verb: str) -> Any:
    """Commit a transaction or roll it back."""
    return control.call("POST", f"/transactions/{half['transaction_id']}:{verb}", json={"reason": "by hand"})


@pytest.mark.gantry_only("brokers of Apache RocketMQ show no decisions")
def test_what_is_open_is_listed_the_oldest_first_and_paged(control: Control) -> None:
    topic, group = control.topic(), control.name("payments")
    halves = [prepared(control, topic, group, key) for key in ("a", "b", "c")]
    gone = prepared(control, topic, group, "gone")
    assert decided(control, gone, "rollback").status_code == 200
    page = control.get("/transactions", topic=topic, limit=2)
    rest = control.get("/transactions", topic=topic, limit=2, cursor=page["next_cursor"])
    lines = page["items"] + rest["items"]
    assert [line["message_id"] for line in lines] == [half["message_id"] for half in halves]
    assert (rest["next_cursor"], rest["missing"], rest["partial"]) == (None, [], [])
    line = lines[0]
    assert (line["topic"], line["group"], line["keys"], line["tag"]) == (topic, group, ["a"], "paid")
    assert (line["state"], line["checks"], line["checked_at"], line["body_bytes"]) == ("open", 0, None, 12)
    assert (line["producer_connected"], line["next_check_at"]) == (False, None)
    assert [each["message_id"] for each in control.get("/transactions", group=group)["items"]] == [
        half["message_id"] for half in halves
    ]
    assert control.get("/transactions", topic=topic, group="others")["items"] == []
    for key in ("b", halves[1]["message_id"]):
        found = control.get("/transactions", topic=topic, key=key)["items"]
        assert [each["message_id"] for each in found] == [halves[1]["message_id"]]
    assert control.get("/transactions", topic=topic, key="gone")["items"] == []


@pytest.mark.gantry_only("brokers of Apache RocketMQ show no decisions")
def test_a_listed_transaction_can_be_decided(control: Control) -> None:
    topic = control.topic()
    prepared(control, topic, key="a")
    (line,) = control.get("/transactions", topic=topic)["items"]
    assert decided(control, line, "commit").status_code == 200
    assert control.get("/transactions", topic=topic)["items"] == []
    wait_until(lambda: control.get(f"/transactions/{line['transaction_id']}")["state"] == "committed")
    refused = decided(control, line, "rollback")
    assert (refused.status_code, refused.json()["code"]) == (409, "TRANSACTION_DECIDED")


@pytest.mark.gantry_only("brokers of Apache RocketMQ show no decisions")
def test_one_transaction_has_its_message_for_those_who_may_read_bodies(control: Control) -> None:
    topic = control.topic()
    half = prepared(control, topic)
    found = control.get(f"/transactions/{half['transaction_id']}")
    assert (found["state"], found["message_id"], found["hidden"]) == ("open", half["message_id"], None)
    assert found["body"]["data"] == {"id": "A17"}
    assert found["properties"]["REAL_TOPIC"] == topic
    hidden = control.get(f"/transactions/{half['transaction_id']}", role="viewer")
    assert (hidden["body"], hidden["properties"]) == (None, None)
    assert "bodies" in hidden["hidden"]
    decided(control, half, "rollback")
    assert control.get(f"/transactions/{half['transaction_id']}")["state"] == "rolled_back"
    unknown = control.call("GET", "/transactions/t1.nothing")
    assert (unknown.status_code, unknown.json()["code"]) == (404, "TRANSACTION_NOT_FOUND")


@pytest.mark.gantry_only("brokers of Apache RocketMQ show no decisions")
def test_a_check_by_hand_is_recorded_and_refused_for_what_is_decided(control: Control) -> None:
    topic = control.topic()
    half = prepared(control, topic)
    path = f"/transactions/{half['transaction_id']}:check"
    assert control.call("POST", path, role="viewer").status_code == 403
    checked = control.call("POST", path)
    assert checked.status_code == 200, checked.text
    assert checked.json()["producer_connected"] is False
    rows = (
        control.as_("admin")
        .get("/api/v1/audit", params={"resource": f"{control.cluster}/topics/{topic}"})
        .json()["items"]
    )
    assert "transaction.check" in [row["action"] for row in rows]
    # Whichever id is used, first or newest record, it is the same transaction.
    assert control.get(f"/transactions/{half['transaction_id']}")["state"] == "open"
    (line,) = control.get("/transactions", topic=topic)["items"]
    assert line["message_id"] == half["message_id"]
    assert decided(control, line, "rollback").status_code == 200


@pytest.mark.gantry_only("its open transactions are checked by hand")
def test_a_check_by_hand_needs_produce_and_the_look_at_it_read(control: Control) -> None:
    topic = control.topic()
    half = prepared(control, topic)
    path = f"/transactions/{half['transaction_id']}"
    for scope, answers in ((f"produce:{topic}", (403, 200)), (f"read:{topic}", (200, 403))):
        headers = control.token(scope)
        looked = control.call("GET", path, role="stranger", headers=headers)
        checked = control.call("POST", f"{path}:check", role="stranger", headers=headers)
        assert (looked.status_code, checked.status_code) == answers, (looked.text, checked.text)
    other = control.token("read:nothing", "produce:nothing")
    for method, each, right in (("GET", path, "read"), ("POST", f"{path}:check", "produce")):
        refused = control.call(method, each, role="stranger", headers=other)
        assert (refused.status_code, refused.json()["code"]) == (403, "FORBIDDEN")
        assert f"the right '{right}' on topic '{topic}'" in refused.json()["detail"]
    assert decided(control, half, "rollback").status_code == 200


@pytest.mark.sample
def test_on_every_broker_what_is_listed_can_be_checked_and_decided(control: Control) -> None:
    topic = control.topic()
    half = prepared(control, topic)
    wait_until(lambda: control.get("/transactions", topic=topic)["items"])
    page = control.get("/transactions", topic=topic)
    (line,) = page["items"]
    assert page["partial"] == (["broker-a"] if control.is_apache and page["partial"] else [])
    assert (line["message_id"], line["group"], line["state"]) == (half["message_id"], "payments", "open")
    checked = control.call("POST", f"/transactions/{line['transaction_id']}:check")
    assert checked.status_code == (409 if control.is_apache else 200), checked.text
    wait_until(lambda: control.get("/transactions", topic=topic)["items"])
    (newest,) = control.get("/transactions", topic=topic)["items"]
    assert decided(control, newest, "commit").status_code == 200
    wait_until(lambda: control.get(f"/transactions/{line['transaction_id']}")["state"] == "committed")
    for each in (newest, line, half):
        assert decided(control, each, "commit").status_code == 200
        refused = decided(control, each, "rollback")
        assert (refused.status_code, refused.json()["code"]) == (409, "TRANSACTION_DECIDED")
    assert len(control.get(f"/topics/{topic}/messages")["items"]) == 1


@pytest.mark.gantry_only("brokers of Apache RocketMQ show no decisions")
def test_what_is_open_for_a_topic_is_told_before_the_topic_is_deleted(control: Control) -> None:
    topic, other = control.topic(), control.topic()
    halves = [prepared(control, topic) for _ in range(3)]
    decided(control, halves[0], "commit")
    assert control.get(f"/topics/{topic}/impact")["transactions"] == 2
    planned = control.call("POST", "/topics:delete", json={"topics": [other, topic]}, params={"dry_run": "true"})
    assert [each["transactions"] for each in planned.json()["items"]] == [0, 2]
    for half in halves[1:]:
        decided(control, half, "rollback")
    assert control.get(f"/topics/{topic}/impact")["transactions"] == 0


def test_a_state_that_does_not_exist_is_refused(control: Control) -> None:
    answer = control.call("GET", "/transactions?state=lost")
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "?state")
    assert control.get("/transactions", state="given_up", topic="nothing")["items"] == []
    for name in ("topic", "group", "key"):
        answer = control.call("GET", "/transactions", params={name: "x" * 1_001})
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, f"?{name}")


async def _unknown(_: StoredMessage) -> Decision:
    return Decision.UNKNOWN


@pytest.fixture
def few_checks(control: Control) -> Iterator[None]:
    """Brokers ask at once, and once."""

    def change(timeout_ms: int, interval_ms: int, most: int) -> None:
        wanted = {
            "transactionTimeOut": str(timeout_ms),
            "transactionCheckInterval": str(interval_ms),
            "transactionCheckMax": str(most),
        }
        asyncio.run(_with_session(control, lambda session: _change(session, wanted)))

    change(50, 100, 1)
    yield
    change(6_000, 60_000, 15)


async def _change(session: Session, wanted: dict[str, str]) -> None:
    admin = Admin(session)
    for address in await admin.clusters.masters():
        await admin.maintenance.change_settings_of(address, wanted)


async def _with_session(control: Control, work: Callable[[Session], Awaitable[None]]) -> None:
    async with control.broker.session() as session:
        await work(session)


def given_up(control: Control, topic: str, group: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Prepare a message about which the broker stops to ask; return it as it was shown when it was open, and now."""
    half = prepared(control, topic, group)
    before = control.get(f"/transactions/{half['transaction_id']}")

    async def answer_nothing(session: Session) -> None:
        async with TransactionProducer(session, group, _unknown):
            await eventually(is_given_up)

    async def is_given_up() -> bool:
        found = await asyncio.to_thread(control.get, "/transactions", state="given_up", topic=topic)
        return bool(found["items"])

    asyncio.run(_with_session(control, answer_nothing))
    (line,) = control.get("/transactions", state="given_up", group=group)["items"]
    assert (line["message_id"], line["state"]) == (half["message_id"], "given_up")
    return before, line


ASKED_ONCE = ("prepared_at", "checks", "checked_at")


@pytest.mark.gantry_only("its settings of transactions are live")
def test_what_was_given_up_is_listed_and_can_still_be_committed(control: Control, few_checks: None) -> None:
    topic, group = control.topic(), control.name("payments")
    before, line = given_up(control, topic, group)
    assert (line["prepared_at"], line["checks"]) == (before["prepared_at"], 1)
    assert line["checked_at"] >= line["prepared_at"]
    assert control.get("/transactions", topic=topic)["items"] == []
    for key in ("A17", line["message_id"]):
        found = control.get("/transactions", state="given_up", topic=topic, key=key)
        assert (found["items"], found["next_cursor"], found["partial"]) == ([line], None, [])
    assert control.get("/transactions", state="given_up", topic=topic, key="A18")["items"] == []
    for each in (line, before):
        shown = control.get(f"/transactions/{each['transaction_id']}")
        assert shown["state"] == "given_up"
        assert [shown[name] for name in ASKED_ONCE] == [line[name] for name in ASKED_ONCE]
    assert decided(control, line, "commit").status_code == 200
    # Then it is not among what is to decide, and found by its message id
    wait_until(lambda: control.get("/transactions", state="given_up", group=group)["items"] == [])
    found = control.get("/transactions", state="given_up", key=line["message_id"])["items"]
    assert [each["state"] for each in found] == ["committed"]
    ended = control.get(f"/transactions/{before['transaction_id']}")
    assert (ended["state"], ended["checks"], ended["prepared_at"]) == ("committed", 1, before["prepared_at"])


@pytest.mark.gantry_only("its settings of transactions are live")
def test_what_was_given_up_and_is_checked_again_keeps_its_time_and_its_checks(
    control: Control, few_checks: None
) -> None:
    topic, group = control.topic(), control.name("payments")
    before, line = given_up(control, topic, group)
    assert control.call("POST", f"/transactions/{before['transaction_id']}:check").status_code == 200
    (again,) = control.get("/transactions", topic=topic)["items"]
    assert (again["prepared_at"], again["checks"]) == (before["prepared_at"], 1)
    for key in ({}, {"key": line["message_id"]}):
        assert control.get("/transactions", state="given_up", group=group, **key)["items"] == []
    assert decided(control, again, "rollback").status_code == 200
    for each in (before, line, again):
        assert control.get(f"/transactions/{each['transaction_id']}")["state"] == "rolled_back"
        assert decided(control, each, "commit").status_code == 409


@pytest.mark.gantry_only("its settings of transactions are live")
def test_what_was_given_up_twice_is_listed_once(control: Control, few_checks: None) -> None:
    topic, group = control.topic(), control.name("payments")
    _, line = given_up(control, topic, group)
    assert control.call("POST", f"/transactions/{line['transaction_id']}:check").status_code == 200

    async def answer_nothing(session: Session) -> None:
        async with TransactionProducer(session, group, _unknown):
            await eventually(is_given_up_again)

    async def is_given_up_again() -> bool:
        return not (await asyncio.to_thread(control.get, "/transactions", topic=topic))["items"]

    asyncio.run(_with_session(control, answer_nothing))
    for found in ({"group": group}, {"key": line["message_id"]}):
        (again,) = control.get("/transactions", state="given_up", **found)["items"]
        assert (again["message_id"], again["state"], again["checks"]) == (line["message_id"], "given_up", 2)


@pytest.mark.gantry_only("its settings of transactions are live")
def test_what_was_given_up_and_rolled_back_stays_so(control: Control, few_checks: None) -> None:
    topic, group = control.topic(), control.name("payments")
    before, line = given_up(control, topic, group)
    assert decided(control, line, "rollback").status_code == 200
    wait_until(lambda: control.get("/transactions", state="given_up", group=group)["items"] == [])
    (found,) = control.get("/transactions", state="given_up", key=line["message_id"])["items"]
    assert found["state"] == "rolled_back"
    for each in (before, line):
        assert control.get(f"/transactions/{each['transaction_id']}")["state"] == "rolled_back"
        checked = control.call("POST", f"/transactions/{each['transaction_id']}:check")
        refused = checked.status_code, checked.json()["code"], checked.json()["decision"]
        assert refused == (409, "TRANSACTION_DECIDED", "rolled_back")
        assert decided(control, each, "commit").status_code == 409
    assert control.get("/transactions", topic=topic)["items"] == []
