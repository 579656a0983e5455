"""Etcd's watch may end, be silent, or be refused: what was changed is heard all the same."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from broker_core.controller.etcd import messages
from broker_core.controller.etcd.decisions import EtcdDecisions
from broker_core.controller.etcd.messages import Json
from tests.broker_core.controller.etcd.conftest import Open
from tests.support.etcd import Etcd
from tests.support.wait import eventually

UNKNOWN_FUTURE = 1_000_000


class Starts:
    """From which revisions watches began; the first of them from another one than it should."""

    def __init__(self, first: int) -> None:
        self.asked: list[int] = []
        self._first = first
        self._watch = messages.watch

    def watch(self, prefix: str, start: int) -> Json:
        self.asked.append(start if self.asked else self._first)
        return self._watch(prefix, self.asked[-1])


@contextmanager
def first_from(revision: int) -> Iterator[Starts]:
    starts = Starts(revision)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(messages, "watch", starts.watch)
        yield starts


async def test_a_watch_that_is_silent_begins_anew_when_the_poll_finds_more(opened: Open) -> None:
    with first_from(UNKNOWN_FUTURE) as starts:
        decisions = await opened()
        await eventually(lambda: is_open(decisions))
        revision, _ = await decisions.read()
        waiting = asyncio.create_task(decisions.changes(revision))
        await decisions.put("b", None, "first")
        assert await waiting == {"b"}
        await eventually(lambda: len(starts.asked) == 2 and is_open(decisions))
        assert starts.asked[1] < UNKNOWN_FUTURE


async def test_a_watch_of_what_is_compacted_begins_anew_behind_it(opened: Open, member: Etcd) -> None:
    writer = await opened()
    kept = await writer.put("b", None, "first")
    kept = await writer.put("b", kept, "second")
    revision, _ = await writer.read()
    member.members[0].ask("/v3/kv/compaction", {"revision": str(revision)})
    with first_from(1) as starts:
        decisions = await opened()
        await eventually(lambda: len(starts.asked) == 2 and is_open(decisions))
        await writer.put("b", kept, "third")
        assert await decisions.changes(revision) == {"b"}


def is_open(decisions: EtcdDecisions) -> bool:
    """Whether the watch has begun and has not ended."""
    return decisions._watch.has_missed(UNKNOWN_FUTURE**2)
