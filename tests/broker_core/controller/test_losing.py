"""How much an accepted loss loses at most: never less than it may be, and unknown where logs cannot be compared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from broker_core.controller.electing import LOSS_ACCEPTED
from broker_core.controller.hearing import Heartbeat
from broker_core.controller.losing import most_lost
from broker_core.protocol.bodies.controller import Election, MasterLife
from tests.broker_core.controller.states import life, state

WHOLE = Heartbeat("b", 1, life(1), "10.0.0.1:10911", epoch=5, end=1000, confirm=980, last_epoch=5, view=(5, 31))


def lost(*, whys: tuple[str, ...] = ("killed",), **chosen: Any) -> int | None:
    """Return what is lost with a new master; the epochs up to 5 were elected for these reasons."""
    first = 6 - len(whys)
    elected = [
        Election(epoch=first + at, version=0, master=MasterLife(1, life(1)), in_sync=[1], why=why, by="n1", at=0)
        for at, why in enumerate(whys)
    ]
    return most_lost(replace(state(), elected=elected), replace(WHOLE, **{"id": 2, **chosen}), WHOLE)


def test_logs_of_one_epoch_are_equal_up_to_the_end_of_the_shorter_one() -> None:
    assert lost(end=900, confirm=850) == 100
    assert lost(end=1000) == 0
    assert lost(end=1100) == 0


def test_a_replica_that_lost_its_own_tail_lacks_the_tail() -> None:
    assert lost(id=1, end=900, last_epoch=4, confirm=0) == 100


def test_logs_of_different_epochs_are_equal_as_far_as_both_know_it_confirmed() -> None:
    assert lost(last_epoch=4, end=970, confirm=850) == 150
    assert lost(last_epoch=3, end=970, confirm=990, whys=("killed", "by hand")) == 30
    # A log whose tail was lost tells more than it has
    assert lost(last_epoch=4, end=700, confirm=850) == 300


def test_it_is_not_known_what_logs_have_in_common_after_a_loss_or_an_adoption() -> None:
    assert lost(last_epoch=4, whys=(f"{LOSS_ACCEPTED}, replica 1 is master",)) is None
    assert lost(last_epoch=3, whys=(f"{LOSS_ACCEPTED}, replica 1 is master", "killed")) is None
    assert lost(last_epoch=3) is None
    assert lost(last_epoch=1 << 29) is None
