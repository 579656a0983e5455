"""Requirements of `gateway.cli.receive`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from gateway.cli import receive
from gateway.cli.api import Refused, Unreachable
from gateway.cli.receive import consume
from gateway.cli.root import Session


def test_the_end_is_no_success_while_a_broker_may_have_more() -> None:
    missing = [{"broker": "broker-b", "reason": "no name server lists it now"}]
    answer = {"messages": [], "waited_ms": 5, "reason": "incomplete", "missing": missing}
    api: Any = SimpleNamespace(post=lambda *_: answer)
    session = Session(api, out=SimpleNamespace())  # type: ignore[arg-type]

    ended = CliRunner().invoke(consume, ["billing", "orders"], obj=session)

    assert ended.exit_code == 1
    assert "broker-b may have more: no name server lists it now" in ended.output
    missing.clear()
    assert CliRunner().invoke(consume, ["billing", "orders"], obj=session).exit_code == 0


def test_a_follower_waits_for_brokers_that_are_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receive, "_LONGEST_PAUSE", 0.0)
    asked: list[tuple[str, Any]] = []
    answers: list[Any] = [
        {"messages": [{"receipt": "r"}], "missing": []},
        Refused({"title": "The broker cannot be reached", "code": "BROKER_UNREACHABLE"}, 503),
        Unreachable("no gateway answers"),
        {},
        Refused({"title": "The broker did not answer", "code": "TIMED_OUT"}, 504),
        {"messages": [], "missing": []},
        Refused({"title": "The token was revoked", "code": "UNAUTHENTICATED"}, 401),
    ]

    def post(path: str, body: Any) -> Any:
        asked.append((path.rpartition(":")[2], body.get("attempt_id")))
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    printed: list[Any] = []
    session = Session(SimpleNamespace(post=post), out=SimpleNamespace(json=printed.append))  # type: ignore[arg-type]
    ended = CliRunner().invoke(consume, ["billing", "orders", "--follow"], obj=session)

    assert isinstance(ended.exception, Refused)
    assert ended.exception.status == 401
    assert printed == [{"receipt": "r"}]
    assert [verb for verb, _ in asked] == ["receive", "ack", "ack", "ack", "receive", "receive", "receive"]
    # The same attempt is made again under its name; the next one has another.
    names = [name for verb, name in asked if verb == "receive"]
    assert names[1] == names[2]
    assert len({*names}) == 3
    assert ended.output.count("waiting") == 2, "once for each time that they are away"
