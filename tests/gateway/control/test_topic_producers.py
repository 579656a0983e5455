"""Requirements of `gateway.control.topic_producers`."""

from __future__ import annotations

from broker_core.client.admin.topics import TopicProducer as Registered
from broker_core.client.answers import Answers
from broker_core.client.errors import NotSupported
from broker_core.protocol.bodies.groups import ProducerInfo, SendingProducer, TopicProducersBody
from console.clusters.connections import GATEWAY_GROUP
from gateway.control.topic_producers import producers_of
from tests.gateway.control.conftest import Control

REFUSED = NotSupported(3, " request type 30106 not supported", "h:1")


def known(group: str, client: str) -> Registered:
    return Registered(group, ProducerInfo(client, "/10.0.0.1:5", "JAVA", 409, 1))


def sent(group: str, client: str, messages: int, at: int, rate: float | None = 1.0) -> SendingProducer:
    return SendingProducer(group, client, "10.0.0.1:5", "JAVA", 409, messages, at, rate)


def test_what_a_producer_sends_is_the_sum_of_its_brokers_and_the_last_to_send_is_first() -> None:
    a = TopicProducersBody(5, [sent("shop", "one", 2, 10), sent("shop", "two", 1, 30)])
    b = TopicProducersBody(7, [sent("shop", "one", 3, 20), sent("shop", "two", 1, 10, None)])

    found = producers_of({"a": [known("shop", "one"), known("shop", "idle")]}, Answers({"a": a, "b": b}))

    shown = [(each.client_id, each.sends, each.messages, each.rate, each.is_connected) for each in found.items]
    assert shown == [("two", "seen", 2, None, False), ("one", "seen", 5, 2.0, True), ("idle", "none", 0, 0, True)]
    assert found.counted_since == "1970-01-01T00:00:00.007Z"


def test_the_processes_of_the_gateway_are_one_row() -> None:
    told = TopicProducersBody(5, [sent(GATEWAY_GROUP, "g1", 2, 10), sent(GATEWAY_GROUP, "g2", 1, 30)])

    (row,) = producers_of({"a": [known(GATEWAY_GROUP, "g1")]}, Answers({"a": told})).items

    assert (row.is_gateway, row.client_id, row.client_ids, row.messages) == (True, None, ["g1", "g2"], 3)


def test_where_a_broker_does_not_tell_nobody_is_said_to_send_nothing() -> None:
    told = TopicProducersBody(5, [sent("shop", "one", 2, 10)])

    found = producers_of({"a": [known("shop", "one"), known("shop", "idle")]}, Answers({"a": told}, {"h:1": REFUSED}))

    shown = [(each.client_id, each.sends, each.messages, each.rate) for each in found.items]
    assert shown == [("one", "seen", None, None), ("idle", "unknown", None, None)]
    assert found.counted_since is None
    reason = "the broker at h:1 does not tell which producers send to a topic; Gantry does"
    assert {each.unknown_reason for each in found.items} == {reason}


def test_the_gateway_is_listed_with_what_it_sent_and_only_there(control: Control) -> None:
    written, other = control.topic(), control.topic()
    control.produce(written, "a", "b")

    (row,) = [each for each in control.get(f"/topics/{written}/producers")["items"] if each["is_gateway"]]
    elsewhere = [each for each in control.get(f"/topics/{other}/producers")["items"] if each["is_gateway"]]

    if control.is_apache:
        assert (row["sends"], row["messages"], row["last_send_at"], row["rate"]) == ("unknown", None, None, None)
        assert "does not tell which producers send" in row["unknown_reason"]
    else:
        assert (row["sends"], row["messages"], row["unknown_reason"]) == ("seen", 2, None)
        assert row["last_send_at"] is not None
        assert {each["sends"] for each in elsewhere} <= {"none"}
