"""Requirements of `gantry events`: what is kept is listed, and what happens is followed."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import redis.asyncio
from click.testing import CliRunner, Result
from pytest_django.fixtures import Settings

from console.activity import feed
from console.activity.shapes import ActivityEvent
from gateway.cli.commands import gantry
from tests.gateway.installation import Installation

AT = "2026-05-01T08:00:00.000Z"
EVENTS = [
    ActivityEvent(seen_at=AT, kind="topic_created", topic="cli-orders"),
    ActivityEvent(seen_at=AT, kind="group_created", group="cli-billing"),
]


@pytest.fixture(autouse=True)
def layer_of_test(settings: Settings, redis_url: str) -> None:
    layer = settings.CHANNEL_LAYERS["default"]
    settings.CHANNEL_LAYERS = {"default": {**layer, "CONFIG": {**layer["CONFIG"], "hosts": [redis_url]}}}


def happen(redis_url: str) -> None:
    async def append() -> None:
        async with redis.asyncio.Redis.from_url(redis_url) as store:
            await feed.append("local", EVENTS, None, store=store)

    asyncio.run(append())


@contextmanager
def happening(redis_url: str) -> Iterator[None]:
    """Let it happen again and again."""
    is_over = threading.Event()

    def repeat() -> None:
        while not is_over.wait(0.1):
            happen(redis_url)

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def run(installation: Installation, *words: str) -> Result:
    options = ["--json", "--url", installation.url, "--token", installation.tokens["admin"]]
    return CliRunner().invoke(gantry, [*options, "events", *words])


def test_events_are_listed_and_filtered(installation: Installation, redis_url: str) -> None:
    happen(redis_url)
    listed = [json.loads(line) for line in run(installation, "--limit", "2").stdout.splitlines()]
    assert [each["kind"] for each in listed] == ["group_created", "topic_created"]
    about = run(installation, "--topic", "cli-orders", "--limit", "1").stdout
    assert json.loads(about)["kind"] == "topic_created"
    assert "explosion" in str(run(installation, "--kind", "explosion").exception)


def test_events_are_followed_until_there_are_so_many(installation: Installation, redis_url: str) -> None:
    with happening(redis_url):
        followed = run(installation, "--follow", "--group", "cli-billing", "--limit", "2")
    assert followed.exit_code == 0, followed.output
    events = [json.loads(line) for line in followed.stdout.splitlines()]
    assert [each["kind"] for each in events] == ["group_created"] * 2
    assert events[1]["seq"] > events[0]["seq"]
