"""Requirements of `gateway.data.audit_notes`, by a gateway whose audit is read over its API."""

from __future__ import annotations

import asyncio
import json
from itertools import count
from typing import Any

import httpx
import pytest
from websockets.sync.client import connect

from broker_core.client.errors import Unreachable
from gateway.data import audit_notes
from gateway.data.audit_notes import FirstUses, Note
from gateway.data.consumers import Caller
from tests.gateway.installation import Installation
from tests.support.wait import eventually, wait_until

MIA = Caller("ci", "mia", "token", "192.0.2.1")
_numbers = count(1)


def recorded(admin: httpx.Client, resource: str) -> list[dict[str, Any]]:
    answer = admin.get("/api/v1/audit", params={"resource": resource})
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


def new_topic(admin: httpx.Client) -> str:
    name = f"orders-noted-{next(_numbers)}"
    assert admin.post("/api/v1/clusters/local/topics", json={"name": name}).status_code == 201
    return name


@pytest.mark.parametrize("by_socket", [False, True])
def test_a_group_that_is_made_by_its_first_use_stands_in_the_audit_once(
    installation: Installation, by_socket: bool
) -> None:
    with installation.client() as admin:
        topic, group = new_topic(admin), f"noted-{next(_numbers)}"
        if by_socket:
            headers = {"Authorization": f"Bearer {installation.tokens['admin']}"}
            with connect(f"{installation.sockets}/consume", additional_headers=headers, proxy=None) as socket:
                socket.recv()
                socket.send(json.dumps({"type": "subscribe", "group": group, "topic": topic, "credit": 1}))
                wait_until(lambda: bool(recorded(admin, f"local/groups/{group}")))
        path = f"/api/v1/clusters/local/groups/{group}/topics/{topic}:receive"
        for _ in range(3):
            assert admin.post(path, json={}).status_code == 200
        wait_until(lambda: bool(recorded(admin, f"local/groups/{group}")))
        (made,) = recorded(admin, f"local/groups/{group}")
        assert (made["action"], made["result"], made["actor"]) == ("group.create", "ok", "admin")
        assert (made["token"], made["address"]) == ("all", "127.0.0.1")


def test_a_group_that_was_made_before_is_not_made_by_use(installation: Installation) -> None:
    with installation.client() as admin:
        topic, group = new_topic(admin), f"noted-{next(_numbers)}"
        assert admin.post("/api/v1/clusters/local/groups", json={"name": group}).status_code == 201
        path = f"/api/v1/clusters/local/groups/{group}/topics/{topic}:receive"
        assert admin.post(path, json={}).status_code == 200
        assert len(recorded(admin, f"local/groups/{group}")) == 1


def test_refused_rights_of_the_data_plane_stand_in_the_audit(installation: Installation) -> None:
    path = f"/api/v1/clusters/local/topics/payments-{next(_numbers)}/messages"
    with installation.client("narrow") as narrow, installation.client() as admin:
        answers = [narrow.post(path, json={}, headers={"X-Forwarded-For": "203.0.113.9"}) for _ in range(3)]
        assert {each.status_code for each in answers} == {403}
        wait_until(lambda: bool(recorded(admin, path)))
        (refused,) = recorded(admin, path)
    assert (refused["action"], refused["result"], refused["token"]) == ("access.produce", "refused", "narrow")
    assert refused["request_id"] == answers[0].headers["x-request-id"]
    # The gateway's settings trust the proxy that sends this address
    assert refused["address"] == "203.0.113.9"
    assert "needs the right 'produce'" in refused["after"]["reason"]


def test_what_a_socket_is_refused_has_the_id_of_its_handshake(installation: Installation) -> None:
    topic = f"payments-{next(_numbers)}"
    headers = {"Authorization": f"Bearer {installation.tokens['narrow']}", "X-Request-Id": f"shake-{topic}"}
    with connect(f"{installation.sockets}/produce", additional_headers=headers, proxy=None) as socket:
        assert json.loads(socket.recv())["session"] == f"shake-{topic}"
        socket.send(json.dumps({"type": "send", "topic": topic, "body": {"encoding": "text", "data": "a"}}))
        assert json.loads(socket.recv())["problem"]["code"] == "FORBIDDEN"

    def refused() -> list[dict[str, Any]]:
        page = admin.get("/api/v1/audit", params={"request_id": f"shake-{topic}"}).json()
        rows: list[dict[str, Any]] = page["items"]
        return rows

    with installation.client() as admin:
        wait_until(lambda: bool(refused()))
        assert [(row["action"], row["result"]) for row in refused()] == [("access.send", "refused")]


async def test_most_uses_ask_nobody() -> None:
    asked: list[str] = []
    notes: list[Note] = []

    async def known(cluster: str) -> frozenset[str]:
        asked.append("memory")
        return frozenset({"old"})

    async def has_group(cluster: str, group: str) -> bool:
        asked.append(group)
        return group == "there"

    uses = FirstUses(known, has_group, notes.append, lambda: 100.0)
    for _ in range(3):
        for group in ("old", "there", "new"):
            await uses.look("local", group)
            uses.used("local", group, MIA)
    assert asked == ["memory", "there", "new"]
    assert notes == [Note(MIA, "group.create", "local/groups/new", "ok", "", "made by its first use", is_of_one=True)]


async def test_a_use_does_not_wait_for_a_broker_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_notes, "_PATIENCE_SECONDS", 0.01)
    asked: list[str] = []
    goes_on = asyncio.Event()

    async def known(cluster: str) -> frozenset[str]:
        return frozenset()

    async def has_group(cluster: str, group: str) -> bool:
        asked.append(group)
        await goes_on.wait()
        raise Unreachable("b:2", "closed")

    uses = FirstUses(known, has_group, lambda _: None, lambda: 100.0)
    for _ in range(3):  # nor is it asked again while it hangs, and soon after
        await uses.look("local", "new")
    goes_on.set()
    await eventually(lambda: not uses._looking)
    await uses.look("local", "new")
    assert asked == ["new"]
    assert not uses.is_first("local", "new")
