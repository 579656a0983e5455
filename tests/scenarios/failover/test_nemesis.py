"""Faults last as long as they should and leave nothing behind; a schedule is drawn from its seed alone."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.scenarios.failover.cluster import HERE, Group, group_in
from tests.scenarios.failover.nemesis import OF_LINKS, OF_NODES, Kind, Nemesis, schedule
from tests.scenarios.failover.operations import Record
from tests.support.wait import eventually

NODES, LINKS = ("replica-1", "replica-2"), ("between", "around")


def test_a_schedule_is_drawn_from_its_seed() -> None:
    one, again, other = (schedule(seed, 200, nodes=NODES, links=LINKS) for seed in (1, 1, 2))
    assert one == again
    assert one != other
    assert {(step.kind, step.target) for step in one} == {
        *((kind, name) for kind in OF_NODES for name in NODES),
        *((kind, name) for kind in OF_LINKS for name in LINKS),
    }
    kills = [step for step in one if step.kind is Kind.KILL]
    assert 0 < sum(step.seconds == 0 for step in kills) < len(kills)
    assert all(0.2 <= step.seconds <= 8 for step in one if step.kind is not Kind.KILL)


def status(pid: int) -> str:
    """Return the letter with which Linux tells what a process does."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def is_served(group: Group) -> bool:
    with socket.socket() as probe:
        probe.settimeout(30)
        return probe.connect_ex((HERE, group.name_server_ports[0])) == 0


async def test_a_process_is_killed_and_started_and_paused_and_resumed(tmp_path: Path) -> None:
    with group_in(tmp_path) as group:
        node = group.add_name_server({})
        group.start()
        record = Record()
        nemesis = Nemesis(record, {"ns": node}, {})
        async with nemesis.fault(Kind.KILL, "ns"):
            assert not node.is_running
            assert not is_served(group)
        assert is_served(group)
        assert len(set(node.pids)) == 2
        async with nemesis.fault(Kind.PAUSE, "ns"):
            await eventually(lambda: status(node.pids[-1]) == "T")
        await eventually(lambda: status(node.pids[-1]) != "T")
        # A process that is stopped can be killed, and ends by itself when it is asked to
        node.pause()
        node.stop()
        assert [(fault.kind, fault.target) for fault in record.faults] == [("kill", "ns"), ("pause", "ns")]


def start_wrongly(folder: Path) -> None:
    with group_in(folder) as group:
        group.add_name_server({"listenPort": "no number"})
        group.start()


def test_a_process_that_does_not_start_is_told_with_its_log(tmp_path: Path) -> None:
    with pytest.raises(AssertionError) as told:
        start_wrongly(tmp_path)
    assert "listenPort" in "".join(told.value.__notes__)
