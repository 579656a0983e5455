"""Makes the pictures of the README from `make demo`: ``python -m tests.browser.pictures docs/images``; some minutes."""

from __future__ import annotations

import signal
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal

import httpx
from playwright.sync_api import Page, expect

from gateway.demo.plan import ANALYTICS, ORDERS, PAYMENTS
from tests.browser.chromium import chromium
from tests.browser.pages import Console, signed_in, tab, window
from tests.support.gantry import ROOT, Gantry, Place
from tests.support.wait import wait_until

SECONDS: Final = 150
# The share of a chart's width from which on there is something to see: the last minutes of fifteen.
_BEGIN, _END = 0.855, 0.995
_NEXT_SAMPLE_MS: Final = 2_500
_TAIL_MS: Final = 8_000
_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"


def _zoom(page: Page) -> None:
    """Show the last minutes of the charts."""
    plot = page.get_by_role("main").locator("canvas").first.bounding_box()
    assert plot is not None
    height = plot["y"] + plot["height"] / 2
    page.mouse.move(plot["x"] + plot["width"] * _BEGIN, height)
    page.mouse.down()
    page.mouse.move(plot["x"] + plot["width"] * _END, height, steps=8)
    page.mouse.up()
    page.mouse.move(0, 0)
    page.wait_for_timeout(_NEXT_SAMPLE_MS)


def _pick_a_cause(page: Page) -> None:
    """Tick the last cause, so that the dry run of a redrive is shown."""
    page.get_by_role("main").get_by_role("checkbox").last.click()
    page.wait_for_timeout(_NEXT_SAMPLE_MS)


def _wait_for_messages(page: Page) -> None:
    page.wait_for_timeout(_TAIL_MS)


@dataclass(frozen=True)
class Picture:
    """A page, how it looks, and what is done before the picture is taken."""

    path: str
    theme: Literal["light", "dark"]
    prepare: Callable[[Page], None]


PICTURES: Final = {
    "overview": Picture("/?range=15m", "light", _zoom),
    "group": Picture(f"/groups/{ANALYTICS}?range=15m", "light", _zoom),
    "groups": Picture("/groups", "light", _wait_for_messages),
    "topic": Picture(f"/topics/{ORDERS}", "dark", _wait_for_messages),
    "dead-letters": Picture("/dead-letters", "light", _pick_a_cause),
    "live": Picture(f"/live?topics={ORDERS},{PAYMENTS}", "dark", _wait_for_messages),
}


def _compare(gantry: Gantry) -> Picture:
    """Copy the orders with some left out and some changed, and compare both."""
    with gantry.client() as http:
        copy = {"name": "orders-archive", "read_queues": 4, "write_queues": 4}
        assert http.post("/clusters/local/topics", json=copy).is_success
        # Later orders would all be missing in the copy.
        orders = {"topic": ORDERS, "to": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")}
        changes = {"tag": "if(pmod(hash(key), 50) = 1, 'refunded', tag)"}
        replay = {
            "type": "replay",
            "source": {**orders, "where": "pmod(hash(key), 40) <> 0"},
            "target": {"topic": copy["name"], "transform": changes},
        }
        _run(http, replay)
        # Orders also have the key of their customer, which many share.
        compared = {"by": {"left": "key", "right": "key"}, "compare": ["body", "tag"]}
        job = _run(http, {"type": "reconcile", "left": orders, "right": {"topic": copy["name"]}, **compared})
        return Picture(f"/jobs/{job}", "light", _still)


def _run(http: httpx.Client, request: dict[str, Any]) -> str:
    """Run a job to its end and return its id."""
    answer = http.post("/jobs", json=request)
    assert answer.is_success, answer.text
    job = f"/jobs/{answer.json()['id']}"
    wait_until(lambda: http.get(job).json()["finished_at"] is not None)
    return str(answer.json()["id"])


def _still(page: Page) -> None:
    page.wait_for_timeout(_NEXT_SAMPLE_MS)


def main(folder: Path) -> None:
    """Run the demo for some minutes and write each page to `folder`, in English and (``-zh``) in Chinese."""
    with (
        tempfile.TemporaryDirectory() as place,
        Place.free(Path(place) / "data").started() as gantry,
        _demo(gantry),
        chromium() as browser,
        window(browser, signed_in(browser, gantry)) as context,
        tab(context, gantry) as console,
    ):
        time.sleep(SECONDS)
        pictures = PICTURES | {"reconcile": _compare(gantry)}
        console.open("/")
        for language, suffix in (("en", ""), ("zh", "-zh")):
            for name, picture in pictures.items():
                console.page.evaluate(
                    """([language, theme]) => {
                        localStorage.setItem("gantry.language", JSON.stringify(language))
                        localStorage.setItem("gantry.theme", theme)
                    }""",
                    [language, picture.theme],
                )
                _take(console, picture, folder / f"{name}{suffix}.png")


@contextmanager
def _demo(gantry: Gantry) -> Iterator[None]:
    command = [sys.executable, "-m", "gateway.demo", "--url", gantry.url, "--token", gantry.token]
    with subprocess.Popen(command, cwd=ROOT) as process:
        try:
            yield
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)


def _take(console: Console, picture: Picture, file: Path) -> None:
    console.open(picture.path)
    # The language and the theme are read when the console is loaded.
    console.reload()
    console.settled()
    expect(console.connection).to_have_attribute("data-state", "live")
    picture.prepare(console.page)
    file.write_bytes(_smaller(console.page.screenshot(animations="disabled")))


def _smaller(png: bytes) -> bytes:
    """Return the same picture, compressed as well as zlib can."""
    chunks, at = list[tuple[bytes, bytes]](), len(_SIGNATURE)
    while at < len(png):
        (size,) = struct.unpack_from(">I", png, at)
        chunks.append((png[at + 4 : at + 8], png[at + 8 : at + 8 + size]))
        at += size + 12
    pixels = zlib.compress(zlib.decompress(b"".join(data for kind, data in chunks if kind == b"IDAT")), 9)
    before = [chunk for chunk in chunks if chunk[0] == b"IHDR"]
    written = [*before, (b"IDAT", pixels), (b"IEND", b"")]
    return _SIGNATURE + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in written
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
