"""nsqd 1.3, built from its Go module, as something to measure HTTP produce beside: `POST /pub` and `POST /mpub`."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import uvloop

from tests.benchmarks.produce_http import Count, Sender
from tests.support.ports import free_ports
from tests.support.wait import wait_until

_GO_MOD = """module bench
go 1.21
require github.com/nsqio/nsq v1.3.0
replace github.com/judwhite/go-svc => github.com/mreiferson/go-svc v1.2.2-0.20210815184239-7a96e00010f6
"""
_COMMAND = "github.com/nsqio/nsq/apps/nsqd"
_IMPORT = f'//go:build tools\npackage bench\nimport _ "{_COMMAND}"\n'


class NotBuilt(Exception):
    """Raised when there is no Go, or the module cannot be fetched or built; the text says which."""


@contextmanager
def running_nsqd() -> Iterator[str]:
    """Build and start nsqd; yield ``host:port`` of its HTTP side. Raises NotBuilt."""
    with tempfile.TemporaryDirectory() as folder:
        binary = _build(Path(folder))
        http, tcp = (f"127.0.0.1:{free_ports()}" for _ in range(2))
        arguments = ["-data-path", folder, "-http-address", http, "-tcp-address", tcp]
        process = subprocess.Popen([binary, *arguments], stderr=subprocess.DEVNULL)
        try:
            wait_until(lambda: _answers(http))
            yield http
        finally:
            process.terminate()
            process.wait()


def messages_per_second(address: str, *, size: int, batch: int, connections: int, seconds: float) -> float:
    """Return how many messages of `size` bytes nsqd takes, `batch` of them in a request."""
    body = b"\n".join([b"x" * size] * batch)
    path = "mpub" if batch > 1 else "pub"
    head = f"POST /{path}?topic=size{size} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {len(body)}\r\n\r\n"
    return batch * uvloop.run(_measure(address, head.encode() + body, connections, seconds))


async def _measure(address: str, request: bytes, connections: int, seconds: float) -> float:
    host, _, port = address.rpartition(":")
    count, loop = Count(), asyncio.get_running_loop()
    started = time.perf_counter()
    ends = []
    for _ in range(connections):
        _, sender = await loop.create_connection(lambda: Sender(request, 1, count, started + seconds), host, int(port))
        ends.append(sender.done)
    await asyncio.wait(ends, timeout=seconds + 10)
    return count.answered / (time.perf_counter() - started)


def _build(folder: Path) -> Path:
    go = shutil.which("go")
    if go is None:
        raise NotBuilt("there is no Go on this machine")
    (folder / "go.mod").write_text(_GO_MOD)
    (folder / "tools.go").write_text(_IMPORT)
    environment = {**os.environ, "GOFLAGS": "-mod=mod"}
    built = subprocess.run(
        [go, "build", "-o", "nsqd", _COMMAND], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if built.returncode:
        raise NotBuilt(f"it cannot be built: {built.stderr.strip().splitlines()[-1:]}")
    return folder / "nsqd"


def _answers(address: str) -> bool:
    try:
        return httpx.get(f"http://{address}/ping").status_code == 200
    except httpx.HTTPError:
        return False
