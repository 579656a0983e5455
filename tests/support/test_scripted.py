"""The scripted peers do what their scripts say."""

from __future__ import annotations

import pytest

from broker_core.protocol.bodies import coder
from broker_core.protocol.bodies.clusters import ClusterInfo
from broker_core.protocol.bodies.routes import TopicRouteData
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.offsets import GetMaxOffsetRequest
from broker_core.protocol.headers.routes import GetBrokerClusterInfoRequest, GetRouteInfoRequest
from broker_core.remoting.client import RemotingClient
from broker_core.remoting.errors import ConnectionClosed, ConnectRefused, RemotingTimeout
from tests.support.scripted import hang_up, in_turn, refuse, say_nothing, scripted_cluster, succeed

CODE = RequestCode.GET_MAX_OFFSET


def question() -> Command:
    return Command.request(GetMaxOffsetRequest("orders", 0))


async def test_a_peer_answers_by_its_script_and_notes_who_asked() -> None:
    client = RemotingClient()
    async with scripted_cluster("broker-a") as cluster:
        peer = cluster["broker-a"]
        peer.on(CODE, in_turn(succeed(), refuse(ResponseCode.SYSTEM_BUSY)))

        codes = [(await client.invoke(peer.addr, question(), 1_000)).code for _ in range(3)]

        assert codes == [ResponseCode.SUCCESS, ResponseCode.SYSTEM_BUSY, ResponseCode.SYSTEM_BUSY]
        assert len(peer.asked(CODE)) == 3
        assert len(peer.connections) == 1
    await client.close()


async def test_a_peer_can_be_silent_hang_up_and_be_gone() -> None:
    client = RemotingClient()
    async with scripted_cluster("broker-a") as cluster:
        peer = cluster["broker-a"]
        peer.on(CODE, in_turn(say_nothing(), hang_up()))
        with pytest.raises(RemotingTimeout):
            await client.invoke(peer.addr, question(), 50)
        with pytest.raises(ConnectionClosed):
            await client.invoke(peer.addr, question(), 1_000)
        await peer.stop()
        with pytest.raises(ConnectRefused):
            await client.invoke("127.0.0.1:1", question(), 1_000)
    await client.close()


async def test_the_name_server_tells_of_topics_and_brokers() -> None:
    client = RemotingClient()
    async with scripted_cluster("broker-a", "broker-b") as cluster:
        cluster.add_topic("orders", queues=2, on=("broker-b",))
        known = await client.invoke(cluster.name_server.addr, Command.request(GetRouteInfoRequest("orders")), 1_000)
        unknown = await client.invoke(cluster.name_server.addr, Command.request(GetRouteInfoRequest("x")), 1_000)
        brokers = await client.invoke(cluster.name_server.addr, Command.request(GetBrokerClusterInfoRequest()), 1_000)
    await client.close()

    route = coder.decode(TopicRouteData, known.body)
    assert [(queue.broker_name, queue.write_queue_nums) for queue in route.queue_datas] == [("broker-b", 2)]
    assert unknown.code == ResponseCode.TOPIC_NOT_EXIST
    assert set(coder.decode(ClusterInfo, brokers.body).broker_addr_table) == {"broker-a", "broker-b"}
