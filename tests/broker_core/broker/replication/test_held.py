"""Requirements of replicas that take no part any more until somebody does something: each tells why."""

from __future__ import annotations

from pathlib import Path

from broker_core.broker import Broker
from broker_core.broker.config import Identity
from broker_core.client.admin import Admin
from broker_core.client.admin.clusters import BrokerRuntime
from broker_core.client.config import ClientConfig
from broker_core.client.session import Session
from broker_core.protocol import bodies
from broker_core.protocol.bodies.routes import KVTable
from broker_core.protocol.headers.admin import GetBrokerRuntimeInfoRequest
from tests.support.replica_group import ReplicaGroup, replica_group
from tests.support.wait import eventually


async def figures(group: ReplicaGroup, broker: Broker) -> BrokerRuntime:
    return BrokerRuntime(bodies.decode(KVTable, (await group.ask(broker, GetBrokerRuntimeInfoRequest())).body).table)


async def is_held(group: ReplicaGroup, broker: Broker) -> bool:
    return bool((await figures(group, broker)).held)


async def test_after_an_accepted_loss_those_that_have_more_tell_why_they_stay_away(tmp_path: Path) -> None:
    async with replica_group(tmp_path, count=3) as group:
        had_more = await group.lose()
        common = (await group.master()).store.appended_log_offset
        for number in had_more:
            back = await group.start(number)
            await eventually(lambda back=back: is_held(group, back))
            told = await figures(group, back)
            assert (told.held, told.common_log_end) == ("ahead", common)
            assert told.trouble is not None
            assert f"the master has this log up to {common} only" in told.trouble
            assert told.log_end is not None
            assert told.log_end > common
        led = await figures(group, await group.master())
        assert (led.held, led.trouble, led.common_log_end) == ("", "", None)


async def test_a_removed_id_and_a_wrong_cluster_are_told_by_the_process_itself(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group, Session(ClientConfig((group.name_server,))) as session:
        gone = group.slaves()[0]
        number = gone.components.roles.now.broker_id
        await Admin(session).replication.remove("b", [number], even_living=True)
        await eventually(lambda: is_held(group, gone))
        told = await figures(group, gone)
        assert (told.held, told.trouble) == (
            "removed",
            f"b has no replica {number}: it never took that id, or was removed",
        )
        group.more = {"identity": Identity("elsewhere", "b")}
        stranger = await group.start(9)
        await eventually(lambda: is_held(group, stranger))
        refused = await figures(group, stranger)
        assert refused.held == "refused"
        assert "is of cluster C (controllerClusterName), not of elsewhere" in (refused.trouble or "")
