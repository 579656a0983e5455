"""Requirements of `gateway.cli.produce`."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from gateway.cli.api import Refused, Unreachable
from gateway.cli.output import Output
from gateway.cli.produce import produce
from gateway.cli.root import Session


@pytest.mark.parametrize(
    ("code", "status", "told"), [("SEND_UNCERTAIN", 504, "unknown"), ("BROKER_UNREACHABLE", 503, "failed")]
)
def test_a_request_that_fails_as_a_whole_is_told_line_by_line(
    tmp_path: Path, code: str, status: int, told: str
) -> None:
    sent: list[list[str]] = []

    def post(_: str, body: Any) -> Any:
        sent.append([each["entry_id"] for each in body["messages"]])
        if len(sent) == 2:
            raise Refused({"title": "No", "detail": "broker-a is away", "code": code}, status)
        return {"results": [{"entry_id": each, "status": "stored"} for each in sent[-1]]}

    session = Session(SimpleNamespace(post=post), out=Output(is_json=True))  # type: ignore[arg-type]
    file = tmp_path / "lines"
    file.write_text("\n".join(map(str, range(1, 351))))
    ended = CliRunner().invoke(produce, ["orders", str(file)], obj=session)

    assert ended.exit_code == 1
    assert len(sent) == 2
    results = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [int(each["entry_id"]) for each in results] == list(range(1, 201))
    assert {each["status"] for each in results[:100]} == {"stored"}
    assert {each["status"] for each in results[100:]} == {told}
    assert results[100]["problem"] == {"code": code, "status": status, "detail": "broker-a is away"}
    assert ended.stderr == "gantry: lines after 200 were not sent\n"


def test_a_gateway_that_goes_away_leaves_the_lines_of_one_request_unknown(tmp_path: Path) -> None:
    sent: list[Any] = []

    def post(_: str, body: Any) -> Any:
        sent.append(body)
        if len(sent) == 2:
            raise Unreachable("it does not answer")
        return {"results": [{"entry_id": each["entry_id"], "status": "stored"} for each in body["messages"]]}

    session = Session(SimpleNamespace(post=post), out=Output(is_json=True))  # type: ignore[arg-type]
    file = tmp_path / "lines"
    file.write_text("\n".join(map(str, range(1, 351))))
    ended = CliRunner().invoke(produce, ["orders", str(file)], obj=session)

    assert isinstance(ended.exception, Unreachable)
    assert len(ended.stdout.splitlines()) == 100
    assert ended.stderr == "gantry: whether lines 101 to 200 were stored is not known; later ones were not sent\n"
