"""Warnings of which some are logged and the others counted."""

from __future__ import annotations

import logging

import pytest

from broker_core.remoting.rare_warnings import PER_SECOND, RareWarnings


def test_what_is_left_out_is_counted_by_the_next_one(caplog: pytest.LogCaptureFixture) -> None:
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
