"""Effects, carried out in order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from broker_core.broker.replication.effects import Effects, WaitsForRoom
from broker_core.broker.replication.messages import Confirmed, HandedOver, LeaveMaster
from broker_core.store.errors import StoreFull


class Rim:
    """Notes what is carried out; a `LeaveMaster` waits for room while there is none, and one of a link 0 fails."""

    def __init__(self) -> None:
        self.done: list[Any] = []
        self.has_room = False
        self.tries = 0
        self.said: list[str] = []
        self.errors: list[Exception] = []
        self.effects = Effects(
            {Confirmed: self.confirm, LeaveMaster: self.leave, HandedOver: self.done.append},
            on_wait=self.said.append,
            on_failure=self.errors.append,
        )

    def confirm(self, effect: Confirmed) -> None:
        self.done.append(effect)
        if effect.upto == 1:
            self.effects.do([HandedOver(9)], 0.0)

    def leave(self, effect: LeaveMaster) -> None:
        self.tries += 1
        if not effect.link:
            raise ValueError("no such link")
        if not self.has_room:
            raise WaitsForRoom(StoreFull(Path("file"), 5))
        self.done.append(effect)


def test_what_an_effect_brings_about_comes_behind_those_that_are_left() -> None:
    rim = Rim()
    rim.effects.do([Confirmed(1), Confirmed(2)], 0.0)
    assert rim.done == [Confirmed(1), Confirmed(2), HandedOver(9)]


def test_none_behind_one_that_failed_is_carried_out_ever() -> None:
    rim = Rim()
    rim.effects.do([Confirmed(2), LeaveMaster(0), Confirmed(3)], 0.0)
    rim.effects.do([Confirmed(4)], 0.0)
    assert rim.done == [Confirmed(2)]
    assert [str(error) for error in rim.errors] == ["no such link"]


def test_those_behind_one_that_waits_for_room_wait_with_it() -> None:
    rim = Rim()
    rim.effects.do([Confirmed(2), LeaveMaster(1), Confirmed(3)], 0.0)
    rim.effects.do([Confirmed(4)], 0.1)
    assert rim.done == [Confirmed(2)]
    assert rim.effects.waits_for_room == "no space left on the disk for 5 more bytes of file"

    rim.has_room = True
    rim.effects.retry(0.1)
    assert rim.tries == 1
    rim.effects.retry(0.3)
    assert rim.done == [Confirmed(2), LeaveMaster(1), Confirmed(3), Confirmed(4)]
    assert rim.said == ["no space left on the disk for 5 more bytes of file", ""]


def test_room_is_looked_for_more_and_more_rarely_and_said_once() -> None:
    rim = Rim()
    rim.effects.do([LeaveMaster(1)], 0.0)
    for now in range(1, 600):
        rim.effects.retry(now / 10)
    assert 12 < rim.tries < 20
    assert len(rim.said) == 1
