"""Whether a controller leads: the core with times as arguments, and the loop with decisions that a test scripts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.clock import boot_seconds
from broker_core.controller.decisions import EngineStatus, Kept, Lead, NotLeading, Unsettled
from broker_core.controller.leading import LOOK_SECONDS, MAX_GRANT_SECONDS, ROUND_SECONDS, Leader, Leading, Step
from tests.support.wait import eventually

LEAD = Lead("n1", "n1 a", 1)
VALID = 3.2


def led(now: float = 0.0) -> Leading:
    """A core that leads since `now`."""
    leading = Leading()
    leading.took(LEAD, now)
    leading.began_round(now)
    leading.renewed(now + VALID, now)
    leading.has_read()
    return leading


def test_how_long_it_leads_is_counted_from_when_it_took_the_lead() -> None:
    leading = led(2.0)
    leading.renewed(9.0, 6.0)
    assert leading.led_seconds(7.0) == 5.0
    leading.lost(8.0)
    assert leading.led_seconds(8.0) is None
    leading.took(LEAD, 9.0)
    assert leading.led_seconds(9.5) == 0.5


def test_it_stands_renews_reads_and_then_leads() -> None:
    leading = Leading()
    assert leading.step(0.0, may_lead=True) is Step.STAND
    leading.took(LEAD, 0.0)
    assert leading.step(0.0, may_lead=True) is Step.RENEW
    leading.began_round(0.0)
    leading.renewed(VALID, 0.1)
    assert leading.step(0.1, may_lead=True) is Step.READ
    assert not leading.is_leading(0.1)
    leading.has_read()
    assert leading.is_leading(0.1)
    assert leading.step(0.1, may_lead=True) is Step.WAIT
    assert leading.wait_seconds(0.1) == ROUND_SECONDS - 0.1
    assert leading.step(ROUND_SECONDS, may_lead=True) is Step.RENEW


def test_it_leads_no_longer_than_was_said_whatever_woke_it_up() -> None:
    leading = led()
    assert leading.is_leading(VALID - 0.001)
    assert not leading.is_leading(VALID)
    assert leading.grant(VALID) == 0


@given(st.floats(0, 10))
def test_a_grant_never_outlives_the_lead(now: float) -> None:
    leading = led()
    granted = leading.grant(now) / 1000
    assert 0 <= granted <= MAX_GRANT_SECONDS
    assert granted == 0 or now + granted <= VALID
    assert granted <= leading.granted_seconds(now) <= MAX_GRANT_SECONDS / 0.8


@pytest.mark.parametrize(("dead_after", "granted"), [(3.0, 2500), (1.2, 1000), (9.0, 2500)])
def test_a_grant_is_shorter_than_the_silence_before_an_election(dead_after: float, granted: int) -> None:
    leader = Leader(Scripted(), "n1", asyncio.Event().wait, clock=lambda: 0.0, dead_after=dead_after)
    leader.state.took(LEAD, 0.0)
    leader.state.renewed(VALID, 0.0)
    leader.state.has_read()
    assert leader.grant() == granted


def test_a_grant_is_remembered_until_a_slow_clock_has_seen_its_end() -> None:
    leading = led()
    assert leading.granted_seconds(0.0) == 0
    leading.grant(0.0)
    leading.lost(0.5)
    assert leading.granted_seconds(0.5) == pytest.approx(MAX_GRANT_SECONDS / 0.8 - 0.5)
    assert leading.granted_seconds(4.0) == 0


def test_a_lead_that_rested_goes_on_after_reading_everything_again() -> None:
    leading = led()
    leading.failed(1.0)
    assert leading.is_leading(1.0)
    leading.began_round(5.0)
    leading.renewed(5.0 + VALID, 5.1)
    assert not leading.is_leading(5.1)
    assert leading.step(5.1, may_lead=True) is Step.READ


def test_a_read_that_failed_is_tried_after_the_next_renewal() -> None:
    leading = Leading()
    leading.took(LEAD, 0.0)
    leading.began_round(0.0)
    leading.renewed(VALID, 0.0)
    leading.failed(0.1)
    assert leading.step(0.1, may_lead=True) is Step.WAIT
    leading.began_round(ROUND_SECONDS)
    leading.renewed(ROUND_SECONDS + VALID, ROUND_SECONDS)
    assert leading.step(ROUND_SECONDS, may_lead=True) is Step.READ


def test_who_lost_the_lead_stands_again_and_who_was_denied_waits_for_a_vacancy() -> None:
    leading = led()
    leading.lost(1.0)
    assert not leading.is_leading(1.0)
    assert leading.step(1.0, may_lead=True) is Step.STAND
    leading.took(None, 1.0)
    assert leading.step(1.0, may_lead=True) is Step.WAIT
    assert leading.wait_seconds(1.0) == LOOK_SECONDS
    leading.vacant(2.0)
    assert leading.step(2.0, may_lead=True) is Step.STAND
    leading.failed(2.0)
    assert leading.step(2.0, may_lead=True) is Step.WAIT


def test_who_may_not_lead_resigns_and_does_not_stand() -> None:
    assert led().step(0.1, may_lead=False) is Step.RESIGN
    assert Leading().step(0.0, may_lead=False) is Step.WAIT


@dataclass
class Scripted:
    """Decisions of which only the lead is of interest."""

    holder: str | None = None
    answers: list[Exception] = field(default_factory=list)
    """What the next renewals raise."""
    calls: list[str] = field(default_factory=list)
    leads: int = 0
    others_may_lead: bool = True
    valid_for: float = 1e12
    resigned_at: float = 0.0
    leader: str | None = None
    status: EngineStatus = field(default_factory=lambda: EngineStatus("scripted"))

    def __post_init__(self) -> None:
        self.freed = asyncio.Event()

    async def lead(self, who: str) -> Lead | None:
        self.calls.append("lead")
        if self.holder is not None:
            return None
        self.holder, self.leads = who, self.leads + 1
        return Lead(who, f"{who} {self.leads}", self.leads)

    async def renew(self, lead: Lead) -> float:
        self.calls.append("renew")
        if self.answers:
            raise self.answers.pop(0)
        return boot_seconds() + self.valid_for

    async def resign(self, lead: Lead) -> None:
        self.calls.append("resign")
        self.resigned_at = boot_seconds()
        self.holder = None
        self.freed.set()

    async def vacancy(self) -> None:
        await self.freed.wait()
        self.freed.clear()

    async def read(self) -> tuple[int, dict[str, Kept]]:
        raise NotImplementedError

    async def put(self, name: str, seen: Kept | None, text: str, lead: Lead | None = None) -> Kept:
        raise NotImplementedError

    def is_settled(self, name: str) -> bool:
        raise NotImplementedError

    async def changes(self, after: int) -> set[str]:
        raise NotImplementedError


@asynccontextmanager
async def running(decisions: Scripted, may_lead: Callable[[], bool] = lambda: True) -> AsyncIterator[Leader]:
    async def read() -> Any:
        decisions.calls.append("read")

    leader = Leader(decisions, "n1", read, may_lead)
    task = asyncio.create_task(leader.run())
    try:
        yield leader
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_the_loop_leads_and_gives_up_when_it_ends() -> None:
    decisions = Scripted()
    async with running(decisions) as leader:
        await eventually(lambda: leader.is_leading)
        assert decisions.calls == ["lead", "renew", "read"]
        assert leader.lead == Lead("n1", "n1 1", 1)
    assert decisions.calls[-1] == "resign"


@pytest.mark.parametrize("others", [True, False])
async def test_the_lead_is_given_up_when_no_grant_runs_any_more(others: bool) -> None:
    decisions = Scripted(others_may_lead=others, valid_for=0.3 if others else 1e12)
    async with running(decisions) as leader:
        await eventually(lambda: leader.is_leading)
        granted = leader.grant() / 1000
        assert granted > 0
        ends_at = boot_seconds() + granted
        leader.state.renewed(boot_seconds() + 9.0, boot_seconds())
    assert decisions.calls[-1] == "resign"
    assert (decisions.resigned_at >= ends_at) is others


async def test_nothing_is_granted_while_the_last_grant_runs_out() -> None:
    decisions, allowed = Scripted(valid_for=1.0), [True]
    async with running(decisions, lambda: allowed[0]) as leader:
        await eventually(lambda: leader.grant() > 0)
        allowed[0] = False
        await eventually(lambda: not leader.is_leading)
        assert "resign" not in decisions.calls
        assert leader.grant() == 0
        await eventually(lambda: decisions.calls[-1] == "resign")


async def test_the_loop_takes_the_lead_as_soon_as_it_is_free() -> None:
    decisions = Scripted(holder="n2")
    async with running(decisions) as leader:
        await eventually(lambda: decisions.calls == ["lead"])
        assert not leader.is_leading
        assert leader.lead is None
        decisions.holder = None
        decisions.freed.set()
        await eventually(lambda: leader.is_leading)


async def test_the_loop_stands_again_after_the_lead_has_ended() -> None:
    decisions = Scripted(answers=[Unsettled("not now"), NotLeading("nobody leads")])
    async with running(decisions) as leader:
        await eventually(lambda: decisions.calls.count("renew") == 2)
        assert not leader.is_leading
        decisions.holder = None
        decisions.freed.set()
        await eventually(lambda: leader.is_leading)
        assert leader.lead == Lead("n1", "n1 2", 2)


async def test_an_engine_that_is_away_is_told_of_once(caplog: pytest.LogCaptureFixture) -> None:
    decisions = Scripted(answers=[Unsettled("not now")] * 2)
    async with running(decisions) as leader:
        await eventually(lambda: leader.is_leading)
    assert caplog.text.count("not now") == 1


async def test_the_loop_resigns_when_it_may_not_lead() -> None:
    decisions, allowed = Scripted(), [True]
    async with running(decisions, lambda: allowed[0]) as leader:
        await eventually(lambda: leader.is_leading)
        allowed[0] = False
        await eventually(lambda: decisions.calls[-1] == "resign")
        assert not leader.is_leading
        allowed[0] = True
        await eventually(lambda: leader.is_leading)
