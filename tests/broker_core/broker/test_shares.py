"""No account takes all of a limit."""

from __future__ import annotations

import pytest

from broker_core.broker.errors import LimitReached
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.shares import Shares


def shares_of(locks: int) -> Shares:
    return Shares(BrokerLimits(queue_locks=locks), "queue_locks")


def test_an_account_holds_a_quarter_and_the_others_theirs() -> None:
    shares = shares_of(8)
    shares.add("alice", 2)
    with pytest.raises(LimitReached, match=r"limit queue_locks=8 reached: one account may have 1 / 4 of them; no lock"):
        shares.check("alice", 1, "no lock")
    shares.check("bob", 2, "no lock")
    assert not shares.has_room("bob", 3)


def test_what_is_given_back_can_be_held_again() -> None:
    shares = shares_of(8)
    shares.add("alice", 2)
    shares.remove("alice")
    assert shares.held_by("alice") == 1
    shares.check("alice", 1, "no lock")


def test_nothing_is_counted_where_no_account_is_known() -> None:
    shares = shares_of(8)
    shares.add("", 100)
    shares.check("", 100, "no lock")
    assert shares.held_by("") == 0


def test_the_share_of_a_small_limit_is_one() -> None:
    assert shares_of(1).has_room("alice")
    assert not shares_of(1).has_room("alice", 2)
