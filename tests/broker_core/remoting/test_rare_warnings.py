"""Warnings of which some are logged and the others counted."""

from __future__ import annotations

import logging

import pytest

from broker_core.remoting import rare_warnings
from broker_core.remoting.rare_warnings import PER_SECOND, RareWarnings
from tests.support.wait import eventually


async def test_what_is_left_out_is_counted_by_the_next_one(caplog: pytest.LogCaptureFixture) -> None:
    now = [0.0]
    warnings, log = RareWarnings(lambda: now[0]), logging.getLogger("peers")
    for number in range(PER_SECOND + 3):
        warnings.warn(log, "peer=%d: closed", number)
    assert [each.message for each in caplog.records] == [f"peer={number}: closed" for number in range(PER_SECOND)]

    caplog.clear()
    now[0] = 1.0
    warnings.warn(log, "peer=%d: closed", 20)
    warnings.warn(log, "peer=%d: closed", 21)
    assert [each.message for each in caplog.records] == [
        "peer=20: closed; 3 such warnings before it were left out",
        "peer=21: closed",
    ]


async def test_the_end_of_a_flood_is_summed_up_although_nothing_follows(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rare_warnings, "_SUM_SECONDS", 0.01)
    warnings = RareWarnings(lambda: 0.0)
    for number in range(PER_SECOND + 3):
        warnings.warn(logging.getLogger("peers"), "peer=%d: closed", number)
    await eventually(lambda: caplog.records[-1].message == "3 such warnings were left out")
    assert len(caplog.records) == PER_SECOND + 1
