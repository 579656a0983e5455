"""Requirements of `gateway.live.lag` and of the lag at ``/metrics``: the sampler's figures, first all, then changes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import redis.asyncio
from msgspec.structs import asdict

from console.lag.shapes import GroupQueue, GroupState
from console.shapes import as_json
from gateway.pages import lag_families
from tests.console.lag.figures import AT, group, groups
from tests.gateway.installation import Installation
from tests.gateway.live.conftest import Live, Publish, PublishCluster, listening


async def test_each_snapshot_holds_all_watched_groups(installation: Installation, publish: Publish) -> None:
    await publish({"groups:one": groups(group("billing", 120), group("ship-1", 5), group("other"))})
    async with listening(installation, "lag") as socket:
        await socket.say(type="watch", cluster="one", groups=["billing", "ship-*"])
        first = await socket.hear()
        assert (first["type"], first["seq"]) == ("snapshot", 1)
        assert [(shown["group"], shown["lag"]) for shown in first["groups"]] == [("billing", 120), ("ship-1", 5)]
        assert set(first["groups"][0]) == {
            "group", "topics", "state", "lag", "time_lag_ms", "in_rate", "out_rate", "drain_eta_ms",
        }  # fmt: skip
        await publish({"groups:one": groups(group("billing", 121), group("ship-1", 5))})
        # The first one was sent out of turn, so this one may be too early for its interval.
        await socket.say(type="resume")
        second = await socket.hear()
        assert second["seq"] == 2
        assert [shown["lag"] for shown in second["groups"]] == [121, 5]


async def test_after_the_snapshot_only_what_changed_is_sent(installation: Installation, publish: Publish) -> None:
    await publish({"groups:three": groups(group("billing", 1), group("ship", 5), group("gone", 7))})
    async with listening(installation, "lag") as socket:
        await socket.say(type="watch", cluster="three", groups=["*"])
        assert len((await socket.hear())["groups"]) == 3
        delta = await _next(socket, publish, {"groups:three": groups(group("billing", 2), group("ship", 5))})
        assert (delta["type"], delta["seq"], delta["removed"]) == ("delta", 2, ["gone"])
        assert [(shown["group"], shown["lag"]) for shown in delta["groups"]] == [("billing", 2)]


@pytest.mark.sample
async def test_a_lag_that_becomes_unknown_is_told_once_and_comes_back_in_a_delta(
    installation: Installation, publish: Publish
) -> None:
    await publish({"groups:six": groups(group("billing", 1))})
    async with listening(installation, "lag") as socket:
        await socket.say(type="watch", cluster="six", groups=["*"])
        await socket.hear()
        lost = await _next(socket, publish, {"groups:six": groups(group("billing", None))})
        assert (lost["groups"], lost["removed"]) == ([], [])
        assert await socket.hear() == {"type": "unknown", "group": "billing", "reason": "broker_unreachable"}
        again = await _next(socket, publish, {"groups:six": groups(group("billing", 1))})
        while not again["groups"]:  # a list from before may be heard first; it must not tell the reason again
            assert again["type"] == "delta"
            again = await socket.hear()
        assert [(shown["group"], shown["lag"]) for shown in again["groups"]] == [("billing", 1)]


async def _next(socket: Live, publish: Publish, states: dict[str, Any]) -> dict[str, Any]:
    """Publish until a frame comes: what is published within a second of the frame before is passed over."""
    hearing = asyncio.create_task(socket.hear())
    while not hearing.done():
        await publish(states)
        await asyncio.wait({hearing}, timeout=0.2)
    return await hearing


async def test_an_unknown_lag_is_a_frame_of_its_own_and_never_a_zero(
    installation: Installation, publish: Publish
) -> None:
    await publish({"groups:two": groups(group("billing", 0), group("lost", None))})
    async with listening(installation, "lag") as socket:
        await socket.say(type="watch", cluster="two", groups=["*"])
        snapshot = await socket.hear()
        assert [(shown["group"], shown["lag"]) for shown in snapshot["groups"]] == [("billing", 0)]
        assert await socket.hear() == {"type": "unknown", "group": "lost", "reason": "broker_unreachable"}


async def test_nothing_sampled_is_told_as_unknown(installation: Installation) -> None:
    async with listening(installation, "lag") as socket:
        with installation.client() as admin:
            made = admin.post("/api/v1/clusters", json={"name": "unsampled", "name_servers": ["127.0.0.1:1"]})
            assert made.status_code == 201
        await socket.say(type="watch", cluster="unsampled", groups=["billing"])
        assert await socket.hear() == {"type": "unknown", "group": "billing", "reason": "not_sampled"}
        await socket.say(type="watch", cluster="never", groups=["billing"])
        reason = "no cluster is named 'never'"
        assert await socket.hear() == {"type": "unknown", "group": "billing", "reason": reason}
    with installation.client() as admin:
        assert admin.delete("/api/v1/clusters/unsampled", headers={"If-Match": "*"}).status_code == 204


async def test_queues_are_there_when_they_are_wanted(
    installation: Installation, publish_cluster: PublishCluster
) -> None:
    queue = GroupQueue(topic="orders", broker="broker-a", queue_id=0, lag=3)
    detail = GroupState(**asdict(group("billing", 3)), at=AT, queues=[queue], config=None)
    await publish_cluster("queues", groups=[detail])
    async with listening(installation, "lag") as socket:
        await socket.say(type="watch", cluster="queues", groups=["billing"], detail="queue")
        assert (await socket.hear())["groups"][0]["queues"] == [as_json(queue)]


@pytest.mark.sample
async def test_a_token_sees_the_groups_that_it_may_read(installation: Installation, publish: Publish) -> None:
    await publish({"groups:four": groups(group("orders-billing", 1), group("payments", 2))})
    async with listening(installation, "lag", "narrow") as socket:
        await socket.say(type="watch", cluster="four", groups=["*"])
        assert [shown["group"] for shown in (await socket.hear())["groups"]] == ["orders-billing"]


async def test_an_interval_below_a_second_is_refused(installation: Installation) -> None:
    async with listening(installation, "lag") as socket:
        await socket.say(type="watch", groups=["*"], interval_ms=10)
        assert (await socket.hear())["problem"]["code"] == "INVALID"


@pytest.mark.in_process
async def test_a_client_that_connects_again_gets_only_what_it_missed(
    installation: Installation, publish: Publish
) -> None:
    await publish({"groups:eight": groups(group("billing", 1), group("ship", 5), group("gone", 7))})
    async with listening(installation, "lag") as socket:
        session = socket.hello["session"]
        await socket.say(type="watch", cluster="eight", groups=["*"])
        seen = await socket.hear()
    await publish({"groups:eight": groups(group("billing", 2), group("ship", 5))})
    async with listening(installation, "lag") as socket:
        await socket.say(type="resume", session=session, last_seq=seen["seq"])
        missed = await socket.hear()
        assert (missed["type"], missed["seq"], missed["removed"]) == ("delta", seen["seq"] + 1, ["gone"])
        assert [(shown["group"], shown["lag"]) for shown in missed["groups"]] == [("billing", 2)]
        again = await _next(socket, publish, {"groups:eight": groups(group("billing", 3), group("ship", 5))})
        while not again["groups"]:
            again = await socket.hear()
        assert [(shown["group"], shown["lag"]) for shown in again["groups"]] == [("billing", 3)]


async def test_what_is_not_kept_is_made_up_for_by_a_snapshot_that_says_so(
    installation: Installation, publish: Publish
) -> None:
    await publish({"groups:nine": groups(group("billing", 1))})
    async with listening(installation, "lag") as socket:
        await socket.say(type="resume", session="0123456789abcdef", last_seq=1)
        problem = (await socket.hear())["problem"]
        assert (problem["code"], "say what to watch" in problem["detail"]) == ("NOT_FOUND", True)
        await socket.say(type="watch", cluster="nine", groups=["*"])
        first = await socket.hear()
        assert (first["type"], "reason" in first) == ("snapshot", False)
        await socket.say(type="resume", last_seq=first["seq"] + 40)
        snapshot = await socket.hear()
        assert (snapshot["type"], snapshot["reason"]) == ("snapshot", "not_kept")


async def test_the_session_of_somebody_else_is_not_there(installation: Installation, publish: Publish) -> None:
    await publish({"groups:ten": groups(group("billing", 1))})
    async with listening(installation, "lag") as socket:
        session = socket.hello["session"]
        await socket.say(type="watch", cluster="ten", groups=["*"])
        await socket.hear()
    async with listening(installation, "lag", "operator") as socket:
        await socket.say(type="resume", session=session, last_seq=1)
        assert (await socket.hear())["problem"]["code"] == "NOT_FOUND"


async def test_metrics_show_known_lags_alone(publish: Publish, redis_url: str) -> None:
    await publish({"groups:five": groups(group("billing", 1500), group("lost", None))})
    async with redis.asyncio.Redis.from_url(redis_url) as store:
        lag, age = await lag_families(store)
    samples = {sample.labels["group"]: sample.value for sample in lag.samples if sample.labels["cluster"] == "five"}
    assert samples == {"billing": 1500}
    assert {sample.value for sample in age.samples if sample.labels["cluster"] == "five"} == {1.5}
    async with redis.asyncio.Redis.from_url("unix:///nowhere.sock") as nowhere:
        assert await lag_families(nowhere) == []
