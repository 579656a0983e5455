"""What docs/replication.md tells to do can be done: files, settings, paths and tests that it names are there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Final

import pytest
from django.urls import resolve

from broker_core.broker.config import FailoverSettings
from broker_core.broker.settings.file import read_config
from broker_core.client import masters, session
from broker_core.client.config import ClientConfig
from broker_core.controller.config import ControllerConfig
from broker_core.namesrv.config_file import read_config as read_namesrv_config
from tests.scenarios.failover.java_clients import SHORT_POLL_MS, USUAL_POLL_MS
from tests.support.compose import ROOT
from tests.support.etcd import NOT_INSTALLED, find_etcd

PAGE: Final = (ROOT / "docs/replication.md").read_text(encoding="utf-8")
SERVERS: Final = ("10.0.0.11:9876", "10.0.0.12:9876", "10.0.0.13:9876")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_files_of_three_machines_are_taken_and_fit_together(tmp_path: Path) -> None:
    of_name_server, of_replica = blocks("properties")
    password = tmp_path / "etcd.password"
    password.write_text("secret")
    (tmp_path / "namesrv.conf").write_text(of_name_server)
    (tmp_path / "broker.conf").write_text(of_replica)

    texts = dict(read_namesrv_config(tmp_path / "namesrv.conf").controller)
    assert texts.pop("controllerEtcdCaFile") == "/etc/gantry/ca.pem"
    assert texts.pop("controllerEtcdPasswordFile") == "/etc/gantry/etcd.password"
    controller = ControllerConfig.of(texts | {"controllerEtcdPasswordFile": str(password)})
    replica = read_config(tmp_path / "broker.conf")

    assert controller is not None
    assert controller.etcd is not None
    assert controller.etcd.user == "gantry"
    assert controller.cluster == replica.cluster
    assert replica.without_effect == ()
    assert (replica.settings["enableControllerMode"], replica.settings["minInSyncReplicas"]) == ("true", "2")
    assert replica.settings["controllerAddr"] == ";".join(SERVERS)
    etcd = dict(line.split("=", 1) for line in blocks("ini")[0].splitlines())
    assert etcd["ETCD_ADVERTISE_CLIENT_URLS"] in controller.etcd.endpoints
    assert f"/gantry/{controller.cluster}/" in PAGE, "what the user of etcd may read and write"


@pytest.mark.skipif(find_etcd() is None, reason=NOT_INSTALLED)
def test_etcd_has_the_settings_that_it_is_given() -> None:
    said = subprocess.run([str(find_etcd()), "--help"], capture_output=True, text=True, check=True)
    for name in re.findall(r"^ETCD_([A-Z_]+)=", blocks("ini")[0], re.MULTILINE):
        assert f"--{name.lower().replace('_', '-')}" in said.stdout + said.stderr, name


def test_the_paths_that_it_asks_for_are_served() -> None:
    asked = re.findall(r'"?\$api(/[^\s?"]+)', PAGE)
    assert len(asked) >= 7
    for path in asked:
        resolve(f"/api/v1/clusters/local{path}")


def test_every_promise_names_tests_that_are_there() -> None:
    promises = PAGE.partition("## What is guaranteed")[2].partition("\n## ")[0]
    rows = [line for line in promises.splitlines() if line.startswith("| ") and "shown by" not in line]
    named = re.findall(r"tests/[\w/.]+", promises)
    assert len(rows) >= 7
    assert all("make test TESTS=" in row or "| the same |" in row for row in rows)
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_how_soon_clients_ask_is_what_they_are_set_to() -> None:
    usual = ClientConfig(SERVERS)
    assert f"again {masters.APART_S * 1000:.0f} ms apart" in PAGE
    assert session.SILENT_MS == 1_000, "and so each second while a master that owes an answer is silent"
    assert usual.route_refresh_ms == USUAL_POLL_MS == 30_000
    assert f"after {USUAL_POLL_MS // 1000} s at the latest" in PAGE
    assert f"or {SHORT_POLL_MS // 1000} s with `pollNameServerInterval={SHORT_POLL_MS}`" in PAGE


def test_the_times_of_failures_are_those_of_the_settings() -> None:
    usual = FailoverSettings()
    assert f"{usual.gone_ms // 1000} s without a connection (`replicaGoneAfter`)" in PAGE
    assert f"{usual.behind_ms // 1000} s if it only lags (`haMaxTimeSlaveNotCatchup`)" in PAGE
    assert f"{usual.copy_bytes_per_second >> 20} MiB a second" in PAGE
    controller = ControllerConfig.of({"enableControllerInNamesrv": "true"})
    assert controller is not None
    assert controller.timeout_seconds == 3.0, "and so a frozen master costs 3 to 5 s"
