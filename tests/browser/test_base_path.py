"""The console below a path, in Chromium, behind a proxy that takes the path away."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, expect

from broker_core.client.blocking import LoopThread
from tests.browser.pages import Console, window
from tests.browser.watch import Watch
from tests.support.gantry import Place
from tests.support.ports import free_ports

pytestmark = [pytest.mark.browser, pytest.mark.scenario]

PATH: Final = "/tools/gantry"


def test_one_signs_in_and_sees_live_figures_below_a_path(browser: Browser, tmp_path: Path) -> None:
    port = free_ports()
    outside = f"http://127.0.0.1:{port}{PATH}"
    place = Place.free(tmp_path / "data")
    with place.started(GANTRY_PUBLIC_URL=outside), _proxy(port, place.http_port), window(browser) as context:
        page = context.new_page()
        console = Console(page, Watch(page), outside)
        page.goto(f"{outside}/topics")
        console.sign_in()
        # The address from before, the files, the API and the live socket are all below the path
        expect(console.title).to_have_text("Topics")
        console.settled()
        expect(page.get_by_role("button", name="Live")).to_be_visible()
        page.get_by_role("link", name="Groups").first.click()
        expect(page).to_have_url(re.compile(re.escape(f"{outside}/groups")))
        page.reload()
        expect(console.title).to_have_text("Groups")


@contextmanager
def _proxy(port: int, inside: int) -> Iterator[None]:
    """Pass what comes below the path on to a port, without the path, until the block ends."""
    open_ones: dict[asyncio.Task[None] | None, list[asyncio.StreamWriter]] = {}

    async def passed_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ends = open_ones[asyncio.current_task()] = [writer]
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            there, back = await asyncio.open_connection("127.0.0.1", inside)
            ends.append(back)
            back.write(_without_path(head))
            await asyncio.gather(_copied(reader, back), _copied(there, writer))
        for end in ends:
            end.close()

    async def stopped() -> None:
        server.close()
        for ends in open_ones.values():
            for end in ends:
                end.close()
        await asyncio.gather(*(task for task in open_ones if task is not None))

    thread = LoopThread("proxy")
    server = thread.run(asyncio.start_server(passed_on, "127.0.0.1", port), timeout_s=20)
    try:
        yield
    finally:
        thread.run(stopped(), timeout_s=20)
        thread.close()


def _without_path(head: bytes) -> bytes:
    method, target, rest = head.split(b" ", 2)
    assert target.startswith(PATH.encode()), target
    if b"upgrade: websocket" not in head.lower():
        # One request a connection: the next one has a path to be taken away too.
        rest = rest.replace(b"Connection: keep-alive\r\n", b"Connection: close\r\n")
    return b" ".join([method, target.removeprefix(PATH.encode()) or b"/", rest])


async def _copied(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65_536):
        writer.write(data)
        await writer.drain()
    writer.close()
