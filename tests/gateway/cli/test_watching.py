"""Requirements of `gantry tail`, `alerts` and `dead-letters`, run in this process against a gateway."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final

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
    def run(*words: str, stdin: str = "", url: str = installation.url, as_json: bool = True) -> Result:
        options = [*["--json"] * as_json, "--url", url, "--token", installation.tokens["admin"]]
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
        {"body": {"encoding": "json", "data": {"id": key}}, "keys": [key], "tag": "created", "properties": properties}
        for key, properties in (("a", {}), ("b", {"weight": "12"}))
    ]
    assert http.post(f"{LOCAL}/topics/{topic}/messages", json={"messages": bodies}).status_code in (200, 201)


@pytest.fixture(scope="module")
def group(http: httpx.Client) -> str:
    """A group with two dead letters of one cause."""
    return given_up(http, "cli-scales", "cli-weighing", CAUSE)


def given_up(http: httpx.Client, topic: str, group: str, cause: str) -> str:
    """Have a group give up the two messages of a topic."""
    produce(http, topic)
    path, left = f"{LOCAL}/groups/{group}/topics/{topic}", 2
    while left:
        leased = http.post(f"{path}:receive", json={"max_messages": 2, "wait_ms": 5000}).json()["messages"]
        receipts = [message["receipt"] for message in leased]
        left -= len(receipts)
        nacked = http.post(f"{path}:nack", json={"receipts": receipts, "dead_letter": True, "reason": cause})
        assert nacked.status_code == 200, nacked.text
    return group


def note_sent(installation: Installation, group: str, letters: list[dict[str, Any]]) -> None:
    """Enter dead letters as sent again, as a job does at its end."""
    of_place = {"broker": "broker", "queue_id": "queue_id", "offset": "queue_offset", "message_id": "message_id"}
    places = [{name: each[shown] for name, shown in of_place.items()} for each in letters]
    command = [sys.executable, "-c", _NOTE, group, json.dumps(places)]
    subprocess.run(command, env=installation.environment, check=True)


_NOTE: Final = """
import json, sys, django
django.setup()
from django.utils import timezone
from console.redrives.models import Redriven
for place in json.loads(sys.argv[2]):
    Redriven.objects.create(
        cluster="local", group=sys.argv[1], **place, originals="kept", topic="t", target_broker="broker-a",
        target_queue_id=0, target_offset=0, copy_id=place["message_id"], at=timezone.now(),
    )
"""


def test_a_tail_prints_the_messages_that_fit_and_consumes_nothing(run: Run, http: httpx.Client) -> None:
    produce(http, "cli-tailed")
    done = run("tail", "cli-tailed", "--from", "2026-01-01T00:00:00Z", "--where", "$.id=b", "--max", "1")
    assert done.exit_code == 0, done.output
    [message] = map(json.loads, done.stdout.splitlines())
    assert (message["topic"], message["keys"], message["body"]["data"]) == ("cli-tailed", ["b"], {"id": "b"})


@pytest.mark.parametrize("words", [("tail", "--from", "2026-01-01T00:00:00Z", "--max", "1"), ("messages", "scan")])
def test_sql_narrows_what_is_read(run: Run, http: httpx.Client, words: tuple[str, ...]) -> None:
    produce(http, "cli-sql-read")
    done = run(*words, "cli-sql-read", "--sql", "weight > 10")
    assert {tuple(json.loads(line)["keys"]) for line in done.stdout.splitlines()} == {("b",)}
    refused = run(*words, "cli-sql-read", "--sql", "weight >")
    assert "at character 9" in str(refused.exception)


def test_consume_by_sql_takes_what_it_selects(run: Run, http: httpx.Client) -> None:
    produce(http, "cli-sql")
    done = run("consume", "cli-selecting", "cli-sql", "--sql", "weight > 10")
    assert done.exit_code == 0, done.output
    assert [json.loads(line)["keys"] for line in done.stdout.splitlines()] == [["b"]]
    refused = run("consume", "cli-selecting", "cli-sql", "--sql", "weight LIKE '1%'")
    assert isinstance(refused.exception, Refused)
    assert "at character 8" in str(refused.exception)
    both = run("consume", "cli-selecting", "cli-sql", "--sql", "weight > 10", "--tag", "created")
    assert both.exit_code == 2
    assert "--tag or by --sql" in both.output


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
    assert "Send 1 message to cli-scales (0 will fail)?" in asked.output
    started = run("dead-letters", "redrive", group, "--all", "--to", "origin", "--allow-live-target", "--yes")
    job = json.loads(started.stdout)
    assert (job["type"], job["state"]) == ("redrive", "queued")
    assert run("jobs", "cancel", job["id"]).exit_code == 0


def test_a_redrive_of_what_was_sent_before_says_so(run: Run, installation: Installation, http: httpx.Client) -> None:
    # Given a group with two dead letters, with a cause of several lines
    group = given_up(http, "cli-presses", "cli-pressing", "the press is broken\n  at line 7\x1b[2J")
    table = run("dead-letters", "causes", group, as_json=False).stdout.splitlines()
    assert len(table) == 2
    assert "the press is broken at line 7\\x1b[2J" in table[1]
    dry_run = ("dead-letters", "redrive", group, "--all", "--dry-run")
    assert f"Would send 2 messages to %RETRY%{group} (0 will fail)." in run(*dry_run, as_json=False).stdout
    # When one and then both were sent again
    letters = http.get(f"{LOCAL}/dead-letters/{group}/messages").json()["items"]
    note_sent(installation, group, letters[:1])
    assert (
        "Would send 1 message to %RETRY%cli-pressing (0 will fail; 1 was sent again before)."
        in run(*dry_run, as_json=False).stdout
    )
    note_sent(installation, group, letters[1:])
    # Then there is nothing to send, and nothing is asked
    nothing = "Nothing to send: 2 messages were sent again before."
    assert run(*dry_run, as_json=False).stdout.splitlines()[0] == nothing
    asked = run("dead-letters", "redrive", group, "--all")
    assert (asked.exit_code, asked.output) == (1, f"Error: {nothing}\n")
    chosen = run("dead-letters", "redrive", group, "--key", "nowhere", "--dry-run", as_json=False)
    assert chosen.stdout.splitlines()[0] == "Nothing to send: no dead letter is chosen."


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
