"""Requirements of `gantry acl`: accounts on a broker with access control, and the words for one without."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from tests.gateway.installation import ROOT, Installation
from tests.support.cluster import started_broker

Run = Callable[..., subprocess.CompletedProcess[str]]
OWN = {"access_key": "gantry-itself", "secret_key": "secret-of-gantry"}
CLUSTER = "cli-guarded"


@pytest.fixture(scope="module")
def guarded(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A cluster with access control; the address of its broker."""
    data = tmp_path_factory.mktemp("guarded")
    file = data / "broker" / "config" / "plain_acl.yml"
    file.parent.mkdir(parents=True)
    known = f"accessKey: {OWN['access_key']}, secretKey: {OWN['secret_key']}, admin: true"
    file.write_text(f"accounts: [{{{known}}}]\n")
    with started_broker(data, settings={"aclEnable": "true"}) as running, installation.client("admin") as client:
        body = {"name": CLUSTER, "name_servers": [running.name_server], **OWN}
        client.post("/api/v1/clusters", json=body).raise_for_status()
        yield running.address
        client.delete(f"/api/v1/clusters/{CLUSTER}", headers={"If-Match": "*"}).raise_for_status()


@pytest.fixture
def acl(installation: Installation, guarded: str) -> Run:
    """Run `gantry acl` as the admin against the cluster with access control."""

    def run(*words: str, stdin: str = "", cluster: str = CLUSTER) -> subprocess.CompletedProcess[str]:
        own = {"GANTRY_URL": installation.url, "GANTRY_TOKEN": installation.tokens["admin"], "GANTRY_CLUSTER": cluster}
        return subprocess.run(
            [sys.executable, "-m", "gateway.cli", "acl", *words],
            cwd=ROOT, env={**os.environ, **own}, input=stdin, capture_output=True, text=True, timeout=60,
        )  # fmt: skip

    return run


def shown(acl: Run, key: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(acl("show", key, "--json").stdout)
    return found


def test_the_life_of_an_account(acl: Run) -> None:
    made = acl("create", "depot-service", "--topic", "parcels=PUB|SUB", "--group", "depot=SUB")
    assert made.returncode == 0, made.stderr
    secret = re.fullmatch(r"secret key, shown only now: (\S{40})\nAccount depot-service was created\.\n", made.stdout)
    assert secret is not None, made.stdout
    assert re.search(r"^depot-service +no +DENY +DENY +\{\"parcels\":\"PUB\|SUB\"\}", acl("list").stdout, re.MULTILINE)

    changed = acl("update", "depot-service", "--topic", "audit=PUB", "--without-group", "depot", "--admin")
    assert (changed.returncode, changed.stdout) == (0, "Account depot-service was changed.\n"), changed.stderr
    after = shown(acl, "depot-service")
    assert after["topic_permissions"] == {"parcels": "PUB|SUB", "audit": "PUB"}
    assert (after["group_permissions"], after["admin"]) == ({}, True)

    assert acl("update", "depot-service", "--secret-file", "-", stdin="secret of mine\n").returncode == 0
    assert "secret key, shown only now: " in acl("update", "depot-service", "--new-secret").stdout
    assert acl("delete", "depot-service", "--yes").stdout == "Account depot-service was deleted.\n"
    assert "(NOT_FOUND, " in acl("show", "depot-service").stderr


def test_the_brokers_and_the_versions_of_their_files(acl: Run, guarded: str) -> None:
    assert re.search(rf"^broker-a +{guarded} +on ", acl("brokers").stdout, re.MULTILINE)


def test_addresses_are_set_and_cleared(acl: Run) -> None:
    assert acl("addresses", "--set", "10.0.0.{7,9}", "--set", "10.1.*.*").returncode == 0
    found = json.loads(acl("addresses", "--json").stdout)["global_white_addresses"]
    assert found == ["10.0.0.7", "10.0.0.9", "10.1.*.*"]
    assert acl("addresses", "--clear").stdout == "Nobody is served without an account.\n"


def test_what_is_refused_is_told(acl: Run) -> None:
    own = acl("delete", OWN["access_key"], "--yes")
    assert (own.returncode, own.stdout) == (1, "")
    assert "(OWN_ACCOUNT, " in own.stderr
    assert "is not NAME=RIGHT" in acl("create", "depot-service", "--topic", "parcels=READ").stderr
    assert acl("addresses", "--set", "10.0.0.7", "--clear").returncode == 2


def test_access_control_that_is_off_is_told_with_how_to_switch_it_on(acl: Run) -> None:
    listed = acl("list", cluster="local")
    assert listed.returncode == 1
    assert "broker-a serves everybody; to switch access control on, start Gantry with GANTRY_ACL=on" in listed.stderr
    assert "(ACCESS_CONTROL_OFF, " in acl("create", "depot-service", cluster="local").stderr
