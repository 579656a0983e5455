"""What is said of a message that is not found: while replicas do not have it, and when the master is another one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from unittest.mock import patch

import pytest

from broker_core.broker.config import ReplicationSettings
from broker_core.client.admin import Admin, NotSettled
from broker_core.client.admin.clusters import BrokerRuntime, Clusters
from broker_core.client.admin.messages import Messages
from broker_core.client.config import ClientConfig
from broker_core.client.errors import ClientError
from broker_core.client.session import Session
from broker_core.protocol.codes import ResponseCode
from tests.broker_core.broker.replication.switching import slave_of, stop, switched, unconfirmed
from tests.support.replica_group import ReplicaGroup, replica_group
from tests.support.wait import eventually

SOON = ReplicationSettings(slave_timeout_ms=50)
"""A send that the others do not confirm is answered at once."""
NAMED = {"properties": "UNIQ_KEY\x01u1\x02"}


@asynccontextmanager
async def admin_of(group: ReplicaGroup) -> AsyncIterator[Admin]:
    async with Session(ClientConfig(name_servers=(group.name_server,))) as session:
        yield Admin(session)


async def is_known(admin: Admin) -> bool:
    """Whether the name server tells of a master that shows all that it has."""
    try:
        return bool(await admin.settled.masters("T"))
    except ClientError:
        return False


async def test_nothing_is_said_of_a_message_before_the_others_have_it_and_then_it_is_found(tmp_path: Path) -> None:
    async with replica_group(tmp_path, more={"replication": SOON}) as group, admin_of(group) as admin:
        master = await group.master()
        with unconfirmed(master):
            answer = await group.send(master, b"x", **NAMED)
            assert (answer.code, "[NOT_CONFIRMED]" in (answer.remark or "")) == (ResponseCode.SYSTEM_ERROR, True)
            with pytest.raises(NotSettled, match="does not show yet"):
                await admin.settled.find("T", "u1")
        await group.send(master, b"next")

        found = await admin.settled.find("T", "u1", broker_name="b")

        assert found is not None
        assert found.message.body == b"x"


async def test_what_its_master_took_along_is_not_there(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group, admin_of(group) as admin:
        master = await group.master()
        await group.send(master, b"x", **NAMED)
        assert await admin.settled.find("T", "u2") is None
        slave = slave_of(group, master)
        await stop(group, master)
        with pytest.raises(NotSettled):
            await admin.settled.find("T", "u2", broker_name="b")
        await eventually(lambda: slave.components.roles.now.is_master)
        await eventually(lambda: is_known(admin))

        assert await admin.settled.find("T", "u2") is None
        assert await admin.settled.find("T", "u1") is not None


@pytest.mark.parametrize("unknown", ["commitLogMaxOffset", "dispatchBehindBytes"])
async def test_a_master_that_does_not_tell_how_much_it_shows_says_nothing(tmp_path: Path, unknown: str) -> None:
    asked = Clusters.runtime_of

    async def without(clusters: Clusters, addr: str) -> BrokerRuntime:
        told = (await asked(clusters, addr)).table
        return BrokerRuntime({name: value for name, value in told.items() if name != unknown})

    async with replica_group(tmp_path, count=1) as group, admin_of(group) as admin:
        with patch.object(Clusters, "runtime_of", without), pytest.raises(NotSettled, match="does not tell"):
            await admin.settled.find("T", "u1")


async def test_a_master_that_changes_while_it_is_searched_says_nothing(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group, admin_of(group) as admin:
        master, search, searches = await group.master(), Messages.search, []

        async def switching(messages: Messages, *given: object, **options: object) -> object:
            found = await search(messages, *given, **options)  # type: ignore[arg-type]
            searches.append(found)
            if len(searches) == 2:
                await switched(group, master)
            return found

        with patch.object(Messages, "search", switching), pytest.raises(NotSettled, match="changed meanwhile"):
            await admin.settled.find("T", "u2")


async def test_a_master_that_was_started_again_is_another_one(tmp_path: Path) -> None:
    async with replica_group(tmp_path, 1) as group, admin_of(group) as admin:
        before = await admin.settled.masters("T")
        await admin.settled.check(before, "T")
        await group.stop(1)
        await asyncio.sleep(0.01)  # its start is told in ms
        await group.start(1)
        await eventually(lambda: is_known(admin))

        with pytest.raises(NotSettled, match="started again or elected"):
            await admin.settled.check(before, "T")
