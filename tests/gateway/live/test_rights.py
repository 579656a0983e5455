"""Requirements of the rights, on every channel: WebSockets and their twins of server-sent events, by the known cast."""

from __future__ import annotations

import json
from itertools import count
from typing import Any, Final

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from gateway.composition import LIVE_SOCKETS
from gateway.data.routing import SOCKETS as DATA_SOCKETS
from gateway.live.event_stream import CHANNELS
from tests.gateway.installation import Installation

_numbers = count(1)

# What each channel needs on a topic and a group of that name, and the first frame that asks for them.
CHANNEL_NEEDS: Final = {
    "/ws/v1/produce": "produce",
    "/ws/v1/consume": "consume",
    "/ws/v1/events": "read",
    "/ws/v1/lag": "read",
    "/ws/v1/tail": "read",
}
FRAMES: Final = {
    "/ws/v1/produce": {"type": "send", "context": "1", "topic": "{name}", "body": {"encoding": "text", "data": "x"}},
    "/ws/v1/consume": {"type": "subscribe", "group": "{name}", "topic": "{name}", "credit": 1},
    "/ws/v1/events": {"type": "subscribe", "subjects": ["group:local:{name}", "nothing"]},
    "/ws/v1/lag": {"type": "watch", "groups": ["{name}"]},
    "/ws/v1/tail": {"type": "start", "topics": ["{name}"]},
}
NOBODY: Final = ("stranger", "revoked", "expired", "disabled")
# Who may do what with a name that begins with orders, and with another one.
MAY: Final[dict[str, tuple[set[str], set[str]]]] = {
    "admin": ({"produce", "consume", "read"}, {"produce", "consume", "read"}),
    "viewer": ({"read"}, {"read"}),
    "narrow": ({"read"}, set()),
    "oncall": ({"produce", "consume", "read"}, set()),
}


def headers_of(installation: Installation, who: str) -> dict[str, str]:
    return {} if who == "stranger" else {"Authorization": f"Bearer {installation.tokens[who]}"}


def test_no_channel_was_forgotten() -> None:
    assert set(CHANNEL_NEEDS) == set(LIVE_SOCKETS) | DATA_SOCKETS
    assert set(CHANNELS) == set(LIVE_SOCKETS)


@pytest.mark.parametrize("who", NOBODY)
@pytest.mark.parametrize("path", CHANNEL_NEEDS)
def test_a_channel_turns_away_whoever_is_nobody(installation: Installation, path: str, who: str) -> None:
    headers = headers_of(installation, who)
    with connect(installation.sockets.removesuffix("/ws/v1") + path, additional_headers=headers, proxy=None) as socket:
        assert json.loads(socket.recv(30))["problem"]["code"] == "NOT_AUTHENTICATED"
        with pytest.raises(ConnectionClosed):
            socket.recv(30)
        assert socket.close_code == 4401
    if path in CHANNELS:
        asked = {**headers, "Accept": "text/event-stream"}
        answer = httpx.get(installation.url + path, headers=asked, trust_env=False)
        assert (answer.status_code, answer.json()["code"]) == (401, "NOT_AUTHENTICATED")


@pytest.mark.parametrize("path", CHANNEL_NEEDS)
@pytest.mark.parametrize("who", MAY)
def test_a_channel_gives_each_caller_what_its_rights_allow(installation: Installation, path: str, who: str) -> None:
    for stem, verbs in zip(("orders", "payments"), MAY[who], strict=True):
        name = f"{stem}-channel-{next(_numbers)}"
        with installation.client() as admin:
            api = "/api/v1/clusters/local"
            assert admin.post(f"{api}/topics", json={"name": name}).status_code == 201
            assert admin.post(f"{api}/groups", json={"name": name}).status_code == 201
        first = answer_of(installation, path, who, name)
        # Nobody may watch "nothing", and of a group without samples there is no frame.
        is_denied = first["type"] == "denied" and first["subject"] != "nothing"
        refused = is_denied or first.get("problem", {}).get("code") == "FORBIDDEN"
        # The lag of a group that one may not read is no refusal: no pattern tells whether there is such a group.
        if path == "/ws/v1/lag" and CHANNEL_NEEDS[path] not in verbs:
            assert not refused
            assert not first.get("groups")
        else:
            assert refused == (CHANNEL_NEEDS[path] not in verbs), f"{who} {name}: {first}"


def answer_of(installation: Installation, path: str, who: str, name: str) -> dict[str, Any]:
    """Return the first frame that says something about the name."""
    url, headers = installation.sockets.removesuffix("/ws/v1") + path, headers_of(installation, who)
    with connect(url, additional_headers=headers, proxy=None) as socket:
        assert json.loads(socket.recv(30))["type"] == "hello"
        socket.send(json.dumps(FRAMES[path]).replace("{name}", name))
        if path == "/ws/v1/consume":
            # A subscription that works says nothing until there is a message.
            send = {"body": {"encoding": "text", "data": "x"}}
            with installation.client() as admin:
                assert admin.post(f"/api/v1/clusters/local/topics/{name}/messages", json=send).status_code == 201
        frame: dict[str, Any] = json.loads(socket.recv(30))
        return frame
