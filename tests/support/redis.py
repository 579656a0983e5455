"""A Redis of its own for each test module that needs one: the real server, on a Unix socket in a folder."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis

from gateway.up.services import redis_server as redis_binary
from tests.support.wait import wait_until


@contextmanager
def redis_server() -> Iterator[str]:
    """Run a Redis until the block ends and yield its URL; nothing of it is kept."""
    # Not in pytest's folder: a Unix socket's path has about 100 characters at most.
    with tempfile.TemporaryDirectory(prefix="gantry-redis-") as folder:
        socket = Path(folder) / "redis.sock"
        command = [
            str(redis_binary()), "--port", "0", "--unixsocket", str(socket), "--dir", folder,
            "--save", "", "--appendonly", "no", "--loglevel", "warning",
        ]  # fmt: skip
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            url = f"unix://{socket}?db=0"
            wait_until(lambda: _answers(url))
            yield url
        finally:
            process.terminate()
            process.wait(10)


def _answers(url: str) -> bool:
    with redis.Redis.from_url(url) as client:
        try:
            return bool(client.ping())
        except redis.RedisError:
            return False
