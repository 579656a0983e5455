"""One folder, two brokers: what Gantry stored Apache RocketMQ serves, and the other way round, after any stop.

The folder goes from one broker to the other and back. Each finds all messages where they were, by queue, key, unique
id, offset id and time, goes on with the offsets of the consumers, and delivers what is due of the delayed messages.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from broker_core.client.admin import Admin
from broker_core.client.producer import Producer
from broker_core.client.session import Session
from broker_core.protocol import bodies
from broker_core.protocol.bodies.groups import SubscriptionGroupConfig, SubscriptionGroupWrapper
from broker_core.protocol.bodies.timers import TimerList
from broker_core.protocol.bodies.topics import TopicConfigSerializeWrapper
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.groups import CreateSubscriptionGroupRequest, GetAllSubscriptionGroupConfigRequest
from broker_core.protocol.headers.pop import PopMessageRequest
from broker_core.protocol.headers.timers import ListTimersRequest, RecallMessageRequest, RecallMessageResponse
from broker_core.protocol.headers.topics import CreateTopicRequest, GetAllTopicConfigRequest
from broker_core.protocol.message import Message
from broker_core.protocol.recall_handle import RecallHandle
from broker_core.protocol.topics import SCHEDULE_TOPIC
from broker_core.remoting import RemotingClient
from broker_core.store import MessageStore, StoreConfig
from broker_core.store.layout import COMMIT_LOG, CONSUME_QUEUE, INDEX
from broker_core.store.reader import StoreReader
from broker_core.store.verify import verify
from tests.compat.exchange import (
    BATCH,
    GROUP,
    LATER,
    MUCH_LATER,
    QUEUES,
    SIZES,
    SOON,
    TIMEOUT_MS,
    TOPIC,
    Seen,
    Server,
    arrived,
    look,
    pull_all,
    write,
)
from tests.support.apache import ApacheBroker
from tests.support.cluster import RunningBroker, create_topic
from tests.support.ports import free_ports
from tests.support.wait import eventually, wait_until

pytestmark = pytest.mark.compat

COUNT = 400
# The first Gantry does without, the second has an option of its own in these tests.
APACHE_ONLY = ("messageIndexSafe", "mappedFileSizeCommitLog")


def brokers(folder: Path) -> dict[str, Server]:
    """Return both brokers, not started, on one folder and one port, so that ids with an address go to either."""
    address = f"127.0.0.1:{free_ports(4) + 2}"
    ours = ("--commit-log-file-size", SIZES["mappedFileSizeCommitLog"])
    known = {
        name: value for name, value in SIZES.items() if name not in ("messageIndexSafe", "mappedFileSizeCommitLog")
    }
    return {
        "gantry": RunningBroker(folder, arguments=ours, settings=known, address=address),
        "apache": ApacheBroker(folder, settings=SIZES, address=address),
    }


async def fill(server: Server, name: str) -> Seen:
    """Write a part, wait until what is due soon has come, and return all there is."""
    async with server.session() as session:
        if name == "first":
            await create_topic(session, TOPIC, queues=QUEUES)
        await write(session, name, COUNT)

        async def has_come() -> bool:
            return await arrived(server, name, SOON) == QUEUES

        await eventually(has_come)
        return await look(server, session)


def wait_for_saved_offsets(server: Server, seen: Seen) -> None:
    """Wait until the broker has written down the offsets of the group, as it does every few seconds."""

    def are_saved() -> bool:
        path = server.store / "config" / "consumerOffset.json"
        text = re.sub(r"([{,]\s*)(\d+)\s*:", r'\1"\2":', path.read_text()) if path.exists() else "{}"
        try:
            table = json.loads(text).get("offsetTable", {}).get(f"{TOPIC}@{GROUP}", {})
        except json.JSONDecodeError:
            return False
        return {int(queue_id): offset for queue_id, offset in table.items()} == seen.committed

    wait_until(are_saved)


async def check(server: Server, before: Seen, name: str) -> None:
    """Hold what a broker shows of another's folder against what that one showed, and wait for what is due."""
    sample = [each for messages in before.messages.values() for each in messages[::40]]
    async with server.session() as session:
        await Admin(session).topics.get(TOPIC)

        async def has_come() -> bool:
            return await arrived(server, name, LATER) >= QUEUES

        await eventually(has_come)
        seen = await look(server, session, sample)
    for queue_id, messages in before.messages.items():
        assert seen.messages[queue_id][: len(messages)] == messages
        assert seen.ranges[queue_id] == (0, len(seen.messages[queue_id]))
    assert seen.committed == before.committed
    assert {key: seen.by_key[key][: len(found)] for key, found in before.by_key.items()} == before.by_key
    assert all(before.by_key.values())
    assert seen.by_offset_id == before.by_offset_id
    assert seen.by_time == before.by_time


@pytest.mark.parametrize(
    ("kinds", "kill"),
    [(("gantry", "apache"), False), (("apache", "gantry"), True)],
    ids=["begun by Gantry, closed well", "begun by Apache RocketMQ, killed"],
)
async def test_each_broker_goes_on_with_the_folder_of_the_other(
    tmp_path: Path, kinds: tuple[str, str], kill: bool
) -> None:
    both = brokers(tmp_path)
    seen = Seen()
    parts: list[str] = []
    # Given a folder that one begins, the other goes on with, and the first takes back
    for number, name in enumerate(("first", "second", "third", "last")):
        server = both[kinds[number % 2]]
        server.start()
        try:
            if parts:
                # When the next broker opens it, then all is where it was, and what has become due is delivered
                await check(server, seen, parts[-1])
            if name != "last":
                seen = await fill(server, name)
                parts.append(name)
                if kill:
                    wait_for_saved_offsets(server, seen)
            else:
                async with server.session() as session:
                    seen = await look(server, session, [])
        finally:
            server.stop(kill=kill)
    # Then nothing is there twice, but what was delivered just before a kill may be
    often = Counter(seen.bodies)
    assert len(often) == len(parts) * (COUNT + BATCH + 2)
    assert {
        body for body, times in often.items() if times > 1 and b"batch" not in body and b"delayed" not in body
    } == set()
    for name in parts:
        assert all(often[b"%s batch %d" % (name.encode(), number)] == QUEUES for number in range(BATCH))
        for level in (SOON, LATER):
            times = often[b"%s delayed %d" % (name.encode(), level)]
            assert times == QUEUES or (kill and times > QUEUES)
    if kill:
        config = StoreConfig(tmp_path / "broker", index_slots=100, index_entries=400, clean_forcibly=False)
        MessageStore.open(config, now=0).close()
    # And the files are those of a sound store, several of each kind, with the rest of the delayed messages waiting
    with StoreReader.open(tmp_path / "broker") as reader:
        assert len(reader.segments()) > 3
        low, high = reader.range(SCHEDULE_TOPIC, MUCH_LATER - 1)
        assert (low, high) == (0, len(parts) * QUEUES)
        assert verify(reader).told == []
    for folder in (COMMIT_LOG, INDEX, f"{CONSUME_QUEUE}/{TOPIC}/0"):
        assert len(list((tmp_path / "broker" / folder).iterdir())) > 1, folder


WAITS_MS = 3_600_000


async def ask(server: Server, header: object, body: bytes = b"") -> Command:
    """Return the answer to a request that must succeed."""
    client = RemotingClient()
    try:
        answer = await client.invoke(server.address, Command.request(header, body), TIMEOUT_MS)
    finally:
        await client.close()
    assert answer.code == ResponseCode.SUCCESS, answer.remark
    return answer


async def test_apache_ignores_what_it_does_not_know_and_gantry_goes_on_with_it(tmp_path: Path) -> None:
    both = brokers(tmp_path)
    ours, theirs = both["gantry"], both["apache"]
    waiting = Message.create(TOPIC, b"waits", keys=["k1"], properties={"TIMER_DELAY_MS": str(WAITS_MS)})
    group = SubscriptionGroupConfig(GROUP, retry_max_times=3, consume_message_orderly=True)
    # Given a typed topic, an ordered group, a message on lease and one that waits for its time
    ours.start()
    try:
        await ask(ours, CreateTopicRequest(TOPIC, QUEUES, QUEUES, 6, attributes="+message.type=DELAY"))
        await ask(ours, CreateSubscriptionGroupRequest(), bodies.encode(group))
        async with ours.session() as session, Producer(session) as producer:
            await producer.send(Message.create(TOPIC, b"leased"))
            await producer.send(waiting)
        await ask(ours, PopMessageRequest(GROUP, TOPIC, -1, 1, WAITS_MS, 0, 0))
    finally:
        ours.stop()
    # When Apache RocketMQ 4.9 serves the folder in between
    theirs.start()
    try:
        told = bodies.decode(TopicConfigSerializeWrapper, (await ask(theirs, GetAllTopicConfigRequest())).body)
        assert told.topic_config_table[TOPIC].read_queue_nums == QUEUES
        groups = bodies.decode(
            SubscriptionGroupWrapper, (await ask(theirs, GetAllSubscriptionGroupConfigRequest())).body
        )
        assert groups.subscription_group_table[GROUP].retry_max_times == 3
        found = [each.body for queue_id in range(QUEUES) for each in await pull_all(theirs.address, TOPIC, queue_id)]
        assert found == [b"leased"]
    finally:
        theirs.stop()
    # Then the message still waits, and is found by its key and recalled
    ours.start()
    try:
        listed = bodies.decode(TimerList, (await ask(ours, ListTimersRequest(topic=TOPIC, key="k1"))).body)
        (message,) = listed.messages
        recalled = await ask(
            ours, RecallMessageRequest(TOPIC, RecallHandle(TOPIC, "broker-a", message.due, message.msg_id).text)
        )
        assert recalled.header(RecallMessageResponse).msg_id == message.msg_id
    finally:
        ours.stop()


async def test_a_folder_of_apaches_opens_whatever_the_sizes_of_its_index_files(tmp_path: Path) -> None:
    address = f"127.0.0.1:{free_ports(4) + 2}"
    theirs, ours = ApacheBroker(tmp_path, address=address), RunningBroker(tmp_path, address=address)
    turns: tuple[Server, ...] = theirs, ours, theirs
    for number, server in enumerate(turns):
        server.start()
        try:
            async with server.session() as session:
                if not number:
                    await create_topic(session, TOPIC, queues=1)
                await send_with_key(session, "same")
                await eventually(partial(_is_found, session, "same", number + 1))
        finally:
            server.stop()
    with StoreReader.open(tmp_path / "broker") as reader:
        assert (reader.config.index_slots, reader.config.index_entries) == (10_000, 40_000)


async def send_with_key(session: Session, key: str) -> None:
    """Send one message with a key."""
    producer = Producer(session)
    await producer.start()
    await producer.send(Message.create(TOPIC, b"{}", keys=[key]))
    await producer.close()


async def _is_found(session: Session, key: str, times: int) -> bool:
    return len((await Admin(session).messages.search(TOPIC, key)).messages) == times
