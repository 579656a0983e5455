"""Requirements of acknowledging many messages at once, at a real broker and at scripted ones."""

from __future__ import annotations

from dataclasses import replace

from broker_core.client.config import ClientConfig
from broker_core.client.consumer.acks import batches_of
from broker_core.client.consumer.leases import LeaseReceipt
from broker_core.client.consumer.pop import LeaseConsumer
from broker_core.client.errors import LeaseExpired, NoRoute
from broker_core.client.session import Session
from broker_core.protocol.codes import RequestCode, ResponseCode
from tests.broker_core.client.conftest import Live
from tests.support.scripted import Peer, refuse, scripted_cluster, succeed

BATCH, ONE = RequestCode.BATCH_ACK_MESSAGE, RequestCode.ACK_MESSAGE


def receipt(queue_id: int, offset: int, *, start: int = 0, flag: str = "0", broker: str = "broker-a") -> LeaseReceipt:
    text = f"{start} 7 60000 0 {flag} {broker} {queue_id} {offset}"
    return LeaseReceipt("billing", broker, "orders", queue_id, offset, text, 7, 60_000)


async def test_each_of_many_messages_has_its_own_result(live: Live) -> None:
    topic, group = await live.topic(queues=2), live.group()
    await live.send(topic, *map(str, range(6)))
    consumer = LeaseConsumer(live.session, group)
    leased = [each.receipt for each in (await consumer.receive(topic)).messages]
    assert await consumer.ack(leased[0])
    void = replace(leased[1], pop_time=leased[1].pop_time - 1)
    lost_broker = replace(leased[2], broker_name="gone")

    results = await consumer.ack_many([leased[0], void, lost_broker, *leased[3:]])

    assert results[0] is False
    assert [type(each) for each in results[1:3]] == [LeaseExpired, NoRoute]
    assert results[3:] == [True] * (len(leased) - 3)
    left = (await live.admin.groups.consume_stats(group, topic=topic)).lag
    assert await consumer.ack_many(leased[1:3]) == [True, True]
    assert left > 0 == (await live.admin.groups.consume_stats(group, topic=topic)).lag


async def test_many_are_one_request_and_a_broker_without_results_is_believed() -> None:
    async with scripted_cluster("broker-a") as cluster:
        cluster.add_topic("orders")
        broker = cluster["broker-a"]
        broker.on(BATCH, succeed())
        results = await _ack(cluster.name_server, [receipt(0, 1), receipt(0, 3), receipt(1, 5, start=4)])
        assert results == [True] * 3
        assert [request.code for request in broker.requests if request.code in (BATCH, ONE)] == [BATCH]


async def test_a_broker_that_knows_no_batches_gets_them_one_by_one() -> None:
    async with scripted_cluster("broker-a") as cluster:
        cluster.add_topic("orders")
        broker = cluster["broker-a"]
        broker.on(BATCH, refuse(ResponseCode.REQUEST_CODE_NOT_SUPPORTED))
        broker.on(ONE, succeed())
        assert await _ack(cluster.name_server, [receipt(0, 1), receipt(0, 2)]) == [True, True]
        assert len(broker.asked(ONE)) == 2


async def test_a_refusal_is_the_result_of_each() -> None:
    async with scripted_cluster("broker-a") as cluster:
        cluster.add_topic("orders")
        cluster["broker-a"].on(BATCH, refuse(ResponseCode.TOPIC_NOT_EXIST))
        results = await _ack(cluster.name_server, [receipt(0, 1), receipt(0, 2)])
        assert [type(each).__name__ for each in results] == ["TopicNotFound"] * 2


def test_receipts_of_retry_topics_and_far_offsets_are_left_out() -> None:
    odd = [receipt(0, 1, flag="1"), receipt(0, 5, start=6), receipt(0, 9_999), replace(receipt(0, 1), extra_info="x")]
    assert batches_of(odd) == []
    [batch] = batches_of([receipt(1, 9, start=8), *odd, receipt(1, 8, start=8)])
    [ack] = batch.body.acks
    assert (ack.start_offset, ack.queue_id, ack.bit_set, batch.places) == (8, 1, "Aw==", [5, 0])


async def _ack(name_server: Peer, receipts: list[LeaseReceipt]) -> list[object]:
    async with Session(ClientConfig([name_server.addr])) as session:
        await session.routes.get("orders")
        return list(await LeaseConsumer(session, "billing").ack_many(receipts))
