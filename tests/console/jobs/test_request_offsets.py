"""Requirements of `console.jobs.requests.offsets` that one running broker cannot show."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.exceptions import ValidationError

from broker_core.client.admin.topics import Topic, TopicKind, TopicStats
from broker_core.client.errors import NoRoute, Unreachable
from broker_core.errors import GantryError
from broker_core.protocol.bodies import MessageQueue, TopicOffset
from broker_core.protocol.bodies.topics import TopicConfig
from console.errors import BrokersSilent
from console.jobs.requests import offsets

TOPIC = Topic("orders", TopicKind.NORMAL, {name: TopicConfig("orders") for name in ("a", "b")})
ENDS = {("a", 0): (0, 10), ("a", 1): (0, 1), ("b", 0): (5, 20)}


def check(monkeypatch: pytest.MonkeyPatch, stats: TopicStats, *given: dict[str, Any]) -> None:
    monkeypatch.setattr(offsets, "ask", lambda *_: stats)
    offsets.check_offsets("local", "source", TOPIC, given)


def stats_of(*brokers: str, **failed: GantryError) -> TopicStats:
    return TopicStats(
        {MessageQueue("orders", name, at): TopicOffset(*ends) for (name, at), ends in ENDS.items() if name in brokers},
        failed,
    )


def test_a_range_without_a_broker_is_one_of_each_broker_with_the_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    check(monkeypatch, stats_of("a", "b"), {"queue": 0, "from": 5, "to": 10}, {"queue": 1, "from": 1})
    with pytest.raises(ValidationError, match="queue 0 of b has the offsets 5 to 20, not 4"):
        check(monkeypatch, stats_of("a", "b"), {"queue": 0, "from": 4})
    check(monkeypatch, stats_of("a", "b"), {"queue": 0, "broker": "a", "from": 4})
    with pytest.raises(ValidationError, match="queue 1 is on a, not on 'b'"):
        check(monkeypatch, stats_of("a", "b"), {"queue": 1, "broker": "b"})


def test_ranges_are_not_accepted_while_a_broker_of_the_topic_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BrokersSilent, match="is not known: the broker at b:1 cannot be reached"):
        check(monkeypatch, stats_of("a", b=Unreachable("b:1", "refused")), {"queue": 0, "from": 5})
    with pytest.raises(NoRoute, match="no master of broker 'b'"):
        check(monkeypatch, stats_of("a"), {"queue": 0, "from": 5})
