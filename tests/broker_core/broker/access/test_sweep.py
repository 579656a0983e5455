"""Every request that the broker serves, unsigned, wrongly signed or without a right: refused, and nothing changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Final

import pytest

from broker_core.broker.access.needs import ADMINS_ONLY, ANY_ACCOUNT, needs_of
from broker_core.broker.processors.composition import processors_of
from broker_core.broker.server import FAST_PORT_BELOW
from broker_core.protocol.codes import FLAG_ONE_WAY, RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.signature import Credentials
from tests.broker_core.broker.access.conftest import ADMIN, FILE, STRANGER
from tests.fuzz.requests import sound
from tests.support.broker import TIMEOUT_MS, Wire, started
from tests.support.ports import free_ports

_ROUNDS: Final = 5
_EXCEPTION: Final = "org.apache.rocketmq.acl.common.AclException: "

SIGNERS: Final[Mapping[str, tuple[Callable[[Command], Command], str]]] = {
    "unsigned": (lambda request: request, "No accessKey is configured"),
    "of an unknown account": (Credentials("nobody-here", "a-secret-key").sign, "No acl config for nobody-here"),
    "wrongly signed": (
        Credentials(ADMIN.access_key, "another secret").sign,
        "Check signature failed for accessKey=administrator",
    ),
}


def served(wire: Wire) -> set[int]:
    processors = processors_of(wire.broker.components)
    return {int(code) for processor in processors.all for code in processor.handlers()}


def state(wire: Wire) -> tuple[object, ...]:
    """Return what requests can change."""
    parts = wire.broker.components
    registers = (parts.topics, parts.groups, parts.offsets, parts.settings, parts.request_modes)
    return (
        wire.broker.store.appended_log_offset,
        [register.text() for register in registers],
        list(parts.leases.queues()),
        len(parts.timer),
        sorted(group.name for group in parts.clients.consumer_groups()),
        sorted(parts.clients.producers.groups()),
        len(parts.locks),
        None if parts.access is None else parts.access.table,
    )


async def ask(wire: Wire, request: Command) -> Command:
    return await wire.client.invoke(wire.address, request, TIMEOUT_MS)


def requests(code: int) -> list[Command]:
    """Return sound requests of a code, none of them one-way."""
    found = []
    for number in range(_ROUNDS):
        request = sound(Random(f"{code} {number}"), code)
        request.flag &= ~FLAG_ONE_WAY
        found.append(request)
    return found


async def test_every_served_request_has_its_needs(guarded: Wire) -> None:
    components = guarded.broker.components
    named = set(map(int, needs_of(components.arrivals, components.config.limits, "local")))

    assert served(guarded) <= named | ADMINS_ONLY | ANY_ACCOUNT
    assert not named & ADMINS_ONLY
    assert not (named | ADMINS_ONLY) & ANY_ACCOUNT


@pytest.mark.parametrize("how", SIGNERS)
async def test_without_a_valid_signature_nothing_is_served(guarded: Wire, how: str) -> None:
    sign, reason = SIGNERS[how]
    before = state(guarded)

    for code in sorted(served(guarded)):
        for request in requests(code):
            answer = await ask(guarded, sign(request))
            assert (answer.code, answer.remark) == (ResponseCode.SYSTEM_ERROR, _EXCEPTION + reason), RequestCode(code)

    assert state(guarded) == before


@pytest.mark.parametrize("how", SIGNERS)
async def test_what_asks_for_no_answer_changes_nothing_either(guarded: Wire, how: str) -> None:
    sign, _ = SIGNERS[how]
    before = state(guarded)

    for code in sorted(served(guarded)):
        for request in requests(code):
            request.flag |= FLAG_ONE_WAY
            await guarded.client.one_way(guarded.address, sign(request))
    # The connection is read in order: what is answered now came after all of them.
    await guarded.runtime_info()

    assert state(guarded) == before


async def test_the_second_port_serves_nothing_without_a_signature(tmp_path: Path) -> None:
    (tmp_path / "store" / "config").mkdir(parents=True)
    (tmp_path / "store" / "config" / "plain_acl.yml").write_text(FILE)
    async with started(tmp_path / "store", port=free_ports(4) + FAST_PORT_BELOW, access_control=True) as wire:
        host, _, port = wire.address.rpartition(":")
        fast, before = f"{host}:{int(port) - FAST_PORT_BELOW}", state(wire)
        for code in sorted(served(wire)):
            for sign, reason in SIGNERS.values():
                answer = await wire.client.invoke(fast, sign(requests(code)[0]), TIMEOUT_MS)
                refusal = ResponseCode.SYSTEM_ERROR, _EXCEPTION + reason
                assert (answer.code, answer.remark) == refusal, RequestCode(code)
        assert state(wire) == before


async def test_without_a_right_nothing_is_served_but_figures(guarded: Wire) -> None:
    await guarded.send("orders", b"x")
    components = guarded.broker.components
    needs = needs_of(components.arrivals, components.config.limits, "local")
    before = state(guarded)

    for code in sorted(served(guarded) - ANY_ACCOUNT):
        refused = 0
        for request in requests(code):
            answer = await ask(guarded, STRANGER.sign(request))
            refused += answer.code == ResponseCode.SYSTEM_ERROR and _EXCEPTION in (answer.remark or "")
            if answer.code == ResponseCode.SUCCESS:  # only for a request that names neither a topic nor a group
                assert code not in ADMINS_ONLY, RequestCode(code)
                assert not list(needs[code](request)), RequestCode(code)
        assert refused or code in MAY_NAME_NOTHING, RequestCode(code)

    assert state(guarded) == before


async def test_figures_are_for_every_account(guarded: Wire) -> None:
    for code in sorted(served(guarded) & ANY_ACCOUNT):
        for request in requests(code):
            answer = await ask(guarded, STRANGER.sign(request))
            assert _EXCEPTION not in (answer.remark or ""), RequestCode(code)


MAY_NAME_NOTHING: Final = frozenset(
    {
        RequestCode.VIEW_MESSAGE_BY_ID,  # the place of no message
        RequestCode.CONSUME_MESSAGE_DIRECTLY,
        RequestCode.END_TRANSACTION,
    }
)
