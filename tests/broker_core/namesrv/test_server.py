"""A name server over real sockets: the requests of brokers, clients and tools."""

from __future__ import annotations

import asyncio
import struct
import zlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from broker_core.namesrv.config import NameServerConfig
from broker_core.namesrv.limits import RouteLimits
from broker_core.namesrv.server import NameServer
from broker_core.protocol import Command, ResponseCode, bodies, java_properties
from broker_core.protocol.bodies.registration import checksum
from broker_core.protocol.headers import routes as headers
from broker_core.remoting import RemotingClient
from tests.support.wait import eventually

BROKER = "127.0.0.1:10911"
ORDERS = bodies.TopicConfig("orders", 4, 4, 6)
BODY = bodies.encode(
    bodies.RegisterBrokerBody(bodies.TopicConfigSerializeWrapper(bodies.DataVersion(1, 7), {"orders": ORDERS}))
)


@pytest.fixture
async def name_server(tmp_path: Path) -> AsyncIterator[NameServer]:
    server = NameServer(NameServerConfig(port=0, settings_file=tmp_path / "kv.json", order_message_enable=True))
    await server.start()
    yield server
    await server.close()


class Peer:
    """One connection to the name server."""

    def __init__(self, server: NameServer) -> None:
        self.client = RemotingClient()
        self._address = f"127.0.0.1:{server.port}"

    async def ask(self, header: object, body: bytes = b"", *, version: int | None = None) -> Command:
        request = Command.request(header, body)
        request.version = version if version is not None else request.version
        return await self.client.invoke(self._address, request, 3000)

    async def register(self, body: bytes = BODY, *, crc: int = 0, compressed: bool = False) -> Command:
        return await self.ask(
            headers.RegisterBrokerRequest(
                "broker-a", BROKER, "east", 0, "127.0.0.1:10912", compressed=compressed, body_crc32=crc
            ),
            body,
        )


@pytest.fixture
async def peer(name_server: NameServer) -> AsyncIterator[Peer]:
    one = Peer(name_server)
    yield one
    await one.client.close()


@pytest.fixture
async def other(name_server: NameServer) -> AsyncIterator[Peer]:
    one = Peer(name_server)
    yield one
    await one.client.close()


async def test_a_registered_topic_is_found(peer: Peer) -> None:
    assert (await peer.register(crc=checksum(BODY))).code == ResponseCode.SUCCESS
    answer = await peer.ask(headers.GetRouteInfoRequest("orders"))
    route = bodies.decode(bodies.TopicRouteData, answer.body)
    assert route.queue_datas == [bodies.QueueData("broker-a", 4, 4, 6)]
    assert route.broker_datas == [bodies.BrokerData("broker-a", "east", {0: BROKER}, enable_acting_master=False)]


async def test_old_clients_get_bare_numbers_as_keys_and_new_ones_strict_json(peer: Peer) -> None:
    await peer.register()
    old = await peer.ask(headers.GetRouteInfoRequest("orders"), version=373)
    new = await peer.ask(headers.GetRouteInfoRequest("orders"), version=401)
    asked = await peer.ask(headers.GetRouteInfoRequest("orders", True), version=373)
    assert b"{0:" in old.body
    assert b'{"0":' in new.body
    assert asked.body == new.body


async def test_an_unknown_topic_is_answered_17_by_name(peer: Peer) -> None:
    answer = await peer.ask(headers.GetRouteInfoRequest("orders"))
    assert answer.code == ResponseCode.TOPIC_NOT_EXIST
    assert "No topic route info in name server for the topic: orders" in (answer.remark or "")


async def test_what_brokers_have_is_told_only_when_the_broker_of_the_process_has_registered(tmp_path: Path) -> None:
    ready = asyncio.Event()
    server = NameServer(NameServerConfig(port=0, settings_file=tmp_path / "kv.json"), ready=ready)
    await server.start()
    peer = Peer(server)
    asked = asyncio.create_task(peer.ask(headers.GetRouteInfoRequest("orders")))
    await peer.register()
    assert not asked.done()
    ready.set()
    assert (await asked).code == ResponseCode.SUCCESS
    await peer.client.close()
    await server.close()


async def test_a_wrong_checksum_is_refused(peer: Peer) -> None:
    answer = await peer.register(crc=1)
    assert (answer.code, answer.remark) == (ResponseCode.SYSTEM_ERROR, "crc32 not match")


async def test_a_compressed_registration_is_read(peer: Peer) -> None:
    def text(data: bytes) -> bytes:
        return struct.pack(">i", len(data)) + data

    plain = text(b'{"counter":1,"timestamp":7}') + struct.pack(">i", 1) + text(b"orders 4 8 6 SINGLE_TAG") + text(b"[]")
    body = zlib.compress(plain, 9)
    assert (await peer.register(body, crc=checksum(body), compressed=True)).code == ResponseCode.SUCCESS
    route = bodies.decode(bodies.TopicRouteData, (await peer.ask(headers.GetRouteInfoRequest("orders"))).body)
    assert route.queue_datas == [bodies.QueueData("broker-a", 4, 8, 6)]


@pytest.mark.parametrize("body", [b"x", zlib.compress(b"\xff"), zlib.compress(struct.pack(">i", 2**31 - 1))])
async def test_a_registration_that_cannot_be_read_is_refused_and_the_connection_lives(peer: Peer, body: bytes) -> None:
    assert (await peer.register(body, compressed=True)).code == ResponseCode.SYSTEM_ERROR
    assert (await peer.register()).code == ResponseCode.SUCCESS


async def test_a_broker_whose_connection_closes_is_forgotten_at_once(peer: Peer, other: Peer) -> None:
    await other.register()
    await other.register()
    await other.client.close()

    async def is_gone() -> bool:
        return (await peer.ask(headers.GetRouteInfoRequest("orders"))).code == ResponseCode.TOPIC_NOT_EXIST

    await eventually(is_gone)


async def test_a_silent_broker_is_forgotten(name_server: NameServer, peer: Peer, other: Peer) -> None:
    await other.register()
    name_server.expire(now=2**60)
    assert (await peer.ask(headers.GetRouteInfoRequest("orders"))).code == ResponseCode.TOPIC_NOT_EXIST


async def test_tools_see_clusters_topics_and_system_topics(peer: Peer) -> None:
    await peer.register()
    cluster = bodies.decode(bodies.ClusterInfo, (await peer.ask(headers.GetBrokerClusterInfoRequest())).body)
    assert cluster.cluster_addr_table == {"east": ["broker-a"]}
    for request, names in (
        (headers.GetAllTopicListRequest(), ["orders"]),
        (headers.GetTopicsByClusterRequest("east"), ["orders"]),
        (headers.GetTopicsByClusterRequest("west"), []),
        (headers.GetSystemTopicListFromNameServerRequest(), ["east", "broker-a"]),
        (headers.GetUnitTopicListRequest(), []),
        (headers.GetHasUnitSubTopicListRequest(), []),
        (headers.GetHasUnitSubUnunitTopicListRequest(), []),
    ):
        assert bodies.decode(bodies.TopicList, (await peer.ask(request)).body).topic_list == names


async def test_write_permission_topic_and_broker_go_and_come(peer: Peer) -> None:
    await peer.register()
    wiped = (await peer.ask(headers.WipeWritePermRequest("broker-a"))).header(headers.WipeWritePermResponse)
    added = (await peer.ask(headers.AddWritePermRequest("broker-a"))).header(headers.AddWritePermResponse)
    assert (wiped.wipe_topic_count, added.add_topic_count) == (1, 1)
    await peer.ask(headers.DeleteTopicInNameServerRequest("orders"))
    assert (await peer.ask(headers.GetRouteInfoRequest("orders"))).code == ResponseCode.TOPIC_NOT_EXIST
    await peer.ask(headers.UnregisterBrokerRequest("broker-a", BROKER, "east", 0))
    cluster = bodies.decode(bodies.ClusterInfo, (await peer.ask(headers.GetBrokerClusterInfoRequest())).body)
    assert cluster.broker_addr_table == {}


async def test_the_data_version_says_whether_to_register_again(peer: Peer) -> None:
    await peer.register()
    await peer.register()  # the first registration had a single topic, which might have been the only change
    header = headers.QueryDataVersionRequest("broker-a", BROKER, "east", 0)
    same = await peer.ask(header, bodies.encode(bodies.DataVersion(1, 7)))
    changed = await peer.ask(header, bodies.encode(bodies.DataVersion(2, 7)))
    assert same.header(headers.QueryDataVersionResponse).changed is False
    assert changed.header(headers.QueryDataVersionResponse).changed is True
    assert bodies.decode(bodies.DataVersion, changed.body) == bodies.DataVersion(1, 7)


async def test_settings_are_kept_and_order_settings_travel_with_the_route(peer: Peer) -> None:
    await peer.ask(headers.PutKvConfigRequest("ORDER_TOPIC_CONFIG", "orders", "broker-a:4"))
    registered = await peer.register()
    assert bodies.decode(bodies.KVTable, registered.body).table == {"orders": "broker-a:4"}
    route = bodies.decode(bodies.TopicRouteData, (await peer.ask(headers.GetRouteInfoRequest("orders"))).body)
    assert route.order_topic_conf == "broker-a:4"
    value = (await peer.ask(headers.GetKvConfigRequest("ORDER_TOPIC_CONFIG", "orders"))).header(
        headers.GetKvConfigResponse
    )
    assert value.value == "broker-a:4"
    await peer.ask(headers.DeleteKvConfigRequest("ORDER_TOPIC_CONFIG", "orders"))
    missing = await peer.ask(headers.GetKvConfigRequest("ORDER_TOPIC_CONFIG", "orders"))
    assert missing.code == ResponseCode.QUERY_NOT_FOUND
    assert (await peer.ask(headers.GetKvListByNamespaceRequest("none"))).code == ResponseCode.QUERY_NOT_FOUND


async def test_its_configuration_is_shown_under_rocketmqs_names(peer: Peer, name_server: NameServer) -> None:
    shown = java_properties.parse((await peer.ask(headers.GetNameServerConfigRequest())).body)

    assert (shown["listenPort"], shown["orderMessageEnable"]) == (str(name_server.port), "true")


async def test_routes_carry_the_order_of_a_topic_or_not_as_is_set_while_it_runs(peer: Peer) -> None:
    await peer.register()
    await peer.ask(headers.PutKvConfigRequest("ORDER_TOPIC_CONFIG", "orders", "broker-a:4"))

    answer = await peer.ask(headers.UpdateNameServerConfigRequest(), b"orderMessageEnable=false\n")

    assert answer.code == ResponseCode.SUCCESS
    route = bodies.decode(bodies.TopicRouteData, (await peer.ask(headers.GetRouteInfoRequest("orders"))).body)
    assert route.order_topic_conf is None


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"listenPort=1", ResponseCode.NO_PERMISSION),
        (b"kvConfigPath=/tmp/x", ResponseCode.NO_PERMISSION),
        (b"orderMessageEnable=maybe", ResponseCode.INVALID_PARAMETER),
        (b"nonsense=1", ResponseCode.INVALID_PARAMETER),
        (b"\xff", ResponseCode.SYSTEM_ERROR),
    ],
)
async def test_what_it_does_not_take_is_refused(peer: Peer, line: bytes, code: ResponseCode) -> None:
    assert (await peer.ask(headers.UpdateNameServerConfigRequest(), line)).code == code


async def test_a_code_it_does_not_know_is_answered_3(peer: Peer) -> None:
    from broker_core.protocol.headers.pull import PullMessageRequest

    answer = await peer.ask(PullMessageRequest("group", "orders", 0, 0, 32, 0, 0, 0))
    assert answer.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED


async def test_a_registration_beyond_a_limit_is_refused_and_names_it(name_server: NameServer, peer: Peer) -> None:
    for number in range(16):
        header = headers.RegisterBrokerRequest(f"b{number}", f"127.0.0.1:{number}", "east", 0, "")
        assert (await peer.ask(header, BODY)).code == ResponseCode.SUCCESS
    refused = await peer.ask(headers.RegisterBrokerRequest("b16", "127.0.0.1:16", "east", 0, ""), BODY)
    assert refused.code == ResponseCode.SYSTEM_ERROR
    assert refused.remark == "limit brokers_per_connection=16 reached: broker 'b16' was not registered"
    await peer.client.close()
    await eventually(lambda: name_server.routes.names() == [])


APACHE: tuple[tuple[str, str, str], ...] = (
    ("broker-a", "DefaultCluster", "10.0.0.5:10911"),
    ("broker.10.1.2.3", "rocketmq-cluster@east", "broker_a.example.org:10911"),
    ("RaftNode00", "RaftCluster", "[fe80::1%eth0]:30911"),
    ("DEFAULT_BROKER", "c|1", "fe80::1:10911"),
    ("__syslo__global__", "MQ_INST_1%c", "[::1]:10911"),
    ("上海-1", "华东", "localhost:10911"),
    ("b" * 127, "c" * 127, "127.0.0.1:65535"),
)


@pytest.mark.parametrize(("name", "cluster", "address"), APACHE)
async def test_brokers_named_as_rocketmqs_are_registered(peer: Peer, name: str, cluster: str, address: str) -> None:
    answer = await peer.ask(headers.RegisterBrokerRequest(name, address, cluster, 0, ""), BODY)
    assert answer.code == ResponseCode.SUCCESS, answer.remark
    found = bodies.decode(bodies.ClusterInfo, (await peer.ask(headers.GetBrokerClusterInfoRequest())).body)
    assert found.cluster_addr_table == {cluster: [name]}
    assert found.broker_addr_table[name].broker_addrs == {0: address}


@pytest.mark.parametrize(
    ("field", "text"),
    [
        *(
            ("broker_name", text)
            for text in ("", "a/b", "a b", "a\nb", "a\x00", "<b>a</b>", "a\u2028b", "b" * 128, "a&b")
        ),
        *(("cluster_name", text) for text in ("", "c/d", "c\td", "<script>", "c" * 128)),
        *(
            ("broker_addr", text)
            for text in ("", "nohost", ":10911", "h:", "h:70000", "h:1/x", "h h:1", "<b>:1", "h\n:1")
        ),
        *(("broker_addr", text) for text in ("h" * 300 + ":1", "h:\uff11")),
        ("ha_server_addr", "h:1/x"),
    ],
)
async def test_a_broker_called_what_none_of_rocketmq_is_is_refused(
    name_server: NameServer, peer: Peer, field: str, text: str
) -> None:
    texts = {"broker_name": "broker-a", "broker_addr": BROKER, "cluster_name": "east", "ha_server_addr": BROKER}
    name, address, cluster, ha_address = (texts | {field: text}).values()
    refused = await peer.ask(headers.RegisterBrokerRequest(name, address, cluster, 0, ha_address), BODY)
    assert refused.code == ResponseCode.SYSTEM_ERROR
    assert repr(text[:80]) in (refused.remark or "")
    assert "\n" not in (refused.remark or "")
    assert name_server.routes.names() == []


@pytest.mark.parametrize("compressed", [False, True])
async def test_a_registration_with_more_topics_than_a_broker_may_have_is_refused_unread(
    tmp_path: Path, compressed: bool
) -> None:
    server = NameServer(NameServerConfig(port=0, routes=RouteLimits(routes_per_broker=2)))
    await server.start()
    peer = Peer(server)
    topics = {name: bodies.TopicConfig(name, 4, 4, 6) for name in "abc"}
    body = bodies.encode(
        bodies.RegisterBrokerBody(bodies.TopicConfigSerializeWrapper(bodies.DataVersion(1, 7), topics))
    )
    if compressed:
        body = zlib.compress(struct.pack(">i2si", 2, b"{}", 2_000_000))
    refused = await peer.register(body, compressed=compressed)
    assert refused.code == ResponseCode.SYSTEM_ERROR
    assert refused.remark == "limit routes_per_broker=2 reached: broker 'broker-a' was not registered"
    assert server.routes.names() == []
    await peer.client.close()
    await server.close()


async def test_a_configuration_that_is_too_long_is_refused_unread(peer: Peer) -> None:
    refused = await peer.ask(headers.UpdateNameServerConfigRequest(), b"orderMessageEnable=true\n" * 10_000)
    assert refused.code == ResponseCode.INVALID_PARAMETER
    assert refused.remark == "a configuration of 240000 bytes: 65536 are the most"


async def test_a_version_that_is_not_strict_json_is_read_if_it_is_short(peer: Peer) -> None:
    header = headers.QueryDataVersionRequest("broker-a", BROKER, "east", 0)
    assert (await peer.ask(header, b"{counter:1,timestamp:2}")).code == ResponseCode.SUCCESS
    refused = await peer.ask(header, b"{counter:1,timestamp:2" + b" " * 2_000 + b"}")
    assert refused.code == ResponseCode.SYSTEM_ERROR


def registration(counter: int, *names: str) -> bytes:
    topics = {name: bodies.TopicConfig(name, 4, 4, 6) for name in names}
    wrapper = bodies.TopicConfigSerializeWrapper(bodies.DataVersion(counter, 7), topics)
    return bodies.encode(bodies.RegisterBrokerBody(wrapper))


async def test_a_long_registration_holds_nothing_up_and_keeps_its_place(peer: Peer, other: Peer) -> None:
    many = [f"topic-{number}" for number in range(20_000)]
    for each in (peer, other):  # their connections are open
        await each.ask(headers.GetRouteInfoRequest("orders"))
    long = asyncio.create_task(peer.register(registration(1, *many)))
    short = asyncio.create_task(peer.register(registration(2, "orders")))
    # Others are answered meanwhile
    assert (await other.ask(headers.GetRouteInfoRequest("orders"))).code == ResponseCode.TOPIC_NOT_EXIST
    assert not long.done()
    assert (await long).code == (await short).code == ResponseCode.SUCCESS
    # And what came behind it is what counts
    header = headers.QueryDataVersionRequest("broker-a", BROKER, "east", 0)
    known = await peer.ask(header, bodies.encode(bodies.DataVersion(2, 7)))
    assert known.header(headers.QueryDataVersionResponse).changed is False
    for name in ("topic-19999", "orders"):
        assert (await other.ask(headers.GetRouteInfoRequest(name))).code == ResponseCode.SUCCESS


async def test_a_broker_that_leaves_while_its_long_registration_is_read_is_not_registered(
    name_server: NameServer, peer: Peer, other: Peer
) -> None:
    await peer.ask(headers.GetRouteInfoRequest("orders"))
    long = asyncio.create_task(peer.register(registration(1, *(f"topic-{number}" for number in range(20_000)))))
    for _ in range(5):
        await other.ask(headers.GetRouteInfoRequest("orders"))
    await peer.client.close()
    await asyncio.gather(long, return_exceptions=True)
    # The next long one is read after it
    assert (await other.register(registration(2, *(f"new-{number}" for number in range(2_000))))).code == 0
    await eventually(lambda: "topic-0" not in name_server.routes.topics())
    assert len(name_server.routes.topics()) == 2_000
