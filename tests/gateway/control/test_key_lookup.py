"""Requirements of `gateway.control.key_lookup`."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock

import pytest

from broker_core.client.admin.index import SearchFigures
from broker_core.client.errors import Unreachable
from console.clusters.memory import QueueCounts, Remembered, RememberedBroker
from gateway.control import key_lookup
from gateway.control.key_lookup import _answer, _Looked, _names
from gateway.control.messages import searched_of
from tests.gateway.control.conftest import Control

SEEN = datetime(2026, 5, 1, tzinfo=UTC)
BACKWARDS = {"from": "2026-05-02T00:00:00Z", "to": "2026-05-01T00:00:00Z"}


def look_up(control: Control, **body: Any) -> Any:
    answer = control.call("POST", "/messages:search", json=body, role=body.pop("role", "operator"))
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_many_keys_are_found_or_named_as_missing(control: Control) -> None:
    topic, keys = control.topic(), [f"K{n}" for n in range(200)]
    stored = {key: control.produce(topic, key, keys=[key])[0]["message_id"] for key in ("K1", "K7")}
    answer = look_up(control, topic=topic, keys=[*keys, stored["K7"]])
    assert (answer["verdict"], answer["complete"], answer["partial"]) == ("match", True, [])
    found = {each["key"]: [item["message_id"] for item in each["items"]] for each in answer["found"]}
    assert found == {"K1": [stored["K1"]], "K7": [stored["K7"]], stored["K7"]: [stored["K7"]]}
    assert answer["missing"] == [key for key in keys if key not in stored]
    assert control.is_apache or answer["searched"]["entries_visited"] >= 2


def test_a_key_is_found_in_all_topics_that_the_caller_may_read(control: Control) -> None:
    key = control.name("key")
    orders, payments = control.topic("orders"), control.topic("payments")
    for topic in (orders, payments):
        control.produce(topic, "a", keys=[key])

    def topics(role: str) -> set[str]:
        [found] = look_up(control, topic=None, keys=[key], role=role)["found"]
        return {item["topic"] for item in found["items"]}

    assert topics("operator") == {orders, payments}
    assert topics("narrow") == {orders}


def test_a_key_with_more_messages_than_asked_for_says_so(control: Control) -> None:
    topic = control.topic()
    newest = control.produce(topic, "a", "b", "c", keys=["hot"])[-1]["message_id"]
    [found] = look_up(control, topic=topic, keys=["hot"], per_key=2)["found"]
    assert (found["has_more"], len(found["items"])) == (True, 2)
    assert newest in {item["message_id"] for item in found["items"]}


def test_a_lookup_that_is_not_served_is_refused_by_name(control: Control) -> None:
    topic = control.topic()
    for body, pointer in (
        ({"topic": topic, "keys": []}, "#/keys"),
        ({"topic": topic, "keys": ["a", "a"]}, "#/keys"),
        ({"topic": topic, "keys": ["a"] * 1001}, "#/keys"),
        ({"keys": ["a"]}, "#/topic"),
        ({"topic": topic, "keys": ["a"], "tag": "x"}, "#/tag"),
        ({"topic": topic, "keys": ["a"], "from": "yesterday"}, "#/from"),
        ({"topic": topic, "keys": ["a"], **BACKWARDS}, "#/to"),
    ):
        answer = control.call("POST", "/messages:search", json=body)
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer), answer.text
    assert control.call("POST", "/messages:search", json={"topic": "none", "keys": ["a"]}).status_code == 404
    one = control.call("GET", "/messages:search", params={"topic": topic, "key": "a", **BACKWARDS})
    scan = control.call("POST", f"/topics/{topic}/messages:scan", json={"text": "a", **BACKWARDS})
    assert [each.status_code for each in (one, scan)] == [422, 422]


async def test_while_no_name_server_answers_the_topics_are_those_that_were_seen_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = AsyncMock(side_effect=Unreachable("10.0.0.9:9876", "refused"))
    silent: Any = SimpleNamespace(topics=SimpleNamespace(names=names))
    seen = RememberedBroker("broker-a", {}, SEEN, SEEN, topics={"orders": QueueCounts(1, 1, 6)})

    known = AsyncMock(side_effect=[Remembered({"broker-a": seen}), Remembered()])
    monkeypatch.setattr(key_lookup, "aremembered", known)

    assert await _names(silent, "local") == ["orders"]
    with pytest.raises(Unreachable):
        await _names(silent, "local")


def test_what_the_last_known_brokers_have_is_not_called_all() -> None:
    looked = _Looked(frozenset({"broker-a"}), is_told=False)
    searched = searched_of(SearchFigures(), 0, 1, 0.0)

    answer = _answer(looked, ["A17"], [], searched)

    assert (answer.verdict, answer.complete, answer.missing) == ("partial", False, [])
    assert [each.reason for each in answer.partial] == ["no name server answers: other brokers may have more"]
