"""Log lines begin with their subject."""

from __future__ import annotations

import pytest

from broker_core.logs import get_logger


def test_a_subject_is_not_a_format(caplog: pytest.LogCaptureFixture) -> None:
    log = get_logger("a.module", "topic=%RETRY%billing")

    log.warning("not pulled: %s", "100 % busy")
    log.warning("100 % busy")

    assert caplog.messages == ["topic=%RETRY%billing: not pulled: 100 % busy", "topic=%RETRY%billing: 100 % busy"]


def test_without_a_subject_the_line_stands_alone(caplog: pytest.LogCaptureFixture) -> None:
    get_logger("a.module").warning("%d left", 3)

    assert caplog.messages == ["3 left"]
