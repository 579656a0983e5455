"""A redrive over TLS, with a client certificate and an account."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec

from broker_core.client.blocking import BlockingSession
from broker_core.client.config import ClientConfig
from broker_core.protocol.message import Message
from broker_core.protocol.signature import Credentials
from tests.support.cluster import ROOT
from tests.support.replays import fill_topic, make_topic, read_topic
from tests.support.tls_broker import authority_in, tls_broker, tls_settings

ACCOUNT = {"access_key": "administrator", "secret_key": "secret-of-admin"}
ASKED = {"group": "secured", "target": {"to": "origin"}, "topics": ["orders"]}


def run(folder: Path, source: dict[str, Any], attempt: int) -> int:
    """Run the program of a job; return its status."""
    folder.mkdir(exist_ok=True)
    whole = {
        "job_id": "job1", "type": "redrive", "cluster": "secured", "attempt": attempt, "created_by": "ann",
        "request_hash": "hash", "request": ASKED, "source": source,
    }  # fmt: skip
    (folder / "request.json").write_text(json.dumps(whole))
    with (folder / "log").open("ab") as log:
        command = [sys.executable, "-m", "broker_core.redrive", str(folder)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.run(command, stdout=log, stderr=log, env=environment, timeout=120, check=False).returncode


def test_dead_letters_are_sent_with_the_account_and_the_certificate_of_the_cluster(tmp_path: Path) -> None:
    data = tmp_path / "data"
    authority, issued = authority_in(data / "certificates")
    (data / "broker" / "config").mkdir(parents=True)
    (data / "broker" / "config" / "plain_acl.yml").write_text(
        "accounts: [{accessKey: administrator, secretKey: secret-of-admin, admin: true}]\n"
    )
    needs = {"tls.server.need.client.auth": "require", "tls.server.trustCertPath": str(authority.certificate)}
    settings = {**tls_settings(issued, "enforcing", **needs), "aclEnable": "true"}
    files = authority.client(authority.issue("redrive"))
    with tls_broker(data, settings, files) as running:
        place: dict[str, Any] = {"name_servers": [running.name_server]}
        tls = msgspec.to_builtins(files.read())
        config = ClientConfig([running.name_server], credentials=Credentials(**ACCOUNT), tls=files)
        with BlockingSession(config) as session:
            make_topic(session, "orders")
            make_topic(session, "%DLQ%secured", queues=1)
            fill_topic(session, "%DLQ%secured", [Message("", b"%d" % n, {"RETRY_TOPIC": "orders"}) for n in range(3)])

            job = tmp_path / "job1"
            lacking = [place, {**place, **ACCOUNT}, {**place, "tls": tls}]
            assert all(run(job, source, attempt) != 0 for attempt, source in enumerate(lacking, 1))
            assert not any(read_topic(session, "orders").values())

            assert run(job, {**place, **ACCOUNT, "tls": tls}, 4) == 0
            bodies = [message.body for queue in read_topic(session, "orders").values() for message in queue]
            assert sorted(bodies) == [b"0", b"1", b"2"]
    shown = "".join(file.read_text(errors="replace") for file in job.iterdir() if file.name != "request.json")
    assert not [line for line in tls["key"].splitlines() if line and line in shown]
