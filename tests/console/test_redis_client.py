"""Requirements of the connections to Redis of code in threads."""

from __future__ import annotations

import selectors
import socket
from collections.abc import Iterator

import pytest
import redis
from pytest_django import Settings

from console.redis_client import store


@pytest.fixture
def silent(settings: Settings) -> Iterator[socket.socket]:
    """A port that takes connections and answers nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        settings.GANTRY_REDIS_URL = f"redis://127.0.0.1:{server.getsockname()[1]}"
        yield server


def test_a_silent_redis_is_waited_for_once_by_all_commands_together(silent: socket.socket) -> None:
    for _ in range(3):
        with pytest.raises(redis.TimeoutError):
            store().get("a")
    pipe = store().pipeline(transaction=False)
    pipe.get("a")
    with pytest.raises(redis.TimeoutError):
        pipe.execute()
    assert _waiting(silent) == 1


def _waiting(server: socket.socket) -> int:
    """Return how many connections were made to the port."""
    found = 0
    with selectors.DefaultSelector() as selector:
        selector.register(server, selectors.EVENT_READ)
        while selector.select(0):
            server.accept()[0].close()
            found += 1
    return found
