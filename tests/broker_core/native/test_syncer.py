"""The compiled flush thread: one file at a time, completion reported through a descriptor, ended by close."""

from __future__ import annotations

import asyncio
import os
import select
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker_core.native.functions import Syncer
from tests.broker_core.native.twins import compiled


@pytest.fixture
def syncer() -> Iterator[Syncer]:
    made = compiled.Syncer()
    yield made
    made.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "file"
    file.write_bytes(b"data")
    return file


def test_it_reports_when_the_disk_is_done(syncer: Syncer, path: Path) -> None:
    for _ in range(100):
        assert not syncer.is_done()
        syncer.begin(path)
        assert select.select([syncer], [], [], 10)[0] == [syncer]
        assert syncer.end() > 0
        assert select.select([syncer], [], [], 0)[0] == []


def test_end_waits(syncer: Syncer, path: Path) -> None:
    syncer.begin(path)
    assert syncer.end() > 0


async def test_a_loop_hears_of_it_like_of_a_socket(syncer: Syncer, path: Path) -> None:
    loop = asyncio.get_running_loop()
    for _ in range(20):
        done = asyncio.Event()
        loop.add_reader(syncer.fileno(), done.set)
        syncer.begin(path)
        await asyncio.wait_for(done.wait(), 10)
        assert syncer.end() > 0
        loop.remove_reader(syncer.fileno())


def test_only_one_is_under_way(syncer: Syncer, path: Path) -> None:
    with pytest.raises(RuntimeError, match="no sync"):
        syncer.end()
    syncer.begin(path)
    with pytest.raises(RuntimeError, match="under way"):
        syncer.begin(path)
    syncer.end()


def test_a_file_that_is_gone_ends_at_once_and_the_next_continues(syncer: Syncer, path: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="gone"):
        syncer.begin(tmp_path / "gone")
    syncer.begin(path)
    assert syncer.end() > 0


def test_what_the_disk_answers_is_raised(syncer: Syncer) -> None:
    syncer.begin("/dev/null")
    with pytest.raises(OSError, match="Invalid argument"):
        syncer.end()
    assert not syncer.is_done()


CLOSED_AND_FORGOTTEN = """
import os, sys
from broker_core.native import native
def held():
    return len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))
before = held()
for _ in range(50):
    syncer = native.Syncer()
    syncer.begin(sys.argv[1])
    syncer.close()
    syncer.close()
    try:
        syncer.begin(sys.argv[1])
    except RuntimeError:
        continue
    raise SystemExit("a closed one begins")
for _ in range(50):
    native.Syncer().begin(sys.argv[1])
print(*before, *held())
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="it takes Linux to count what a process has")
def test_nothing_is_left_of_one_that_is_closed_or_forgotten(path: Path) -> None:
    """In a process of its own: what other tests left behind may be collected at any time."""
    threads, descriptors, *after = run(CLOSED_AND_FORGOTTEN, str(path)).split()
    assert after == [threads, descriptors]


def run(program: str, *arguments: str) -> str:
    """Run a program in a process of its own and return what it printed."""
    environment = {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "PYTHONMALLOC")}
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=environment, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


WITHOUT_ROOM = """
import os, resource
from broker_core.native import native
before = os.listdir("/proc/self/fd")
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (1 << 20), resource.RLIM_INFINITY))
refused = 0
for _ in range(10):
    try:
        native.Syncer()
    except OSError:
        refused += 1
print(refused, len(os.listdir("/proc/self/fd")) - len(before))
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="it takes Linux to count what a process has")
def test_nothing_is_left_of_one_whose_thread_cannot_start() -> None:
    """A process without room for the stack of a thread keeps none of the ten pipes."""
    assert run(WITHOUT_ROOM).split() == ["10", "0"]


def test_it_begins_while_python_is_busy(syncer: Syncer, path: Path) -> None:
    """The interpreter lock is never released between begin and the disk's answer."""
    assert threading.active_count() >= 1
    syncer.begin(path)
    while not syncer.is_done():
        os.getpid()
    assert syncer.end() > 0
