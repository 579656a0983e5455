"""What changes a name server is taken from this machine and named networks, once a setting says so."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final

import pytest

from broker_core.namesrv.changes import CHANGES
from broker_core.namesrv.config import NameServerConfig
from broker_core.namesrv.handlers import Handlers
from broker_core.namesrv.options import Options
from broker_core.namesrv.routes import RouteTable
from broker_core.namesrv.server import NameServer
from broker_core.namesrv.settings import Settings
from broker_core.protocol import Command, RequestCode, ResponseCode, bodies
from broker_core.protocol.headers import routes as headers
from broker_core.protocol.networks import Networks
from tests.support.elsewhere import address_elsewhere, ask_from

HERE: Final = "127.0.0.1"
QUESTIONS: Final = {
    RequestCode.GET_ROUTEINFO_BY_TOPIC,
    RequestCode.GET_BROKER_CLUSTER_INFO,
    RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER,
    RequestCode.GET_TOPICS_BY_CLUSTER,
    RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS,
    RequestCode.GET_UNIT_TOPIC_LIST,
    RequestCode.GET_HAS_UNIT_SUB_TOPIC_LIST,
    RequestCode.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST,
    RequestCode.GET_KV_CONFIG,
    RequestCode.GET_KVLIST_BY_NAMESPACE,
    RequestCode.GET_NAMESRV_CONFIG,
}
ASKED: Final[Mapping[RequestCode, object]] = {
    RequestCode.REGISTER_BROKER: headers.RegisterBrokerRequest("broker-x", "192.0.2.66:10911", "local", 0, ""),
    RequestCode.UNREGISTER_BROKER: headers.UnregisterBrokerRequest("broker-a", "127.0.0.1:10911", "local", 0),
    RequestCode.QUERY_DATA_VERSION: headers.QueryDataVersionRequest("127.0.0.1:10911", "broker-a", "local", 0),
    RequestCode.DELETE_TOPIC_IN_NAMESRV: headers.DeleteTopicInNameServerRequest("orders"),
    RequestCode.WIPE_WRITE_PERM_OF_BROKER: headers.WipeWritePermRequest("broker-a"),
    RequestCode.ADD_WRITE_PERM_OF_BROKER: headers.AddWritePermRequest("broker-a"),
    RequestCode.PUT_KV_CONFIG: headers.PutKvConfigRequest("N", "key", "value"),
    RequestCode.DELETE_KV_CONFIG: headers.DeleteKvConfigRequest("N", "key"),
    RequestCode.UPDATE_NAMESRV_CONFIG: headers.UpdateNameServerConfigRequest(),
}
BODIES: Final = {RequestCode.QUERY_DATA_VERSION: bodies.encode(bodies.DataVersion(1, 7))}


def request_of(code: RequestCode) -> Command:
    return Command.request(ASKED[code], BODIES.get(code, b""))


@asynccontextmanager
async def served(networks: Networks | None) -> AsyncIterator[str]:
    """Start a name server; yield its address."""
    server = NameServer(NameServerConfig(port=0, change_networks=networks))
    await server.start()
    try:
        yield f"{HERE}:{server.port}"
    finally:
        await server.close()


def test_every_request_is_a_question_or_a_change() -> None:
    options = Options(NameServerConfig(), port=lambda: 0)

    assert set(Handlers(RouteTable(), Settings(), options, lambda: 0).table()) == QUESTIONS | CHANGES
    assert not QUESTIONS & CHANGES
    assert ASKED.keys() == CHANGES


async def test_changes_from_elsewhere_are_refused(caplog: pytest.LogCaptureFixture) -> None:
    source = address_elsewhere()
    async with served(Networks()) as address:
        for code in sorted(CHANGES):
            answer = await ask_from(source, address, request_of(code))
            assert (answer.code, answer.remark) == (
                ResponseCode.NO_PERMISSION,
                f"request code={code} ({code.name}) changes this name server, which takes changes only from its own "
                f"machine and from the networks of changeNetworks (GANTRY_NAMESRV_NETWORKS), not from {source}",
            )
        info = await ask_from(source, address, Command.request(headers.GetBrokerClusterInfoRequest()))

    assert info.code == ResponseCode.SUCCESS
    assert b"broker-x" not in info.body
    assert "refused: request code=103 (REGISTER_BROKER) changes this name server" in caplog.text


async def test_changes_from_this_machine_are_taken() -> None:
    async with served(Networks()) as address:
        for code in sorted(CHANGES):
            answer = await ask_from(HERE, address, request_of(code))
            assert answer.code == ResponseCode.SUCCESS, (code, answer.remark)


async def test_changes_from_a_named_network_are_taken() -> None:
    source = address_elsewhere()
    async with served(Networks.parse(f"10.99.0.0/16,{source}")) as address:
        answer = await ask_from(source, address, request_of(RequestCode.REGISTER_BROKER))

    assert answer.code == ResponseCode.SUCCESS


async def test_without_the_setting_changes_are_taken_from_anywhere() -> None:
    source = address_elsewhere()
    async with served(None) as address:
        answer = await ask_from(source, address, request_of(RequestCode.REGISTER_BROKER))

    assert answer.code == ResponseCode.SUCCESS
