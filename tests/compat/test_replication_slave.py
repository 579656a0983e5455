"""A Gantry slave of an Apache RocketMQ 4.9 master: equal logs, also after kill -9 of either, and reads without it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from broker_core.protocol import bodies
from broker_core.protocol.bodies.groups import ConsumerOffsetSerializeWrapper
from broker_core.protocol.bodies.topics import TopicConfigSerializeWrapper
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.headers.offsets import UpdateConsumerOffsetRequest
from broker_core.protocol.headers.replication import GetAllConsumerOffsetRequest
from broker_core.protocol.headers.topics import CreateTopicRequest, GetAllTopicConfigRequest
from broker_core.store.reader import StoreReader
from broker_core.store.verify import verify
from tests.compat.driver import Driver
from tests.support.apache import ApacheBroker, ApacheNameServer
from tests.support.cluster import RunningBroker
from tests.support.replicating import asked, caught_up, has_topic, log_of, queues_of, send_many
from tests.support.wait import eventually, wait_until

pytestmark = pytest.mark.compat

BODY = 4_600
TOPIC = "orders"
AS_SLAVE = ("--broker-id", "1", "--role", "slave")


@contextmanager
def apart(tmp_path: Path) -> Iterator[tuple[ApacheBroker, RunningBroker]]:
    """Start a name server and a master; the slave is ready to be started. Both are killed at the end."""
    names = ApacheNameServer(tmp_path)
    names.start()
    master = ApacheBroker(tmp_path / "master", name_servers=names.address)
    slave = RunningBroker(tmp_path / "slave", arguments=AS_SLAVE, name_servers=names.address)
    try:
        master.start()
        yield master, slave
    finally:
        slave.stop(kill=True)
        master.stop(kill=True)
        names.stop(kill=True)


async def create(server: ApacheBroker, topic: str) -> None:
    answer = await asked(server.address, CreateTopicRequest(topic, 4, 4, 6))
    assert answer.code == ResponseCode.SUCCESS, answer.remark


async def test_the_log_of_an_old_master_and_what_comes_after_kills(tmp_path: Path) -> None:
    with apart(tmp_path) as (master, slave):
        await create(master, TOPIC)
        await send_many(master, TOPIC, range(6_000), BODY)
        slave.start()
        await send_many(master, TOPIC, range(6_000, 10_000), BODY)
        end = await caught_up(slave, master)
        assert end > 2 * 16 * 1024 * 1024, "three segments"

        slave.stop(kill=True)
        await send_many(master, TOPIC, range(10_000, 10_500), BODY)
        slave.start()
        await caught_up(slave, master)

        master.restart(kill=True)
        await send_many(master, TOPIC, range(10_500, 11_000), BODY)
        await caught_up(slave, master)

        slave.stop()
        master.stop()
        assert log_of(slave.store) == log_of(master.store)
        assert queues_of(slave.store) == queues_of(master.store)
        with StoreReader.open(slave.store) as reader:
            assert verify(reader).is_sound


async def test_topics_and_offsets_after_eleven_seconds(tmp_path: Path) -> None:
    with apart(tmp_path) as (master, slave):
        slave.start()
        await create(master, TOPIC)
        await send_many(master, TOPIC, range(10), 10)
        committed = await asked(master.address, UpdateConsumerOffsetRequest("readers", TOPIC, 0, 2))
        assert committed.code == ResponseCode.SUCCESS

        async def has_all() -> bool:
            topics = bodies.decode(
                TopicConfigSerializeWrapper, (await asked(slave.address, GetAllTopicConfigRequest())).body
            )
            offsets = bodies.decode(
                ConsumerOffsetSerializeWrapper, (await asked(slave.address, GetAllConsumerOffsetRequest())).body
            )
            return TOPIC in topics.topic_config_table and offsets.offset_table.get(f"{TOPIC}@readers", {}).get(0) == 2

        await eventually(has_all)

        async def versions() -> list[object]:
            answers = [await asked(each.address, GetAllTopicConfigRequest()) for each in (master, slave)]
            wrappers = [bodies.decode(TopicConfigSerializeWrapper, answer.body) for answer in answers]
            return [(each.data_version, each.topic_config_table) for each in wrappers]

        async def are_equal() -> bool:
            of_master, of_slave = await versions()
            return of_master == of_slave

        await eventually(are_equal)

        # Given a consumer at the slave alone
        at_slave = await asked(slave.address, UpdateConsumerOffsetRequest("readers", TOPIC, 0, 3))
        assert at_slave.code == ResponseCode.SUCCESS

        async def master_has_it() -> bool:
            answer = await asked(master.address, GetAllConsumerOffsetRequest())
            table = bodies.decode(ConsumerOffsetSerializeWrapper, answer.body).offset_table
            return table[f"{TOPIC}@readers"][0] == 3

        await eventually(master_has_it)


async def test_the_java_consumer_reads_from_the_slave_while_the_master_is_dead(
    tmp_path: Path, driver: Driver, name: str
) -> None:
    with apart(tmp_path) as (master, slave):
        slave.start()
        await create(master, TOPIC)
        await send_many(master, TOPIC, range(100), 10)
        await caught_up(slave, master)

        async def knows_topic() -> bool:
            return await has_topic(slave, TOPIC)

        await eventually(knows_topic)
        master.stop(kill=True)
        consumer = driver.push_consumer(
            slave.name_server, name, {TOPIC: "*"}, pollNameServerInterval=1000, heartbeatBrokerInterval=1000
        )
        wait_until(lambda: len({message.body for message in consumer.received}) == 100)
        consumer.shutdown()
