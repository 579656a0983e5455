"""Requirements of `console.jobs.shares`: nobody keeps all places from the others, and who is alone has them all."""

from __future__ import annotations

import pytest
from django.utils import timezone
from pytest_django import Settings

from console.accounts.models import User
from console.jobs import services, turns
from console.jobs.models import Job, JobState
from console.jobs.shares import most_running
from tests.console.jobs.conftest import BY, REPLAY
from tests.support.cast import Cast, somebody


def begin(job: Job) -> Job | None:
    return services.claim(job.id, worker="w", host="h")


def test_a_user_who_is_alone_has_all_places(cast: Cast) -> None:
    first, second = services.create(somebody("operator"), REPLAY), services.create(somebody("operator"), REPLAY)
    # A job of Gantry itself is nobody's
    services.cancel(BY, services.create(BY, REPLAY))
    assert begin(first) is not None
    assert begin(second) is not None


def test_one_place_is_left_to_the_others_where_several_users_start_jobs(cast: Cast) -> None:
    # Given a user who once started a job, and another with two that never end
    services.cancel(BY, services.create(somebody("admin"), REPLAY))
    first, second = services.create(somebody("operator"), REPLAY), services.create(somebody("operator"), REPLAY)
    assert begin(first) is not None
    # Then the second one waits, though a place is free
    assert begin(second) is None
    assert turns.next_up(timezone.now()) == []
    assert [job.id for job in turns.waiting(timezone.now())] == [second.id]
    # And the other user has that place at once
    other = services.create(somebody("admin"), REPLAY)
    assert [job.id for job in turns.next_up(timezone.now())] == [other.id]
    assert begin(other) is not None
    # And when the first one has ended, the second one has its turn
    services.finish(Job.objects.get(pk=first.pk), JobState.SUCCEEDED, None)
    assert begin(second) is not None


def test_a_job_that_is_at_work_stays_when_a_second_user_comes(cast: Cast) -> None:
    mine = [services.create(somebody("operator"), REPLAY) for _ in range(3)]
    assert all(begin(job) is not None for job in mine[:2])
    late = services.create(somebody("admin"), REPLAY)
    assert begin(late) is None
    services.finish(Job.objects.get(pk=mine[0].pk), JobState.SUCCEEDED, None)
    assert begin(mine[2]) is None
    assert begin(late) is not None


@pytest.mark.parametrize(
    ("at_once", "setting", "most"), [(2, 0, 1), (1, 0, 1), (4, 0, 3), (2, 2, 2), (4, 1, 1), (2, 9, 2)]
)
def test_how_many_places_a_user_may_have(settings: Settings, cast: Cast, at_once: int, setting: int, most: int) -> None:
    settings.GANTRY_JOBS_AT_ONCE, settings.GANTRY_JOBS_AT_ONCE_PER_USER = at_once, setting
    me, other = somebody("operator"), somebody("admin")
    alone = min(setting, at_once) if setting else at_once
    assert most_running(me.user_id) == alone
    services.create(other, REPLAY)
    assert (most_running(me.user_id), most_running(None)) == (most, at_once)
    # One who was deactivated starts none any more
    User.objects.filter(username="admin").update(is_active=False)
    assert most_running(me.user_id) == alone
