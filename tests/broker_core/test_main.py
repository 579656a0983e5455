"""``python -m broker_core`` as a process: ready line, exit statuses, clean stop."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.cluster import ROOT, NotStarted, RunningBroker, started_broker

STOP_WITHIN_S = 5.0


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run it to its end, which must come by itself."""
    command = [sys.executable, "-m", "broker_core", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=30, check=False)


def test_it_says_where_it_serves_and_stops_cleanly(tmp_path: Path) -> None:
    running = RunningBroker(tmp_path)
    running.start()
    assert running.name_server.startswith("127.0.0.1:")
    assert running.address.startswith("127.0.0.1:")

    began = time.monotonic()
    assert running.stop() == 0

    assert time.monotonic() - began < STOP_WITHIN_S
    assert (tmp_path / "broker" / "checkpoint").exists()
    assert not (tmp_path / "broker" / "abort").exists()


def test_a_port_that_is_taken_is_one_clear_line_and_status_72(tmp_path: Path) -> None:
    with started_broker(tmp_path / "one") as running:
        for option, port in (("--namesrv-port", running.name_server), ("--broker-port", running.address)):
            ports = {"--namesrv-port": "0", "--broker-port": "0"} | {option: port.rpartition(":")[2]}
            given = [word for pair in ports.items() for word in pair]
            ended = run("--data-dir", str(tmp_path / "two"), "--log-level", "ERROR", *given)

            assert ended.returncode == 72
            (line,) = ended.stderr.splitlines()
            assert port in line


def test_a_store_that_is_in_use_is_one_clear_line_and_status_71(tmp_path: Path) -> None:
    with started_broker(tmp_path):
        ended = run("--data-dir", str(tmp_path), "--namesrv-port", "0", "--broker-port", "0", "--log-level", "ERROR")

    assert ended.returncode == 71
    (line,) = ended.stderr.splitlines()
    assert "in use" in line


def test_a_folder_that_cannot_be_made_is_one_clear_line_and_status_2(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")

    ended = run(
        "--data-dir", str(tmp_path / "file"), "--namesrv-port", "0", "--broker-port", "0", "--log-level", "ERROR"
    )

    assert ended.returncode == 2
    assert len(ended.stderr.splitlines()) == 1


def test_a_process_that_does_not_start_is_told_from_one_that_does(tmp_path: Path) -> None:
    with pytest.raises(NotStarted):
        RunningBroker(tmp_path, arguments=("--no-such-option",)).start()


async def test_two_stand_side_by_side(tmp_path: Path) -> None:
    first, second = RunningBroker(tmp_path / "one"), RunningBroker(tmp_path / "two")
    await asyncio.gather(asyncio.to_thread(first.start), asyncio.to_thread(second.start))
    assert first.address != second.address
    assert [await asyncio.to_thread(each.stop) for each in (first, second)] == [0, 0]


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("colour=blue", "broker_core: this broker has no setting 'colour'"),
        ("deleteWhen=noon", "broker_core: setting deleteWhen: 'noon' is not hours of the day like 04 or 04;16"),
        ("brokerName=other", "broker_core: setting brokerName is told at the start of the broker, or is always so"),
    ],
)
def test_a_setting_that_it_does_not_take_is_one_clear_line_and_status_2(
    tmp_path: Path, setting: str, said: str
) -> None:
    ports = ("--namesrv-port", "0", "--broker-port", "0")
    ended = run("--data-dir", str(tmp_path), *ports, "--log-level", "ERROR", "--setting", setting)

    assert ended.returncode == 2
    assert ended.stderr.splitlines() == [said]
