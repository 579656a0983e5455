"""Requirements of `console.replicas.plans`: a plan is of one change and one state, for five minutes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from rest_framework.exceptions import ValidationError

from broker_core.protocol.bodies.controller import new_state
from console.errors import PlanExpired, PreconditionFailed
from console.replicas import plans

STATE = replace(new_state("b", "C"), epoch=3, version=9)


def test_a_plan_counts_for_its_change_and_its_state() -> None:
    view = plans.check_fresh(plans.plan_of("promote 2", STATE), "promote 2")

    plans.check_state(view, STATE, "b")
    for other in (replace(STATE, version=10), replace(STATE, epoch=4), None):
        with pytest.raises(PreconditionFailed, match="decided about b"):
            plans.check_state(view, other, "b")


def test_a_name_of_which_nothing_was_decided_has_a_plan_too() -> None:
    view = plans.check_fresh(plans.plan_of("adopt", None), "adopt")
    plans.check_state(view, None, "b")


def test_a_plan_of_another_change_or_hand_is_none() -> None:
    plan = plans.plan_of("promote 2", STATE)
    for text, change in ((plan, "promote 3"), (plan[:-1], "promote 2"), ("", "promote 2")):
        with pytest.raises(ValidationError):
            plans.check_fresh(text, change)


def test_a_plan_runs_out(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plans.plan_of("promote 2", STATE)
    monkeypatch.setattr(plans, "LIVES", timedelta(seconds=-1))

    with pytest.raises(PlanExpired) as refused:
        plans.check_fresh(plan, "promote 2")
    assert (refused.value.status_code, refused.value.get_codes()) == (409, "plan_expired")
