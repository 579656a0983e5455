"""Requirements of `gateway.data.usual`: it takes the same messages and gives the same answers as the general way."""

from __future__ import annotations

import json
from typing import Any, cast

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.client.producer import Producer
from broker_core.protocol import properties as names
from broker_core.protocol.batch import decode_batch
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.properties import format_properties
from gateway.data.messages import draft_of_entry
from gateway.data.produce_answers import answer_of_batch, answer_of_one
from gateway.data.schemas import Entry, ProduceRequest
from gateway.data.usual import encode_usual_batch, find_usual
from gateway.limits import Sizes
from gateway.problems import ProblemError
from tests.gateway.data.conftest import Api

SIZES = Sizes()
USUAL: dict[str, Any] = {"keys": ["A17"], "tag": "t", "body": {"encoding": "json", "data": {"a": 1}}}
WORD = st.one_of(
    st.sampled_from(["A17", "a b", "x||y", "*", " a", "é", "\x01", "\x02", "蛇"]), st.text(min_size=1, max_size=8)
)
ENTRIES = st.fixed_dictionaries(
    {"body": st.fixed_dictionaries({"encoding": st.sampled_from(["json", "text"]), "data": st.text(max_size=6)})},
    optional={
        "keys": st.lists(WORD, max_size=3),
        "tag": WORD,
        "properties": st.dictionaries(st.sampled_from(["a", "b"]), st.just("c"), max_size=1),
        "ordering_key": st.just("k"),
        "delay_ms": st.just(1000),
    },
)


@given(ENTRIES)
def test_a_usual_message_is_the_one_that_the_general_way_makes(fields: dict[str, Any]) -> None:
    entry = msgspec.json.decode(json.dumps(fields).encode(), type=Entry)
    usual = find_usual(entry, "orders", SIZES)
    try:
        general = draft_of_entry(entry, "orders", entry_id="0", at="#", sizes=SIZES)
    except ProblemError:
        assert usual is None
        return
    assert usual is None or usual == general.message
    is_plain = fields["body"]["encoding"] == "json" and fields["body"]["data"].isascii() and len(fields) == 1
    assert usual is not None or not is_plain, "the usual message is not left to the general way"


class Ids:
    """A producer that only makes ids."""

    def make_ids(self, count: int) -> list[str]:
        return [f"7F{number:02}" for number in range(count)]


@given(st.lists(ENTRIES, min_size=2, max_size=3), st.sampled_from([None, "async"]))
def test_a_usual_batch_holds_the_messages_that_the_general_way_makes(
    messages: list[dict[str, Any]], flush: str | None
) -> None:
    request = {"messages": messages, "options": {"flush": flush}}
    wanted = msgspec.json.decode(json.dumps(request).encode(), type=ProduceRequest)
    assert wanted.messages is not msgspec.UNSET
    made = encode_usual_batch(cast(Producer, Ids()), wanted, "orders", SIZES)
    try:
        drafts = [draft_of_entry(each, "orders", entry_id="0", at="#", sizes=SIZES) for each in wanted.messages]
    except ProblemError:
        assert made is None
        return
    if made is not None:
        more = {} if flush is None else {names.WAIT: "false"}
        expected = [
            (0, draft.message.body, format_properties({**draft.message.properties, **more, names.UNIQ_KEY: unique_id}))
            for draft, unique_id in zip(drafts, made.message_ids, strict=True)
        ]
        assert decode_batch(made.body) == expected
    are_plain = all(each["body"]["encoding"] == "json" and len(each) == 1 for each in messages)
    assert made is not None or not are_plain or not all(each["body"]["data"].isascii() for each in messages)


@pytest.mark.parametrize(
    "fields",
    [
        {"messages": [USUAL]},
        {"messages": [USUAL, USUAL | {"entry_id": "a"}]},
        {"messages": [USUAL | {"entry_id": "a"}] * 2},
        {"messages": [USUAL | {"ordering_key": "a"}, USUAL]},
        {"messages": [USUAL | {"deliver_at": "2030-01-01T00:00:00Z"}, USUAL]},
        {"messages": [USUAL | {"body": {"encoding": "json", "data": "x" * 4_000_000}}, USUAL]},
    ],
)
def test_what_is_not_one_usual_batch_is_left_to_the_general_way(fields: dict[str, Any]) -> None:
    wanted = msgspec.json.decode(json.dumps(fields).encode(), type=ProduceRequest)
    assert encode_usual_batch(cast(Producer, Ids()), wanted, "orders", SIZES) is None


@given(st.text(min_size=1, max_size=5), st.text(max_size=5), st.integers(0, 9), st.integers(0, 2**40))
def test_an_answer_is_the_json_that_the_general_way_encodes(
    entry_id: str, broker: str, queue_id: int, offset: int
) -> None:
    one: dict[str, Any] = {
        "entry_id": entry_id, "status": "stored", "message_id": "7F00", "broker": broker, "queue_id": queue_id,
        "offset": offset, "stored_at": "2026-05-01T08:00:00.123Z",
    }  # fmt: skip
    queue = MessageQueue("orders", broker, queue_id)
    alone = answer_of_one(entry_id, "7F00", queue, offset, one["stored_at"])
    assert json.loads(alone) == {"results": [one], "stored": 1, "failed": 0}
    two = answer_of_batch([entry_id, None], ["7F00", "7F01"], queue, offset, one["stored_at"])
    second = {**one, "entry_id": "1", "message_id": "7F01", "offset": offset + 1}
    assert json.loads(two) == {"results": [one, second], "stored": 2, "failed": 0}


@pytest.mark.parametrize("count", [1, 3])
async def test_both_ways_answer_alike(api: Api, count: int) -> None:
    topic = await api.topic()
    general = {**USUAL, "properties": {"source": "web"}}
    answers = []
    for message in (USUAL, general):
        body = message if count == 1 else {"messages": [message] * count}
        answer = await api.post(f"/topics/{topic}/messages", body)
        answers.append((answer.status_code, answer.json(), sorted(answer.headers)))
    (status, first, headers), (status_2, second, headers_2) = answers
    assert (status, headers, first["stored"], first["failed"]) == (status_2, headers_2, count, 0)
    for one, other in zip(first["results"], second["results"], strict=True):
        assert list(one) == list(other)
        assert (one["entry_id"], one["status"]) == (other["entry_id"], other["status"])


@pytest.mark.parametrize("names", [["a", "a"], ["a", None], ["1", None]])
async def test_names_of_a_list_are_checked_on_both_ways(api: Api, names: list[str | None]) -> None:
    topic = await api.topic()
    messages = [
        {"body": {"encoding": "json", "data": 1}} | ({} if name is None else {"entry_id": name}) for name in names
    ]
    answer = await api.post(f"/topics/{topic}/messages", {"messages": messages})
    expected = 201 if names == ["a", None] else 422  # "1" is also the name of the second message
    assert answer.status_code == expected, answer.text
    if expected == 201:
        assert [each["entry_id"] for each in answer.json()["results"]] == [names[0], "1"]


@pytest.mark.parametrize("count", [1, 2])
async def test_a_missing_topic_is_the_same_problem_on_both_ways(api: Api, count: int) -> None:
    usual: dict[str, Any] = {"body": {"encoding": "json", "data": 1}}
    found = []
    for message in (usual, {**usual, "properties": {"source": "web"}}):
        body = message if count == 1 else {"messages": [message] * count}
        answer = await api.post("/topics/nowhere/messages", body)
        problem = answer.json()
        problem.pop("request_id")
        found.append((answer.status_code, problem))
    assert found[0] == found[1]
    assert found[0][0] == 404
