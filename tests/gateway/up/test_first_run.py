"""Recording Spark's classes in the background of a first start."""

from __future__ import annotations

import asyncio
import os
import sys
import textwrap
from pathlib import Path

import pytest

from gateway.up.first_run import record_classes
from tests.support.wait import eventually

# As Java does with the signal of an orderly end: it goes on, and holds the pipe of its parent.
_STUBBORN = textwrap.dedent("""
    import os, signal, sys, time
    from pathlib import Path

    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        beside = Path(sys.argv[1] + ".part")
        beside.write_text(f"{os.getpid()} {os.environ['TMPDIR']}")
        beside.rename(sys.argv[1])
    time.sleep(10_000)
""")


async def test_a_recorder_is_killed_with_what_it_started_and_its_files(tmp_path: Path) -> None:
    said = tmp_path / "said"
    recording = asyncio.create_task(record_classes(dict(os.environ), (sys.executable, "-c", _STUBBORN, str(said))))
    await eventually(said.exists)
    pid, folder = said.read_text().split()
    await eventually(Path(folder).is_dir)
    recording.cancel()
    with pytest.raises(asyncio.CancelledError):
        await recording
    # Whoever inherits it may not have waited for it yet
    await eventually(lambda: not Path("/proc", pid, "exe").exists())
    await eventually(lambda: not Path(folder).exists())


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("print('hello')", None),
        ("print('Spark will start slowly, without Java')", "Spark will start slowly, without Java"),
        ("raise SystemExit(3)", "Spark will start slowly: recording its classes ended with status 3"),
    ],
)
async def test_why_jobs_will_start_slowly_is_told(program: str, told: str | None) -> None:
    assert await record_classes(dict(os.environ), (sys.executable, "-c", program)) == told
