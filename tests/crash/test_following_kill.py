"""A replica is killed again and again while it follows a log and cuts it; it always goes on with the same bytes."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from broker_core.store import MessageStore
from broker_core.store.reader import StoreReader
from broker_core.store.verify import verify
from tests.crash.store_follower import config_of
from tests.support.replicated import follow, found, log_of, logs_and_queues, ranges_of
from tests.support.stores import NOW, put

ROUNDS = 10
ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.crash


def follow_until_killed(folder: Path, log: Path, seed: int) -> None:
    """Run a follower, and kill it after some of its steps."""
    command = [sys.executable, "-m", "tests.crash.store_follower", str(folder), str(log), str(seed)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as follower:
        assert follower.stdout is not None
        for _ in range(random.Random(seed).randint(1, 60)):
            follower.stdout.readline()
        follower.kill()


def test_a_follower_that_is_killed_anywhere_goes_on(tmp_path: Path) -> None:
    # Given the log of a master
    chance = random.Random(1)
    with MessageStore.open(config_of(tmp_path / "master"), now=None) as master:
        for number in range(1500):
            body = b"%d " % number + b"x" * chance.randint(0, 400)
            put(master, body, topic="T", queue_id=number % 3, now=NOW + number, keys=["abc"[number % 3]])
        log = log_of(master)
        ranges, keys = ranges_of(master), found(master)
    (tmp_path / "log").write_bytes(log)
    folder = tmp_path / "copy"
    for seed in range(ROUNDS):
        # When a follower of it is killed in the middle of its work
        follow_until_killed(folder, tmp_path / "log", seed)
        # Then it has the same bytes as far as it came, and nothing else
        with MessageStore.open(config_of(folder), now=None) as copy:
            assert not copy.recovered.was_power_lost
            assert log_of(copy) == log[: copy.appended_log_offset]
            assert copy.followed_log_offset == copy.appended_log_offset
    # And in the end it has all that the master has
    with MessageStore.open(config_of(folder), now=None) as copy:
        follow(copy, log[copy.appended_log_offset :], begin=copy.appended_log_offset)
        assert (ranges_of(copy), found(copy)) == (ranges, keys)
    assert logs_and_queues(folder) == logs_and_queues(tmp_path / "master")
    with StoreReader.open(folder, config_of(folder)) as reader:
        assert verify(reader).is_sound
