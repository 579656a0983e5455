"""Requirements of `gateway.cli`, against a whole gateway."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from tests.gateway.cli.conftest import Run
from tests.gateway.installation import ROOT, Installation
from tests.gateway.test_composition import BEATS, beat


def test_every_shell_line_of_the_page_succeeds(installation: Installation, redis_url: str, tmp_path: Path) -> None:
    beat(redis_url, *BEATS)
    page = (ROOT / "docs/command-line.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 4
    script = f'set -euo pipefail\ngantry() {{ PYTHONPATH={ROOT} {sys.executable} -m gateway.cli "$@"; }}\n'
    own = {"GANTRY_URL": installation.url, "GANTRY_TOKEN": installation.tokens["admin"]}
    done = subprocess.run(
        ["bash", "-c", script + "".join(blocks)],
        cwd=tmp_path,
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    received = [json.loads(line) for line in (tmp_path / "received.jsonl").read_text().splitlines()]
    assert len(received) == 3
    assert "1.10" in (tmp_path / "received.jsonl").read_text(), "JSON is stored as it was written"


def test_what_is_not_known_is_a_dash_and_null(run: Run) -> None:
    run("groups", "create", "cli-new")
    shown = run("groups", "show", "cli-new")
    assert re.search(r"^lag +-$", shown.stdout, re.MULTILINE), shown
    assert json.loads(run("--json", "groups", "show", "cli-new").stdout)["lag"] is None


def test_a_refusal_is_told_on_stderr_with_its_code(run: Run) -> None:
    done = run("topics", "show", "nowhere")
    assert (done.returncode, done.stdout) == (1, "")
    assert "topic 'nowhere' does not exist (TOPIC_NOT_FOUND, request " in done.stderr


def test_a_gateway_that_does_not_answer_has_its_own_exit_code(run: Run) -> None:
    done = run("clusters", GANTRY_URL="http://127.0.0.1:1")
    assert done.returncode == 3
    assert "http://127.0.0.1:1 does not answer" in done.stderr


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("offsets", "preview", "g", "t"), "Say where to"),
        (("offsets", "preview", "g", "t", "--earliest", "--latest"), "Say where to"),
        (("offsets", "preview", "g", "t", "--latest", "--queue", "broker-a"), "is not BROKER/ID"),
        (("produce", "t"), "Give either a FILE or --body"),
        (("produce", "t", "--body", "x", "--property", "a"), "is not NAME=VALUE"),
        (
            ("produce", "t", "--body", "x", "--delay-ms", "1", "--deliver-at", "2040-01-01T00:00:00Z"),
            "Give either --delay-ms or --deliver-at",
        ),
        (("jobs", "start", "-"), "is not JSON"),
        (("--url", "nonsense", "topics", "list"), "is not an address"),
    ],
)
def test_a_command_that_was_written_wrongly_sends_nothing(run: Run, words: tuple[str, ...], reason: str) -> None:
    done = run(*words, stdin="{", GANTRY_URL="http://127.0.0.1:1")
    assert done.returncode == 2, done
    assert reason in done.stderr


def test_a_message_that_is_not_stored_fails_the_command(run: Run) -> None:
    done = run("produce", "nowhere", "--body", "x")
    assert done.returncode == 1
    assert "TOPIC_NOT_FOUND" in done.stderr


def test_a_message_that_nobody_traced_is_not_taken_for_one_that_nobody_consumed(run: Run) -> None:
    run("topics", "create", "cli-traced")
    sent = json.loads(run("--json", "produce", "cli-traced", "--body", "x").stdout)
    done = run("--json", "messages", "trace", "cli-traced", sent["message_id"], "--trace-topic", "cli-nowhere")
    assert (done.returncode, json.loads(done.stdout)["state"]) == (1, "no_topic"), done


def test_json_may_be_asked_for_at_the_end_of_the_line(run: Run) -> None:
    run("topics", "create", "cli-json")
    assert json.loads(run("topics", "show", "cli-json", "--json").stdout)["name"] == "cli-json"


def test_a_token_without_the_right_is_refused_not_unreachable(run: Run) -> None:
    run("topics", "create", "cli-hidden")
    made = run("--json", "api", "POST", "/tokens", "--data", "-", stdin='{"name": "cli", "scopes": ["produce"]}')
    done = run("tail", "cli-hidden", GANTRY_TOKEN=json.loads(made.stdout)["token"])
    assert done.returncode == 1, done
    assert "right" in done.stderr


def test_the_query_of_a_path_is_sent(run: Run) -> None:
    run("topics", "create", "cli-planned")
    assert run("api", "DELETE", "topics/cli-planned?dry_run=true", "--if-match", "*").returncode == 0
    assert run("topics", "show", "cli-planned").returncode == 0
    assert "?state: must be one of" in run("api", "GET", "/jobs?state=nope").stderr


def test_a_schedule_is_created_run_paused_and_deleted(run: Run) -> None:
    run("topics", "create", "cli-times")
    job = {"type": "export", "source": {"topic": "cli-times"}, "format": "csv"}
    request = {"name": "of the CLI", "cron": "0 3 * * *", "job": job}
    made = json.loads(run("--json", "schedules", "create", "-", stdin=json.dumps(request)).stdout)
    assert run("schedules", "pause", made["id"], "--reason", "no need").returncode == 0
    shown = json.loads(run("--json", "schedules", "show", made["id"]).stdout)
    assert (shown["enabled"], shown["stopped_reason"]) == (False, "no need")
    started = json.loads(run("--json", "schedules", "run", made["id"]).stdout)
    paused = run("jobs", "pause", started["id"])
    assert (paused.returncode, json.loads(run("--json", "jobs", "show", started["id"]).stdout)["state"]) == (
        0,
        "paused",
    )
    assert run("jobs", "resume", started["id"]).returncode == 0
    assert run("jobs", "cancel", started["id"]).returncode == 0
    assert started["id"] in run("schedules", "runs", made["id"]).stdout
    assert run("schedules", "delete", made["id"], stdin="n").returncode == 1
    assert run("schedules", "resume", made["id"]).returncode == 0
    assert run("schedules", "delete", made["id"], "--yes").returncode == 0
    assert "of the CLI" not in run("schedules", "list").stdout


def test_what_cannot_be_written_is_said_in_a_sentence(run: Run, installation: Installation) -> None:
    own = {"GANTRY_URL": installation.url, "GANTRY_TOKEN": installation.tokens["admin"]}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "gateway.cli", "topics", "list"],
            cwd=ROOT, env={**os.environ, **own}, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "gantry: what was found cannot be written: No space left on device\n")


def test_lines_are_sent_as_they_come_and_ctrl_c_leaves_what_was_told(installation: Installation, run: Run) -> None:
    run("topics", "create", "cli-lines")
    own = {"GANTRY_URL": installation.url, "GANTRY_TOKEN": installation.tokens["admin"]}
    with subprocess.Popen(
        [sys.executable, "-m", "gateway.cli", "--json", "produce", "cli-lines", "-"],
        cwd=ROOT, env={**os.environ, **own}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as producing:  # fmt: skip
        assert producing.stdin is not None
        assert producing.stdout is not None
        for number in range(3):
            producing.stdin.write(f'{{"id": {number}}}\n')
            producing.stdin.flush()
            assert json.loads(producing.stdout.readline())["status"] == "stored"
        producing.send_signal(signal.SIGINT)
        assert producing.wait(30) == 130


def test_a_result_names_the_line_of_its_message(run: Run) -> None:
    run("topics", "create", "cli-numbers")
    lines = [str(number) if number % 7 else "" for number in range(1, 251)]
    done = run("produce", "cli-numbers", "-", "--json", stdin="\n".join(lines))
    told = [int(json.loads(line)["entry_id"]) for line in done.stdout.splitlines()]
    assert told == [number for number in range(1, 251) if number % 7], "over several requests, blank lines counted"


def test_a_message_that_waits_is_told_with_its_time_listed_and_recalled(run: Run) -> None:
    run("topics", "create", "cli-later")
    tomorrow = datetime.now(timezone(timedelta(hours=8))).replace(microsecond=0) + timedelta(days=1)
    shown = run("produce", "cli-later", "--body", "x", "--deliver-at", tomorrow.isoformat())
    assert re.match(r"STATUS +MESSAGE ID +DELIVER AT +STORED AT", shown.stdout), shown
    assert f"{tomorrow.astimezone(UTC):%FT%T}.000Z" in shown.stdout
    run("produce", "cli-later", "--key", "soon", "--body", "y", "--delay-ms", "3600000")
    listed = [
        json.loads(line) for line in run("scheduled", "list", "--topic", "cli-later", "--json").stdout.splitlines()
    ]
    assert [each["keys"] for each in listed] == [["soon"], []], "first what is due first"
    only = run("scheduled", "list", "--topic", "cli-later", "--limit", "1", "--to", tomorrow.isoformat())
    assert [line.split()[0] for line in only.stdout.splitlines()] == ["MESSAGE", listed[0]["message_id"]]
    asked = run("scheduled", "recall", listed[0]["message_id"])
    assert (asked.returncode, "never delivered" in asked.stderr) == (1, True)
    done = run("scheduled", "recall", listed[0]["message_id"], "--yes", "--json")
    assert json.loads(done.stdout)["outcome"] == "recalled"
    left = run("scheduled", "list", "--topic", "cli-later", "--json").stdout.splitlines()
    assert [json.loads(line)["message_id"] for line in left] == [listed[1]["message_id"]]
    nobody = run("scheduled", "recall", "nothing", "--yes")
    assert (nobody.returncode, "waits or waited" in nobody.stderr) == (1, True)


def test_transactions_are_listed_shown_checked_and_decided(run: Run, installation: Installation) -> None:
    run("topics", "create", "cli-paid", "--queues", "1")
    prepare = "/api/v1/clusters/local/topics/cli-paid/messages?transaction=prepare&group=cli-payments"
    with installation.client("operator") as http:
        for key in ("commit", "rollback"):
            sent = {"body": {"encoding": "text", "data": key}, "keys": [key]}
            http.post(prepare, json=sent).raise_for_status()
    listed = [
        json.loads(line) for line in run("transactions", "list", "--topic", "cli-paid", "--json").stdout.splitlines()
    ]
    assert [each["keys"] for each in listed] == [["commit"], ["rollback"]], "the oldest first"
    only = run("transactions", "list", "--group", "cli-payments", "--limit", "1")
    assert [line.split()[0] for line in only.stdout.splitlines()] == ["MESSAGE", listed[0]["message_id"]]
    paid, cancelled = (each["transaction_id"] for each in listed)
    assert "cli-payments" in run("transactions", "show", paid).stdout
    assert run("transactions", "check", paid).stdout.endswith("again, once one of them is connected.\n")
    done = run("transactions", "commit", paid, "--reason", "it was paid", "--json")
    assert json.loads(done.stdout)["decision"] == "committed"
    asked = run("transactions", "rollback", cancelled)
    assert (asked.returncode, "never delivered" in asked.stderr) == (1, True)
    assert "was rolled back." in run("transactions", "rollback", cancelled, "--yes").stdout
    assert run("transactions", "list", "--topic", "cli-paid", "--json").stdout == ""
    refused = run("transactions", "commit", cancelled)
    assert (refused.returncode, "rolled back before" in refused.stderr) == (1, True)


def test_clusters_are_listed_with_and_without_the_word(run: Run) -> None:
    short, long = run("clusters", "--json"), run("clusters", "list", "--json")
    assert json.loads(short.stdout.splitlines()[0])["name"] == json.loads(long.stdout.splitlines()[0])["name"]


def test_the_script_beside_the_readme_runs_it(installation: Installation) -> None:
    done = subprocess.run([ROOT / "gantry", "--version"], capture_output=True, text=True, timeout=60)
    assert done.stdout == "gantry, version 0.1.0\n", done
