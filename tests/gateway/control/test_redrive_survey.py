"""What a survey of dead letters says of how many there are."""

from __future__ import annotations

from broker_core.client.admin.topics import TopicStats
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.stats import TopicOffset
from gateway.control.redrive_survey import Survey


def test_never_more_were_read_than_are_stored() -> None:
    stats = TopicStats({MessageQueue("%DLQ%billing", "broker-a", 0): TopicOffset(4, 28)})
    assert Survey(stats=stats, read=20).stored == 24
    # When more came after they were counted
    assert Survey(stats=stats, read=25).stored == 25
