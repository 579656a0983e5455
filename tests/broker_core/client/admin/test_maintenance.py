"""Settings, write permission and housekeeping, with a real broker and its name server."""

from __future__ import annotations

import pytest

from broker_core.client.admin import Admin
from broker_core.client.config import ClientConfig
from broker_core.client.errors import ClientError, MalformedAnswer
from broker_core.client.session import Session
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from tests.broker_core.client.conftest import Live
from tests.support.scripted import scripted_cluster, succeed


async def test_the_settings_of_a_broker_are_read_and_changed(live: Live) -> None:
    maintenance, addr = live.admin.maintenance, live.running.address
    before = await maintenance.settings_of(addr)
    assert before["brokerName"] == "broker-a"

    await maintenance.change_settings_of(addr, {"fileReservedTime": "48", "deleteWhen": "04;16"})
    changed = await maintenance.settings_of(addr)
    await maintenance.change_settings_of(addr, {name: before[name] for name in ("fileReservedTime", "deleteWhen")})

    assert (changed["fileReservedTime"], changed["deleteWhen"]) == ("48", "04;16")
    assert await maintenance.settings_of(addr) == before


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"colour": "blue"}, "no setting 'colour'"),
        ({"deleteWhen": "noon"}, "'noon' is not hours of the day"),
        ({"brokerName": "other"}, "brokerName is fixed or can be set only at the start"),
    ],
)
async def test_a_broker_names_the_settings_that_it_refuses(live: Live, settings: dict[str, str], said: str) -> None:
    with pytest.raises(ClientError, match=said):
        await live.admin.maintenance.change_settings_of(live.running.address, settings)


async def test_settings_that_are_no_text_are_named() -> None:
    async with scripted_cluster("broker-a") as cluster:
        peer = cluster.brokers["broker-a"]
        peer.on(
            RequestCode.GET_BROKER_CONFIG, succeed(lambda _: Command.response(ResponseCode.SUCCESS, body=b"a=\xff"))
        )
        async with Session(ClientConfig([cluster.name_server.addr])) as session:
            with pytest.raises(MalformedAnswer):
                await Admin(session).maintenance.settings_of(peer.addr)


async def test_the_settings_of_name_servers_are_read_and_changed(live: Live) -> None:
    maintenance, addr = live.admin.maintenance, live.running.name_server
    assert (await maintenance.name_server_settings()).found[addr]["orderMessageEnable"] == "false"

    assert (await maintenance.change_name_server_settings({"orderMessageEnable": "true"})).complete
    changed = (await maintenance.name_server_settings()).found[addr]
    await maintenance.change_name_server_settings({"orderMessageEnable": "false"})

    assert changed["orderMessageEnable"] == "true"
    refused = await maintenance.change_name_server_settings({"listenPort": "1"})
    assert isinstance(refused.failed[addr], ClientError)


async def test_write_permission_is_taken_and_given_back(live: Live) -> None:
    topic = await live.topic()
    maintenance, addr = live.admin.maintenance, live.running.name_server

    taken = await maintenance.take_write_permission("broker-a")
    route = await live.session.routes.refresh(topic)
    given = await maintenance.give_write_permission("broker-a")

    assert taken.found[addr] == given.found[addr] > 0
    assert route.write_queues == ()
    assert (await live.session.routes.refresh(topic)).write_queues
    assert (await maintenance.take_write_permission("nobody")).found == {addr: 0}


async def test_housekeeping_leaves_what_is_kept(live: Live) -> None:
    topic = await live.topic()
    await live.send(topic, "a")

    await live.admin.maintenance.drop_expired_of(live.running.address)
    await live.admin.maintenance.drop_unused_topics_of(live.running.address)

    assert len((await live.admin.messages.browse(topic)).messages) == 1
