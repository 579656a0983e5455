"""Requirements of `gateway.live.events`: subscribers of a subject know its current state."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from gateway import sockets
from gateway.auth import Principal
from gateway.live.events import MAX_SUBJECTS, may_watch
from tests.gateway.installation import Installation
from tests.gateway.live.conftest import Publish, listening
from tests.support.wait import eventually

Watched = Callable[[str], Awaitable[bool]]


async def test_a_late_joiner_gets_the_last_state_and_then_each_new_one(
    installation: Installation, publish: Publish
) -> None:
    await publish({"overview:late": {"topics": 1}})
    async with listening(installation, "events") as socket:
        await socket.say(type="subscribe", subjects=["overview:late"])
        first = await socket.hear()
        assert (first["type"], first["subject"], first["data"]) == ("state", "overview:late", {"topics": 1})
        await publish({"overview:late": {"topics": 2}})
        second = await socket.hear()
        assert second["data"] == {"topics": 2}
        assert second["seq"] == first["seq"] + 1


async def test_a_subject_without_a_state_is_heard_of_when_it_has_one(
    installation: Installation, publish: Publish, watched: Watched
) -> None:
    async with listening(installation, "events") as socket:
        await socket.say(type="subscribe", subjects=["job:01J8"])
        await eventually(lambda: watched("job:01J8"))
        await publish({"job:01J8": {"state": "running"}})
        assert (await socket.hear())["data"] == {"state": "running"}


async def test_of_a_list_the_first_frame_is_whole_and_the_next_ones_tell_what_changed(
    installation: Installation, publish: Publish, watched: Watched
) -> None:
    def topics(**messages: int) -> dict[str, Any]:
        return {"topics:list": {"at": "now", "items": [{"name": n, "messages": m} for n, m in messages.items()]}}

    await publish(topics(orders=1, ship=1))
    async with listening(installation, "events") as socket:
        await socket.say(type="subscribe", subjects=["topics:list"])
        first = await socket.hear()
        assert (first["type"], len(first["data"]["items"])) == ("state", 2)
        await eventually(lambda: watched("topics:list"))
        await publish(topics(orders=2, new=0))
        delta = await socket.hear()
        assert (delta["type"], delta["seq"]) == ("delta", first["seq"] + 1)
        changed = [{"name": "orders", "messages": 2}, {"name": "new", "messages": 0}]
        assert delta["data"] == {"at": "now", "changed": changed, "removed": ["ship"], "measured": []}


async def test_a_delta_to_what_was_not_sent_becomes_a_whole_state(
    installation: Installation, publish: Publish, watched: Watched
) -> None:
    async with listening(installation, "events") as socket:
        await socket.say(type="subscribe", subjects=["topics:gap"])
        await eventually(lambda: watched("topics:gap"))
        await publish({"topics:gap": {"items": [{"name": "a"}]}})
        assert (await socket.hear())["type"] == "state"
        await socket.say(type="unsubscribe", subjects=["topics:gap"])

        async def left() -> bool:
            return not await watched("topics:gap")

        await eventually(left)
        await publish({"topics:gap": {"items": [{"name": "b"}]}})
        await socket.say(type="subscribe", subjects=["topics:gap"])
        assert (await socket.hear())["data"] == {"items": [{"name": "b"}]}


async def test_what_is_not_subscribed_is_not_heard(
    installation: Installation, publish: Publish, watched: Watched
) -> None:
    async with listening(installation, "events") as socket:
        await socket.say(type="subscribe", subjects=["topics:a", "topics:b"])
        await eventually(lambda: watched("topics:b"))
        await socket.say(type="unsubscribe", subjects=["topics:a"])

        async def left() -> bool:
            return not await watched("topics:a")

        await eventually(left)
        for subject in ("topics:a", "topics:c", "topics:b"):
            await publish({subject: {"items": []}})
        assert (await socket.hear())["subject"] == "topics:b"


async def test_one_state_reaches_every_socket(installation: Installation, publish: Publish, watched: Watched) -> None:
    async with listening(installation, "events") as one, listening(installation, "events", "admin") as other:
        for socket in (one, other):
            await socket.say(type="subscribe", subjects=["jobs"])
        await publish({"jobs": 0})
        for socket in (one, other):
            assert (await socket.hear())["subject"] == "jobs"


async def test_sockets_that_close_at_once_are_let_go(installation: Installation) -> None:
    for _ in range(30):
        async with listening(installation, "events"):
            pass

    async def all_gone() -> bool:
        with installation.client() as client:
            return 'gantry_gateway_sockets{worker="1"} 0.0' in client.get("/metrics").text

    await eventually(all_gone)


async def test_a_subject_that_is_none_or_not_allowed_is_denied(installation: Installation) -> None:
    async with listening(installation, "events") as socket:
        await socket.say(type="subscribe", subjects=["nothing", "group:local"])
        assert await socket.hear() == {"type": "denied", "subject": "nothing"}
        assert await socket.hear() == {"type": "denied", "subject": "group:local"}


@pytest.mark.parametrize(
    ("subject", "reader", "orders_only"),
    [
        ("overview:local", True, False),
        ("groups:local", True, False),
        ("topics:local", True, False),
        ("group:local:orders-billing", True, True),
        ("group:local:payments", True, False),
        ("job:01J8", True, False),
        ("jobs", True, False),
        ("job:", False, False),
        ("group:local:", False, False),
        ("audit", False, False),
        ("", False, False),
    ],
)
def test_subjects_are_for_those_who_may_read_what_they_are_about(subject: str, reader: bool, orders_only: bool) -> None:
    assert may_watch(Principal(1, "vic", "viewer"), subject) is reader
    assert may_watch(Principal(1, "vic", "viewer", ("read:orders*",), 1), subject) is orders_only
    assert not may_watch(Principal(1, "dev", "developer", ("produce",), 1), subject)


async def test_a_wrong_field_is_told_and_the_socket_goes_on(installation: Installation, publish: Publish) -> None:
    async with listening(installation, "events") as socket:
        await socket.say(type="subscribe", subjects=[5])
        assert (await socket.hear())["problem"]["code"] == "INVALID"
        await socket.say(type="subscribe", subjects=["s"] * (MAX_SUBJECTS + 1))
        assert (await socket.hear())["problem"]["code"] == "INVALID"
        await socket.say(type="subscribe", subjects=["nothing"])
        assert (await socket.hear())["type"] == "denied"


@pytest.mark.parametrize("frame", ["", "{", '{"type":"dance"}', b"\xff", "[]"])
async def test_what_is_no_frame_ends_the_socket(installation: Installation, frame: str | bytes) -> None:
    async with listening(installation, "events") as socket:
        await socket.connection.send(frame)
        assert (await socket.hear())["problem"]["code"] == "MALFORMED"
        assert await socket.closed_with() == sockets.BAD_FRAME
