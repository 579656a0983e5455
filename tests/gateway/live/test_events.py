"""Requirements of `gateway.live.events`: subscribers of a subject know its current state."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from msgspec.structs import asdict, replace

from console.accounts.rules import RoleRules, Rule
from console.lag.shapes import GroupQueue, GroupState, TopicState
from gateway import sockets
from gateway.auth import Principal
from gateway.live.events import MAX_SUBJECTS, may_watch
from tests.console.lag.figures import AT, group
from tests.gateway.installation import Installation
from tests.gateway.large_frames import end_of_socket
from tests.gateway.live.conftest import Publish, PublishCluster, PublishTopics, listening
from tests.support.wait import eventually

CLUSTERS = ("late", "list", "gap", "rows", "some", "told", "one", "a", "b", "single")
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
        await socket.say(type="subscribe", subjects=["group:local:not-made-yet"])
        await eventually(lambda: watched("group:local:not-made-yet"))
        await publish({"group:local:not-made-yet": {"state": "running"}})
        assert (await socket.hear())["data"] == {"state": "running"}


async def test_of_a_list_the_first_frame_is_whole_and_the_next_ones_tell_what_changed(
    installation: Installation, publish_topics: PublishTopics
) -> None:
    await publish_topics("list", orders=1, same=1, ship=1)
    async with listening(installation, "events") as socket:
        await socket.say(type="subscribe", subjects=["topics:list"])
        first = await socket.hear()
        assert (first["type"], len(first["data"]["items"])) == ("state", 3)
        await publish_topics("list", orders=2, same=1, new=0)
        delta = await socket.hear()
        assert (delta["type"], delta["seq"]) == ("delta", first["seq"] + 1)
        changed = {row["name"]: row["messages"] for row in delta["data"]["changed"]}
        assert (changed, delta["data"]["removed"]) == ({"orders": 2, "new": 0}, ["ship"])
        assert delta["data"]["measured"] == [[AT, None]]


async def test_a_delta_to_what_was_not_sent_becomes_a_whole_state(
    installation: Installation, publish_topics: PublishTopics, watched: Watched
) -> None:
    async with listening(installation, "events") as socket:
        await socket.say(type="subscribe", subjects=["topics:gap"])
        await eventually(lambda: watched("topics:gap"))
        await publish_topics("gap", a=1)
        assert (await socket.hear())["type"] == "state"
        await socket.say(type="unsubscribe", subjects=["topics:gap"])

        async def left() -> bool:
            return not await watched("topics:gap")

        await eventually(left)
        await publish_topics("gap", b=1)
        await socket.say(type="subscribe", subjects=["topics:gap"])
        assert [row["name"] for row in (await socket.hear())["data"]["items"]] == ["b"]


async def test_who_watches_some_rows_hears_of_these_alone(
    installation: Installation, publish_topics: PublishTopics
) -> None:
    # Given a list of a thousand topics, of which somebody sees three
    many = {f"t{number:03}": 1 for number in range(1000)}
    await publish_topics("rows", **many)
    async with listening(installation, "events") as socket:
        rows = ["t001", "t002", "never"]
        await socket.say(type="subscribe", subjects=["topics:rows"], rows={"topics:rows": rows})
        first = await socket.hear()
        assert [row["name"] for row in first["data"]["items"]] == ["t001", "t002"]
        # When many change, the frame has the changed one of the three
        await publish_topics("rows", **(many | {f"t{number:03}": 2 for number in range(2, 900)}))
        delta = await socket.hear()
        assert [(row["name"], row["messages"]) for row in delta["data"]["changed"]] == [("t002", 2)]
        # And when none of the three changes, only the time of the measurement
        await publish_topics("rows", **(many | {f"t{number:03}": 3 for number in range(3, 900)} | {"t002": 2}))
        quiet = await socket.hear()
        assert (quiet["type"], quiet["data"]["changed"], quiet["data"]["measured"]) == ("delta", [], [[AT, None]])
        # And other rows take the place of these
        await socket.say(type="subscribe", subjects=["topics:rows"], rows={"topics:rows": ["t899"]})
        other = await socket.hear()
        assert (other["type"], [row["messages"] for row in other["data"]["items"]]) == ("state", [3])


async def test_who_may_read_some_names_watches_these_rows_alone(
    installation: Installation, publish_topics: PublishTopics
) -> None:
    await publish_topics("some", orders=1, payments=1)
    async with listening(installation, "events", "narrow") as socket:
        await socket.say(type="subscribe", subjects=["topics:some"])
        assert (await socket.hear())["type"] == "denied"
        await socket.say(type="subscribe", subjects=["topics:some"], rows={"topics:some": ["payments"]})
        assert (await socket.hear())["type"] == "denied"
        await socket.say(type="subscribe", subjects=["topics:some"], rows={"topics:some": ["orders", "payments"]})
        assert [row["name"] for row in (await socket.hear())["data"]["items"]] == ["orders"]


async def test_rows_do_not_tell_of_names_that_one_may_not_read(
    installation: Installation, publish_cluster: PublishCluster
) -> None:
    def groups(*readers: str) -> list[GroupState]:
        named = [GroupState(**asdict(group(name, 1)), at=AT, queues=[], config=None) for name in readers]
        for each in named:
            each.topics = ["orders", "payments"]
        return named

    topics = [TopicState(name="orders", measured_at=AT, messages=1, groups=2, max_lag=9)]
    await publish_cluster("told", groups("orders-a", "billing"), topics)
    async with listening(installation, "events", "narrow") as socket:
        await socket.say(type="subscribe", subjects=["groups:told"], rows={"groups:told": ["orders-a", "orders-b"]})
        shown = (await socket.hear())["data"]["items"]
        assert [(row["name"], row["topics"]) for row in shown] == [("orders-a", ["orders"])]
        await socket.say(type="subscribe", subjects=["topics:told"], rows={"topics:told": ["orders"]})
        (row,) = (await socket.hear())["data"]["items"]
        assert (row["messages"], row["groups"], row["max_lag"]) == (1, 1, None)
        # When only what is hidden changes, no row is sent; a group that is seen counts
        fewer = [replace(topics[0], groups=1, max_lag=7)]
        await publish_cluster("told", groups("orders-a"), fewer)
        for delta in (await socket.hear(), await socket.hear()):
            assert (delta["type"], delta["data"]["changed"], delta["data"]["removed"]) == ("delta", [], [])
        await publish_cluster("told", groups("orders-a", "orders-b"), [replace(topics[0])])
        heard = {frame["subject"]: frame["data"]["changed"] for frame in (await socket.hear(), await socket.hear())}
        assert [(row["name"], row["topics"]) for row in heard["groups:told"]] == [("orders-b", ["orders"])]
        assert [(row["name"], row["groups"]) for row in heard["topics:told"]] == [("orders", 2)]
        await publish_cluster("told", groups("orders-b"), fewer)
        heard = {frame["subject"]: frame["data"]["removed"] for frame in (await socket.hear(), await socket.hear())}
        assert heard == {"groups:told": ["orders-a"], "topics:told": []}


async def test_a_group_is_shown_without_the_topics_that_one_may_not_read(
    installation: Installation, publish_cluster: PublishCluster, publish: Publish
) -> None:
    queues = [GroupQueue(topic=topic, broker="b", queue_id=0, lag=1) for topic in ("orders", "payments")]
    state = GroupState(**asdict(group("orders-a", 1)), at=AT, queues=queues, config=None)
    state.topics = ["orders", "payments"]
    await publish_cluster("one", [state])
    async with listening(installation, "events", "narrow") as socket:
        await socket.say(type="subscribe", subjects=["group:one:orders-a"])
        kept = await socket.hear()
        await publish({"group:one:orders-a": replace(state, lag=2)})
        for frame, lag in ((kept, 1), (await socket.hear(), 2)):
            shown = frame["data"]
            assert (shown["topics"], [row["topic"] for row in shown["queues"]]) == (["orders"], ["orders"])
            assert (shown["lag"], shown["topics_hidden"]) == (lag, True)


async def test_rows_of_what_is_no_list_are_refused(installation: Installation) -> None:
    async with listening(installation, "events") as socket:
        await socket.say(type="subscribe", subjects=["jobs"], rows={"jobs": ["a"]})
        assert (await socket.hear())["problem"]["code"] == "INVALID"


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


@pytest.mark.sample
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
        assert await socket.hear() == {
            "type": "denied",
            "subject": "nothing",
            "detail": "There is no subject 'nothing'.",
        }
        assert await socket.hear() == {
            "type": "denied",
            "subject": "group:local",
            "detail": "There is no subject 'group:local'.",
        }


@pytest.mark.parametrize(
    ("subject", "reader", "orders_only"),
    [
        ("overview:local", True, False),
        ("groups:local", True, False),
        ("topics:local", True, False),
        ("group:local:orders-billing", True, True),
        ("group:local:payments", True, False),
        ("replicas:local:broker-a", True, False),
        ("controllers:local", True, False),
        ("replicas:local", False, False),
        ("controllers:", False, False),
        ("decisions:local", False, False),
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
    without_jobs = RoleRules("all", tuple(Rule(kind, "*", ("read",)) for kind in ("topic", "group", "cluster")))
    of_jobs = subject.startswith("job")
    assert may_watch(Principal(1, "mia", "", own_roles=(without_jobs,)), subject) is (reader and not of_jobs)


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


@pytest.mark.parametrize("size", [64 * 1024 + 1, 20_000_000])
def test_a_frame_that_is_too_big_ends_the_socket(installation: Installation, size: int) -> None:
    viewer = {"Authorization": f"Bearer {installation.tokens['viewer']}"}
    code, reason = end_of_socket(f"{installation.sockets}/events", viewer, "x" * size)
    assert (code, bool(reason)) == (sockets.TOO_BIG, True)


async def test_a_single_group_is_heard_of_from_the_first_frame_on(
    installation: Installation, publish_cluster: PublishCluster, watched: Watched
) -> None:
    def detail(lag: int) -> GroupState:
        return GroupState(**asdict(group("billing", lag)), at=AT, queues=[], config=None)

    await publish_cluster("single", groups=[detail(3)])
    async with listening(installation, "events") as socket:
        await socket.say(type="subscribe", subjects=["group:single:billing"])
        first = await socket.hear()
        assert (first["type"], first["data"]["lag"], first["data"]["measured_at"]) == ("state", 3, AT)
        await eventually(lambda: watched("group:single:billing"))
        await publish_cluster("single", groups=[detail(4)])
        assert (await socket.hear())["data"]["lag"] == 4


async def test_what_is_of_no_cluster_and_of_no_job_is_denied(installation: Installation) -> None:
    with installation.client() as admin:
        parts = {}
        for part in ("source", "target"):
            parts[part] = {"topic": f"job-{part}"}
            admin.post("/api/v1/clusters/local/topics", json={"name": f"job-{part}"})
        job = admin.post("/api/v1/jobs", json={"type": "replay", "cluster": "local", **parts}).json()["id"]
    unknown = ["overview:nope", "groups:nope", "topics:nope", "group:nope:billing", "activity:nope", "job:nope"]
    async with listening(installation, "events") as socket:
        await socket.say(type="subscribe", subjects=[*unknown, f"job:{job}"])
        heard = [await socket.hear() for _ in range(len(unknown) + 1)]
    assert [(each["type"], each["subject"], each.get("detail")) for each in heard] == [
        *(("denied", each, "There is no cluster 'nope'.") for each in unknown[:-1]),
        ("denied", "job:nope", "There is no job 'nope'."),
        ("state", f"job:{job}", None),
    ]
