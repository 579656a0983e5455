"""Requirements of `gateway.cli.groups`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from click.testing import CliRunner

from gateway.cli.groups import clients
from gateway.cli.output import Output
from gateway.cli.root import Session


def test_a_list_of_clients_is_no_success_while_there_may_be_more() -> None:
    found: dict[str, Any] = {"items": [], "missing": [], "callers_known": True}
    api: Any = SimpleNamespace(get=lambda _: found)
    session = Session(api, out=Output(is_json=True))
    assert CliRunner().invoke(clients, ["billing"], obj=session).exit_code == 0

    found["missing"] = [{"broker": "broker-b", "reason": "it is silent"}]
    ended = CliRunner().invoke(clients, ["billing"], obj=session)
    assert (ended.exit_code, ended.output) == (1, "gantry: broker-b may have more: it is silent\n")

    found |= {"missing": [], "callers_known": False}
    ended = CliRunner().invoke(clients, ["billing"], obj=session)
    assert (ended.exit_code, "Redis does not answer" in ended.output) == (1, True)
