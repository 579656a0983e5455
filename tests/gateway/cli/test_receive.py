"""Requirements of `gateway.cli.receive`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from click.testing import CliRunner

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
