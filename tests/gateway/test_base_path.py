"""Requirements of `gateway.base_path`: one gateway below a path, behind proxies that take the path away or leave it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from django.test import RequestFactory, override_settings
from websockets.asyncio.client import connect

from gateway.base_path import BelowPath
from gateway.control.pages import console
from tests.gateway.running import served


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Answer with the path that arrived, and with an address."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.send", "text": scope["path"]})
        await send({"type": "websocket.close"})
        return
    path = scope["path"].encode()
    headers = [(b"location", b"/api/v1/jobs/7"), (b"content-length", str(len(path)).encode())]
    await send({"type": "http.response.start", "status": 202, "headers": headers})
    await send({"type": "http.response.body", "body": path})


@pytest.fixture
async def address() -> AsyncIterator[str]:
    async with served(BelowPath(echo, "/tools/gantry")) as address:
        yield address


@pytest.mark.parametrize("sent", ["/tools/gantry/api/v1/jobs", "/api/v1/jobs"])
async def test_a_proxy_may_leave_the_base_path_or_take_it(address: str, sent: str) -> None:
    async with httpx.AsyncClient(base_url=f"http://{address}") as client:
        answer = await client.get(sent)
    assert answer.text == "/api/v1/jobs"
    assert answer.headers["location"] == "/tools/gantry/api/v1/jobs/7", "an address that the caller can use"


async def test_the_base_path_alone_leads_to_the_console(address: str) -> None:
    async with httpx.AsyncClient(base_url=f"http://{address}") as client:
        answer = await client.get("/tools/gantry?zone=utc")
        other = await client.get("/tools/gantryman")
    assert (answer.status_code, answer.headers["location"]) == (308, "/tools/gantry/?zone=utc")
    assert other.text == "/tools/gantryman", "only whole parts of the path count"


async def test_sockets_are_below_the_path_too(address: str) -> None:
    async with asyncio.timeout(30), connect(f"ws://{address}/tools/gantry/ws/v1/lag") as socket:
        assert await socket.recv() == "/ws/v1/lag"


def test_the_page_of_the_console_names_its_files_below_the_path(tmp_path: Any) -> None:
    page = '<meta name="base-path" content="" /><script src="./assets/main-1.js"></script>'
    (tmp_path / "index.html").write_text(page)
    with override_settings(CONSOLE_FILES=tmp_path, GANTRY_BASE_PATH="/gantry"):
        answer = console(RequestFactory().get("/groups/billing"))
    assert answer.content.decode() == (
        '<meta name="base-path" content="/gantry" /><script src="/gantry/assets/main-1.js"></script>'
    )
