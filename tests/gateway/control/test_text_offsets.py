"""Requirements of `gateway.control.text_offsets`: ``Accept: application/json;offsets=string`` on the control plane."""

from __future__ import annotations

import json
from typing import Any

from gateway.control.text_offsets import with_text_offsets
from tests.gateway.control.conftest import Control

STRINGS = {"Accept": "application/json;offsets=string"}


def test_what_is_no_offset_stays_as_it_was_written() -> None:
    text = b'{"items":[{"offset":1,"lag":2,"rate":1.50,"commit_offset":null,"max":7}],"body":{"data":{"offset":1e400}}}'
    changed = (
        b'{"items":[{"offset":"1","lag":2,"rate":1.50,"commit_offset":null,"max":7}],"body":{"data":{"offset":1e400}}}'
    )
    assert with_text_offsets(text) == changed


def test_what_stands_beside_a_queue_is_an_offset() -> None:
    text = b'[{"queue_id":3,"current":1,"new":-1,"to_replay":2,"offset_id":"7F"}]'
    assert with_text_offsets(text) == b'[{"queue_id":3,"current":"1","new":"-1","to_replay":2,"offset_id":"7F"}]'


def _numbers(found: Any) -> list[Any]:
    """Return the values of everything that is called an offset, except in bodies."""
    if isinstance(found, list):
        return [value for each in found for value in _numbers(each)]
    if not isinstance(found, dict):
        return []
    own = [value for name, value in found.items() if name == "offset" or name.endswith("_offset")]
    return own + [value for name, each in found.items() if name != "body" for value in _numbers(each)]


def test_every_reader_of_messages_queues_and_groups_gets_strings(control: Control) -> None:
    topic, group = control.topic(), control.group()
    control.produce(topic, '{"offset": 5}')
    control.consume(group, topic, 1)
    plan = {"topic": topic, "mode": "earliest"}
    asked = [
        ("GET", f"/topics/{topic}/messages", None),
        ("GET", f"/topics/{topic}/queues", None),
        ("GET", f"/topics/{topic}/queues/0/messages?offset=0&bodies=true", None),
        ("GET", f"/groups/{group}", None),
        ("POST", f"/groups/{group}/offsets:preview", plan),
    ]
    for method, path, body in asked:
        answer = control.call(method, path, headers=STRINGS, json=body)
        assert answer.status_code == 200, answer.text
        assert "Accept" in answer.headers["vary"]
        found = [value for value in _numbers(answer.json()) if value is not None]
        assert all(isinstance(value, str) for value in found), (path, found)
        assert found or method == "POST", path
        assert len(answer.content) == int(answer.headers["content-length"])
    assert answer.json()["queues"][0]["new"] == "0"
    plain = control.call("GET", f"/topics/{topic}/messages")
    assert isinstance(json.loads(plain.text)["items"][0]["queue_offset"], int)
