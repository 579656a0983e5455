"""The account of the gateway is served on this machine alone, and in networks that a setting names."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from broker_core.broker.access.places import LocalAccounts
from broker_core.broker.errors import AccessRefused
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.admin import GetBrokerRuntimeInfoRequest
from broker_core.protocol.networks import Networks
from broker_core.protocol.signature import Credentials
from tests.broker_core.broker.access.conftest import ADMIN, FILE, PRODUCER
from tests.broker_core.broker.access.test_check import assert_refused
from tests.support.broker import Wire, started
from tests.support.elsewhere import address_elsewhere, ask_from

HERE = "10.6.10.11:10911"
LOCAL = LocalAccounts((ADMIN.access_key,))


def test_an_account_of_this_machine_is_served_here_alone() -> None:
    LOCAL.check(ADMIN.access_key, "127.0.0.1:5000", "127.0.0.1:10911")
    LOCAL.check(ADMIN.access_key, "10.6.10.11:5000", HERE)
    with pytest.raises(AccessRefused, match=r"administrator is served only .*machine.*, not from 10\.6\.10\.12"):
        LOCAL.check(ADMIN.access_key, "10.6.10.12:5000", HERE)


def test_other_accounts_are_served_everywhere() -> None:
    LOCAL.check(PRODUCER.access_key, "10.6.10.12:5000", HERE)


def test_a_setting_names_networks_beside_this_machine() -> None:
    local = LocalAccounts((ADMIN.access_key,), Networks.parse("10.6.0.0/16"))
    local.check(ADMIN.access_key, "10.6.10.12:5000", HERE)
    with pytest.raises(AccessRefused):
        local.check(ADMIN.access_key, "10.7.10.12:5000", HERE)


@pytest.fixture
async def local(tmp_path: Path) -> AsyncIterator[Wire]:
    """A broker that serves its administrator on this machine alone."""
    config = tmp_path / "store" / "config"
    config.mkdir(parents=True)
    (config / "plain_acl.yml").write_text(FILE)
    settings = {"aclEnable": "true", "aclLocalAccounts": ADMIN.access_key}
    async with started(tmp_path / "store", settings=settings) as wire:
        wire.credentials = ADMIN
        yield wire


def signed(credentials: Credentials) -> Command:
    return credentials.sign(Command.request(GetBrokerRuntimeInfoRequest()))


async def test_what_another_machine_has_seen_it_cannot_send_again(local: Wire) -> None:
    assert (await local.ask(GetBrokerRuntimeInfoRequest())).code == ResponseCode.SUCCESS
    source = address_elsewhere()

    seen = await ask_from(source, local.address, signed(ADMIN))

    assert_refused(
        seen,
        "The account administrator is served only on connections from the broker's own machine "
        f"(aclLocalAccounts) and from the networks of aclLocalNetworks, not from {source}",
    )
    assert (await ask_from(source, local.address, signed(PRODUCER))).code == ResponseCode.SUCCESS
    # Nor does it learn whether the signature was right.
    wrong = await ask_from(source, local.address, signed(Credentials(ADMIN.access_key, "another-secret")))
    assert wrong.remark == seen.remark
