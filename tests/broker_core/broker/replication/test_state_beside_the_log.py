"""What follows beside the log, over a switch (broker/replication/README.md#state-beside-the-log)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

from broker_core.broker import Broker
from broker_core.broker.role import Role, RoleKind
from broker_core.protocol import bodies
from broker_core.protocol.bodies import coder
from broker_core.protocol.bodies.groups import SubscriptionGroupConfig
from broker_core.protocol.bodies.locks import LockBatchRequestBody, LockBatchResponseBody
from broker_core.protocol.bodies.pop import SetMessageRequestModeRequestBody
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.controller import MetadataChangesRequest
from broker_core.protocol.headers.offsets import UpdateConsumerOffsetRequest
from broker_core.protocol.headers.pop import AckMessageRequest, PopMessageRequest, PopMessageResponse
from broker_core.protocol.headers.topics import CreateTopicRequest, DeleteTopicRequest
from broker_core.protocol.record import decode_many
from tests.broker_core.broker.replication.switching import failover_of, slave_of, stop, switched
from tests.support.broker import TIMEOUT_MS
from tests.support.replica_group import ReplicaGroup, in_sync_set, replica_group
from tests.support.wait import eventually


async def done(group: ReplicaGroup, broker: Broker, header: object) -> None:
    answer = await group.ask(broker, header)
    assert answer.code == ResponseCode.SUCCESS, answer.remark


async def asked(group: ReplicaGroup, broker: Broker, code: RequestCode, body: object) -> Command:
    request = Command(int(code), body=coder.encode(body))
    return await group.client.invoke(broker.address, request, TIMEOUT_MS)


async def locked(group: ReplicaGroup, broker: Broker, client: str, queue_id: int = 0) -> int:
    body = LockBatchRequestBody("readers", client, [MessageQueue("T", "b", queue_id)])
    answer = await asked(group, broker, RequestCode.LOCK_BATCH_MQ, body)
    return len(bodies.decode(LockBatchResponseBody, answer.body).lock_ok_mq_set)


async def test_what_is_made_changed_or_deleted_is_known_to_the_slave_when_it_is_answered(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        own = slave_of(group, master).components
        # The first answer that a slave gets may still be on its way.
        await done(group, master, CreateTopicRequest("first", 1, 1, 6))
        await eventually(lambda: own.topics.find("first"))

        await done(group, master, CreateTopicRequest("made", 3, 3, 6))
        assert own.topics.get("made").read_queue_nums == 3
        await done(group, master, CreateTopicRequest("made", 5, 5, 6))
        assert own.topics.get("made").read_queue_nums == 5
        assert (await group.send(master, b"x", topic="by-a-send")).code == ResponseCode.SUCCESS
        assert own.topics.find("by-a-send") is not None
        await done(group, master, DeleteTopicRequest("made"))
        assert own.topics.find("made") is None

        config = SubscriptionGroupConfig("readers", retry_max_times=3)
        await asked(group, master, RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, config)
        known = own.groups.find("readers")
        assert known is not None
        assert known.retry_max_times == 3
        mode = SetMessageRequestModeRequestBody("T", "readers", "POP", 2)
        await asked(group, master, RequestCode.SET_MESSAGE_REQUEST_MODE, mode)
        assert own.request_modes.find("T", "readers") == mode


async def test_what_a_slave_was_told_while_it_was_fenced_is_told_again(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        own = slave_of(group, master).components
        await eventually(lambda: own.roles.now.kind is RoleKind.SLAVE)
        await done(group, master, CreateTopicRequest("first", 1, 1, 6))
        await eventually(lambda: own.topics.find("first"))
        (told,) = master.components.rest.state_book._slaves.values()
        await eventually(lambda: told.has == told.told)
        # Given a slave that does not hear the answer to what it asks just now
        role = own.roles.now
        own.roles.become(Role(RoleKind.FENCED, role.broker_id))
        await done(group, master, UpdateConsumerOffsetRequest("readers", "T", 0, 5))
        await eventually(lambda: told.stamps["offsets"] == master.components.offsets.changes)
        # When it has the same role again
        own.roles.become(role)
        await eventually(lambda: own.offsets.find("readers", "T", 0) == 5)


async def test_a_deleted_topic_without_messages_does_not_come_back_after_a_switch(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        slave = slave_of(group, master)
        await done(group, master, CreateTopicRequest("idle", 1, 1, 6))
        assert (await group.send(master, b"old", topic="idle")).code == ResponseCode.SUCCESS
        for _ in range(5):
            assert (await group.send(master, b"x" * (1 << 20))).code == ResponseCode.SUCCESS
        await eventually(lambda: slave.store.dispatched_log_offset == master.store.appended_log_offset)
        slave.store.reconfigure(replace(slave.store.config, max_log_bytes=1))
        await eventually(lambda: slave.store.drop_expired(slave.store.newest_store_time).segments > 0)
        assert ("idle", 0) in slave.store.queues()
        await done(group, master, DeleteTopicRequest("idle"))
        await eventually(lambda: ("idle", 0) not in slave.store.queues())

        successor = await switched(group, master)
        assert successor.components.topics.find("idle") is None


async def test_a_topic_that_is_made_again_begins_at_0_on_the_slave_too(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        for body in (b"old", b"older"):
            assert (await group.send(master, body)).code == ResponseCode.SUCCESS
        await done(group, master, DeleteTopicRequest("T"))
        await done(group, master, CreateTopicRequest("T", 1, 1, 6))
        assert (await group.send(master, b"new")).code == ResponseCode.SUCCESS

        successor = await switched(group, master)

        assert await group.read(successor) == [b"new"]


async def test_a_topic_that_the_slave_was_not_told_of_is_rebuilt_from_its_queues(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        slave = slave_of(group, master)
        assert (await group.send(master, b"x")).code == ResponseCode.SUCCESS
        slave.components.topics.delete("T", now=0)  # as if it had never heard of it

        successor = await switched(group, master)

        assert await group.read(successor) == [b"x"]


async def test_a_master_that_comes_back_teaches_nothing(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        (first,) = group.masters()
        for _ in range(5):
            await done(group, master, CreateTopicRequest("T", 1, 1, 6))  # raises its version
        master.components.topics.put(master.components.topics.get("T"), now=1)
        await stop(group, master)
        successor = await group.master()
        await done(group, successor, CreateTopicRequest("new", 2, 2, 6))
        await done(group, successor, DeleteTopicRequest("T"))
        await done(group, successor, UpdateConsumerOffsetRequest("readers", "new", 0, 0))

        returned = await group.start(first)
        own = returned.components
        own.offsets.commit("readers", "new", 0, 7)
        own.offsets.commit("only-here", "new", 0, 7)
        await eventually(lambda: len(in_sync_set(successor)) == 2)

        await eventually(lambda: own.topics.version == successor.components.topics.version)
        assert own.topics.find("T") is None
        await eventually(lambda: own.offsets.find("readers", "new", 0) == 0)
        assert own.offsets.find("only-here", "new", 0) is None
        assert successor.components.topics.find("new") is not None


async def test_offsets_follow_and_are_moved_into_their_queue_at_a_switch(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        slave = slave_of(group, master)
        for body in (b"a", b"b"):
            await group.send(master, body)
        await done(group, master, UpdateConsumerOffsetRequest("readers", "T", 0, 1))
        await done(group, master, UpdateConsumerOffsetRequest("ahead", "T", 0, 99))
        await eventually(lambda: slave.components.offsets.find("ahead", "T", 0) == 99)
        assert slave.components.offsets.find("readers", "T", 0) == 1

        successor = await switched(group, master)

        assert successor.components.offsets.find("readers", "T", 0) == 1
        assert successor.components.offsets.find("ahead", "T", 0) == 2


async def test_a_commit_at_a_slave_is_passed_on_and_not_lowered(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        slave = slave_of(group, master)
        await done(group, master, UpdateConsumerOffsetRequest("readers", "T", 0, 1))
        await eventually(lambda: slave.components.offsets.find("readers", "T", 0) == 1)
        await done(group, slave, UpdateConsumerOffsetRequest("readers", "T", 0, 4))

        await eventually(lambda: master.components.offsets.find("readers", "T", 0) == 4)
        assert slave.components.offsets.find("readers", "T", 0) == 4


def receipt(popped: PopMessageResponse, offset: int) -> str:
    return f"{offset} {popped.pop_time} 60000 0 0 b 0 {offset}"


async def test_what_was_popped_stays_on_lease_over_a_switch_and_what_was_acknowledged_is_done(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        slave = slave_of(group, master)
        for body in (b"a", b"b", b"c", b"d"):
            await group.send(master, body)
        pop = PopMessageRequest("poppers", "T", 0, 3, 60_000, 0, 0, init_mode=0)
        popped = (await group.ask(master, pop)).header(PopMessageResponse)
        for offset in (1, 2):  # behind the first one, which stays open
            await done(group, master, AckMessageRequest("poppers", "T", 0, receipt(popped, offset), offset))
        await eventually(lambda: slave.components.leases.held_by("poppers") == 1)

        successor = await switched(group, master)

        new = (await group.ask(successor, pop)).header(PopMessageResponse)
        assert new.msg_offset_info == "0 0 3"
        await done(group, successor, AckMessageRequest("poppers", "T", 0, receipt(popped, 0), 0))
        leased = successor.components.leases.find("poppers", "T", 0)
        assert leased is not None
        assert leased.committed == 3


async def test_a_message_that_is_due_again_after_a_switch_has_its_count_and_its_reason(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        slave = slave_of(group, master)
        await group.send(master, b"a")
        leases = master.components.leases
        queue = leases.open("poppers", "T", 0, 0)
        leases.lease(queue, [0], next_offset=1, now=1, invisible_ms=5)
        leases.extend(queue, 0, pop_time=1, now=2, invisible_ms=1, failure="no stock")
        await eventually(lambda: slave.components.leases.held_by("poppers") == 1)

        successor = await switched(group, master)

        pop = PopMessageRequest("poppers", "T", 0, 1, 60_000, 0, 0, init_mode=0)
        answer = await group.ask(successor, pop)
        assert [message.reconsume_times for message in decode_many(answer.body)] == [1]
        leased = successor.components.leases.find("poppers", "T", 0)
        assert leased is not None
        assert leased.reason_of(0) == "no stock"


async def test_a_master_that_starts_again_goes_on_with_its_leases(tmp_path: Path) -> None:
    async with replica_group(tmp_path, count=1) as group:
        master = await group.master()
        for body in (b"a", b"b"):
            await group.send(master, body)
        pop = PopMessageRequest("poppers", "T", 0, 2, 60_000, 0, 0, init_mode=0)
        popped = (await group.ask(master, pop)).header(PopMessageResponse)
        await done(group, master, AckMessageRequest("poppers", "T", 0, receipt(popped, 1), 1))
        await group.stop(1)
        again = await group.start(1)
        await group.master()
        await eventually(lambda: again.components.master_work.has_begun())

        await done(group, again, AckMessageRequest("poppers", "T", 0, receipt(popped, 0), 0))
        leased = again.components.leases.find("poppers", "T", 0)
        assert leased is not None
        assert leased.committed == 2


async def test_a_master_that_comes_back_lends_nothing_of_its_own_epoch(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        (first,) = group.masters()
        slave = slave_of(group, master)
        for body in (b"a", b"b"):
            await group.send(master, body)
        leases = master.components.leases
        leases.lease(leases.open("poppers", "T", 0, 0), [0, 1], next_offset=2, now=1, invisible_ms=1 << 40)
        await eventually(lambda: slave.components.leases.held_by("poppers") == 2)
        await stop(group, master)
        successor = await group.master()
        theirs = successor.components.leases
        queue = theirs.find("poppers", "T", 0)
        assert queue is not None
        theirs.finish(queue, 0)

        returned = (await group.start(first)).components
        assert returned.leases.held_by("poppers") == 2
        await eventually(lambda: returned.leases.held_by("poppers") == 1)
        again = returned.leases.find("poppers", "T", 0)
        assert again is not None
        assert again.committed == 1


async def test_the_owner_of_a_queue_keeps_it_over_a_switch_and_nobody_gets_another_one_soon(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        slave = slave_of(group, master)
        await done(group, master, CreateTopicRequest("T", 2, 2, 6))
        await eventually(lambda: failover_of(master).has_lease())
        assert await locked(group, master, "owner") == 1
        await eventually(lambda: len(slave.components.locks) == 1)

        successor = await switched(group, master)

        assert await locked(group, successor, "owner") == 1
        assert await locked(group, successor, "other") == 0
        assert await locked(group, successor, "other", queue_id=1) == 0
        successor.components.locks.follow_rest(0, asked_at=0, now=0)
        assert await locked(group, successor, "other", queue_id=1) == 1


async def test_the_rest_of_a_master_that_granted_no_queue_is_carried_on_over_the_next_switch(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        (first,) = group.masters()
        successor = await switched(group, master)
        locks, clock = successor.components.locks, successor.components.clock
        assert locks.rest_left(clock()) > 25_000
        locks.follow_rest(9_000, asked_at=clock(), now=clock())  # as if most of it were over
        slave = (await group.start(first)).components
        await eventually(lambda: len(in_sync_set(successor)) == 2)
        await eventually(lambda: slave.locks.rest_left(clock()) > 0)

        again = (await switched(group, successor)).components

        assert 0 < again.locks.rest_left(clock()) < 10_000
        assert await locked(group, group.brokers[first], "owner") == 0
        again.locks.follow_rest(0, asked_at=0, now=0)
        assert await locked(group, group.brokers[first], "owner") == 1


async def test_the_state_is_told_to_registered_lives_of_the_epoch_only(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        epoch = failover_of(master).epoch
        for stranger in (
            MetadataChangesRequest("b", 9, "1-ab", epoch),
            MetadataChangesRequest("b", 2, "1-ab", epoch),
            MetadataChangesRequest("b", 2, "1-ab", epoch + 1),
        ):
            assert (await group.ask(master, stranger)).code == ResponseCode.SERVICE_NOT_AVAILABLE


async def test_a_master_that_does_not_know_all_yet_tells_nothing(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        identity = failover_of(slave_of(group, master)).replica.identity
        header = MetadataChangesRequest("b", identity.broker_id, identity.life, failover_of(master).epoch)
        assert (await group.ask(master, header)).code == ResponseCode.SUCCESS
        with patch.object(master.components.master_work, "has_begun", return_value=False):
            assert (await group.ask(master, header)).code == ResponseCode.SERVICE_NOT_AVAILABLE
