"""Requirements of `gateway.control.messages` and `search`."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

import pytest
from rest_framework.exceptions import ValidationError

from broker_core.client.admin.topics import Topic, TopicKind
from broker_core.client.blocking import BlockingSession
from broker_core.protocol.bodies import TopicConfig
from broker_core.protocol.headers.send import SendMessageV2Request
from broker_core.protocol.sys_flag import COMPRESSED
from console.clusters.memory import QueueCounts, RememberedBroker
from console.errors import NotServed
from gateway.control.messages import queue_holder
from tests.gateway.control.conftest import Broker, Control
from tests.support.wait import wait_until

# Each page follows the chain of the key from its newest entry, so the time grows with the square: 100 takes minutes.
THOUSANDS: Final = int(os.environ.get("THOUSANDS", "5"))


def found_by_key(control: Control, topic: str, key: str, *, limit: int) -> tuple[list[str], list[dict[str, Any]]]:
    """Search page by page; return the ids in the order of the answers, and the pages."""
    pages: list[dict[str, Any]] = []
    cursor = None
    while True:
        query: dict[str, Any] = {"topic": topic, "key": key, "limit": limit} | ({"cursor": cursor} if cursor else {})
        pages.append(control.get("/messages:search", **query))
        cursor = pages[-1]["next_cursor"]
        if cursor is None:
            return [item["message_id"] for page in pages for item in page["items"]], pages


@pytest.mark.sample
def test_a_message_is_found_by_its_key(control: Control) -> None:
    topic = control.topic()
    [stored] = control.produce(topic, "hello", keys=["A17", "cust-9"], tag="created")
    control.produce(topic, "other", keys=["A18"])
    answer = control.get("/messages:search", topic=topic, key="A17")
    assert (answer["verdict"], answer["complete"], answer["next_cursor"]) == ("match", True, None)
    [item] = answer["items"]
    assert item["message_id"] == stored["message_id"]
    assert (item["keys"], item["tag"], item["queue_offset"], item["broker"]) == (
        ["A17", "cust-9"],
        "created",
        0,
        "broker-a",
    )
    assert control.is_apache or answer["searched"]["entries_visited"] >= 1


def test_a_queue_is_read_by_offset_with_or_without_bodies(control: Control) -> None:
    topic = control.topic()
    control.produce(topic, "a", "b", "c", properties={"source": "web"})
    path = f"/topics/{topic}/queues/0/messages"
    page = control.get(path, offset=1, limit=1, bodies="true")
    assert [(each["body"]["data"], each["properties"]["source"]) for each in page["items"]] == [("b", "web")]
    assert (page["next_offset"], page["min_offset"], page["max_offset"]) == (2, 0, 3)
    assert [each["body"] for each in control.get(path, offset=0)["items"]] == [None] * 3


def test_without_the_right_a_message_is_shown_without_its_contents(control: Control) -> None:
    topic = control.topic()
    [stored] = control.produce(topic, "secret", keys=["A17"], properties={"card": "4111"})
    shown = control.get(f"/messages/{stored['message_id']}", topic=topic, role="viewer")
    assert (shown["keys"], shown["body"], shown["properties"]) == (["A17"], None, None)
    assert shown["hidden"] == f"This needs the right 'bodies' on {topic!r}."
    assert control.get(f"/messages/{stored['message_id']}", topic=topic)["hidden"] is None
    asked = {
        f"/topics/{topic}/queues/0/messages?offset=0&bodies=true": None,
        f"/topics/{topic}/messages:scan": {"text": "secret"},
        f"/topics/{topic}/messages:scan?": {"bodies": True},
    }
    for path, body in asked.items():
        answer = control.call("GET" if body is None else "POST", path.rstrip("?"), role="viewer", json=body)
        assert answer.status_code == 403, path
        # The refusal also says which rule decided
        assert answer.json()["detail"].startswith(f"This needs the right 'bodies' on topic {topic!r}. "), path
    by_key = control.call("POST", f"/topics/{topic}/messages:scan", role="viewer", json={"key": "A17"})
    assert len(by_key.json()["items"]) == 1


def test_no_match_is_said_only_when_all_was_seen(control: Control) -> None:
    answer = control.get("/messages:search", topic=control.topic(), key="nothing")
    assert (answer["verdict"], answer["complete"], answer["items"]) == ("no_match", True, [])


@pytest.mark.sample
def test_every_message_of_a_key_is_reached_once_newest_first(control: Control) -> None:
    # Given more messages of one key than a broker returns at a time, some of them stored in the same millisecond
    topic = control.topic(queues=3)
    stored = [
        result["message_id"]
        for batch in range(5)
        for result in control.produce(topic, *(f"{batch} {n}" for n in range(100)), keys=["hot"])
    ]
    # When they are searched in pages of any size
    for limit in (37, 500):
        ids, pages = found_by_key(control, topic, "hot", limit=limit)
        # Then each is found once; a page is not partial because there are more
        assert len(ids) == len(set(ids)) == 500
        assert set(ids) == set(stored)
        moments = [item["stored_at"] for page in pages for item in page["items"]]
        assert moments == sorted(moments, reverse=True)
        assert {(page["verdict"], page["complete"]) for page in pages} == {("match", True)}
        assert pages[-1]["verdict"] == "match"
        # And the way back has them all again
        back = ids[-len(pages[-1]["items"]) :]
        cursor = pages[-1]["prev_cursor"]
        while cursor is not None:
            page = control.get("/messages:search", topic=topic, key="hot", limit=limit, cursor=cursor)
            back = [item["message_id"] for item in page["items"]] + back
            cursor = page["prev_cursor"]
        assert back == ids
        assert page["next_cursor"] is not None


def test_a_key_that_may_lie_on_a_broker_that_is_gone_is_no_complete_no(
    control: Control, gone: Callable[[str], None]
) -> None:
    topic, other, lost = control.topic(), control.topic(), control.name("lost")
    control.produce(topic, "a", keys=["here"])
    gone(topic)
    answer = control.get("/messages:search", topic=topic, key="elsewhere")
    assert (answer["verdict"], answer["complete"], answer["items"]) == ("partial", False, [])
    ((broker, reason),) = [(each["broker"], each["reason"]) for each in answer["missing"]]
    assert broker == "broker-gone"
    assert "Errno" not in reason
    found = control.get("/messages:search", topic=topic, key="here")
    assert (found["verdict"], len(found["items"]), len(found["missing"])) == ("partial", 1, 1)
    # A topic that it never had is searched completely; one that only it had is not "no such topic".
    assert control.get("/messages:search", topic=other, key="here")["verdict"] == "no_match"
    assert control.call("GET", "/messages:search", params={"topic": lost, "key": "k"}).status_code == 404
    gone(lost)
    assert control.get("/messages:search", topic=lost, key="k")["verdict"] == "partial"


def test_an_id_that_may_lie_on_a_broker_that_is_gone_is_not_said_to_be_nowhere(
    control: Control, gone: Callable[[str], None]
) -> None:
    topic = control.topic()
    control.produce(topic, "a")
    nothing = f"/messages/{'A' * 32}"
    assert control.call("GET", nothing, params={"topic": topic}).status_code == 404
    gone(topic)
    answer = control.call("GET", nothing, params={"topic": topic})
    assert (answer.status_code, answer.json()["code"]) == (503, "BROKER_UNREACHABLE"), answer.text
    assert "broker-gone was not searched" in answer.json()["detail"]


def test_an_id_in_a_topic_that_only_a_broker_that_is_gone_has_is_not_said_to_be_nowhere(
    control: Control, gone: Callable[[str], None]
) -> None:
    lost = control.name("lost")
    nothing = f"/messages/{'A' * 32}"
    assert control.call("GET", nothing, params={"topic": lost}).status_code == 404
    gone(lost)
    answer = control.call("GET", nothing, params={"topic": lost})
    assert (answer.status_code, answer.json()["code"]) == (503, "BROKER_UNREACHABLE"), answer.text


def test_a_search_keeps_to_its_span(control: Control) -> None:
    topic = control.topic()
    control.produce(topic, "old", keys=["k"])
    [old] = control.get("/messages:search", topic=topic, key="k")["items"]
    control.produce(topic, "new", keys=["k"])
    both = control.get("/messages:search", topic=topic, key="k", from_=old["stored_at"])
    assert {item["message_id"] for item in both["items"]} > {old["message_id"]}
    before = control.get("/messages:search", topic=topic, key="k", to=old["stored_at"])
    assert before["items"] == []
    nothing = control.get("/messages:search", topic=topic, key="k", to="2020-01-01T00:00:00Z")
    assert nothing["verdict"] == "no_match"


def test_a_search_without_topic_or_key_is_refused(control: Control) -> None:
    for query in ({"key": "k"}, {"topic": "orders"}, {"topic": "orders", "key": "k", "from": "yesterday"}):
        assert control.call("GET", "/messages:search", params=query).status_code == 422


def test_a_message_is_shown_whole_by_either_id(control: Control) -> None:
    topic = control.topic()
    path = f"/topics/{topic}/messages"
    body = {"encoding": "json", "data": {"id": "A17", "n": [1, 2]}}
    entry = {"body": body, "keys": ["A17"], "properties": {"source": "web"}}
    result = control.call("POST", path, json=entry).json()["results"][0]
    shown = control.get(f"/messages/{result['message_id']}", topic=topic)
    assert shown["body"] == {**body, "text": '{"id":"A17","n":[1,2]}'}
    assert shown["properties"]["source"] == "web"
    assert shown["body_bytes"] < shown["size_bytes"]
    assert control.get(f"/messages/{shown['offset_id']}", topic=topic) == shown


def test_a_body_that_is_no_text_is_base64(control: Control) -> None:
    topic = control.topic()
    raw = bytes(range(256))
    control.call("POST", f"/topics/{topic}/messages", content=raw, headers={"Content-Type": "application/octet-stream"})
    [item] = control.get(f"/topics/{topic}/messages")["items"]
    body = control.get(f"/messages/{item['message_id']}", topic=topic)["body"]
    assert (body["encoding"], base64.b64decode(body["data"])) == ("base64", raw)


@pytest.mark.parametrize(
    "stored",
    [
        '{"price": 1.10, "id": 12345678901234567890123, "a": 1, "a": 2}',
        '{"n": 1e999, "m": -1E+999}',
        '{"n": ' + "9" * 400 + "}",
        '[1.0, 0.1000, "\\u00e9", "é"]',
    ],
)
def test_a_body_is_shown_to_the_letter(control: Control, stored: str) -> None:
    topic = control.topic()
    content = f'{{"messages": [{{"body": {{"encoding": "json", "data": {stored}}}}}]}}'
    headers = {"Content-Type": "application/json"}
    sent = control.call("POST", f"/topics/{topic}/messages", content=content.encode(), headers=headers)
    assert sent.status_code == 201, sent.text
    wait_until(lambda: control.get(f"/topics/{topic}/messages")["items"])
    (message,) = control.get(f"/topics/{topic}/messages")["items"]
    shown = control.call("GET", f"/messages/{message['message_id']}", params={"topic": topic})
    assert shown.status_code == 200
    assert f'"data":{stored}' in shown.text
    assert shown.json()["body"]["text"] == stored


def test_a_body_nested_deeper_than_readers_go_is_text(control: Control) -> None:
    topic = control.topic()
    stored = "[" * 10_000 + "]" * 10_000
    control.produce(topic, stored)
    (message,) = control.get(f"/topics/{topic}/messages")["items"]
    body = control.get(f"/messages/{message['message_id']}", topic=topic)["body"]
    assert body == {"encoding": "text", "data": stored, "text": None}


def test_a_filter_that_is_not_served_is_refused_by_name(control: Control) -> None:
    topic = control.topic()
    for path in (f"/topics/{topic}/queues/0/messages?offset=0", "/groups", "/topics"):
        answer = control.call("GET", f"{path}{'&' if '?' in path else '?'}tag=paid")
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "?tag"), path


def test_an_id_that_nothing_has_is_not_there(control: Control) -> None:
    topic = control.topic()
    for message_id in ("7F0000010000000000000000DEADBEEF", "nonsense"):
        answer = control.call("GET", f"/messages/{message_id}", params={"topic": topic})
        assert (answer.status_code, answer.json()["code"]) == (404, "NOT_FOUND")


def test_a_message_tells_which_groups_have_consumed_it(control: Control) -> None:
    topic, group = control.topic(), control.group()
    first, _, third = control.produce(topic, "a", "b", "c")
    control.consume(group, topic, 1)

    def delivery(result: dict[str, Any]) -> dict[str, Any]:
        [item] = control.get(f"/messages/{result['message_id']}/deliveries", topic=topic)["items"]
        return dict(item)

    assert delivery(first) == {"group": group, "state": "consumed", "behind": None}
    assert delivery(third) == {"group": group, "state": "not_reached", "behind": 1}


def test_a_message_names_no_group_that_its_reader_may_not_read(control: Control) -> None:
    # Given a topic orders-… that a group orders-… and one of another name have consumed
    topic, mine, others = control.topic(), control.group("orders"), control.group("billing")
    [stored] = control.produce(topic, "a")
    for group in (mine, others):
        control.consume(group, topic, 1)

    def groups(role: str) -> set[str]:
        items = control.get(f"/messages/{stored['message_id']}/deliveries", role=role, topic=topic)["items"]
        return {item["group"] for item in items}

    assert groups("operator") == {mine, others}
    # Then a token for orders* sees only its own
    assert groups("narrow") == {mine}


def test_a_topic_is_browsed_newest_first_over_its_queues(control: Control) -> None:
    topic = control.topic(queues=3)
    stored = [control.produce(topic, str(n))[0]["message_id"] for n in range(7)]
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = control.get(f"/topics/{topic}/messages", limit=3, **({"cursor": cursor} if cursor else {}))
        seen += [item["message_id"] for item in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == stored[::-1]
    assert page["missing"] == []


def test_a_topic_is_browsed_with_the_names_of_those_that_are_gone(
    control: Control, gone: Callable[[str], None]
) -> None:
    topic, lost = control.topic(queues=1), control.name("lost")
    control.produce(topic, "a", "b")
    gone(topic)
    # On every page, and where the broker had that queue
    first = control.get(f"/topics/{topic}/messages", limit=1)
    last = control.get(f"/topics/{topic}/messages", limit=1, cursor=first["next_cursor"])
    one = control.get(f"/topics/{topic}/messages", queue=0)
    for page in (first, last, one):
        assert [each["broker"] for each in page["missing"]] == ["broker-gone"]
        assert page["items"]
    # A number of a queue of both names neither, and what the broker has is unknown
    path = f"/topics/{topic}/queues/0/messages"
    unclear = control.call("GET", path, params={"offset": 0}).json()
    assert [error["pointer"] for error in unclear["errors"]] == ["?broker"]
    assert "is on broker-a, broker-gone: say on which one" in unclear["detail"]
    away = control.call("GET", path, params={"offset": 0, "broker": "broker-gone"})
    assert away.status_code == 503
    assert "no master of broker 'broker-gone' is known" in away.json()["detail"]
    # A topic that only it had is unknown, not "no such topic"
    assert control.call("GET", f"/topics/{lost}/messages").status_code == 404
    gone(lost)
    page = control.get(f"/topics/{lost}/messages")
    assert (page["items"], page["next_cursor"], len(page["missing"])) == ([], None, 1)


def test_a_queue_is_read_by_offset(control: Control) -> None:
    topic = control.topic()
    control.produce(topic, *"abcd")
    page = control.get(f"/topics/{topic}/queues/0/messages", offset=1, limit=2)
    assert [item["queue_offset"] for item in page["items"]] == [1, 2]
    assert (page["next_offset"], page["min_offset"], page["max_offset"]) == (3, 0, 4)
    assert page["broker"] == page["items"][0]["broker"]
    end = control.get(f"/topics/{topic}/queues/0/messages", offset=4)
    assert (end["items"], end["next_offset"]) == ([], 4)
    behind = control.get(f"/topics/{topic}/queues/0/messages", offset=9)
    assert (behind["items"], behind["next_offset"], behind["max_offset"]) == ([], 4, 4), "what comes next is not missed"


def test_a_queue_number_of_several_brokers_names_none_of_them() -> None:
    seen = datetime(2026, 7, 1, tzinfo=UTC)
    topic = Topic("orders", TopicKind.NORMAL, {"broker-a": TopicConfig("orders", 4, 4, 6)})
    other = replace(topic, configs={**topic.configs, "broker-b": TopicConfig("orders", 2, 2, 6)})
    gone = {"broker-c": RememberedBroker("broker-c", {}, seen, seen, topics={"orders": QueueCounts(8, 8, 6)})}

    assert queue_holder(topic, 0, None, {}) == "broker-a"
    assert queue_holder(other, 3, None, {}) == "broker-a"
    assert queue_holder(other, 1, "broker-b", {}) == "broker-b"
    assert queue_holder(topic, 7, None, gone) == "broker-c"
    with pytest.raises(ValidationError, match="is on broker-a, broker-b: say on which one") as unclear:
        queue_holder(other, 1, None, {})
    assert unclear.value.get_codes() == {"broker": "invalid"}
    with pytest.raises(ValidationError, match="is on broker-a, broker-c: say on which one"):
        queue_holder(topic, 0, None, gone)
    with pytest.raises(ValidationError, match="is on broker-a, not on 'broker-b'"):
        queue_holder(other, 3, "broker-b", {})
    with pytest.raises(NotServed, match="has the queues 0 to 3"):
        queue_holder(other, 9, "broker-b", {})


def test_a_damaged_message_is_shown_with_its_stored_bytes_and_the_reason(control: Control, broker: Broker) -> None:
    # Given a message whose sys flag says compressed although its body is not, beside an intact one
    topic = control.topic()
    header = SendMessageV2Request(topic, 0, COMPRESSED, 0, 0, "checkout")
    with BlockingSession(broker.config) as session:
        session.run(session.session.call(broker.address, header, b'{"a": 1}'))
    control.produce(topic, "intact")

    intact, damaged = control.get(f"/topics/{topic}/messages")["items"]
    detail = control.get(f"/messages/{damaged['message_id']}", topic=topic)

    assert intact["damage"] is None
    assert "does not unpack" in damaged["damage"]
    assert detail["damage"] == damaged["damage"]
    assert detail["body"] == {"encoding": "base64", "data": base64.b64encode(b'{"a": 1}').decode(), "text": None}


def test_a_queue_that_is_not_there_is_pointed_at_where_it_was_named(control: Control) -> None:
    topic = control.topic()
    for path, pointer in (("/queues/9/messages?offset=0", "{queue_id}"), ("/messages?queue=9", "?queue")):
        answer = control.call("GET", f"/topics/{topic}{path}")
        assert answer.status_code == 422
        detail = f"Topic {topic!r} has the queues 0 to 0."
        assert answer.json()["errors"] == [{"pointer": pointer, "code": "INVALID", "detail": detail}]


@pytest.mark.gantry_only("the number of collisions")
def test_many_thousand_messages_of_one_key_are_all_reached_and_none_that_shares_its_hash(control: Control) -> None:
    # Given a key many thousand times, and between them another of the same hash
    topic = control.topic(queues=4)
    keys = ["AaBB"] * 999 + ["BBBB"]
    messages = [{"body": {"encoding": "text", "data": "x"}, "keys": [key]} for key in keys]
    for _ in range(THOUSANDS):
        answer = control.call("POST", f"/topics/{topic}/messages", json={"messages": messages})
        assert (answer.status_code, answer.json()["stored"]) == (201, 1000)
    # When the key is searched page by page
    ids, pages = found_by_key(control, topic, "AaBB", limit=500)
    # Then each is reached once; every page is complete, and says what it left out
    assert len(ids) == len(set(ids)) == THOUSANDS * 999
    assert {(page["verdict"], page["complete"]) for page in pages} == {("match", True)}
    assert sum(page["searched"]["collisions_dropped"] for page in pages) >= THOUSANDS
