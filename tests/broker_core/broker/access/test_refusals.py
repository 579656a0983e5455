"""Refused requests in the log: one line for each kind, then how many."""

from __future__ import annotations

import logging

import pytest

from broker_core.broker.access.refusals import PERIOD_MS, TOLD_APART, Refusals
from broker_core.protocol.signature import Credentials
from tests.broker_core.broker.access.conftest import PRODUCER, STRANGER
from tests.support.broker import Wire

LOGGER = "broker_core.broker.access.refusals"


@pytest.fixture(autouse=True)
def _warnings(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, LOGGER)


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == LOGGER]


async def test_each_account_and_reason_is_one_warning(guarded: Wire, caplog: pytest.LogCaptureFixture) -> None:
    for credentials in (None, STRANGER, Credentials("producer-account", "wrong-secret"), STRANGER, PRODUCER):
        guarded.credentials = credentials
        await guarded.try_send("orders", b"x")
    guarded.credentials = STRANGER
    await guarded.try_send("bills", b"x")

    assert lines(caplog) == [
        "account=- address=127.0.0.1: refused: No accessKey is configured",
        "account=stranger-account address=127.0.0.1: refused: No default permission for topic:orders",
        "account=producer-account address=127.0.0.1: refused: Check signature failed for accessKey=producer-account",
        "account=stranger-account address=127.0.0.1: refused: No default permission for topic:bills",
    ]


def test_what_comes_again_is_summed_up_each_five_minutes(caplog: pytest.LogCaptureFixture) -> None:
    refusals = Refusals(lambda: 0)
    for _ in range(3):
        refusals.add("shop", "10.0.0.1", "no")
    refusals.step(PERIOD_MS - 1)
    assert len(lines(caplog)) == 1

    refusals.step(PERIOD_MS)
    refusals.step(2 * PERIOD_MS)
    refusals.add("shop", "10.0.0.1", "no")

    assert lines(caplog)[1:] == [
        "account=shop address=10.0.0.1: refused 2 more times: no",
        "account=shop address=10.0.0.1: refused: no",
    ]


def test_made_up_accounts_do_not_fill_log_or_memory(caplog: pytest.LogCaptureFixture) -> None:
    refusals = Refusals(lambda: 0)
    for number in range(TOLD_APART + 5):
        refusals.add(f"account-{number}", "10.0.0.1", "no")
    refusals.step(PERIOD_MS)

    assert len(lines(caplog)) == TOLD_APART + 1
    assert lines(caplog)[-1].startswith("5 more requests were refused")


def test_a_client_cannot_write_lines_of_its_own(caplog: pytest.LogCaptureFixture) -> None:
    Refusals(lambda: 0).add("shop\n2026 INFO fine", "10.0.0.1", "x" * 500)

    (line,) = lines(caplog)
    assert line == f"account=shop?2026 INFO fine address=10.0.0.1: refused: {'x' * 200}"
