"""Reading registrations: the same result as the general coder, though only changed topics are decoded."""

from __future__ import annotations

import pytest

from broker_core.namesrv.registrations import RegistrationReader
from broker_core.protocol import bodies
from broker_core.protocol.bodies import DataVersion, RegisterBrokerBody, TopicConfig, TopicConfigSerializeWrapper
from broker_core.protocol.bodies.registration import decode_registration
from broker_core.protocol.errors import LooseJsonTooLong, MalformedBody

FIRST, SECOND, THIRD = (TopicConfig(name, 4, 4) for name in ("first", "second", "third"))


def registered(*topics: TopicConfig, counter: int = 1) -> RegisterBrokerBody:
    table = {topic.topic_name: topic for topic in topics}
    return RegisterBrokerBody(TopicConfigSerializeWrapper(DataVersion(counter, 7), table))


def names(body: RegisterBrokerBody) -> list[str]:
    return list(body.topic_config_serialize_wrapper.topic_config_table)


def test_body_after_body_is_read_as_if_it_were_the_first() -> None:
    reader = RegistrationReader()
    changed = TopicConfig("second", 8, 8, 4, order=True, attributes={"a": "b"})
    for counter, topics in enumerate(
        [
            [FIRST, SECOND],
            [FIRST, SECOND],
            [FIRST, SECOND, THIRD],
            [THIRD, changed, FIRST],
            [FIRST],
            [],
            [SECOND, FIRST],
        ]
    ):
        body = registered(*topics, counter=counter)
        read = reader.read(bodies.encode(body), compressed=False)
        assert read == body
        assert names(read) == names(body)


def test_topics_that_did_not_change_are_not_recreated() -> None:
    reader = RegistrationReader()
    before = reader.read(bodies.encode(registered(FIRST, SECOND)), compressed=False)
    after = reader.read(bodies.encode(registered(FIRST, THIRD)), compressed=False)

    tables = [each.topic_config_serialize_wrapper.topic_config_table for each in (before, after)]
    assert tables[0]["first"] is tables[1]["first"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b'{"topicConfigSerializeWrapper":null}',
        b'{"topicConfigSerializeWrapper":{}}',
        b'{"topicConfigSerializeWrapper":{"topicConfigTable":{}}}',
        b'{"filterServerList":["f"],"topicConfigSerializeWrapper":{"topicConfigTable":{"t":{"topicName":"t","perm":"4"}}}}',
        b'{topicConfigSerializeWrapper:{topicConfigTable:{7:{topicName:"t",unknown:[1]}}}}',
    ],
)
def test_other_shapes_are_read_as_ever(data: bytes) -> None:
    reader = RegistrationReader()
    for _ in range(2):
        assert reader.read(data, compressed=False) == decode_registration(data, compressed=False)


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"[]",
        b'{"topicConfigSerializeWrapper":7}',
        b'{"topicConfigSerializeWrapper":{"topicConfigTable":null}}',
        b'{"topicConfigSerializeWrapper":{"topicConfigTable":[]}}',
        b'{"topicConfigSerializeWrapper":{"topicConfigTable":{"first":{}}}}',
        b'{"topicConfigSerializeWrapper":{"topicConfigTable":{{"a":1}:{"topicName":"t"}}}}',
    ],
)
def test_a_broken_body_is_refused_each_time_and_what_was_known_stays(data: bytes) -> None:
    reader = RegistrationReader()
    reader.read(bodies.encode(registered(FIRST)), compressed=False)
    for _ in range(2):
        with pytest.raises(MalformedBody):
            decode_registration(data, compressed=False)
        with pytest.raises(MalformedBody):
            reader.read(data, compressed=False)
    assert reader.read(bodies.encode(registered(FIRST)), compressed=False) == registered(FIRST)


def test_a_registration_with_numbers_as_keys_is_read_up_to_a_limit() -> None:
    """Those of RocketMQ 5 have them for static topics."""

    def registration(queues: int) -> bytes:
        places = ",".join(f"{number}:{number}" for number in range(queues))
        mapping = f'{{"topicQueueMappingInfoMap":{{"first":{{"currIdMap":{{{places}}}}}}},"dataVersion"'
        return bodies.encode(registered(FIRST)).replace(b'{"dataVersion"', mapping.encode(), 1)

    reader = RegistrationReader()
    assert names(reader.read(registration(1_000), compressed=False)) == ["first"]
    with pytest.raises(LooseJsonTooLong, match="bytes that are not strict JSON, of which at most 262144 are read"):
        reader.read(registration(100_000), compressed=False)
