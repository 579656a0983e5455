"""Requirements of `console.clusters.identities`: no request reaches another broker at the address of a known one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from broker_core.client.admin import Admin
from broker_core.client.errors import OtherBroker, Unreachable
from broker_core.client.producer import Producer
from broker_core.protocol.codes import RequestCode
from broker_core.protocol.message import Message
from console.clusters.connections import ClusterAddress, Connections
from console.clusters.identities import IdentitiesUnknown, SeenAt
from tests.console.lag.figures import Figures
from tests.support.replica_group import replica_group
from tests.support.scripted import Cluster, scripted_cluster
from tests.support.wait import eventually


class Seen:
    """What was seen at the addresses of the cluster."""

    def __init__(self) -> None:
        self.ids: dict[str, dict[str, str]] = {}
        self.is_readable = True

    async def find(self, cluster: str) -> SeenAt:
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
async def opened(cluster: Cluster | str, seen: Seen) -> AsyncIterator[Connections]:
    name_server = cluster if isinstance(cluster, str) else cluster.name_server.addr

    async def find(name: str) -> ClusterAddress | None:
        return ClusterAddress(name, (name_server,))

    connections = Connections(find, seen.find)
    try:
        yield connections
    finally:
        await connections.close()


async def test_a_change_over_a_known_route_does_not_reach_another_broker(cluster: Cluster) -> None:
    seen, peer = Seen(), cluster["broker-a"]
    seen.ids[peer.addr] = {"mine": "broker-a"}
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
    seen.ids[peer.addr] = {"before": "broker-a"}
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


async def test_a_switch_of_the_master_does_not_make_it_another_broker(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        before, seen = await group.master(), Seen()
        async with opened(group.name_server, seen) as connections:
            admin = await connections.admin("local")
            (after,) = group.slaves()
            await admin.replication.elect("b", after.components.roles.now.broker_id)
            await eventually(lambda: after.components.roles.now.is_master)
            # The listed address of the name was written down before the folder there had told its identity
            seen.ids[after.address] = {before.components.beside.store_id: "b"}
            assert (await admin.clusters.runtime_of(after.address)).store_id == after.components.beside.store_id


async def test_a_replica_of_another_name_is_another_broker(tmp_path: Path) -> None:
    async with replica_group(tmp_path, count=1) as group:
        seen, broker = Seen(), await group.master()
        seen.ids[broker.address] = {"before": "of-another-name"}
        async with opened(group.name_server, seen) as connections:
            with pytest.raises(OtherBroker):
                await (await connections.admin("local")).clusters.runtime_of(broker.address)


async def test_a_replica_that_no_controller_knows_is_another_broker(tmp_path: Path) -> None:
    async with replica_group(tmp_path, count=1) as group, scripted_cluster("b") as scripted:
        seen, broker = Seen(), await group.master()
        seen.ids[broker.address] = {"before": "b"}
        async with opened(scripted, seen) as connections:
            with pytest.raises(OtherBroker):
                await (await connections.admin("local")).clusters.runtime_of(broker.address)
