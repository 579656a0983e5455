"""Every limit names itself in its answer."""

from __future__ import annotations

from dataclasses import fields

import pytest

from broker_core.broker import limits as module
from broker_core.broker.answers import ANSWERS, refusal
from broker_core.broker.errors import LimitReached, MessageIllegal
from broker_core.broker.limits import Limits
from broker_core.protocol.codes import ResponseCode


@pytest.mark.parametrize(
    ("limit", "code"),
    [
        ("topics", ResponseCode.SYSTEM_ERROR),
        ("groups", ResponseCode.SYSTEM_ERROR),
        ("parked_pulls", ResponseCode.SYSTEM_BUSY),
        ("parked_pops", ResponseCode.POLLING_FULL),
        ("leases_per_group", ResponseCode.FLOW_CONTROL),
        ("unflushed_waiters", ResponseCode.SYSTEM_BUSY),
    ],
)
def test_a_limit_that_is_reached_is_named_with_its_value(limit: str, code: ResponseCode) -> None:
    error = Limits().refuse(limit, "one too many")
    answer = refusal(error)

    assert isinstance(error, LimitReached)
    assert answer.code == code
    assert answer.remark == f"limit {limit}={getattr(Limits(), limit)} reached: one too many"


def test_sizes_are_checked_against_the_limits() -> None:
    limits = Limits(body_bytes=10, properties_bytes=5)
    limits.check_sizes(10, 5)

    with pytest.raises(MessageIllegal, match="body_bytes=10"):
        limits.check_sizes(11, 5)
    with pytest.raises(MessageIllegal, match="properties_bytes=5"):
        limits.check_sizes(10, 6)


def test_the_table_at_the_head_of_the_file_names_every_limit() -> None:
    assert module.__doc__ is not None
    for field in fields(Limits):
        assert f"\n{field.name} " in module.__doc__


def test_every_refusal_has_a_code() -> None:
    assert all(issubclass(kind, Exception) for kind in ANSWERS)
