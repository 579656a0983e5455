"""The texts that each kind of setting accepts and writes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.broker.settings import kinds
from broker_core.broker.settings.kinds import SettingKind

SWITCH = kinds.switch()
NUMBER = kinds.number(1, 100)
HOURS_MS = kinds.number(0, 1_000, times=3_600_000)
UNITS = kinds.number(20, 10_000, share=20)
PERCENT = kinds.percentage(10, 95)
LEVELS = kinds.delay_levels()
HOURS = kinds.hours()
FLUSH = kinds.choice({"ASYNC_FLUSH": "async", "SYNC_FLUSH": "sync"})
WORD = kinds.word("[a-z]+", "letters")
PLACE = kinds.place()


@pytest.mark.parametrize(
    ("kind", "text", "value", "written"),
    [
        (SWITCH, "TRUE", True, "true"),
        (SWITCH, "false", False, "false"),
        (NUMBER, "007", 7, "7"),
        (HOURS_MS, "48", 172_800_000, "48"),
        (UNITS, "2000", 100, "2000"),
        (UNITS, "2001", 101, "2020"),
        (PERCENT, "75", 0.75, "75"),
        (LEVELS, "1s  5m 2h 3d", (1_000, 300_000, 7_200_000, 259_200_000), "1s 5m 2h 3d"),
        (LEVELS, "60s 0s", (60_000, 0), "1m 0s"),
        (HOURS, "4", (4,), "04"),
        (HOURS, "04;16;4", (4, 16), "04;16"),
        (FLUSH, "sync_flush", "sync", "SYNC_FLUSH"),
        (WORD, "abc", "abc", "abc"),
        (PLACE, "", "", ""),
        (PLACE, "broker-a:10912", "broker-a:10912", "broker-a:10912"),
        (PLACE, "[fd00::7]:10912", "[fd00::7]:10912", "[fd00::7]:10912"),
    ],
)
def test_a_text_becomes_a_value_and_a_text_again(kind: SettingKind, text: str, value: Any, written: str) -> None:
    assert kind.read(text) == value
    assert kind.write(value) == written


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (SWITCH, "yes"), (SWITCH, ""),
        (NUMBER, "0"), (NUMBER, "101"), (NUMBER, "1.5"), (NUMBER, "٣"), (NUMBER, "9" * 5_000),
        (PERCENT, "96"), (PERCENT, "0.5"),
        (LEVELS, ""), (LEVELS, "1s 5"), (LEVELS, "1y"), (LEVELS, "-1s"), (LEVELS, "1s " * 1_001),
        (HOURS, "24"), (HOURS, ""), (HOURS, "4;;5"), (HOURS, "٣"),
        (FLUSH, "true"),
        (WORD, "A"),
        (PLACE, "host"), (PLACE, "host:0"), (PLACE, "host:65536"), (PLACE, "a b:1"), (PLACE, "a:1;b:1"),
    ],
)  # fmt: skip
def test_any_other_text_is_refused_with_what_it_takes(kind: SettingKind, text: str) -> None:
    with pytest.raises(ValueError, match=r"is not|times like") as refused:
        kind.read(text)

    assert len(str(refused.value)) < 200


@given(st.sampled_from([SWITCH, NUMBER, HOURS_MS, PERCENT, LEVELS, HOURS, FLUSH, WORD]), st.text(max_size=30))
def test_a_text_is_taken_or_refused_and_nothing_else(kind: SettingKind, text: str) -> None:
    try:
        value = kind.read(text)
    except ValueError:
        return
    assert kind.read(kind.write(value)) == value
