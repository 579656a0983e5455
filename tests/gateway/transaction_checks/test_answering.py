"""Requirements of `gateway.transaction_checks`: real brokers ask, a real gateway posts, a real web server decides."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from itertools import count
from threading import Event

import pytest
from redis import Redis

from broker_core.client import Admin
from broker_core.protocol.bodies.groups import ProducerTableInfo
from broker_core.protocol.headers.groups import GetAllProducerInfoRequest
from console.alerts.webhook import signature
from gateway.transaction_checks.answering import LEADER_KEY
from tests.console.alerts.receivers import Hook, dripping_hook
from tests.gateway.installation import Installation, another_process
from tests.gateway.transaction_checks.conftest import Checks
from tests.support.cluster import RunningBroker
from tests.support.wait import wait_until

NUMBERS = count(1)


def by_key(body: bytes) -> bytes:
    """Decide as the key of the message says."""
    return json.dumps({"decision": json.loads(body)["keys"][0]}).encode()


def members(brokers: list[RunningBroker], group: str) -> list[int]:
    """Return how many members of a producer group each broker knows."""

    async def ask() -> list[int]:
        async with brokers[0].session() as session:
            requests = Admin(session).transactions._requests
            tables = [
                await requests.ask_for(ProducerTableInfo, broker.address, GetAllProducerInfoRequest())
                for broker in brokers
            ]
            return [len(table.data.get(group, ())) for table in tables]

    return asyncio.run(ask())


def test_a_hook_decides_what_nobody_else_did_on_every_broker(checks: Checks, hook: Hook) -> None:
    # Given half messages on two brokers, whose producers are gone
    hook.decide = by_key
    topic = checks.topic()
    paid = [checks.prepared(topic, "commit") for _ in range(4)]
    cancelled = [checks.prepared(topic, "rollback") for _ in range(4)]
    # When the group gets a hook
    registered = checks.registered(secret="s3cret")
    # Then each of them ends as the hook says
    wait_until(lambda: checks.keys_in(topic) == ["commit"] * 4)
    wait_until(lambda: [checks.state_of(half) for half in cancelled] == ["rolled_back"] * 4)
    assert [checks.state_of(half) for half in paid] == ["committed"] * 4
    assert checks.keys_in(topic) == ["commit"] * 4
    # And it was asked with all that it needs to know, signed
    headers, body = hook.posted[0]
    asked = json.loads(body)
    assert (asked["event"], asked["hook"], asked["cluster"]) == ("transaction_check", registered["id"], "local")
    assert (asked["topic"], asked["group"], asked["tag"], asked["checks"]) == (topic, checks.group, "paid", 1)
    assert asked["body"]["data"] == {"id": "A17"}
    assert asked["properties"]["source"] == "web"
    assert {json.loads(each)["broker"] for _, each in hook.posted} == {"broker-a", "broker-b"}
    assert {json.loads(each)["message_id"] for _, each in hook.posted} == {
        half["message_id"] for half in (*paid, *cancelled)
    }
    assert (headers["Gantry-Event"], headers["Gantry-Delivery"]) == ("transaction_check", asked["delivery"])
    seconds, signed = (part.partition("=")[2] for part in headers["Gantry-Signature"].split(","))
    assert signed == signature("s3cret", int(seconds), body)
    # And its id is one for decisions by hand
    path = f"{checks.path}/transactions/{asked['transaction_id']}"
    assert checks.http.get(path).json()["state"] in ("committed", "rolled_back")
    wait_until(lambda: checks.shown(registered)["last"])
    last = checks.shown(registered)["last"]
    assert (last["failure"], last["status"], last["topic"]) == (None, 200, topic)
    assert checks.shown(registered)["last_failure"] is None


@pytest.mark.parametrize(
    ("status", "answer", "failure"),
    [
        (500, b'{"decision": "commit"}', "127.0.0.1 answered 500"),
        (302, b'{"decision": "commit"}', "127.0.0.1 answered 302"),
        (200, b'{"decision": "unknown"}', None),
        (200, b'{"decision": "maybe"}', "the decision 'maybe' is not one of commit, rollback, unknown"),
        (200, b"commit", 'the answer is not JSON such as {"decision": "commit"}'),
        (200, b'{"decision": "commit"' + b" " * 500 + b"}", "the answer is longer than 500 characters"),
    ],
)
def test_what_is_no_decision_is_shown_and_asked_again(
    checks: Checks, hook: Hook, status: int, answer: bytes, failure: str | None
) -> None:
    hook.status, hook.answer = status, answer
    hook.location = hook.url if status == 302 else None
    topic = checks.topic()
    half, registered = checks.prepared(topic), checks.registered()
    wait_until(lambda: len(hook.posted) >= 3)
    wait_until(lambda: checks.shown(registered)["last_failure"])
    shown = checks.shown(registered)
    assert (shown["last"]["decision"], shown["last"]["failure"], shown["last"]["status"]) == (
        "unknown",
        failure,
        status,
    )
    assert shown["last"]["message_id"] == half["message_id"]
    assert (checks.keys_in(topic), checks.state_of(half)) == ([], "open")
    counted = [json.loads(body)["checks"] for _, body in hook.posted]
    assert counted == sorted(set(counted)), "each check is posted once"
    hook.status, hook.answer = 200, b'{"decision": "commit"}'
    wait_until(lambda: checks.keys_in(topic) == ["A17"])
    wait_until(lambda: checks.shown(registered)["last"]["decision"] == "commit")
    assert checks.shown(registered)["last_failure"]["failure"] == failure


@pytest.fixture
def silence(hook: Hook) -> Iterator[Event]:
    """The hook answers nothing until this is set."""
    ended = Event()
    hook.decide = lambda _: b'{"decision": "commit"}' if ended.wait(300) else b""
    yield ended
    ended.set()


def test_a_silent_hook_decides_nothing_and_holds_up_no_other(
    checks: Checks, silence: Event, checked: Installation
) -> None:
    topic = checks.topic()
    halves = [checks.prepared(topic) for _ in range(6)]
    registered = checks.registered()
    wait_until(lambda: checks.shown(registered)["last"])
    assert checks.shown(registered)["last"]["failure"] == "127.0.0.1 did not answer within 5 s"
    assert {checks.state_of(half) for half in halves} == {"open"}
    silence.set()
    wait_until(lambda: checks.keys_in(topic) == ["A17"] * 6)


def test_hooks_that_never_end_their_answers_hold_up_no_other_and_are_left_when_deleted(
    checks: Checks, hook: Hook
) -> None:
    topic = checks.topic()
    with dripping_hook() as slow:
        # Given more posts to slow hooks than a pool of threads has room for
        registered = []
        for _ in range(5):
            checks.group = f"slow-{next(NUMBERS)}"
            registered.append(checks.registered(url=slow.url))
            for _ in range(4):
                checks.prepared(topic)
        wait_until(lambda: len(slow.waiting) == 20)
        # When another hook is asked, then it is heard
        checks.group = f"healthy-{next(NUMBERS)}"
        hook.answer = b'{"decision": "commit"}'
        checks.registered()
        half = checks.prepared(topic, "healthy")
        wait_until(lambda: checks.keys_in(topic) == ["healthy"])
        assert checks.state_of(half) == "committed"
        # And each slow one shows what is wrong
        wait_until(lambda: all(checks.shown(each)["last"] for each in registered))
        assert checks.shown(registered[0])["last"]["failure"] == "127.0.0.1 did not answer within 5 s"
        # And with a hook its posts end
        wait_until(lambda: len(slow.waiting) == 20)
        for each in registered:
            path = f"{checks.path}/transaction-hooks/{each['id']}"
            checks.http.delete(path, headers={"If-Match": "*"}).raise_for_status()
        wait_until(lambda: not slow.waiting)


def test_a_decision_that_comes_too_late_is_none(checks: Checks) -> None:
    topic = checks.topic()
    with dripping_hook() as slow:
        slow.begin = b'HTTP/1.1 200 OK\r\n\r\n{"decision": "commit"} '
        half, registered = checks.prepared(topic), checks.registered(url=slow.url)
        wait_until(lambda: checks.shown(registered)["last"])
        last = checks.shown(registered)["last"]
        assert (last["decision"], last["status"]) == ("unknown", 200)
        assert last["failure"] == "127.0.0.1 did not answer in full within 5 s"
        assert checks.state_of(half) == "open"


def test_a_hook_that_is_slow_once_still_gets_the_newest_of_the_checks_that_came_meanwhile(
    few_checks: Checks, hook: Hook
) -> None:
    # Given a hook that knows nothing yet, and says so only after the broker has given the transaction up
    given_up = Event()

    def decide(body: bytes) -> bytes:
        first = json.loads(body)["checks"] == 1
        return b'{"decision": "unknown"}' if first and given_up.wait(300) else b'{"decision": "commit"}'

    hook.decide = decide
    topic = few_checks.topic()
    half, _ = few_checks.prepared(topic), few_checks.registered()
    wait_until(lambda: few_checks.state_of(half) == "given_up")
    given_up.set()
    # Then the last check is posted too, the one before it is not, and its decision counts
    wait_until(lambda: few_checks.state_of(half) == "committed")
    assert few_checks.keys_in(topic) == ["A17"]
    assert [json.loads(body)["checks"] for _, body in hook.posted] == [1, 3]


def test_a_hook_that_is_disabled_or_deleted_leaves_the_group(
    checks: Checks, hook: Hook, brokers: list[RunningBroker]
) -> None:
    registered = checks.registered()
    path, any_tag = f"{checks.path}/transaction-hooks/{registered['id']}", {"If-Match": "*"}
    wait_until(lambda: members(brokers, checks.group) == [1, 1])
    assert checks.http.patch(path, json={"enabled": False}, headers=any_tag).status_code == 200
    wait_until(lambda: members(brokers, checks.group) == [0, 0])
    assert checks.http.patch(path, json={"enabled": True}, headers=any_tag).status_code == 200
    wait_until(lambda: members(brokers, checks.group) == [1, 1])
    assert checks.http.delete(path, headers=any_tag).status_code == 204
    wait_until(lambda: members(brokers, checks.group) == [0, 0])


def test_a_changed_url_and_secret_are_used_for_the_next_check(checks: Checks, hook: Hook) -> None:
    registered = checks.registered(url="http://127.0.0.1:9/nobody")
    topic = checks.topic()
    checks.prepared(topic)
    wait_until(lambda: checks.shown(registered)["last"])
    assert "refused the connection" in checks.shown(registered)["last"]["failure"]
    hook.answer = b'{"decision": "commit"}'
    path = f"{checks.path}/transaction-hooks/{registered['id']}"
    changed = {"url": hook.url, "secret": "n3w"}
    assert checks.http.patch(path, json=changed, headers={"If-Match": "*"}).status_code == 200
    wait_until(lambda: checks.keys_in(topic) == ["A17"])
    headers, body = hook.posted[0]
    seconds, signed = (part.partition("=")[2] for part in headers["Gantry-Signature"].split(","))
    assert signed == signature("n3w", int(seconds), body)


def test_one_of_several_processes_asks_and_another_one_takes_over(
    checks: Checks, hook: Hook, checked: Installation, brokers: list[RunningBroker], redis_url: str
) -> None:
    registered = checks.registered()
    topic = checks.topic()
    checks.prepared(topic)
    with another_process(checked), Redis.from_url(redis_url) as store:
        wait_until(lambda: members(brokers, checks.group) == [1, 1])
        # When the process that leads loses the lead
        store.set(LEADER_KEY, "somebody")
        wait_until(lambda: members(brokers, checks.group) == [0, 0])
        store.delete(LEADER_KEY)
        # Then one of them takes over, and asks what was not decided
        wait_until(lambda: members(brokers, checks.group) == [1, 1])
        before = len(hook.posted)
        wait_until(lambda: len(hook.posted) > before)
    hook.answer = b'{"decision": "rollback"}'
    wait_until(lambda: checks.shown(registered)["last"]["decision"] == "rollback")
    assert checks.keys_in(topic) == []


def test_a_broker_of_apache_rocketmq_is_answered_too(apache_checks: Checks, hook: Hook) -> None:
    hook.decide = by_key
    topic = apache_checks.topic()
    for decision in ("commit", "rollback"):
        apache_checks.prepared(topic, decision)
    registered = apache_checks.registered()
    wait_until(lambda: {json.loads(body)["keys"][0] for _, body in hook.posted} == {"commit", "rollback"})
    wait_until(lambda: apache_checks.keys_in(topic) == ["commit"])
    wait_until(lambda: apache_checks.shown(registered)["last"])
    assert apache_checks.shown(registered)["last_failure"] is None
