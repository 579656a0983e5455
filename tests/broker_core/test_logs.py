"""Log lines begin with their subject."""

from __future__ import annotations

import pytest

from broker_core.logs import QUIET_S, Repeated, get_logger


def test_a_subject_is_not_a_format(caplog: pytest.LogCaptureFixture) -> None:
    log = get_logger("a.module", "topic=%RETRY%billing")

    log.warning("not pulled: %s", "100 % busy")
    log.warning("100 % busy")

    assert caplog.messages == ["topic=%RETRY%billing: not pulled: 100 % busy", "topic=%RETRY%billing: 100 % busy"]


def test_without_a_subject_the_line_stands_alone(caplog: pytest.LogCaptureFixture) -> None:
    get_logger("a.module").warning("%d left", 3)

    assert caplog.messages == ["3 left"]


def test_what_is_tried_again_and_again_is_told_once_for_each_cause_and_while(caplog: pytest.LogCaptureFixture) -> None:
    now = 0.0
    repeated = Repeated(get_logger("a.module"), clock=lambda: now)
    for second in range(int(QUIET_S) + 1):
        now = float(second)
        for group in ("a", "b"):
            repeated.warning("disk full", "group=%s: waits: %s", group, "disk full")
    repeated.warning("no set", "group=%s: waits: %s", "a", "no set")

    assert caplog.messages == [
        "group=a: waits: disk full",
        f"group=a: waits: disk full ({2 * int(QUIET_S) - 1} times more since the last line)",
        "group=a: waits: no set",
    ]
