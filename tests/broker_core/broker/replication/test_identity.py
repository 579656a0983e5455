"""Who a replica is, over all its lives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.broker.replication.identity import (
    WrongIdentity,
    check_identity,
    decode_identity,
    encode_identity,
    next_life,
)
from broker_core.broker.replication.messages import Identity

KEPT = Identity("C", "b", 2, "check", "17-9f3a", known=(5, 31))

_names = st.text("abcXYZ019-_%|", min_size=1, max_size=10)


@given(
    st.builds(
        Identity,
        st.text("abc#-", min_size=1, max_size=10),
        _names,
        st.integers(0, 1 << 40),
        _names,
        st.just("3-ab"),
        st.integers(0, 9),
        st.booleans(),
        st.tuples(st.integers(0, 1 << 40), st.integers(0, 1 << 40)),
    )
)
def test_the_file_goes_both_ways(identity: Identity) -> None:
    assert decode_identity(encode_identity(identity)) == identity


def test_the_first_line_is_that_of_rocketmq() -> None:
    assert encode_identity(KEPT).splitlines()[0] == "C#b#2"


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    with pytest.raises(WrongIdentity):
        decode_identity(text)


def test_a_life_is_newer_than_the_one_before() -> None:
    assert next_life(KEPT, "77", was_power_lost=False).life == "18-77"


def test_unclean_stays_until_it_is_told() -> None:
    once = next_life(KEPT, "a", was_power_lost=True)
    assert once.is_unclean
    assert next_life(once, "b", was_power_lost=False).is_unclean


def test_a_log_of_nobody_and_that_of_another_name_are_refused() -> None:
    check_identity(None, "C", "b", has_log=False)
    check_identity(KEPT, "C", "b", has_log=True)
    with pytest.raises(WrongIdentity, match="no file"):
        check_identity(None, "C", "b", has_log=True)
    with pytest.raises(WrongIdentity, match="not of c in C"):
        check_identity(KEPT, "C", "c", has_log=True)
