"""Requirements of `gantry tail`, `alerts` and `dead-letters`, run in this process against a gateway."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import httpx
import pytest
from click.testing import CliRunner, Result

from gateway.cli.api import Refused, Unreachable
from gateway.cli.commands import gantry
from tests.gateway.installation import Installation

Run = Callable[..., Result]
LOCAL = "/api/v1/clusters/local"
CAUSE = "the scale is broken"


@pytest.fixture
def run(installation: Installation) -> Run:
    def run(*words: str, stdin: str = "", url: str = installation.url) -> Result:
        options = ["--json", "--url", url, "--token", installation.tokens["admin"]]
        return CliRunner().invoke(gantry, [*options, *words], input=stdin)

    return run


@pytest.fixture(scope="module")
def http(installation: Installation) -> Iterator[httpx.Client]:
    with installation.client() as client:
        yield client


def produce(http: httpx.Client, topic: str) -> None:
    made = http.post(f"{LOCAL}/topics", json={"name": topic, "read_queues": 1, "write_queues": 1})
    assert made.status_code in (201, 409), made.text
    bodies = [
        {"body": {"encoding": "json", "data": {"id": key}}, "keys": [key], "tag": "created"} for key in ("a", "b")
    ]
    assert http.post(f"{LOCAL}/topics/{topic}/messages", json={"messages": bodies}).status_code in (200, 201)


@pytest.fixture(scope="module")
def group(http: httpx.Client) -> str:
    """A group with two dead letters of one cause."""
    produce(http, "cli-scales")
    path, left = f"{LOCAL}/groups/cli-weighing/topics/cli-scales", 2
    while left:
        leased = http.post(f"{path}:receive", json={"max_messages": 2, "wait_ms": 5000}).json()["messages"]
        receipts = [message["receipt"] for message in leased]
        left -= len(receipts)
        nacked = http.post(f"{path}:nack", json={"receipts": receipts, "dead_letter": True, "reason": CAUSE})
        assert nacked.status_code == 200, nacked.text
    return "cli-weighing"


def test_a_tail_prints_the_messages_that_fit_and_consumes_nothing(run: Run, http: httpx.Client) -> None:
    produce(http, "cli-tailed")
    done = run("tail", "cli-tailed", "--from", "2026-01-01T00:00:00Z", "--where", "$.id=b", "--max", "1")
    assert done.exit_code == 0, done.output
    [message] = map(json.loads, done.stdout.splitlines())
    assert (message["topic"], message["keys"], message["body"]["data"]) == ("cli-tailed", ["b"], {"id": "b"})


def test_a_tail_that_is_refused_or_reaches_nobody_fails(run: Run) -> None:
    refused = run("tail", "cli-nowhere")
    assert isinstance(refused.exception, Refused)
    assert "'cli-nowhere' does not exist (TOPIC_NOT_FOUND" in str(refused.exception)
    assert isinstance(run("tail", "x", url="http://127.0.0.1:1").exception, Unreachable)


def test_dead_letters_are_listed_and_counted_by_cause(run: Run, group: str) -> None:
    assert group in [json.loads(line)["name"] for line in run("dead-letters", "list").stdout.splitlines()]
    [cause] = map(json.loads, run("dead-letters", "causes", group).stdout.splitlines())
    assert (cause["reason"], cause["count"]) == (CAUSE, 2)
    keyed = run("dead-letters", "messages", group, "--key", "a").stdout.splitlines()
    assert [json.loads(line)["origin_topic"] for line in keyed] == ["cli-scales"]


def test_a_redrive_says_what_it_would_send_and_asks(run: Run, group: str) -> None:
    preview = json.loads(run("dead-letters", "redrive", group, "--cause", CAUSE, "--dry-run").stdout)
    assert (preview["messages"], [each["topic"] for each in preview["topics"]]) == (2, [f"%RETRY%{group}"])
    asked = run("dead-letters", "redrive", group, "--key", "a", "--to", "origin", stdin="n\n")
    assert asked.exit_code == 1
    assert "Send 1 messages to cli-scales (0 will fail)?" in asked.output
    started = run("dead-letters", "redrive", group, "--all", "--to", "origin", "--allow-live-target", "--yes")
    job = json.loads(started.stdout)
    assert (job["type"], job["state"]) == ("redrive", "queued")
    assert run("jobs", "cancel", job["id"]).exit_code == 0


@pytest.mark.parametrize("chosen", [(), ("--all", "--key", "A17")])
def test_a_redrive_of_nobody_knows_what_is_not_sent(run: Run, chosen: tuple[str, ...]) -> None:
    done = run("dead-letters", "redrive", "g", *chosen, url="http://127.0.0.1:1")
    assert done.exit_code == 2
    assert "Say which" in done.output


def test_rules_are_listed_and_no_alert_is_exit_code_0(run: Run) -> None:
    assert run("alerts", "rules").exit_code == 0
    assert run("alerts", "list", "--subject", "cli-nobody").exit_code == 0
    unknown = run("alerts", "acknowledge", "nowhere")
    assert isinstance(unknown.exception, Refused)
    assert unknown.exception.status == 404


def test_the_workers_are_shown_with_the_share_of_the_caller(run: Run, installation: Installation) -> None:
    found = json.loads(run("jobs", "workers").stdout)
    assert found["yours"]["most_queued"] == 100
    words = ["--url", installation.url, "--token", installation.tokens["admin"], "jobs", "workers"]
    told = CliRunner().invoke(gantry, words).stdout.splitlines()
    assert told[0].startswith("waiting: ")
    assert told[1].endswith(" of at most 100 waiting")
    assert told[2].split()[:2] == ["NAME", "HOST"]
