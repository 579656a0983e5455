"""Requirements of `console.replicas.reading`: every process of a name, and none taken for healthy that is silent."""

from __future__ import annotations

from pathlib import Path

from broker_core.client.admin import Admin
from broker_core.client.producer import Producer
from broker_core.client.session import Session
from broker_core.protocol.message import Message
from console.clusters.reasons import reason_of
from console.replicas.reading import asked, shown
from console.replicas.shapes import Replicas
from tests.support.cluster import create_topic, several_brokers


async def read(session: Session) -> Replicas:
    listed, answers = await asked(Admin(session), "broker-a")
    return shown("broker-a", listed, answers.found, {addr: reason_of(why) for addr, why in answers.failed.items()})


async def send_to_master(session: Session) -> None:
    await create_topic(session, "orders", queues=1)
    producer = Producer(session)
    await producer.start()
    await producer.send(Message("orders", b"x" * 1_000))
    await producer.close()


async def test_each_process_is_listed_with_what_it_lacks(tmp_path: Path) -> None:
    async with several_brokers(tmp_path, names=["broker-a", "broker-b"]) as cluster, cluster.session() as session:
        await cluster.start("broker-a", broker_id=1)
        await send_to_master(session)

        found = await read(session)

        assert found.master_id == 0
        master, slave = found.replicas
        assert (master.broker_id, master.role, master.behind_bytes) == (0, "master", None)
        assert (slave.broker_id, slave.role, slave.reachable) == (1, "slave", True)
        assert master.log_end is not None
        assert slave.log_end is not None
        assert slave.behind_bytes == master.log_end - slave.log_end
        assert slave.started_at is not None


async def test_a_slave_that_does_not_answer_is_unknown_and_one_without_master_is_not_caught_up(tmp_path: Path) -> None:
    async with several_brokers(tmp_path, names=["broker-a"]) as cluster, cluster.session() as session:
        await cluster.start("broker-a", broker_id=1)
        await send_to_master(session)
        listed, answers = await asked(Admin(session), "broker-a")
        addresses = [each.addr for each in listed]

        silent = shown("broker-a", listed, {addresses[0]: answers.found[addresses[0]]}, {addresses[1]: "it is gone"})
        alone = shown("broker-a", listed, {addresses[1]: answers.found[addresses[1]]}, {addresses[0]: "it is gone"})
        await cluster.stop("broker-a")
        without = await read(session)

        slave = silent.replicas[1]
        assert (slave.reachable, slave.reason, slave.log_end, slave.behind_bytes) == (False, "it is gone", None, None)
        assert (alone.replicas[1].log_end is None, alone.replicas[1].behind_bytes) == (False, None)
        assert [each.broker_id for each in without.replicas][-1] == 1
