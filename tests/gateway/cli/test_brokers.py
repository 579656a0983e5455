"""Requirements of the commands on brokers, against a whole gateway."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

from click.testing import CliRunner

from gateway.cli.brokers import list_brokers, replicas
from gateway.cli.output import Output
from gateway.cli.root import Session
from tests.gateway.cli.conftest import Run


def test_brokers_and_the_replicas_of_one_are_listed(run: Run) -> None:
    listed = json.loads(run("--json", "brokers").stdout)

    replicas = run("brokers", "replicas", listed["name"])

    assert (replicas.returncode, replicas.stderr) == (0, "")
    head, row = replicas.stdout.splitlines()
    assert head.split("  ")[0] == "BROKER ID"
    assert row.split()[:3] == ["0", "master", listed["address"]]


def test_a_broker_that_nobody_knows_is_refused(run: Run) -> None:
    refused = run("brokers", "replicas", "broker-gone")

    assert refused.returncode == 1
    assert "broker-gone" in refused.stderr


def test_the_list_says_which_process_is_held_and_why() -> None:
    why = "the master has less; replica 3 does not join by itself: keep a copy of its folder"
    names = {"name": "broker-a", "address": "10.0.0.3:10911"}
    listed = [
        {**names, "broker_id": 0, "held": None},
        {**names, "broker_id": 3, "held": {"code": "ahead"}, "reason": why},
    ]
    api: Any = SimpleNamespace(get=lambda _: {"brokers": listed})

    told = CliRunner().invoke(list_brokers, obj=Session(api, out=Output(is_json=False)))

    head, master, away = told.stdout.splitlines()
    assert head.split()[-2:] == ["HELD", "REASON"]
    assert master.split()[-2:] == ["-", "-"]
    assert away.endswith(f"  ahead  {why}")


def test_what_is_silent_or_takes_no_messages_is_told_and_is_an_error() -> None:
    silent = {"broker_id": 1, "reachable": False, "reason": "it does not answer"}
    held = {"code": "ahead", "reason": "the master has less", "common_end": 10, "more_bytes": 5, "advice": "keep it"}
    away = {"broker_id": 3, "reachable": True, "failover": {"in_sync": False}, "held": held}
    answer: dict[str, Any] = {
        "replicas": [{"broker_id": 2, "reachable": True, "failover": {"in_sync": True}, "held": None}, silent, away],
        "silent_name_servers": [{"address": "10.0.0.12:9876", "reason": "no answer within 1000 ms"}],
        "told": None,
        "failover": {"writable": False, "writable_reason": "1 replica in sync, and 2 are needed"},
    }
    api: Any = SimpleNamespace(get=lambda _: answer)
    session = Session(api, out=Output(is_json=False))

    told = CliRunner().invoke(replicas, ["broker-a"], obj=session)

    assert told.exit_code == 1
    assert told.stdout.splitlines()[1].split()[:6] == ["2", "-", "-", "yes", "yes", "-"]
    assert told.stdout.splitlines()[3].split()[:6] == ["3", "-", "-", "yes", "no", "ahead"]
    assert told.stderr.splitlines() == [
        "gantry: 1 is not known: it does not answer",
        "gantry: 3 takes no part: the master has less; its log has 5 bytes that the master lacks; keep it",
        "gantry: name server 10.0.0.12:9876 does not answer: no answer within 1000 ms",
        "gantry: no messages are taken: 1 replica in sync, and 2 are needed",
    ]
