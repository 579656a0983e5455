"""Requirements of `console.clusters.outcomes`: a change reports its outcome by broker; a repetition completes it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from broker_core.client.answers import Answers
from broker_core.client.blocking import LoopThread
from broker_core.client.errors import BrokerRefused, MalformedAnswer, NotConfirmed, TimedOut, Unreachable
from broker_core.errors import GantryError
from console.audit.models import AuditRecord
from console.clusters import connections
from console.clusters.memory import QueueCounts, Sighting, remember, remembered
from console.clusters.outcomes import BrokerAnswers
from tests.support.cast import Cast
from tests.support.cluster import RunningBroker, started_broker
from tests.support.scripted import scripted_cluster
from tests.support.wait import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

TOPIC = {"name": "orders", "read_queues": 2, "write_queues": 2}
GROUP = {"name": "billing", "retry_max_times": 3}
BOTH = [("broker-a", True), ("broker-b", True)]
ONE = [("broker-a", True), ("broker-b", False)]
ANY = {"HTTP_IF_MATCH": "*"}
AS_SLAVE = ("--broker-id", "1", "--role", "slave")
NO_MASTER = "no master of broker 'broker-b' is known"


@dataclass
class Pair:
    """A cluster ``prod`` of two brokers, and an operator."""

    second: RunningBroker
    browser: Any

    def call(self, method: str, path: str, body: object = None, **headers: str) -> Any:
        """Send a request below the cluster."""
        send = getattr(self.browser, method.lower())
        return send(f"/api/v1/clusters/prod{path}", body, format="json", **headers)

    def listed(self) -> set[str]:
        """Return the names of the brokers that the name server lists."""

        async def question(admin: Any) -> set[str]:
            return {broker.name for broker in await admin.clusters.brokers()}

        return connections.ask("prod", question)

    def masters(self) -> set[str]:
        """Return the names of those of them that have a master."""

        async def question(admin: Any) -> set[str]:
            return set((await admin.clusters.masters()).values())

        return connections.ask("prod", question)

    def lose(self, *, topics: dict[str, QueueCounts] | None = None, groups: tuple[str, ...] = ()) -> None:
        """Remember what broker-b has, and stop it; the name server forgets it."""
        seen = Sighting("broker-b", {0: self.second.address}, topics or {}, dict.fromkeys(groups, ()))
        remember("prod", [seen], datetime.now(UTC))
        self.second.stop()
        wait_until(lambda: self.listed() == {"broker-a"})

    def bring_back(self) -> None:
        """Start broker-b again, with its files and at its address."""
        self.second.start()
        wait_until(lambda: self.listed() == {"broker-a", "broker-b"})


@pytest.fixture
def pair(running: RunningBroker, tmp_path: Path, cast: Cast) -> Iterator[Pair]:
    """Both brokers answer."""
    with started_broker(tmp_path / "b", name_servers=running.name_server, broker_name="broker-b") as second:
        found = Pair(second, cast.browser("operator"))
        wait_until(lambda: found.listed() == {"broker-a", "broker-b"})
        yield found


def took(answer: Any) -> list[tuple[str, bool]]:
    return [(each["broker"], each["done"]) for each in answer.json()["brokers"]]


def recorded_results(action: str) -> list[str]:
    return list(AuditRecord.objects.filter(action=action).order_by("pk").values_list("result", flat=True))


def expect_partly(answer: Any) -> None:
    assert (answer.status_code, took(answer)) == (207, ONE), answer.content
    assert [each["reason"] for each in answer.json()["brokers"]] == [None, "broker-b is not listed by any name server"]


@pytest.mark.parametrize(("path", "wanted"), [("/topics", TOPIC), ("/groups", GROUP)])
def test_a_creation_that_one_broker_missed_is_made_up_for_by_the_same_request(
    pair: Pair, path: str, wanted: dict[str, Any]
) -> None:
    # Given a known broker that has stopped
    pair.lose()
    # Then each creation reports which brokers made it
    expect_partly(pair.call("POST", path, wanted))
    expect_partly(pair.call("POST", path, wanted))
    other = pair.call("POST", path, {**wanted, **({"read_queues": 7} if path == "/topics" else {"retry_max_times": 7})})
    assert (other.status_code, other.json()["code"]) == (409, "ALREADY_EXISTS")
    # And after the broker has started again the same request creates it there; later it changes nothing
    pair.bring_back()
    caught_up = pair.call("POST", path, wanted)
    assert (caught_up.status_code, took(caught_up)) == (201, BOTH), caught_up.content
    assert pair.call("POST", path, wanted).status_code == 409
    assert recorded_results(f"{path[1:-1]}.create") == ["partial", "partial", "ok"]
    partial = AuditRecord.objects.filter(result="partial").first()
    assert partial is not None
    assert (partial.after or {})["brokers"][1]["reason"] == "broker-b is not listed by any name server"


def test_a_change_that_one_broker_missed_is_made_up_for_by_the_same_request(pair: Pair) -> None:
    for path, wanted, change, held in (
        ("/topics", TOPIC, {"write_queues": 5}, {"topics": {"orders": QueueCounts(2, 2, 6)}}),
        ("/groups", GROUP, {"retry_max_times": 9}, {"groups": ("billing",)}),
    ):
        assert pair.call("POST", path, wanted).status_code == 201
        one = f"{path}/{wanted['name']}"
        tag = {"HTTP_IF_MATCH": pair.call("GET", one)["ETag"]}
        pair.lose(**held)
        expect_partly(pair.call("PATCH", one, change, **tag))
        # The restarted broker has the settings that were read first, so their ETag is still valid.
        pair.bring_back()
        again = pair.call("PATCH", one, change, **tag)
        assert (again.status_code, took(again)) == (200, BOTH), again.content
        late = pair.call("PATCH", one, change, **tag)
        assert late.status_code == 412, "now nothing is as it was read"
        assert recorded_results(f"{path[1:-1]}.update") == ["partial", "ok"]


def test_a_deletion_that_one_broker_missed_is_made_up_for_by_the_same_request(pair: Pair) -> None:
    for path, wanted, held in (
        ("/topics", TOPIC, {"topics": {"orders": QueueCounts(2, 2, 6)}}),
        ("/groups", GROUP, {"groups": ("billing",)}),
    ):
        assert pair.call("POST", path, wanted).status_code == 201
        one = f"{path}/{wanted['name']}"
        tag = {"HTTP_IF_MATCH": pair.call("GET", one)["ETag"]}
        pair.lose(**held)
        partly = pair.call("DELETE", one, **tag)
        expect_partly(partly)
        assert partly.json()["name"] == wanted["name"]
        pair.bring_back()
        assert pair.call("DELETE", one, **tag).status_code == 204
        known = remembered("prod").brokers["broker-b"]
        assert not known.topics.keys() | known.groups.keys(), "what was deleted is remembered no more"
        assert pair.call("DELETE", one, **ANY).status_code == 404
        assert recorded_results(f"{path[1:-1]}.delete") == ["partial", "ok"]


def test_a_broker_that_is_listed_and_does_not_answer_says_why(pair: Pair) -> None:
    pair.second.process.send_signal(19)  # type: ignore[union-attr]  # it keeps its connections and says nothing
    try:
        answer = pair.call("POST", "/topics", TOPIC)
        assert (answer.status_code, took(answer)) == (207, [("broker-a", True), ("broker-b", None)]), answer.content
        assert "broker-b at 127.0.0.1:" in answer.json()["brokers"][1]["reason"]
        assert "did not answer within" in answer.json()["brokers"][1]["reason"]
    finally:
        pair.second.process.send_signal(18)  # type: ignore[union-attr]


def test_a_change_that_no_broker_took_is_a_problem_in_words(pair: Pair, running: RunningBroker) -> None:
    pair.lose(topics={"payments": QueueCounts(1, 1, 6)})
    for method in ("PATCH", "DELETE"):
        body = {"write_queues": 5} if method == "PATCH" else None
        answer = pair.call(method, "/topics/payments", body, **ANY)
        assert (answer.status_code, answer.json()["code"]) == (503, "BROKER_UNREACHABLE")
        assert answer.json()["detail"] == "broker-b is not listed by any name server"
    running.stop(kill=True)
    assert pair.call("POST", "/groups", GROUP).status_code == 503
    assert recorded_results("topic.update") == ["failed"]
    failed = AuditRecord.objects.get(action="topic.delete")
    assert (failed.after or {})["error"] == "broker-b is not listed by any name server"


@pytest.mark.parametrize(("path", "wanted"), [("/topics", TOPIC), ("/groups", GROUP)])
def test_what_no_master_was_told_is_not_said_to_be_made(
    pair: Pair, running: RunningBroker, tmp_path: Path, path: str, wanted: dict[str, Any]
) -> None:
    # Given a name that is listed with a slave alone
    pair.second.stop()
    with started_broker(tmp_path / "s", name_servers=running.name_server, broker_name="broker-b", arguments=AS_SLAVE):
        wait_until(lambda: pair.masters() == {"broker-a"} and pair.listed() == {"broker-a", "broker-b"})
        # Then a creation that one master took is made in part, and the other broker says why not
        partly = pair.call("POST", path, wanted)
        assert (partly.status_code, took(partly)) == (207, ONE), partly.content
        assert partly.json()["brokers"][1]["reason"] == NO_MASTER
        again = pair.call("POST", path, wanted)
        assert (again.status_code, took(again)) == (207, ONE), again.content
    assert recorded_results(f"{path[1:-1]}.create") == ["partial", "partial"]


@pytest.fixture
def before_election() -> Iterator[str]:
    """The address of a name server that lists a broker with a slave alone, as before a first election."""
    thread, stack = LoopThread("scripted"), AsyncExitStack()

    async def begin() -> str:
        cluster = await stack.enter_async_context(scripted_cluster("broker-b"))
        cluster.without_master.add("broker-b")
        return cluster.name_server.addr

    try:
        yield thread.run(begin(), timeout_s=60)
    finally:
        thread.run(stack.aclose(), timeout_s=60)


def test_a_change_while_there_is_no_master_is_refused_for_now(before_election: str, cast: Cast) -> None:
    browser, young = cast.browser("admin"), {"name": "young", "name_servers": [before_election]}
    assert browser.post("/api/v1/clusters", young, format="json").status_code == 201
    for path, wanted in (("topics", TOPIC), ("groups", GROUP)):
        refused = browser.post(f"/api/v1/clusters/young/{path}", wanted, format="json")

        assert (refused.status_code, refused["Content-Type"]) == (503, "application/problem+json"), refused.content
        problem = refused.json()
        assert (problem["code"], problem["retryable"], problem["detail"]) == ("BROKER_UNREACHABLE", True, NO_MASTER)
        assert recorded_results(f"{path[:-1]}.create") == ["failed"]
    assert browser.delete("/api/v1/clusters/young", **ANY).status_code == 204


def failed_with(*errors: GantryError, done: tuple[str, ...] = ()) -> BrokerAnswers:
    """The answers of brokers at addresses 0, 1, … of which the first ones failed so."""
    failed = {str(number): error for number, error in enumerate(errors)}
    masters = {**{addr: f"broker-{addr}" for addr in failed}, **{name: name for name in done}}
    return BrokerAnswers(masters, Answers(dict.fromkeys(done), failed))


@pytest.mark.parametrize(
    ("error", "done"),
    [
        (TimedOut("0", 5_000), None),
        (Unreachable("0", "closed", was_sent=True), None),
        (MalformedAnswer("0", "no JSON"), None),
        (NotConfirmed(1, "done, but [NOT_CONFIRMED]", "0"), None),
        (TimedOut("0", 5_000, was_sent=False), False),
        (Unreachable("0", "refused"), False),
        (BrokerRefused(1, "no", "0"), False),
    ],
)
def test_of_a_change_that_was_sent_and_not_answered_nobody_knows(error: GantryError, done: bool | None) -> None:
    outcomes = failed_with(error, done=("broker-b",)).outcomes()
    assert [(each.broker, each.done) for each in outcomes] == [("broker-0", done), ("broker-b", True)]


def test_a_change_that_nobody_confirmed_fails_as_what_may_have_been_made() -> None:
    with pytest.raises(TimedOut):
        failed_with(Unreachable("0", "refused"), TimedOut("1", 5_000)).outcomes()
