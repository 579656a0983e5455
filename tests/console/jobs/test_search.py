"""The history of jobs by what they are, what they touch, who started them and when."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from console.jobs import schedule as clock
from console.jobs import services
from console.jobs.models import Job, JobState
from tests.console.jobs.conftest import BY, REPLAY
from tests.console.jobs.test_schedule import NOON, schedule
from tests.support.cast import Cast, somebody

COMPARE = {"type": "reconcile", "cluster": "local", "left": {"topic": "orders"}, "right": {"group": "g", "topic": "x"}}


@pytest.fixture
def history() -> dict[str, str]:
    """Jobs by name."""
    replay = services.create(somebody("operator"), REPLAY)
    compare = services.create(BY, COMPARE)
    Job.objects.filter(pk=compare.pk).update(state=JobState.FAILED, created_at=datetime(2026, 5, 1, tzinfo=UTC))
    planned = schedule()
    (run,) = clock.step(NOON)
    return {"replay": replay.id, "compare": compare.id, "run": run.id, "schedule": planned.id}


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", "run compare replay"),
        ("type=reconcile", "compare"),
        ("type=replay,export&state=queued", "run replay"),
        ("created_by=operator", "run replay"),
        ("topic=orders", "run compare replay"),
        ("topic=copy&state=queued", "run replay"),
        ("group=g", "compare"),
        ("schedule={schedule}", "run"),
        ("to=2026-05-02T00:00:00Z", "compare"),
        ("from=2026-05-02T00:00:00Z", "run replay"),
        ("topic=nothing", ""),
        # docs/http-api.md: An empty filter (`?state=`) is no filter.
        ("type=&state=&created_by=&topic=&group=&schedule=&from=&to=", "run compare replay"),
    ],
)
def test_jobs_are_found_by(cast: Cast, history: dict[str, str], query: str, names: str) -> None:
    viewer: Any = cast.browser("viewer")
    found = viewer.get(f"/api/v1/jobs?{query.format(**history)}").json()["items"]
    assert [each["id"] for each in found] == [history[name] for name in names.split()]


@pytest.mark.parametrize(
    ("query", "pointer"),
    [("type=mow", "?type"), ("from=yesterday", "?from"), ("from=2026-05-02T00:00:00Z&to=2026-05-01T00:00:00Z", "?to")],
)
def test_a_filter_that_is_not_understood_is_refused_by_name(cast: Cast, query: str, pointer: str) -> None:
    answer: Any = cast.browser("viewer").get(f"/api/v1/jobs?{query}")
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)


def test_a_page_of_the_history_goes_on_where_the_last_one_ended(cast: Cast, history: dict[str, str]) -> None:
    viewer: Any = cast.browser("viewer")
    page = viewer.get("/api/v1/jobs?topic=orders&limit=2").json()
    rest = viewer.get(f"/api/v1/jobs?topic=orders&limit=2&cursor={page['next_cursor']}").json()
    assert [each["id"] for each in page["items"] + rest["items"]] == [history[n] for n in ("run", "compare", "replay")]
