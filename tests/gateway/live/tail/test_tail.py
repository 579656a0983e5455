"""Requirements of ``/ws/v1/tail`` on a whole gateway: messages as they are stored, and no silent loss."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from tests.gateway.installation import Installation
from tests.gateway.live.conftest import Live, listening
from tests.support.cluster import several_brokers
from tests.support.orphaned import NAME, TOPIC, send_to_both, start_pair

NOBODY: Final = f"no master of broker '{NAME}' is known"


def topic_of(installation: Installation, name: str, queues: int = 2) -> str:
    with installation.client() as admin:
        made = admin.post(
            "/api/v1/clusters/local/topics", json={"name": name, "read_queues": queues, "write_queues": queues}
        )
        assert made.status_code == 201, made.text
    return name


def produce(installation: Installation, topic: str, *messages: dict[str, Any]) -> None:
    with installation.client() as admin:
        sent = admin.post(f"/api/v1/clusters/local/topics/{topic}/messages", json={"messages": list(messages)})
        assert sent.status_code == 201, sent.text


def order(number: int, tag: str = "paid") -> dict[str, Any]:
    return {"keys": [f"A{number}"], "tag": tag, "body": {"encoding": "json", "data": {"n": number}}}


async def heard(socket: Live, kind: str, n: int = 1) -> list[dict[str, Any]]:
    """Return the next frames of a kind; others are passed over."""
    found: list[dict[str, Any]] = []
    while len(found) < n:
        frame = await socket.hear()
        assert frame["type"] != "error", frame
        if frame["type"] == kind:
            found.append(frame)
    return found


async def started(socket: Live, **fields: Any) -> None:
    await socket.say(type="start", **fields)
    assert (await socket.hear())["phase"] == "live"


async def test_what_is_stored_after_the_phase_frame_is_shown_with_its_body(installation: Installation) -> None:
    topic = topic_of(installation, "tail-new")
    produce(installation, topic, order(1))
    async with listening(installation, "tail", role="developer") as socket:
        await started(socket, topics=[topic])
        produce(installation, topic, order(2))
        [frame] = await heard(socket, "message")
        assert (frame["topic"], frame["keys"], frame["tag"]) == (topic, ["A2"], "paid")
        assert frame["body"] == {"encoding": "json", "data": {"n": 2}}
        [progress] = await heard(socket, "progress")
        assert (progress["stored"], progress["matched"], progress["shown"], progress["dropped"]) == (1, 1, 1, 0)
        await socket.say(type="stop")
        assert (await heard(socket, "done"))[0]["reason"] == "stopped"


async def test_without_the_right_bodies_are_withheld_and_no_filter_asks_about_them(installation: Installation) -> None:
    topic = topic_of(installation, "tail-hidden")
    async with listening(installation, "tail", role="viewer") as socket:
        await started(socket, topics=[topic])
        produce(installation, topic, order(1))
        [frame] = await heard(socket, "message")
        assert (frame["keys"], frame["body"]) == (["A1"], None)
        assert json.dumps(frame).count("needs the right to read the bodies") == 1
    async with listening(installation, "tail", role="viewer") as socket:
        await socket.say(type="start", topics=[topic], filter={"text": "1"})
        assert "needs the right to read the bodies" in (await socket.hear())["problem"]["detail"]


async def test_viewers_of_one_topic_share_its_reader_and_each_has_its_own_filter(installation: Installation) -> None:
    topic = topic_of(installation, "tail-shared")
    async with (
        listening(installation, "tail", role="developer") as one,
        listening(installation, "tail", "developer") as other,
    ):
        await started(one, topics=[topic], filter={"tags": ["refunded"]})
        await started(other, topics=[topic], filter={"fields": [{"path": "$.n", "operator": "gt", "value": 1}]})
        produce(installation, topic, order(1, "refunded"), order(2))
        assert [frame["keys"] for frame in await heard(one, "message")] == [["A1"]]
        assert [frame["keys"] for frame in await heard(other, "message")] == [["A2"]]


async def test_sql_shows_what_it_selects_and_a_fault_is_told_at_its_field(installation: Installation) -> None:
    topic = topic_of(installation, "tail-sql", queues=1)
    async with listening(installation, "tail", role="developer") as socket:
        await socket.say(type="start", topics=[topic], filter={"sql": "amount LIKE '1%'"})
        [fault] = (await socket.hear())["problem"]["errors"]
        assert fault["pointer"] == "#/filter/sql"
        assert fault["detail"].endswith("the expression ends before it, at character 8.")
        await started(socket, topics=[topic], filter={"sql": "amount > 1", "tags": ["paid"]})
        amounts: tuple[dict[str, str], ...] = ({"amount": "1"}, {}, {"amount": "many"}, {"amount": "2"})
        produce(installation, topic, *({**order(n), "properties": each} for n, each in enumerate(amounts)))
        produce(installation, topic, {**order(9, "refunded"), "properties": {"amount": "5"}})
        [frame] = await heard(socket, "message")
        assert (frame["keys"], frame["properties"]["amount"]) == (["A3"], "2")
        while (progress := (await heard(socket, "progress"))[0])["read"] < 5:
            pass
        assert (progress["matched"], progress["shown"]) == (1, 1)
    async with listening(installation, "tail", role="viewer") as socket:
        await socket.say(type="start", topics=[topic], filter={"sql": "amount > 1"})
        assert "needs the right to read the bodies" in (await socket.hear())["problem"]["detail"]


async def test_above_the_rate_messages_are_dropped_and_said(installation: Installation) -> None:
    topic = topic_of(installation, "tail-rate", queues=1)
    async with listening(installation, "tail", role="developer") as socket:
        await started(socket, topics=[topic], max_rate=1)
        produce(installation, topic, *(order(n) for n in range(20)))
        shown, dropped = 0, 0
        while shown + dropped < 20:
            frame = await socket.hear()
            shown += frame["type"] == "message"
            if frame["type"] == "dropped":
                assert frame["reason"] == "max_rate"
                assert frame["from"] <= frame["to"]
                dropped += frame["n"]
        assert shown >= 1
        assert dropped >= 1


async def test_from_a_moment_on_nothing_is_dropped_and_the_next_tail_goes_on_there(installation: Installation) -> None:
    topic = topic_of(installation, "tail-past")
    produce(installation, topic, *(order(n) for n in range(8)))
    async with listening(installation, "tail", role="developer") as socket:
        await socket.say(type="start", topics=[topic], **{"from": "2020-01-01T00:00:00Z"}, max_rate=1000)
        assert (await socket.hear())["phase"] == "catching_up"
        found = {frame["keys"][0] for frame in await heard(socket, "message", 8)}
        assert found == {f"A{n}" for n in range(8)}
        assert (await heard(socket, "phase"))[0] == {"type": "phase", "phase": "live", "topics": [topic]}
        [progress] = await heard(socket, "progress")
    produce(installation, topic, order(9))
    async with listening(installation, "tail", role="developer") as socket:
        await socket.say(type="start", topics=[topic], resume=progress["resume"])
        assert [frame["keys"] for frame in await heard(socket, "message")] == [["A9"]]


async def test_a_tail_is_live_once_and_only_after_the_old_messages_of_all_its_queues(
    installation: Installation,
) -> None:
    topics = [topic_of(installation, f"tail-many-{queues}", queues=queues) for queues in (8, 3)]
    for topic in topics:
        produce(installation, topic, *(order(n) for n in range(20)))
    async with listening(installation, "tail", role="developer") as socket:
        await socket.say(type="start", topics=topics, **{"from": "2020-01-01T00:00:00Z"}, max_rate=100)
        told = [await socket.hear()]
        while [each["type"] for each in told].count("progress") < 2:
            told.append(await socket.hear())
    kinds = [each.get("phase", each["type"]) for each in told if each["type"] != "progress"]
    assert kinds == ["catching_up"] + ["message"] * 40 + ["live"]
    assert [each["topics"] for each in told if each["type"] == "phase"] == [topics, topics]


async def test_a_sample_reads_one_of_n(installation: Installation) -> None:
    topic = topic_of(installation, "tail-sample", queues=1)
    produce(installation, topic, *(order(n) for n in range(20)))
    async with listening(installation, "tail", role="developer") as socket:
        await socket.say(type="start", topics=[topic], **{"from": "2020-01-01T00:00:00Z"}, sample=10)
        assert [frame["offset"] for frame in await heard(socket, "message", 2)] == [0, 10]
        [progress] = await heard(socket, "progress")
        assert (progress["stored"], progress["read"]) == (20, 2)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"topics": ["tail-nowhere"]}, "TOPIC_NOT_FOUND"),
        ({"topics": ["orders"], "cluster": "nowhere"}, "CLUSTER_NOT_FOUND"),
        ({"topics": []}, "INVALID"),
        ({"topics": ["orders"], "from": "yesterday"}, "INVALID"),
        ({"topics": ["orders"], "from": "20260501T080000Z"}, "INVALID"),
        ({"topics": ["orders"], "resume": "[1]"}, "INVALID"),
        ({"topics": ["orders"], "group": "g"}, "INVALID"),
        ({"topics": ["orders"], "filter": {"sql": ""}}, "INVALID"),
        ({"topics": ["orders"], "filter": {"sql": "a = 1".ljust(1_025)}}, "INVALID"),
        ({"topics": ["orders"], "filter": {"fields": [{"path": "$..amount", "operator": "exists"}]}}, "INVALID"),
    ],
)
async def test_what_cannot_be_served_is_refused_by_name(
    installation: Installation, fields: dict[str, Any], code: str
) -> None:
    async with listening(installation, "tail", role="developer") as socket:
        await socket.say(type="start", **fields)
        frame = await socket.hear()
        assert frame["problem"]["code"] == code, json.dumps(frame)


async def test_a_topic_that_the_caller_may_not_read_is_refused(installation: Installation) -> None:
    async with listening(installation, "tail", "narrow") as socket:
        await socket.say(type="start", topics=["payments"])
        assert (await socket.hear())["problem"]["code"] == "FORBIDDEN"


async def test_a_tail_reads_masters_alone_and_says_so_while_there_is_none(
    installation: Installation, tmp_path: Path
) -> None:
    # Given a tail that is live on a master with a slave
    async with several_brokers(tmp_path, names=()) as running:
        await start_pair(running)
        await send_to_both(running)
        name_server = f"127.0.0.1:{running.name_server.port}"
        with installation.client() as admin:
            made = admin.post("/api/v1/clusters", json={"name": "tail-pair", "name_servers": [name_server]})
            assert made.status_code == 201, made.text
            async with listening(installation, "tail", role="admin") as socket:
                await started(socket, cluster="tail-pair", topics=[TOPIC])
                # When the master goes
                await running.stop(NAME)
                # Then nobody takes what its slave has for everything
                while (frame := (await heard(socket, "unknown"))[0])["reason"] != NOBODY:
                    pass
                assert (frame["topic"], frame["broker"]) == (TOPIC, NAME)
                # And the next master is read as soon as it is there
                await running.start(NAME, port=0)
                assert (await heard(socket, "unknown"))[0]["reason"] is None
            admin.delete("/api/v1/clusters/tail-pair", headers={"If-Match": "*"})
