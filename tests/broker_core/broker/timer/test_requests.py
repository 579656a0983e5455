"""When a message wants to be delivered, by its properties."""

from __future__ import annotations

import pytest

from broker_core.broker.errors import MessageIllegal, TimerDisabled
from broker_core.broker.timer.requests import TimerSettings

NOW = 1_700_000_000_000


@pytest.mark.parametrize(
    ("pairs", "due"),
    [
        ({}, None),
        ({"TIMER_DELAY_MS": "70"}, NOW + 70),
        ({"TIMER_DELAY_SEC": "7"}, NOW + 7_000),
        ({"TIMER_DELIVER_MS": str(NOW + 1)}, NOW + 1),
        ({"TIMER_DELAY_SEC": "7", "TIMER_DELAY_MS": "1", "TIMER_DELIVER_MS": "1"}, NOW + 7_000),
        ({"TIMER_DELIVER_MS": str(NOW)}, None),
        ({"TIMER_DELAY_MS": "0"}, None),
        ({"TIMER_DELAY_MS": "-5"}, None),
        ({"DELAY": "3", "TIMER_DELAY_MS": "70"}, None),
    ],
)
def test_the_due_time_is_that_of_5_x(pairs: dict[str, str], due: int | None) -> None:
    assert TimerSettings().due_time(pairs, NOW) == due


@pytest.mark.parametrize("name", ["TIMER_DELAY_MS", "TIMER_DELAY_SEC", "TIMER_DELIVER_MS"])
@pytest.mark.parametrize("text", ["soon", "1.5", "9" * 30, "\uff11"])
def test_a_time_that_is_no_number_is_refused_by_name(name: str, text: str) -> None:
    with pytest.raises(MessageIllegal, match=name):
        TimerSettings().due_time({name: text}, NOW)


def test_a_time_beyond_the_limit_is_refused_with_the_setting() -> None:
    with pytest.raises(MessageIllegal, match="timerMaxDelaySec=60"):
        TimerSettings(max_delay_ms=60_000).due_time({"TIMER_DELAY_MS": "60001"}, NOW)


THREE_DAYS_MS = 259_200_000


@pytest.mark.parametrize(
    ("name", "last", "beyond"),
    [
        ("TIMER_DELAY_MS", THREE_DAYS_MS, THREE_DAYS_MS + 1),
        ("TIMER_DELAY_SEC", 259_200, 259_201),
        ("TIMER_DELIVER_MS", NOW + THREE_DAYS_MS, NOW + THREE_DAYS_MS + 1_000),
    ],
)
def test_three_days_are_kept_by_default_and_not_a_second_more(name: str, last: int, beyond: int) -> None:
    assert TimerSettings().due_time({name: str(last)}, NOW) == NOW + THREE_DAYS_MS
    with pytest.raises(MessageIllegal, match="timerMaxDelaySec=259200"):
        TimerSettings().due_time({name: str(beyond)}, NOW)


def test_a_time_is_refused_while_the_timer_is_switched_off() -> None:
    with pytest.raises(TimerDisabled, match="timerWheelEnable"):
        TimerSettings(enabled=False).due_time({"TIMER_DELAY_MS": "70"}, NOW)
