"""Requirements of `make demo`: it fills a running installation, may be started again, and removes what it made."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from gateway.cli.api import Api, Refused, Unreachable
from gateway.demo import __main__ as program
from gateway.demo.patience import GIVE_UP_S, Patience
from gateway.demo.plan import ANALYTICS, BILLING, FRAUD, LEDGER, NIGHTLY, REPLAY, RULE, SHIPPING, TOPICS
from gateway.demo.setting_up import create_names, create_work
from tests.gateway.installation import ROOT, Installation, running_installation
from tests.support.cluster import started_broker
from tests.support.wait import wait_until

LOCAL = "/clusters/local"


@contextmanager
def running(installation: Installation) -> Iterator[subprocess.Popen[str]]:
    """Let it run until the block ends, and then press Ctrl-C."""
    command = [sys.executable, "-m", "gateway.demo", "--url", installation.url]
    command += ["--token", installation.tokens["admin"]]
    own = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, cwd=ROOT, env=own, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0
        finally:
            process.kill()


@pytest.fixture
def get(installation: Installation) -> Iterator[Any]:
    with installation.client() as client:

        def read(path: str) -> Any:
            answer = client.get(f"/api/v1{path}")
            assert answer.status_code == 200, answer.text
            return answer.json()["items"]

        yield read


def names(items: list[dict[str, Any]]) -> set[str]:
    return {item["name"] for item in items}


def protocols(get: Any, group: str) -> list[str]:
    return [client["protocol"] for client in get(f"{LOCAL}/groups/{group}/clients")]


def test_it_fills_an_installation_and_empties_it_again(
    installation: Installation, get: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []

    with running(installation):
        # By lease, with a retry and a reason; and by clients of RocketMQ's protocol
        wait_until(lambda: LEDGER in names(get(f"{LOCAL}/dead-letters")))
        causes = {each["reason"] for each in get(f"{LOCAL}/dead-letters/{LEDGER}/causes")}
        assert "JSONDecodeError: the body is cut off" in causes
        wait_until(lambda: protocols(get, LEDGER) == ["http_lease"])
        assert [protocols(get, group) for group in (BILLING, SHIPPING, ANALYTICS, FRAUD)] == [["native"]] * 4
        # A job, a schedule, a rule
        assert [REPLAY in names(get("/jobs")), NIGHTLY in names(get("/schedules"))] == [True, True]
        assert RULE in names(get("/alert-rules"))
        declared = {topic["name"]: topic["message_type"] for topic in get(f"{LOCAL}/topics?search=demo-*")}
        assert declared == {topic.name: topic.message_type for topic in TOPICS}
    assert [each for each in get(f"{LOCAL}/scheduled") if each["topic"].startswith("demo-")]
    # What is there is not made twice
    with closing(Api(installation.url, installation.tokens["admin"], "local")) as api:
        assert create_names(api, said.append) == frozenset()
        create_work(api, "local", said.append)
    assert [job["name"] for job in get("/jobs")].count(REPLAY) == 1
    # And nothing of it stays but the job in the history
    monkeypatch.setattr(
        sys, "argv", ["demo", "clean", "--url", installation.url, "--token", installation.tokens["admin"]]
    )
    assert program.main() == 0
    assert not [each for each in get(f"{LOCAL}/scheduled") if each["topic"].startswith("demo-")]
    assert not get(f"{LOCAL}/topics?kind=all&search=demo-")
    assert not get(f"{LOCAL}/groups?search=demo-")
    assert not (names(get("/schedules")) | names(get("/alert-rules"))) & {NIGHTLY, RULE}
    assert {job["state"] for job in get("/jobs") if job["name"] == REPLAY} == {"cancelled"}


def test_it_waits_for_a_broker_that_is_away_and_goes_on(tmp_path: Path, redis_url: str) -> None:
    with (
        started_broker(tmp_path / "broker") as broker,
        running_installation(tmp_path / "own", name_server=broker.name_server, redis_url=redis_url) as own,
        running(own) as process,
    ):
        assert process.stdout is not None
        said: list[str] = []

        def read_until(begin: str) -> None:
            for line in process.stdout or ():
                said.append(line)
                if line.startswith(begin):
                    return
            raise AssertionError(said)

        read_until("Look at ")
        broker.stop(kill=True)
        read_until("The demo waits, and goes on by itself: ")
        broker.start()
        read_until("The demo goes on.")
        assert sum(line.startswith("The demo waits") for line in said) == 1


async def test_it_ends_when_nothing_answers_for_minutes_or_nothing_can_change() -> None:
    now = iter([0.0, GIVE_UP_S - 1, GIVE_UP_S])
    said: list[str] = []

    async def fail() -> bool:
        raise Unreachable("nobody answers")

    with pytest.raises(Unreachable):
        await Patience(said.append, clock=lambda: next(now)).repeat("traffic", fail)
    assert said == ["The demo waits, and goes on by itself: nobody answers"]

    async def refuse() -> bool:
        raise Refused({"title": "Sign in"}, 401)

    with pytest.raises(Refused):
        await Patience(said.append).repeat("traffic", refuse)
    assert len(said) == 1


def test_without_a_gateway_it_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["demo", "--url", "http://127.0.0.1:1"])
    assert program.main() == 1
    assert "The demo ends: http://127.0.0.1:1 does not answer" in capsys.readouterr().err
