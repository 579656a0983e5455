"""The supervisor with real processes: order, readiness, restart, stop."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateway.up.child_process import ChildProcess
from gateway.up.config import UpConfig
from gateway.up.console_log import ConsoleLog
from gateway.up.errors import CannotStart
from gateway.up.processes import ROOT, Child, Plan
from gateway.up.supervisor import Supervisor
from tests.support.wait import eventually

SERVES = "import time; print('ready', flush=True); time.sleep(60)"
STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); time.sleep(60)"
)


def child(name: str, program: str, *, stop_seconds: float = 5, needs_database: bool = True) -> Child:
    command = (sys.executable, "-c", program)
    return Child(name, command, ready="line", stop_seconds=stop_seconds, needs_database=needs_database)


@asynccontextmanager
async def supervising(*children: Child) -> AsyncIterator[tuple[Supervisor, io.StringIO]]:
    out = io.StringIO()
    supervisor = Supervisor(Plan(children, dict(os.environ)), UpConfig.read({}), ConsoleLog(out))
    try:
        for one in children:
            await supervisor.start(one)
        yield supervisor, out
    finally:
        await supervisor.stop()


async def test_lines_of_a_child_carry_its_name() -> None:
    async with supervising(child("broker", "print('hello', flush=True); " + SERVES)) as (_, out):
        await eventually(lambda: "broker    │ hello" in out.getvalue())


async def test_a_killed_child_is_restarted_and_said_so(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    program = f"import os; open({str(pids)!r}, 'a').write(f'{{os.getpid()}}\\n'); {SERVES}"
    async with supervising(child("broker", program)) as (_, out):
        os.kill(int(pids.read_text()), signal.SIGKILL)
        await eventually(lambda: "broker was killed by signal 9: started again" in out.getvalue())
        await eventually(lambda: len(pids.read_text().split()) == 2)


async def test_the_pause_grows_for_a_child_that_keeps_dying_and_not_for_one_that_is_asked_to_end() -> None:
    fails = "print('ready', flush=True); raise SystemExit(1)"
    async with supervising(child("fails", fails), child("ends", fails.replace("(1)", "(0)"))) as (_, out):
        await eventually(lambda: "fails ended with status 1: started again in 1 s" in out.getvalue())
        await eventually(lambda: out.getvalue().count("ends ended with status 0: started again in 0.5 s") >= 3)
        assert "ends ended with status 0: started again in 1 s" not in out.getvalue()


async def test_children_stop_when_the_supervisor_is_killed(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    serves = f"import os; open({str(pid)!r}, 'w').write(str(os.getpid())); {SERVES}"
    supervises = (
        "import asyncio, io, os, signal, sys; from gateway.up.child_process import ChildProcess;"
        "from gateway.up.console_log import ConsoleLog; from gateway.up.processes import Child\n"
        "async def main():\n"
        f"    child = Child('broker', (sys.executable, '-c', {serves!r}))\n"
        "    started = await ChildProcess.start(child, dict(os.environ), ConsoleLog(io.StringIO()))\n"
        "    await started.printed_ready.wait()\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "asyncio.run(main())"
    )
    supervisor = await asyncio.create_subprocess_exec(sys.executable, "-c", supervises, cwd=ROOT)
    assert await supervisor.wait() == -signal.SIGKILL
    await eventually(lambda: not Path(f"/proc/{pid.read_text()}/fd/1").exists())


async def test_a_child_that_ends_before_it_serves_stops_the_start() -> None:
    with pytest.raises(CannotStart, match="broker ended with status 7"):
        async with supervising(child("broker", "import sys; sys.exit(7)")):
            pass


async def test_a_program_that_does_not_exist_is_named() -> None:
    with pytest.raises(CannotStart, match="no-such-program"):
        async with supervising(Child("redis", ("no-such-program",))):
            pass


async def test_a_child_that_does_not_stop_in_its_time_is_killed_and_said_so() -> None:
    async with supervising(child("worker", STUBBORN, stop_seconds=0.2)) as (_, out):
        pass
    assert "worker did not stop within" in out.getvalue()


def noting(ends: Path, name: str, *, after: str = "") -> str:
    """Return a program that records its end; with `after`, it waits until another one has recorded its stop signal."""
    return (
        "import os, signal, sys, time\n"
        f"def note(text):\n    with open({str(ends)!r}, 'a') as file: file.write(text + ' ')\n"
        f"def end(*_):\n    note('stop-{name}')\n"
        f"    while {after!r} and {after!r} not in open({str(ends)!r}).read(): time.sleep(0.01)\n"
        f"    note({name!r})\n    sys.exit(0)\n"
        "signal.signal(signal.SIGTERM, end)\nprint('ready', flush=True)\ntime.sleep(60)\n"
    )


async def test_what_others_use_stops_after_them_the_last_started_first(tmp_path: Path) -> None:
    ends = tmp_path / "ends"
    used = [child(name, noting(ends, name), needs_database=False) for name in ("redis", "broker")]

    async with supervising(*used, child("gateway", noting(ends, "gateway"))):
        pass

    assert [each for each in ends.read_text().split() if not each.startswith("stop-")] == ["gateway", "broker", "redis"]


async def test_children_of_one_kind_stop_together(tmp_path: Path) -> None:
    ends = tmp_path / "ends"
    brokers = [
        replace(child(name, noting(ends, name, after=f"stop-{other}"), needs_database=False), kind="broker")
        for name, other in (("broker-a", "broker-b"), ("broker-b", "broker-a"))
    ]

    async with supervising(child("namesrv", noting(ends, "namesrv"), needs_database=False), *brokers) as (_, out):
        pass

    assert "did not stop" not in out.getvalue()
    assert ends.read_text().split()[-1] == "namesrv"


async def test_those_that_use_the_others_stop_together(tmp_path: Path) -> None:
    ends = tmp_path / "ends"
    gateway = child("gateway", noting(ends, "gateway", after="stop-sampler"))
    sampler = child("sampler", noting(ends, "sampler", after="stop-gateway"))

    async with supervising(gateway, sampler) as (_, out):
        pass

    assert set(ends.read_text().split()) == {"stop-gateway", "stop-sampler", "gateway", "sampler"}
    assert "did not stop" not in out.getvalue()


async def test_what_a_killed_child_left_behind_is_ended_with_it(tmp_path: Path) -> None:
    # Given a child whose own child holds its pipes, as a server's worker does
    pids = tmp_path / "pids"
    program = (
        "import subprocess, sys, os, time\n"
        "left = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(pids)!r}, 'a').write(f'{{os.getpid()}} {{left.pid}}\\n')\n{SERVES}"
    )
    async with supervising(child("gateway", program)) as (_, out):
        killed, left = map(int, pids.read_text().split())
        # When it is killed
        os.kill(killed, signal.SIGKILL)
        # Then this is noticed at once, the orphan is killed, and the child is started again
        await eventually(lambda: "gateway was killed by signal 9" in out.getvalue())
        await eventually(lambda: not is_running(left))
        await eventually(lambda: len(pids.read_text().splitlines()) == 2)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def test_a_child_that_is_just_started_again_is_stopped_too(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, may_end = asyncio.Event(), asyncio.Event()
    right, started = ChildProcess.start, list[ChildProcess]()

    async def slow(*arguments: Any) -> ChildProcess:
        started.append(await right(*arguments))
        if len(started) > 1:
            begun.set()
            await may_end.wait()
        return started[-1]

    monkeypatch.setattr(ChildProcess, "start", slow)
    async with supervising(child("broker", SERVES)) as (supervisor, _):
        os.kill(started[0].pid, signal.SIGKILL)
        await begun.wait()
        stopping = asyncio.create_task(supervisor.stop())
        await asyncio.sleep(0)
        may_end.set()
        await stopping
    assert [each.status for each in started] == [-signal.SIGKILL, -signal.SIGTERM]


async def test_of_one_kind_a_named_child_stops_last(tmp_path: Path) -> None:
    ends = tmp_path / "ends"
    names = ["replica-1", "replica-2", "replica-3"]
    replicas = [
        replace(child(name, noting(ends, name), needs_database=False), kind="broker") for name in reversed(names)
    ]

    async def master() -> str:
        return "replica-2"

    async with supervising(child("namesrv", noting(ends, "namesrv"), needs_database=False), *replicas) as (running, _):
        await running.stop(master)

    assert ends.read_text().split()[-4:] == ["stop-replica-2", "replica-2", "stop-namesrv", "namesrv"]
