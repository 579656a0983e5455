"""Requirements of `console.audit.refusals`."""

from __future__ import annotations

import pytest

from console.audit.models import AuditRecord
from console.audit.record import Actor
from console.audit.refusals import PER_CALLER, QUIET_SECONDS, Refusals, record_refusal, refusals
from tests.support.cast import Cast


@pytest.fixture(autouse=True)
def no_recent_refusals() -> None:
    """No recent refusals."""
    refusals._recorded.clear()


MIA = Actor("mia", address="192.0.2.1")


def test_the_same_refusal_is_recorded_once_in_a_while() -> None:
    now = 0.0
    known = Refusals(lambda: now)
    assert known.should_record(MIA, "access.get", "/a")
    assert not known.should_record(MIA, "access.get", "/a")
    assert known.should_record(MIA, "access.get", "/b")
    assert known.should_record(Actor("mia", token="ci", address="192.0.2.1"), "access.get", "/a")
    now += QUIET_SECONDS + 1
    assert known.should_record(MIA, "access.get", "/a")


def test_no_caller_fills_the_audit() -> None:
    known = Refusals(lambda: 0.0)
    recorded = [known.should_record(MIA, "access.get", f"/{number}") for number in range(10 * PER_CALLER)]
    assert recorded.count(True) == PER_CALLER


def test_a_refusal_says_who_what_whence_and_why(db: None) -> None:
    record_refusal(Actor("eve", address="192.0.2.9"), "access.get", "/api/v1/users", "no right")
    written = AuditRecord.objects.get()
    assert (written.actor, written.action, written.resource) == ("eve", "access.get", "/api/v1/users")
    assert (written.result, written.address, written.after) == ("refused", "192.0.2.9", {"reason": "no right"})


@pytest.mark.parametrize(("method", "path"), [("get", "/api/v1/users"), ("post", "/api/v1/clusters")])
def test_who_is_refused_a_right_is_written_down(cast: Cast, method: str, path: str) -> None:
    browser = cast.browser("developer")
    for _ in range(3):
        assert getattr(browser, method)(path).status_code == 403
    written = AuditRecord.objects.filter(resource=path)
    assert [(each.actor, each.action, each.result, each.address) for each in written] == [
        ("developer", f"access.{method}", "refused", "127.0.0.1")
    ]
