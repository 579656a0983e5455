"""Plans: a preview of a change by hand, which is made only while what it showed is still so.

A plan is kept nowhere. Its text, which Gantry signs, says what was previewed, of which state, and when.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.core import signing
from rest_framework.exceptions import ValidationError

from broker_core.protocol.bodies.controller import NameState
from console.errors import PlanExpired, PreconditionFailed

LIVES: Final = timedelta(minutes=5)
_SALT: Final = "console.replicas.plans"


def plan_of(change: str, state: NameState | None) -> str:
    """Return the plan of a change, in any words that tell it from others, of what was decided before it."""
    return signing.dumps([change, _view(state)], salt=_SALT)


def check_fresh(plan: str, change: str) -> list[int]:
    """Return the epoch and version that a plan saw.

    Raises PlanExpired after five minutes, and ValidationError for a text that is no plan of this change.
    """
    try:
        planned, view = signing.loads(plan, salt=_SALT, max_age=LIVES)
    except signing.SignatureExpired:
        raise PlanExpired from None
    except signing.BadSignature:
        raise ValidationError({"plan": "is not a plan of Gantry"}) from None
    if planned != change:
        raise ValidationError({"plan": "is the plan of another change"})
    found: list[int] = view
    return found


def check_state(view: list[int], state: NameState | None, broker: str) -> None:
    """Raise PreconditionFailed unless what is decided about the name is what the plan saw."""
    if _view(state) != view:
        raise PreconditionFailed(f"Something else is decided about {broker} since the preview; preview again.")


def _view(state: NameState | None) -> list[int]:
    return [0, 0] if state is None else list(state.view)
