"""Requirements of `gateway.control.definitions`: what changed since it was compared is left as it is."""

from __future__ import annotations

import pytest

from broker_core.client.admin.topics import Topic, TopicKind
from broker_core.protocol.bodies import TopicConfig
from console.errors import Conflict
from gateway.control.definitions.cluster_parts import _check_unchanged
from gateway.control.definitions.of_cluster import topic_definition
from gateway.control.definitions.present import Present


def topic(**write_queues: int) -> Topic:
    configs = {broker: TopicConfig("orders", 4, queues, 6) for broker, queues in write_queues.items()}
    return Topic("orders", TopicKind.NORMAL, configs)


def check(now: Topic) -> None:
    _check_unchanged("orders", topic_definition, Present({"orders": topic(a=4, b=4)}, []), now)


def test_a_topic_that_one_broker_has_otherwise_now_is_not_changed() -> None:
    check(topic(a=4, b=4))
    with pytest.raises(Conflict, match="has changed since it was compared"):
        check(topic(a=4, b=8))


def test_a_broker_that_has_fallen_silent_tells_of_no_change() -> None:
    check(topic(a=4))
