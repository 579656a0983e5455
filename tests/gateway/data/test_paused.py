"""Requirements of receiving while somebody has paused the group or the topic: that is said, and no outage."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from broker_core.client.admin import Admin
from broker_core.protocol.codes import PERM_READ, PERM_WRITE
from tests.gateway.data.conftest import Api, Door, code_of
from tests.gateway.data.test_stream import open_talk
from tests.gateway.running import make_parts
from tests.support.cluster import RunningBroker
from tests.support.wait import eventually


async def set_group(api: Api, group: str, *, is_on: bool) -> None:
    admin = await api.parts.connections.admin("local")
    (await admin.groups.create(group, consume_enable=is_on)).raise_if_none()


@pytest.fixture
async def other(shared_broker: RunningBroker, redis_url: str) -> AsyncIterator[Admin]:
    """The administration of another process: the one that receives does not hear of its changes."""
    parts = make_parts(shared_broker.name_server, redis_url)
    yield await parts.connections.admin("local")
    await parts.connections.close()
    await parts.redis.aclose()


async def test_a_receive_of_a_paused_group_says_that_it_is_paused(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    await api.produce(topic, "a")
    await set_group(api, group, is_on=False)
    refused = await api.post(f"/groups/{group}/topics/{topic}:receive", {})
    assert code_of(refused) == (409, "GROUP_PAUSED")
    assert refused.json()["detail"] == f"The delivery to group {group!r} is paused (consume_enabled is false)."
    assert not refused.json()["retryable"]
    await set_group(api, group, is_on=True)
    assert len(await api.receive(group, topic)) == 1


@pytest.mark.in_process
async def test_a_receive_of_a_paused_topic_says_so_until_it_is_resumed(api: Api, other: Admin) -> None:
    topic, group = await api.topic(), api.group()
    await api.produce(topic, "a", "b")
    await api.receive(group, topic, max_messages=1)
    (await other.topics.update(topic, perm=PERM_WRITE)).raise_if_none()
    refused = await api.post(f"/groups/{group}/topics/{topic}:receive", {})
    assert code_of(refused) == (409, "TOPIC_PAUSED")
    assert not refused.json()["retryable"]
    await (await api.parts.connections.session("local")).routes.refresh(topic)
    assert code_of(await api.post(f"/groups/{group}/topics/{topic}:receive", {})) == (409, "TOPIC_PAUSED")
    (await other.topics.update(topic, perm=PERM_READ | PERM_WRITE)).raise_if_none()

    async def is_back() -> bool:
        return (await api.post(f"/groups/{group}/topics/{topic}:receive", {})).status_code == 200

    await eventually(is_back)


@pytest.mark.in_process
async def test_a_socket_is_told_once_and_goes_on_after_the_resume(api: Api, door: Door) -> None:
    topic, group = await api.topic(), api.group()
    await api.produce(topic, "a")
    await set_group(api, group, is_on=False)
    async with open_talk(door, "consume") as socket:
        await socket.say(type="subscribe", group=group, topic=topic, credit=1)
        (told,) = await socket.hear_of("error")
        assert told["problem"]["code"] == "GROUP_PAUSED"
        await set_group(api, group, is_on=True)
        assert (await socket.hear())["type"] == "message"
