"""Requirements of `gateway.socket_rights`, on a real gateway: a WebSocket ends with the token or session behind it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from tests.gateway.installation import PASSWORD, Installation

SOCKETS = ["produce", "consume", "events", "lag"]
# The time within which the socket must end; it may end earlier.
PATIENCE_S = 30
_numbers = count(1)


@contextmanager
def browser(installation: Installation, username: str) -> Iterator[httpx.Client]:
    with installation.client(None) as client:
        signed = client.post("/api/v1/login", json={"username": username, "password": PASSWORD})
        assert signed.status_code == 200, signed.text
        client.headers["X-CSRFToken"] = client.cookies["csrftoken"]
        yield client


def new_user(admin: httpx.Client) -> dict[str, Any]:
    body = {"username": f"standing-{next(_numbers)}", "password": PASSWORD, "role": "operator"}
    made = admin.post("/api/v1/users", json=body)
    assert made.status_code == 201, made.text
    user: dict[str, Any] = made.json()
    return user


def new_token(client: httpx.Client) -> dict[str, Any]:
    made = client.post("/api/v1/tokens", json={"name": f"t{next(_numbers)}", "scopes": ["read", "produce", "consume"]})
    assert made.status_code == 201, made.text
    token: dict[str, Any] = made.json()
    return token


@contextmanager
def opened(installation: Installation, path: str, headers: dict[str, str]) -> Iterator[ClientConnection]:
    with connect(f"{installation.sockets}/{path}", additional_headers=headers, proxy=None) as socket:
        assert json.loads(socket.recv())["type"] == "hello"
        yield socket


def code_of_the_end(socket: ClientConnection) -> int | None:
    with suppress(ConnectionClosed):
        while True:
            socket.recv(timeout=PATIENCE_S)
    return socket.close_code


@pytest.mark.parametrize("path", SOCKETS)
def test_a_revoked_token_closes_its_sockets_and_no_others(installation: Installation, path: str) -> None:
    with installation.client() as admin:
        kept, revoked = new_token(admin), new_token(admin)
        with (
            opened(installation, path, {"Authorization": f"Bearer {kept['token']}"}) as other,
            opened(installation, path, {"Authorization": f"Bearer {revoked['token']}"}) as socket,
        ):
            assert admin.delete(f"/api/v1/tokens/{revoked['id']}").status_code == 204
            assert code_of_the_end(socket) == 4401
            other.ping().wait(PATIENCE_S)
            assert other.close_code is None


def leave(admin: httpx.Client, own: httpx.Client, user: dict[str, Any]) -> None:
    assert own.post("/api/v1/logout").status_code == 204


def disable(admin: httpx.Client, own: httpx.Client, user: dict[str, Any]) -> None:
    assert admin.patch(f"/api/v1/users/{user['id']}", json={"is_active": False}, headers=ANY).status_code == 200


def reduce(admin: httpx.Client, own: httpx.Client, user: dict[str, Any]) -> None:
    assert admin.patch(f"/api/v1/users/{user['id']}", json={"role": "viewer"}, headers=ANY).status_code == 200


def change_password(admin: httpx.Client, own: httpx.Client, user: dict[str, Any]) -> None:
    body = {"password": "another one entirely"}
    assert admin.patch(f"/api/v1/users/{user['id']}", json=body, headers=ANY).status_code == 200


ANY = {"If-Match": "*"}


@pytest.mark.parametrize("by_ticket", [False, True])
@pytest.mark.parametrize(("act", "code"), [(leave, 4401), (disable, 4401), (reduce, 4403), (change_password, 4401)])
def test_a_session_that_is_not_what_it_was_closes_its_sockets(
    installation: Installation, act: Callable[..., None], code: int, by_ticket: bool
) -> None:
    with installation.client() as admin:
        user = new_user(admin)
        with browser(installation, user["username"]) as own:
            cookies = "; ".join(f"{name}={value}" for name, value in own.cookies.items())
            path, headers = "events", {"Cookie": cookies, "Origin": installation.url}
            if by_ticket:
                ticket = own.post("/api/v1/ws-tickets").json()["ticket"]
                path, headers = f"events?ticket={ticket}", {}
            with opened(installation, path, headers) as socket:
                act(admin, own, user)
                assert code_of_the_end(socket) == code
