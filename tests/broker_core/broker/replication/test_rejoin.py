"""Where a replica cuts its log when it meets a master."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.broker.replication.messages import Hold
from broker_core.broker.replication.rejoin import Anew, CopyAll, Cut, MasterLog, OwnLog, Stop, cut_point, plan
from broker_core.protocol.ha_epochs import EpochStart
from broker_core.store.epochs import EpochFile

E1, E2, E3 = EpochStart(1, 0), EpochStart(2, 100), EpochStart(3, 80)
MASTER = MasterLog(0, 150, (E1, E3))


def own(end: int, *epochs: EpochStart, confirm: int = 0, clean: bool = True, in_sync: bool = False) -> OwnLog:
    return OwnLog(0, end, confirm, epochs, clean, in_sync)


@pytest.mark.parametrize(
    ("end", "epochs", "at"),
    [
        (150, (E1, E3), 150),  # the same
        (170, (E1, E3), 150),  # a tail that the master does not have
        (120, (E1, E2), 80),  # epoch 2 never was the master's
        (60, (E1,), 60),
        (90, (E1,), 80),
        (150, (EpochStart(2, 0),), None),
        (150, (), None),
        (60, (E1, E3), 60),  # an entry beyond the end, after a lost tail
    ],
)
def test_the_newest_common_epoch_decides(end: int, epochs: tuple[EpochStart, ...], at: int | None) -> None:
    assert cut_point(epochs, end, MASTER.epochs, MASTER.end) == at


def test_an_empty_store_copies_from_the_begin_of_the_master() -> None:
    assert plan(own(0), MasterLog(40, 150, (E1,))) == CopyAll(40)


def test_a_clean_replica_never_cuts_below_its_confirm_offset() -> None:
    stopped = plan(own(120, E1, E2, confirm=81), MASTER)
    assert isinstance(stopped, Stop)
    assert (stopped.held.why, stopped.held.common_end) == (Hold.AHEAD, 80)
    assert plan(own(120, E1, E2, confirm=80), MASTER) == Cut(80)
    assert plan(own(120, E1, E2, confirm=81, clean=False), MASTER) == Cut(80)


def test_a_hopeless_log_is_put_aside_unless_it_may_be_the_last() -> None:
    assert isinstance(plan(own(120, E2), MASTER), Anew)
    stopped = plan(own(120, E2, in_sync=True), MASTER)
    assert isinstance(stopped, Stop)
    assert (stopped.held.why, stopped.held.common_end) == (Hold.APART, None)
    assert isinstance(plan(own(120), MASTER), Anew)
    assert isinstance(plan(own(60, E1), MasterLog(70, 150, (E1, E3))), Anew)


def test_the_first_records_of_a_group_are_cut_if_nobody_else_has_them() -> None:
    """The first master died before anything was confirmed, and the next one began with an empty log as well."""
    assert plan(own(20, EpochStart(7, 0), in_sync=True), MasterLog(0, 40, (EpochStart(8, 0),))) == Cut(0)
    assert isinstance(plan(own(20, EpochStart(7, 0), confirm=10, in_sync=True), MASTER), Stop)


@st.composite
def _history(draw: st.DrawFn) -> tuple[list[EpochStart], int]:
    epochs, end = [], 0
    for number in range(1, draw(st.integers(1, 5)) + 1):
        epochs.append(EpochStart(number, end))
        end += draw(st.integers(1, 20))
    return epochs, end


@given(_history(), st.data())
def test_what_two_branches_of_a_history_have_in_common_is_found(
    history: tuple[list[EpochStart], int], data: st.DataObject
) -> None:
    epochs, end = history
    fork = data.draw(st.integers(1, end))
    shared = [each for each in epochs if each.start < fork]
    mine = [*shared, EpochStart(10, fork)]
    theirs = [*shared, EpochStart(11, fork)]
    assert cut_point(mine, fork + 5, theirs, fork + 9) == fork


class _Log:
    """A log of letters with its epochs; copies share what they have until one of them goes on."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.file = EpochFile(folder)
        self.text = ""

    def lead(self, number: int, text: str) -> None:
        self.file.add(number, len(self.text))
        self.text += text

    def follow(self, other: _Log) -> None:
        common = cut_point(self.file.entries, len(self.text), other.file.entries, len(other.text)) or 0
        assert self.text[:common] == other.text[:common]
        self.text = self.text[:common]
        self.file.cut(common)
        for entry in other.file.entries:
            if not self.file.entries or entry.number > self.file.entries[-1].number:
                self.file.add(*entry)
        self.text = other.text
        assert self.file.entries == other.file.entries


@settings(max_examples=60, deadline=None)
@given(
    steps=st.lists(
        st.tuples(st.integers(0, 2), st.text("abc", max_size=4), st.lists(st.integers(0, 2), max_size=3)), max_size=8
    )
)
def test_logs_that_were_led_in_any_order_agree_up_to_the_common_end(steps: list[tuple[int, str, list[int]]]) -> None:
    with TemporaryDirectory() as name:
        logs = [_Log(Path(name) / str(number)) for number in range(3)]
        for number, (leader, text, followers) in enumerate(steps, 1):
            logs[leader].lead(number, text)
            for follower in followers:
                if follower != leader:
                    logs[follower].follow(logs[leader])
            for log in logs:
                assert EpochFile(log.file._folder).entries == log.file.entries
