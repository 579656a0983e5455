"""Requirements of `console.clusters.identities`: no request reaches another broker at the address of a known one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import pytest

from broker_core.client.admin import Admin
from broker_core.client.errors import OtherBroker, Unreachable
from broker_core.client.producer import Producer
from broker_core.protocol.codes import RequestCode
from broker_core.protocol.message import Message
from console.clusters.connections import ClusterAddress, Connections
from console.clusters.identities import IdentitiesUnknown
from tests.console.lag.figures import Figures
from tests.support.scripted import Cluster, scripted_cluster
from tests.support.wait import eventually


class Seen:
    """What was seen at the addresses of the cluster."""

    def __init__(self) -> None:
        self.ids: dict[str, frozenset[str]] = {}
        self.is_readable = True

    async def find(self, cluster: str) -> Mapping[str, frozenset[str]]:
        if not self.is_readable:
            raise IdentitiesUnknown(cluster)
        return self.ids


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with scripted_cluster("broker-a") as scripted:
        scripted.add_topic("orders")
        Figures(written={"orders": 1}, store_id="mine").tell(scripted["broker-a"])
        yield scripted


@asynccontextmanager
async def opened(cluster: Cluster, seen: Seen) -> AsyncIterator[Connections]:
    async def find(name: str) -> ClusterAddress | None:
        return ClusterAddress(name, (cluster.name_server.addr,))

    connections = Connections(find, seen.find)
    try:
        yield connections
    finally:
        await connections.close()


async def test_a_change_over_a_known_route_does_not_reach_another_broker(cluster: Cluster) -> None:
    seen, peer = Seen(), cluster["broker-a"]
    seen.ids[peer.addr] = frozenset({"mine"})
    async with opened(cluster, seen) as connections:
        admin, session = await connections.admin("local"), await connections.session("local")
        await session.routes.get("orders")
        assert (await admin.clusters.runtime_of(peer.addr)).store_id == "mine"
        # When another one listens there, and no name server answers
        Figures(written={"orders": 1}, store_id="theirs").tell(peer)
        await cluster.name_server.stop()
        for connection in peer.connections:
            connection.abort("as a broker that was killed")
        producer: Producer = await connections.producer("local")
        await eventually(lambda: _is_refused(admin, peer.addr))
        with pytest.raises(Unreachable):
            await producer.send(Message("orders", b"x"))
        sent = {RequestCode.SEND_MESSAGE, RequestCode.SEND_MESSAGE_V2, RequestCode.SEND_BATCH_MESSAGE}
        assert not [request for code in sent for request in peer.asked(code)]
        # And when the right one is back, it is used again
        Figures(written={"orders": 1}, store_id="mine").tell(peer)
        assert (await admin.clusters.runtime_of(peer.addr)).store_id == "mine"


async def _is_refused(admin: Admin, addr: str) -> bool:
    try:
        await admin.clusters.runtime_of(addr)
    except OtherBroker:
        return True
    except Unreachable:  # the connection to the one that was killed
        pass
    return False


async def test_a_replaced_folder_is_accepted_once_a_name_server_lists_it_after_a_while(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, peer = Seen(), cluster["broker-a"]
    seen.ids[peer.addr] = frozenset({"before"})
    async with opened(cluster, seen) as connections:
        admin = await connections.admin("local")
        # A name server lists a broker that has just died for a moment longer, so the first look is not enough
        with pytest.raises(OtherBroker):
            await admin.clusters.runtime_of(peer.addr)
        monkeypatch.setattr("console.clusters.identities.SETTLE_SECONDS", 0.0)
        assert (await admin.clusters.runtime_of(peer.addr)).store_id == "mine"


async def test_where_no_identity_was_seen_nothing_is_asked(cluster: Cluster) -> None:
    seen, peer = Seen(), cluster["broker-a"]
    async with opened(cluster, seen) as connections:
        await Admin(await connections.session("local")).topics.on(peer.addr)
        assert not peer.asked(RequestCode.GET_BROKER_RUNTIME_INFO)


async def test_a_broker_is_not_used_while_what_was_seen_cannot_be_read(cluster: Cluster) -> None:
    seen, peer = Seen(), cluster["broker-a"]
    seen.is_readable = False
    async with opened(cluster, seen) as connections:
        admin = await connections.admin("local")
        with pytest.raises(Unreachable, match="cannot be read"):
            await admin.clusters.runtime_of(peer.addr)
        seen.is_readable = True
        assert (await admin.clusters.runtime_of(peer.addr)).store_id == "mine"
