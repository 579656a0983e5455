"""A real writer is killed repeatedly; no message that it reported as stored may be missing."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from broker_core.protocol.record import decode_many
from broker_core.store import MessageStore, StoreConfig, abort
from broker_core.store.reader import StoreReader
from broker_core.store.verify import verify
from tests.support.stores import small
from tests.support.wait import wait_until

ROUNDS = 12
QUEUES = 3
ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.crash


def config_of(folder: Path) -> StoreConfig:
    return small(folder, commit_log_file_size=64 * 1024, consume_queue_file_units=100, index_entries=400)


def write_until_killed(folder: Path, seed: int) -> int:
    """Run a writer, kill it in the middle of its work, and return the last number it reported as stored."""
    command = [sys.executable, "-m", "tests.crash.store_writer", str(folder), str(seed)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        lines = [writer.stdout.readline() for _ in range(random.Random(seed).randint(1, 700))]
        writer.kill()
        lines += writer.stdout.read().splitlines(keepends=True)
    whole = [int(line) for line in lines if line.endswith("\n")]
    return whole[-1] if whole else -1


def kill_while_opening(folder: Path) -> None:
    """Start a writer and kill it as soon as it has started recovery."""
    command = [sys.executable, "-m", "tests.crash.store_writer", str(folder), "0"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=ROOT) as writer:
        wait_until(lambda: (folder / "abort").read_text().startswith(f"{writer.pid}\n"))
        writer.kill()


def stored_numbers(store: MessageStore, queue_id: int) -> list[int]:
    numbers: list[int] = []
    offset = 0
    while (answer := store.get("T", queue_id, offset, max_messages=100, max_bytes=1 << 20)).records:
        numbers += [int(message.body.split()[0]) for message in decode_many(b"".join(answer.records))]
        offset = answer.next_offset
    return numbers


def test_what_was_put_before_a_kill_is_there_after_it(tmp_path: Path) -> None:
    reported = -1
    for seed in range(ROUNDS):
        # Given a writer that is killed in the middle of its work
        reported = max(reported, write_until_killed(tmp_path, seed))
        assert (tmp_path / "abort").exists()
        if seed % 3 == 1:
            # And the next one is killed in the middle of its recovery
            kill_while_opening(tmp_path)
        # When the store is opened
        with MessageStore.open(config_of(tmp_path), now=0) as store:
            assert (store.recovered.was_clean, store.recovered.was_power_lost) == (False, False)
            # Then each queue has its messages without a gap, including all that the writer reported
            queues = [stored_numbers(store, queue_id) for queue_id in range(QUEUES)]
            count = sum(map(len, queues))
            assert count > reported
            for queue_id, numbers in enumerate(queues):
                assert numbers == list(range(queue_id, count, QUEUES))
            # And the newest are found by their keys
            for number in range(max(0, count - 60), count):
                found = store.search("T", f"k{number}", begin=0, end=1 << 60, max_count=2)
                assert [int(message.body.split()[0]) for message in found.messages] == [number]
            reported = count - 1
        if seed % 3 == 2:
            # Every third time the next writer starts after a kill rather than after a clean close.
            abort.set_mark(tmp_path)
    with StoreReader.open(tmp_path, config_of(tmp_path)) as reader:
        findings = verify(reader)
    assert findings.told == []
    assert findings.records == reported + 1
