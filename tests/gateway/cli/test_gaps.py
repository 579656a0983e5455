"""Requirements of `gateway.cli.gaps`: what was read from a slave, or not read at all, is told and is no success."""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, Final

import pytest
from click.testing import CliRunner, Result

from gateway.cli.api import Api
from gateway.cli.commands import gantry
from tests.gateway.cli.conftest import Run
from tests.gateway.installation import Installation
from tests.support.orphaned import KEY, NAME, TOPIC, Orphaned, orphaned_slave

CLUSTER: Final = "cli-orphaned"
WHY: Final = f"because no master of broker '{NAME}' is known"
NEWEST: Final = f"gantry: the newest messages of {NAME} may be missing: slave 1 was read, {WHY}"


@pytest.fixture(scope="module")
def orphaned(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Orphaned]:
    """A cluster whose only broker has no master, known to the gateway."""
    with orphaned_slave(tmp_path_factory.mktemp("orphaned")) as orphaned, installation.client() as http:
        made = http.post("/api/v1/clusters", json={"name": CLUSTER, "name_servers": [orphaned.name_server]})
        assert made.status_code == 201, made.text
        yield orphaned
        http.delete(f"/api/v1/clusters/{CLUSTER}", headers={"If-Match": "*"})


@pytest.mark.parametrize("form", [(), ("--json",)])
@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("messages", "browse", TOPIC), 3),
        (("messages", "browse", TOPIC, "--limit", "2"), 2),
        (("messages", "search", TOPIC, KEY), 3),
        (("messages", "scan", TOPIC), 3),
    ],
)
def test_old_messages_of_a_slave_are_not_told_as_the_newest(
    run: Run, orphaned: Orphaned, words: tuple[str, ...], found: int, form: tuple[str, ...]
) -> None:
    done = run("--cluster", CLUSTER, *words, *form)

    assert (done.returncode, done.stderr.splitlines()) == (1, [NEWEST])
    heads = 0 if form or "scan" in words else 1
    assert len(done.stdout.splitlines()) == heads + found


def test_a_search_without_a_result_says_where_it_did_not_look(run: Run, orphaned: Orphaned) -> None:
    done = run("--cluster", CLUSTER, "messages", "search", TOPIC, "none", "--from", "2026-01-01T00:00:00Z", "--json")

    slave, nothing = done.stderr.splitlines()
    assert (done.returncode, done.stdout, slave) == (1, "", NEWEST)
    assert nothing.startswith(
        f"gantry: no message of {TOPIC} with the key 'none' was found from 2026-01-01T00:00:00.000Z to "
    )


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_one_message_of_a_slave_is_whole_and_says_where_it_was_read(
    run: Run, orphaned: Orphaned, form: tuple[str, ...]
) -> None:
    done = run("--cluster", CLUSTER, "messages", "show", TOPIC, orphaned.sent[0].message_id, *form)

    assert (done.returncode, done.stderr) == (0, f"gantry: slave 1 of {NAME} was read, {WHY}\n")


def answered(monkeypatch: pytest.MonkeyPatch, answer: dict[str, Any], *words: str) -> Result:
    """Run a command whose every request is answered so."""
    content = json.dumps(answer)
    monkeypatch.setattr(Api, "call", lambda *_, **__: SimpleNamespace(content=content, headers={}))
    return CliRunner().invoke(gantry, ["--json", *words])


@pytest.mark.parametrize(
    ("words", "answer", "told"),
    [
        (("dead-letters", "messages", "depot"), {}, "broker-b may have more: it is silent"),
        (("dead-letters", "causes", "depot"), {"complete": True}, "broker-b was not read: it is silent"),
        (("scheduled", "list"), {}, "broker-b was not asked: it is silent"),
        (("transactions", "list"), {"partial": []}, "broker-b may have more: it is silent"),
        (
            ("messages", "trace", "t", "id"),
            {"state": "traced", "complete": False},
            "broker-b was not searched: it is silent",
        ),
        (
            ("messages", "search", "t", "k"),
            {"complete": False, "searched": {"from": "then", "to": "now"}, "items": [{}]},
            "broker-b was not searched: it is silent",
        ),
    ],
)
def test_a_broker_that_was_not_asked_is_told_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], answer: dict[str, Any], told: str
) -> None:
    whole = {"items": [], "next_cursor": None, "missing": [{"broker": "broker-b", "reason": "it is silent"}], **answer}

    done = answered(monkeypatch, whole, *words)
    assert (done.exit_code, done.stderr) == (1, f"gantry: {told}\n")

    whole |= {"missing": [], **({"complete": True} if "complete" in answer else {})}
    assert answered(monkeypatch, whole, *words).exit_code == 0


def test_a_search_that_was_too_large_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    page: dict[str, Any] = {"items": [{}], "next_cursor": None, "missing": [], "from_slaves": [], "complete": False}

    done = answered(monkeypatch, {**page, "searched": {"from": "then", "to": "now"}}, "messages", "search", "t", "k")

    assert (done.exit_code, "the search was too large" in done.stderr) == (1, True)


def test_a_group_with_unknown_figures_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"name": "depot", "messages": None, "unknown_reason": "broker-b is not listed"}

    done = answered(monkeypatch, {"items": [row], "next_cursor": None}, "dead-letters", "list")

    assert done.exit_code == 1
    assert done.stderr == "gantry: not everything of depot is known: broker-b is not listed\n"


def test_a_slave_that_was_read_for_dead_letters_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    slave = {"broker": "broker-b", "broker_id": 1, "reason": "it is silent"}
    row = {"name": "depot", "messages": None, "unknown_reason": None, "from_slaves": [slave]}

    done = answered(monkeypatch, {"items": [row], "next_cursor": None}, "dead-letters", "list")

    assert done.exit_code == 1
    assert done.stderr == (
        "gantry: the newest messages of broker-b may be missing: slave 1 was read, because it is silent\n"
    )
