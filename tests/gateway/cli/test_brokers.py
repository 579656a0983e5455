"""Requirements of the commands on brokers, against a whole gateway."""

from __future__ import annotations

import json

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
