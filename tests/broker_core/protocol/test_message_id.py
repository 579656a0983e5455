"""Offset ids and unique ids."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.protocol.errors import MalformedMessageId
from broker_core.protocol.host import encode_host
from broker_core.protocol.message_id import (
    OffsetId,
    UniqueIds,
    born_time_of_unique_id,
    format_offset_id,
    parse_offset_id,
)


def local_ms(year: int, month: int, day: int, hour: int = 0) -> int:
    return round(datetime(year, month, day, hour).astimezone().timestamp() * 1000)


OFFSET_IDS = [
    ("10.0.0.5", 10911, 4096, "0A00000500002A9F0000000000001000"),
    ("10.0.0.2", 10911, 0, "0A00000200002A9F0000000000000000"),
    ("10.0.0.2", 10911, 5531, "0A00000200002A9F000000000000159B"),
    ("::1", 10911, 448, "0000000000000000000000000000000100002A9F00000000000001C0"),
]


@pytest.mark.parametrize(("ip", "port", "log_offset", "text"), OFFSET_IDS)
def test_offset_ids_go_both_ways(ip: str, port: int, log_offset: int, text: str) -> None:
    assert format_offset_id(encode_host(ip, port), log_offset) == text
    assert parse_offset_id(text) == OffsetId(ip, port, log_offset)  # type: ignore[arg-type]
    assert parse_offset_id(text.lower()).log_offset == log_offset


@pytest.mark.parametrize(
    "text", ["", "0A", "x" * 32, "0A00000500002A9FF000000000001000", "0A000005FFFFFFFF" + "0" * 16]
)
def test_other_text_is_not_an_offset_id(text: str) -> None:
    with pytest.raises(MalformedMessageId):
        parse_offset_id(text)


def test_unique_ids_have_address_process_month_time_and_counter() -> None:
    now = local_ms(2023, 11, 15, 12)
    month = local_ms(2023, 11, 1)
    ids = UniqueIds(ip="10.0.0.1", pid=0x10018, loader=0xB4AAC2)
    first, second = ids.make(now), ids.make(now)
    assert first[:20] == "0A000001" + "0018" + "00B4AAC2"
    assert int(first[20:28], 16) == now - month
    assert (first[28:], second[28:]) == ("0001", "0002")
    assert len(UniqueIds(ip="::1", pid=1, loader=1).make(now)) == 56


def test_ids_made_in_the_same_millisecond_differ() -> None:
    ids = UniqueIds(ip="10.0.0.1", pid=1, loader=1)
    assert len({ids.make(1_700_000_000_000) for _ in range(1 << 16)}) == 1 << 16


def test_many_ids_are_those_that_would_have_been_made_one_by_one() -> None:
    one, many = (UniqueIds(ip="10.0.0.1", pid=1, loader=1) for _ in range(2))
    for count in (1, 3, 65_534, 2):
        assert many.make_many(1_700_000_000_000, count) == [one.make(1_700_000_000_000) for _ in range(count)]


@given(st.integers(1_500_000_000_000, 1_900_000_000_000), st.integers(0, 27 * 86_400_000))
def test_the_time_of_an_id_younger_than_a_month_is_found_again(made: int, age: int) -> None:
    text = UniqueIds(ip="10.0.0.1", pid=1, loader=1).make(made)
    assert born_time_of_unique_id(text, made + age) == made


def test_the_counter_of_ids_continues_into_the_next_month() -> None:
    ids = UniqueIds(ip="10.0.0.1", pid=1, loader=1)
    begin = local_ms(2024, 1, 1)
    assert int(ids.make(begin - 1)[20:28], 16) == 31 * 86_400_000 - 1
    assert ids.make(begin)[20:] == "000000000002"


def test_text_that_is_not_an_id_has_no_time() -> None:
    with pytest.raises(MalformedMessageId):
        born_time_of_unique_id("nonsense", 0)
