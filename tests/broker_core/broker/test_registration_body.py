"""The body of a registration: the bytes that the general coder makes, without encoding what did not change."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from broker_core.broker.config import Identity, TopicDefaults
from broker_core.broker.json_file import JsonFile
from broker_core.broker.limits import Limits
from broker_core.broker.registration_body import RegistrationBody
from broker_core.broker.topics import Topics
from broker_core.protocol import bodies
from broker_core.protocol.bodies import coder
from broker_core.protocol.bodies.routes import RegisterBrokerBody
from broker_core.protocol.bodies.topics import DataVersion, TopicConfig, TopicConfigSerializeWrapper


def wrapped(*topics: TopicConfig, version: DataVersion | None = None) -> TopicConfigSerializeWrapper:
    return TopicConfigSerializeWrapper(version or DataVersion(1, 7), {topic.topic_name: topic for topic in topics})


@pytest.mark.parametrize(
    "topics",
    [
        [],
        [TopicConfig("orders", 4, 8, 6)],
        [
            TopicConfig("z", 4, 4),
            TopicConfig("%RETRY%a", 1, 1, 2, "MULTI_TAG", 3, order=True),
            TopicConfig("a|b", 0, 0),
        ],
        [TopicConfig("five", 1, 1, attributes={"+cleanup.policy": 'a"}}{},'}), TopicConfig("six", 1, 1, attributes={})],
    ],
)
def test_it_is_what_the_coder_of_all_bodies_makes(topics: list[TopicConfig]) -> None:
    body = RegistrationBody()
    for version in (DataVersion(), DataVersion(3, 1_700_000_000_000), DataVersion(4, 5, state_version=6)):
        wrapper = wrapped(*topics, version=version)
        assert body.encode(wrapper) == bodies.encode(RegisterBrokerBody(wrapper))


def test_it_follows_every_change_of_the_register(tmp_path: Path) -> None:
    topics = Topics(JsonFile(tmp_path / "topics.json"), identity=Identity(), defaults=TopicDefaults(), limits=Limits())
    body = RegistrationBody()

    def is_the_same() -> bool:
        return body.encode(topics.wrapper()) == bodies.encode(RegisterBrokerBody(topics.wrapper()))

    assert is_the_same()
    for number in range(5):
        topics.put(TopicConfig(f"t{number}", 4, 4), now=number)
        assert is_the_same()
    topics.put(TopicConfig("t2", 8, 8), now=10)
    assert is_the_same()
    topics.delete("t1", now=11)
    assert is_the_same()
    topics.put(TopicConfig("t1", 1, 1), now=12)
    assert is_the_same()
    topics.apply_order({"t3"}, now=13)
    assert is_the_same()
    narrowed = {topic.topic_name: replace(topic, perm=4) for topic in topics.all()}
    wrapper = TopicConfigSerializeWrapper(topics.version, narrowed)
    assert body.encode(wrapper) == bodies.encode(RegisterBrokerBody(wrapper))
    assert is_the_same()


def test_only_topics_that_changed_are_encoded(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded: list[str] = []
    to_tree = coder.to_tree

    def note(topic: Any) -> Any:
        if isinstance(topic, TopicConfig):
            encoded.append(topic.topic_name)
        return to_tree(topic)

    body, topics = RegistrationBody(), [TopicConfig(f"t{number}", 4, 4) for number in range(100)]
    body.encode(wrapped(*topics))
    monkeypatch.setattr(coder, "to_tree", note)

    body.encode(wrapped(*topics, TopicConfig("new", 4, 4)))
    body.encode(wrapped(*topics[1:], replace(topics[0], perm=4)))

    assert encoded == ["new", "t0"]
