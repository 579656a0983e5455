"""Properties of a send, handled as text: the same outcome as parsing them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.broker.sent_text import is_plain, take_wait, with_pair
from broker_core.protocol.properties import mark_of, parse_properties, value_after

SPECIAL = ("DELAY", "TRAN_MSG", "CLUSTER", "POP_CK", "1ST_POP_TIME", "TIMER_DELAY_MS")
NAMES = st.sampled_from(["WAIT", "KEYS", "AWAIT", "WAITS", *SPECIAL, ""])
VALUES = st.sampled_from(["true", "TRUE", "false", "", "3", "WAIT", "é"])
TEXTS = st.builds(
    lambda pairs, end: "\x02".join(f"{name}\x01{value}" for name, value in pairs) + end,
    st.lists(st.tuples(NAMES, VALUES), max_size=6),
    st.sampled_from(["", "\x02"]),
)


@given(TEXTS)
def test_waiting_is_taken_out(text: str) -> None:
    pairs = parse_properties(text)
    wanted = pairs.pop("WAIT", "true").lower() == "true"
    rest, waits = take_wait(text)
    assert parse_properties(rest) == pairs
    assert waits == wanted


@given(TEXTS)
def test_a_text_without_a_special_pair_is_plain(text: str) -> None:
    special = set(SPECIAL) & set(parse_properties(text))
    assert not (special and is_plain(text))


@pytest.mark.parametrize("text", ["", "KEYS\x01k", "KEYS\x01DELAY", "XDELAY\x013", "DELAYS\x013"])
def test_most_texts_are_plain(text: str) -> None:
    assert is_plain(text)


@given(TEXTS)
def test_a_pair_is_appended(text: str) -> None:
    assert parse_properties(with_pair(text, "CLUSTER\x01c")) == parse_properties(text) | {"CLUSTER": "c"}


@given(TEXTS, NAMES.filter(bool))
def test_a_value_is_found_in_a_marked_text(text: str, name: str) -> None:
    assert value_after(mark_of(name), "\x02" + text) == parse_properties(text).get(name, "")
