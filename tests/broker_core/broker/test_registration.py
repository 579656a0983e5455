"""Registration: every name server gets the topics; an unreachable one gets them later."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from broker_core.broker import Periods
from broker_core.broker.config import Identity, TopicDefaults
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.registration import MasterPlace, Registration
from broker_core.broker.replication.standing import Standing
from broker_core.broker.role import Role, RoleKind, Roles
from broker_core.broker.saving import JsonFile
from broker_core.broker.topics import Topics
from broker_core.namesrv.config import NameServerConfig
from broker_core.namesrv.server import NameServer
from broker_core.protocol import bodies
from broker_core.protocol.bodies.clusters import ClusterInfo
from broker_core.protocol.bodies.registration import decode_registration
from broker_core.protocol.bodies.routes import BrokerData, QueueData, TopicRouteData
from broker_core.protocol.bodies.topics import DataVersion, TopicConfig
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.routes import (
    GetBrokerClusterInfoRequest,
    PutKvConfigRequest,
    QueryDataVersionResponse,
    RegisterBrokerRequest,
    UnregisterBrokerRequest,
)
from broker_core.remoting import Connection, Dispatch, RemotingClient, Server
from tests.support.broker import started
from tests.support.wait import eventually


def topics_in(folder: Path) -> Topics:
    return Topics(
        JsonFile(folder / "topics.json"), identity=Identity(), defaults=TopicDefaults(), limits=BrokerLimits()
    )


async def name_server(port: int = 0) -> NameServer:
    server = NameServer(NameServerConfig(port=port))
    await server.start()
    return server


def registration_at(
    topics: Topics,
    client: RemotingClient,
    *addresses: str,
    roles: Roles | None = None,
    address: str = "127.0.0.1:10911",
    on_master: Callable[[MasterPlace], None] | None = None,
) -> Registration:
    roles = roles or Roles(Role.of_id(0))
    return Registration(
        Identity(),
        address,
        topics,
        addresses,
        client,
        roles=roles,
        standing=Standing(),
        on_master=on_master,
        timeout_ms=2_000,
        clock=lambda: 1,
    )


async def brokers_at(client: RemotingClient, address: str) -> list[str]:
    answer = await client.invoke(address, Command.request(GetBrokerClusterInfoRequest()), 2_000)
    return list(bodies.decode(ClusterInfo, answer.body).broker_addr_table)


async def test_the_broker_registers_with_and_unregisters_from_all_name_servers(tmp_path: Path) -> None:
    first, second = await name_server(), await name_server()
    addresses = [f"127.0.0.1:{server.port}" for server in (first, second)]
    client = RemotingClient()
    registration = registration_at(topics_in(tmp_path), client, *addresses)

    assert await registration.register() == 2
    assert [await brokers_at(client, address) for address in addresses] == [["broker-a"], ["broker-a"]]

    await registration.unregister()
    assert [await brokers_at(client, address) for address in addresses] == [[], []]
    await client.close()
    for server in (first, second):
        await server.close()


async def ids_at(client: RemotingClient, address: str) -> dict[int, str]:
    answer = await client.invoke(address, Command.request(GetBrokerClusterInfoRequest()), 2_000)
    table = bodies.decode(ClusterInfo, answer.body).broker_addr_table
    return dict(table["broker-a"].broker_addrs) if table else {}


async def test_a_slave_registers_under_its_id_and_learns_where_its_master_is(tmp_path: Path) -> None:
    server = await name_server()
    at, client = f"127.0.0.1:{server.port}", RemotingClient()
    told: list[MasterPlace] = []
    roles, place = Roles(Role.of_id(2)), "127.0.0.1:20911"
    slave = registration_at(topics_in(tmp_path), client, at, roles=roles, address=place, on_master=told.append)

    await slave.register()
    assert (told, slave.master) == ([], None)

    await registration_at(topics_in(tmp_path), client, at).register()
    await slave.register()
    await slave.register()
    assert told == [MasterPlace("127.0.0.1:10911", "127.0.0.1:10912")]
    assert slave.master == told[0]
    assert await ids_at(client, at) == {0: "127.0.0.1:10911", 2: "127.0.0.1:20911"}

    await slave.unregister()
    assert await ids_at(client, at) == {0: "127.0.0.1:10911"}
    await client.close()
    await server.close()


async def test_where_the_master_is_stays_known_while_it_is_away(tmp_path: Path) -> None:
    server = await name_server()
    at, client = f"127.0.0.1:{server.port}", RemotingClient()
    master = registration_at(topics_in(tmp_path), client, at)
    slave = registration_at(topics_in(tmp_path), client, at, roles=Roles(Role.of_id(1)), address="127.0.0.1:20911")
    await master.register()
    await slave.register()
    await master.unregister()
    await slave.register()
    assert slave.master == MasterPlace("127.0.0.1:10911", "127.0.0.1:10912")
    await client.close()
    await server.close()


async def test_another_role_is_registered_and_a_fenced_one_leaves(tmp_path: Path) -> None:
    server = await name_server()
    at, client, roles = f"127.0.0.1:{server.port}", RemotingClient(), Roles(Role(RoleKind.FENCED, 2))
    registration = registration_at(topics_in(tmp_path), client, at, roles=roles)

    assert await registration.register() == 0
    assert await ids_at(client, at) == {}

    roles.become(Role(RoleKind.SLAVE, 2, "127.0.0.1:20911", 4))
    assert await registration.register() == 1
    assert await ids_at(client, at) == {2: "127.0.0.1:10911"}

    roles.become(Role(RoleKind.MASTER, 0, None, 5))
    await registration.register()
    assert await ids_at(client, at) == {0: "127.0.0.1:10911"}

    roles.become(Role(RoleKind.SLAVE, 2, None, 6))
    await registration.register()
    roles.become(Role(RoleKind.FENCED, 2))
    assert await registration.register() == 0
    assert await ids_at(client, at) == {}
    await client.close()
    await server.close()


async def test_one_that_is_away_does_not_hold_up_the_others_and_is_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server = await name_server()
    client = RemotingClient()
    registration = registration_at(topics_in(tmp_path), client, "127.0.0.1:1", f"127.0.0.1:{server.port}")

    with caplog.at_level(logging.WARNING):
        assert await registration.register() == 1
        assert await registration.register() == 1

    assert sum("127.0.0.1:1: this broker could not be registered" in line for line in caplog.text.splitlines()) == 1
    await client.close()
    await server.close()


class Listening:
    """A name server that records the topics of each registration, and knows the version of the last one."""

    def __init__(self) -> None:
        self.received: list[list[str]] = []
        self.sizes: list[int] = []
        self.version: DataVersion | None = None
        dispatch = Dispatch()
        dispatch.register(RequestCode.REGISTER_BROKER, self._register)
        dispatch.register(RequestCode.QUERY_DATA_VERSION, self._query)
        self.server = Server(dispatch, host="127.0.0.1", port=0)

    def _register(self, request: Command, _: Connection) -> Command:
        wrapper = decode_registration(request.body, compressed=False).topic_config_serialize_wrapper
        self.received.append(list(wrapper.topic_config_table))
        self.sizes.append(len(request.body))
        self.version = wrapper.data_version
        return Command.response(ResponseCode.SUCCESS)

    def _query(self, request: Command, _: Connection) -> Command:
        is_other = bodies.decode(DataVersion, request.body) != self.version
        return Command.response(ResponseCode.SUCCESS, QueryDataVersionResponse(is_other))


async def test_a_name_server_that_has_the_rest_gets_only_the_changes(tmp_path: Path) -> None:
    listening, client, topics = Listening(), RemotingClient(), topics_in(tmp_path)
    await listening.server.start()
    for number in range(500):
        topics.put(TopicConfig(f"topic-{number}"), now=number)
    registration = registration_at(topics, client, f"127.0.0.1:{listening.server.port}")

    await registration.register()
    assert len(listening.received.pop()) == len(topics)
    await registration.register()
    assert listening.received.pop() == []
    for name in ("new", "newer", "new"):
        topics.put(TopicConfig(name), now=600)
    topics.delete("topic-7", now=601)
    await registration.register()
    assert sorted(listening.received.pop()) == ["new", "newer"]
    topics.touch(now=602)
    await registration.register()
    assert len(listening.received.pop()) == len(topics)
    listening.version = None
    await registration.register()
    assert len(listening.received.pop()) == len(topics)

    await client.close()
    await listening.server.close()


async def test_what_is_sent_does_not_grow_with_the_topics_that_stay_as_they_are(tmp_path: Path) -> None:
    sizes = {}
    for count in (1, 2_000):
        listening, client, topics = Listening(), RemotingClient(), topics_in(tmp_path)
        await listening.server.start()
        for number in range(count):
            topics.put(TopicConfig(f"topic-{number}"), now=1_000)
        topics.version = DataVersion(5_000, 1_000)  # as many digits, whatever the count
        registration = registration_at(topics, client, f"127.0.0.1:{listening.server.port}")

        await registration.register()  # all of them, once
        await registration.register()  # a heartbeat
        topics.put(TopicConfig("new"), now=1_001)
        await registration.register()

        sizes[count] = listening.sizes
        await client.close()
        await listening.server.close()
    assert sizes[2_000][0] > 100 * sizes[1][1]
    assert sizes[2_000][1:] == sizes[1][1:]


@pytest.mark.parametrize("forgets", ["by itself", "at its end"])
async def test_a_name_server_that_forgot_us_gets_everything(tmp_path: Path, forgets: str) -> None:
    server, client, topics = await name_server(), RemotingClient(), topics_in(tmp_path)
    port = server.port
    topics.put(TopicConfig("orders", 4, 4), now=1)
    registration = registration_at(topics, client, f"127.0.0.1:{port}")
    await registration.register()
    topics.put(TopicConfig("invoices", 4, 4), now=2)
    await registration.register()
    assert {"orders", "invoices"} <= set(server.routes.topics())

    if forgets == "by itself":
        server.routes.unregister("broker-a", 0, "127.0.0.1:10911")
    else:
        await server.close()
        server = await name_server(port)
    topics.put(TopicConfig("returns", 4, 4), now=3)
    await registration.register()

    assert {"orders", "invoices", "returns"} <= set(server.routes.topics())
    await client.close()
    await server.close()


async def test_the_table_of_ordered_topics_is_taken_over(tmp_path: Path) -> None:
    server = await name_server()
    address = f"127.0.0.1:{server.port}"
    client, topics = RemotingClient(), topics_in(tmp_path)
    topics.put(TopicConfig("orders", 4, 4), now=2)
    setting = PutKvConfigRequest("ORDER_TOPIC_CONFIG", "orders", "broker-a:4")
    await client.invoke(address, Command.request(setting), 2_000)

    await registration_at(topics, client, address).register()

    assert topics.get("orders").order
    await client.close()
    await server.close()


async def test_a_broker_registers_at_once_with_a_name_server_that_came_back(tmp_path: Path) -> None:
    async with started(tmp_path, periods=Periods(registration=3_600_000)) as wire:
        port = wire.name_server.port
        await wire.name_server.close()
        wire.name_server = await name_server(port)

        await eventually(lambda: _knows(wire.client, f"127.0.0.1:{port}"))
        await wire.name_server.close()


async def _knows(client: RemotingClient, address: str) -> bool:
    return "broker-a" in await brokers_at(client, address)


async def test_who_waits_for_a_registration_waits_for_one_that_begins_later(tmp_path: Path) -> None:
    server, client = await name_server(), RemotingClient()
    registration = registration_at(topics_in(tmp_path), client, f"127.0.0.1:{server.port}")
    run = asyncio.create_task(registration.run(60_000))

    await registration.wait()

    assert await brokers_at(client, f"127.0.0.1:{server.port}") == ["broker-a"]
    run.cancel()
    await client.close()
    await server.close()


async def test_what_is_wanted_and_waited_for_in_one_turn_of_the_loop_is_one_registration(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server, client = await name_server(), RemotingClient()
    registration = registration_at(topics_in(tmp_path), client, f"127.0.0.1:{server.port}")
    run = asyncio.create_task(registration.run(60_000))
    await asyncio.sleep(0)

    with caplog.at_level(logging.DEBUG, "broker_core.namesrv.handlers"):
        registration.want()
        await asyncio.gather(registration.wait(), registration.wait())

    assert caplog.text.count(": registered") == 1
    run.cancel()
    await client.close()
    await server.close()


async def test_a_registration_that_does_not_end_is_not_waited_for_long(tmp_path: Path) -> None:
    client = RemotingClient()
    registration = registration_at(topics_in(tmp_path), client)
    begin = asyncio.get_running_loop().time()

    await registration.wait()  # it is not running

    assert asyncio.get_running_loop().time() - begin < 5
    await client.close()


async def test_a_broker_without_both_permissions_registers_its_own_for_every_topic(tmp_path: Path) -> None:
    server = await name_server()
    client = RemotingClient()
    topics = topics_in(tmp_path)
    registration = registration_at(topics, client, f"127.0.0.1:{server.port}")
    registration.permission = 4

    await registration.register()

    route = server.routes.find_route("TBW102")
    assert route is not None
    assert [queue.perm for queue in route.queue_datas] == [4]
    assert topics.get("TBW102").perm == 7
    await client.close()
    await server.close()


class LastComesFirst:
    """A name server as those of 4.9: it knows of no epochs, and keeps and removes an id whoever had it."""

    def __init__(self) -> None:
        self.ids: dict[int, str] = {}
        dispatch = Dispatch()
        dispatch.register(RequestCode.REGISTER_BROKER, self._register)
        dispatch.register(RequestCode.UNREGISTER_BROKER, self._unregister)
        dispatch.register(RequestCode.GET_ROUTEINFO_BY_TOPIC, self._route)
        self.server = Server(dispatch)

    def _register(self, request: Command, _: Connection) -> Command:
        header = request.header(RegisterBrokerRequest)
        self.ids = {number: address for number, address in self.ids.items() if address != header.broker_addr}
        self.ids[header.broker_id] = header.broker_addr
        return Command.response(ResponseCode.SUCCESS)

    def _unregister(self, request: Command, _: Connection) -> Command:
        self.ids.pop(request.header(UnregisterBrokerRequest).broker_id, None)
        return Command.response(ResponseCode.SUCCESS)

    def _route(self, _request: Command, _: Connection) -> Command:
        name = Identity().name
        route = TopicRouteData([BrokerData(name, "C", dict(self.ids))], [QueueData(name, 1, 1, 6)])
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(route))


@asynccontextmanager
async def last_comes_first() -> AsyncIterator[tuple[LastComesFirst, RemotingClient, str]]:
    plays, client = LastComesFirst(), RemotingClient()
    await plays.server.start()
    try:
        yield plays, client, f"127.0.0.1:{plays.server.port}"
    finally:
        await client.close()
        await plays.server.close()


def master(epoch: int) -> Roles:
    return Roles(Role(RoleKind.MASTER, 0, epoch=epoch))


async def test_a_master_takes_its_id_back_from_one_whose_epoch_is_over(tmp_path: Path) -> None:
    async with last_comes_first() as (plays, client, address):
        old = registration_at(topics_in(tmp_path), client, address, roles=master(4), address="10.0.0.1:1")
        roles = master(5)
        new = registration_at(topics_in(tmp_path), client, address, roles=roles, address="10.0.0.2:1")
        await new.register()
        await new.defend()
        assert plays.ids == {0: "10.0.0.2:1"}

        await old.register()  # it woke up, and does not know yet
        assert plays.ids == {0: "10.0.0.1:1"}
        await new.defend()
        assert plays.ids == {0: "10.0.0.2:1"}

        roles.become(Role(RoleKind.SLAVE, 2, "10.0.0.3:1", epoch=6))
        plays.ids = {0: "10.0.0.3:1"}
        await new.defend()
        assert plays.ids == {0: "10.0.0.3:1"}


async def test_a_former_master_that_leaves_does_not_take_its_successor_along(tmp_path: Path) -> None:
    async with last_comes_first() as (plays, client, address):
        roles = master(4)
        old = registration_at(topics_in(tmp_path), client, address, roles=roles, address="10.0.0.1:1")
        await old.register()
        roles.become(Role(RoleKind.SLAVE, 1, "10.0.0.2:1", epoch=5))
        plays.ids = {0: "10.0.0.2:1"}

        await old.unregister()

        assert plays.ids == {0: "10.0.0.2:1"}


async def test_a_slave_that_leaves_takes_its_own_id_along(tmp_path: Path) -> None:
    async with last_comes_first() as (plays, client, address):
        roles = Roles(Role(RoleKind.SLAVE, 1, "10.0.0.2:1", epoch=5))
        slave = registration_at(topics_in(tmp_path), client, address, roles=roles, address="10.0.0.1:1")
        await slave.register()
        plays.ids[0] = "10.0.0.2:1"

        await slave.unregister()

        assert plays.ids == {0: "10.0.0.2:1"}
