"""The queues before a copy, made in parts."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from errno import EIO, EMFILE
from pathlib import Path
from unittest.mock import patch

import pytest

from broker_core.broker.replication import queues_before
from broker_core.broker.replication.messages import Accepted
from broker_core.broker.replication.queues_before import make_queues
from broker_core.broker.replication.replica_log import ReplicaLog
from broker_core.store.consume_queue import ConsumeQueue, QueueEnd
from broker_core.store.epochs import EpochFile
from broker_core.store.errors import FlushFailed
from tests.support.stores import opened

QUEUES = 400
AT_ONCE = 16
ENDS = {("idle", number): QueueEnd(1 + number, 1000, 100) for number in range(QUEUES)}


async def test_the_loop_has_a_turn_after_every_few_queues_made_or_removed(tmp_path: Path) -> None:
    turns = []

    async def count(kept: int) -> None:
        while True:
            turns.append(len(store.queues()) - kept)
            await asyncio.sleep(0)

    with opened(tmp_path, is_replica=True) as store:
        for ends, total in ((ENDS, QUEUES), ({}, -QUEUES)):
            turns.clear()
            counting = asyncio.create_task(count(len(store.queues())))
            await make_queues(store, ends)
            counting.cancel()
            with suppress(asyncio.CancelledError):
                await counting
            jumps = [abs(after - before) for before, after in zip(turns, [*turns[1:], total], strict=True)]
            assert max(jumps) == AT_ONCE
            store.begin_behind(ends)
            assert len(store.queues()) == len(ends)


async def test_what_was_made_before_it_was_given_up_need_not_be_made_again(tmp_path: Path) -> None:
    with opened(tmp_path, is_replica=True) as store:

        def give_up() -> None:
            if len(store.queues()) >= QUEUES // 2:
                making.cancel()

        making = asyncio.create_task(make_queues(store, ENDS, on_part=give_up))
        with suppress(asyncio.CancelledError):
            await making
        made = len(store.queues())
        assert made < QUEUES
        parts: list[int] = []
        await make_queues(store, ENDS, on_part=lambda: parts.append(len(store.queues())))
        assert len(parts) <= (QUEUES - made) // AT_ONCE + 1
        store.begin_behind(ENDS)
        made_ends = {key: store.max_offset(*key) for key in store.queues()}
        assert made_ends == {key: end.next_offset for key, end in ENDS.items()}


async def test_what_the_disk_did_not_take_is_not_counted_on(tmp_path: Path) -> None:
    with opened(tmp_path, is_replica=True) as store:
        log = ReplicaLog(store, EpochFile(tmp_path), waits_for_disk=False, most_held_bytes=0)
        with patch.object(queues_before, "sync_file_system", side_effect=OSError(EIO, "lost")):
            await log.make_queues(Accepted(1, 1024, ENDS), lambda: None)
        with pytest.raises(FlushFailed, match="lost"):
            log.begin_behind(ENDS)


async def test_what_cannot_be_made_is_left_to_who_tells_why(tmp_path: Path) -> None:
    with opened(tmp_path, is_replica=True) as store:
        log = ReplicaLog(store, EpochFile(tmp_path), waits_for_disk=False, most_held_bytes=0)
        refusal = OSError(EMFILE, "too many open files")
        with patch.object(ConsumeQueue, "begin_behind", side_effect=refusal):
            await log.make_queues(Accepted(1, 1024, ENDS), lambda: None)
            with pytest.raises(OSError, match="too many open files"):
                log.begin_behind(ENDS)
