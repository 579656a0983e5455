"""Mapping codes to handlers, and errors to codes."""

from __future__ import annotations

import logging

import pytest

from broker_core.errors import GantryError
from broker_core.protocol import Command, MissingField, RequestCode, ResponseCode
from broker_core.remoting import Connection, Dispatch
from tests.support.remoting import ASK, address_of, calling, dispatch_of, echo, question, raw_peer, serving


class Refused(GantryError):
    """An error that this package does not know."""


class RefusedPolitely(Refused):
    """A special case of it."""


def raising(error: Exception) -> Dispatch:
    def fail(request: Command, connection: Connection) -> Command:
        raise error

    return dispatch_of(fail, {Refused: ResponseCode.NO_PERMISSION})


async def answer_of(dispatch: Dispatch, request: Command | None = None) -> Command:
    async with serving(dispatch) as server, calling() as client:
        return await client.invoke(address_of(server), request or question(), 5000)


@pytest.mark.parametrize(
    ("error", "code", "remark"),
    [
        (Refused("no"), ResponseCode.NO_PERMISSION, "no"),
        (RefusedPolitely("sorry"), ResponseCode.NO_PERMISSION, "sorry"),
        (GantryError("other"), ResponseCode.SYSTEM_ERROR, "other"),
        (MissingField("H", "topic"), ResponseCode.SYSTEM_ERROR, "H: the field topic is missing"),
    ],
)
async def test_an_error_is_answered_by_the_table(error: Exception, code: int, remark: str) -> None:
    answer = await answer_of(raising(error))
    assert (answer.code, answer.remark) == (code, remark)


async def test_an_unexpected_error_is_answered_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        answer = await answer_of(raising(ZeroDivisionError("oops")))
    assert (answer.code, answer.remark) == (ResponseCode.SYSTEM_ERROR, "ZeroDivisionError: oops")
    assert caplog.records[-1].exc_info is not None


async def test_an_error_in_a_coroutine_is_answered_by_the_same_table() -> None:
    async def fail(request: Command, connection: Connection) -> Command:
        raise Refused("later")

    answer = await answer_of(dispatch_of(fail, {Refused: ResponseCode.NO_PERMISSION}))
    assert (answer.code, answer.remark) == (ResponseCode.NO_PERMISSION, "later")


async def test_an_unknown_code_is_answered_3() -> None:
    request = question()
    request.code = 9999
    answer = await answer_of(Dispatch(), request)
    assert (answer.code, answer.remark) == (3, " request type 9999 not supported")


async def test_an_unknown_one_way_code_is_not_answered() -> None:
    async with serving() as server, raw_peer(server) as peer:
        unknown = question()
        unknown.code, unknown.flag = 9999, 2
        peer.send(unknown, question())
        assert (await peer.command()).opaque == 1


async def test_hooks_see_every_request_and_a_before_hook_may_refuse() -> None:
    seen: list[tuple[str, int | None]] = []
    dispatch = dispatch_of(echo, {Refused: ResponseCode.NO_PERMISSION})

    def check(request: Command, connection: Connection) -> None:
        if request.ext_fields.get("topic") == "secret":
            raise Refused("not for you")

    dispatch.before(check)
    dispatch.after(
        lambda request, response, connection: seen.append(
            (request.ext_fields["topic"], None if response is None else response.code)
        )
    )
    async with serving(dispatch) as server, calling() as client:
        assert (await client.invoke(address_of(server), question("open"), 5000)).code == 0
        assert (await client.invoke(address_of(server), question("secret"), 5000)).remark == "not for you"
    assert seen == [("open", 0), ("secret", 16)]


async def test_after_hooks_see_the_end_of_a_coroutine() -> None:
    seen: list[int | None] = []

    async def answer(request: Command, connection: Connection) -> Command:
        return echo(request, connection)

    dispatch = dispatch_of(answer)
    dispatch.after(lambda request, response, connection: seen.append(None if response is None else response.code))
    await answer_of(dispatch)
    assert seen == [0]


async def test_an_after_hook_that_fails_spoils_nothing(caplog: pytest.LogCaptureFixture) -> None:
    dispatch = dispatch_of()
    dispatch.after(lambda request, response, connection: 1 // 0)  # type: ignore[arg-type]
    assert (await answer_of(dispatch)).code == 0
    assert "a hook failed" in caplog.text


async def test_the_last_handler_registered_counts() -> None:
    dispatch = dispatch_of(lambda request, connection: Command.response(9))
    dispatch.register(RequestCode(ASK), echo)
    assert (await answer_of(dispatch)).code == 0
