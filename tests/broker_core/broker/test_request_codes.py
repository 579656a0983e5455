"""The table of request codes in docs/compatibility.md: what it says works is served, the rest is refused as it says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from broker_core.broker.processors.composition import processors_of
from broker_core.clock import now_ms
from broker_core.namesrv.handlers import Handlers
from broker_core.namesrv.settings import Settings
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.unsupported import REASONS
from tests.support.broker import TIMEOUT_MS, Wire

_SECTION = (Path(__file__).parents[3] / "docs/compatibility.md").read_text().split("## Request codes\n")[1]
_TEXT = _SECTION.split("\n## ")[0]
_OF_BROKER, _OF_NAME_SERVER = re.split(r"^Asked of a (?:broker|name server):$", _TEXT, flags=re.MULTILINE)[1:]
_TO_CLIENTS = _TEXT.split("Sent by a broker to its clients:")[1]
_NOTHING_IN_ROCKETMQ = "names that no broker of RocketMQ serves"


def codes_in(text: str) -> list[int]:
    """Return the numbers of a cell, ranges spelt out."""
    parts = [tuple(map(int, part.split(" to "))) for part in text.split(", ")]
    return list(chain.from_iterable(range(part[0], part[-1] + 1) for part in parts))


def rows_of(text: str) -> Iterator[tuple[list[int], str, str]]:
    for codes, what, answer in re.findall(r"^\| ((?:\d|, | to )+) \| (.+) \| (.+) \|$", text, re.MULTILINE):
        yield codes_in(codes), what, answer


def served(text: str) -> set[int]:
    return {code for codes, _, answer in rows_of(text) for code in codes if answer == "works"}


def refused(text: str) -> dict[int, int]:
    """Return the code of each refusal, as a broker with its default settings gives it."""
    found: dict[int, int] = {}
    for codes, _, answer in rows_of(text):
        if answer != "works":
            said = re.fullmatch(r"(?:works with `\w+=\w+`; else )?refused \(([\d, ]+)\)", answer)
            assert said is not None, answer
            responses = codes_in(said[1])
            found.update(zip(codes, responses * len(codes) if len(responses) == 1 else responses, strict=False))
    return found


def test_the_table_has_every_code_once_for_each_kind_of_server() -> None:
    for text in (_OF_BROKER, _OF_NAME_SERVER):
        listed = [code for codes, _, _ in rows_of(text) for code in codes]
        assert sorted(listed) == sorted(set(listed))
    everywhere = served(_TEXT) | refused(_TEXT).keys() | {int(code) for code in re.findall(r"\d+", _TO_CLIENTS)}
    assert everywhere == set(map(int, RequestCode))


async def test_a_broker_serves_what_the_table_says(wire: Wire) -> None:
    components = wire.broker.components
    handlers = {int(code) for each in processors_of(components).all for code in each.handlers()}
    handlers |= set(map(int, components.mode.handlers(components.rest)))

    assert served(_OF_BROKER) == {code for code in handlers if code not in refused(_OF_BROKER)}


async def test_a_name_server_serves_what_the_table_says(wire: Wire, tmp_path: Path) -> None:
    server = wire.name_server
    handlers = Handlers(server.routes, Settings(tmp_path / "settings.json"), server.options, now_ms)

    assert served(_OF_NAME_SERVER) == set(map(int, handlers.table()))


@pytest.mark.parametrize(("code", "response"), refused(_OF_BROKER).items())
async def test_a_broker_refuses_what_the_table_says(wire: Wire, code: int, response: int) -> None:
    answer = await wire.client.invoke(wire.address, Command(code), TIMEOUT_MS)

    assert answer.code == response
    check_reason(code, answer)


@pytest.mark.parametrize(("code", "response"), refused(_OF_NAME_SERVER).items())
async def test_a_name_server_refuses_what_the_table_says(wire: Wire, code: int, response: int) -> None:
    answer = await wire.client.invoke(f"127.0.0.1:{wire.name_server.port}", Command(code), TIMEOUT_MS)

    assert answer.code == response
    check_reason(code, answer)


def check_reason(code: int, answer: Command) -> None:
    """Assert that a refusal names the request and says why."""
    unknown = {code for codes, what, _ in rows_of(_TEXT) for code in codes if what == _NOTHING_IN_ROCKETMQ}
    assert answer.remark is not None
    if answer.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED and code not in unknown:
        assert f"{code} ({RequestCode(code).name}) not supported: " in answer.remark


def test_no_reason_is_left_of_what_is_served() -> None:
    assert not (served(_OF_BROKER) | served(_OF_NAME_SERVER)) & REASONS.keys()
