"""The bounds of ranges of schedules: valid and invalid ones."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from rest_framework.exceptions import ValidationError

from console.jobs.bounds import check_range, holds_nothing
from console.jobs.requests import RangeSerializer


def begin_of(said: str, *, is_scheduled: bool = True) -> object:
    form = RangeSerializer(data={"topic": "orders", "from": said}, context={"is_scheduled": is_scheduled})
    form.is_valid(raise_exception=True)
    return form.validated_data["from"]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("{{ scheduled_at - 24h }}", "{{ scheduled_at - 24h }}"),
        ("{{scheduled_at-007d}}", "{{ scheduled_at - 7d }}"),
        ("{{ scheduled_at - 1m }}", "{{ scheduled_at - 1m }}"),
        ("{{ scheduled_at - 366d }}", "{{ scheduled_at - 366d }}"),
        ("{{ scheduled_at }}", "{{ scheduled_at }}"),
    ],
)
def test_a_schedule_counts_back_from_its_runs(said: str, kept: str) -> None:
    assert begin_of(said) == kept


@pytest.mark.parametrize(
    "said",
    [
        "{{ scheduled_at + 1h }}", "{{ scheduled_at - 1w }}", "{{ scheduled_at - 1.5h }}", "{{ scheduled_at - -1h }}",
        "{{ scheduled_at - h }}", "{{ scheduled_at - ٣h }}", "{{ now - 1h }}", "{{ last_success - 1h }}",
        "{{ scheduled_at - 1h", "{{ scheduled_at - 0m }}", "{{ scheduled_at - 367d }}",
        "{{ scheduled_at - 999999999d }}",
    ],
)  # fmt: skip
def test_what_is_no_moment_is_refused_by_name(said: str) -> None:
    with pytest.raises(ValidationError) as refused:
        begin_of(said)
    assert refused.value.get_codes() == {"from": ["invalid"]}
    assert repr(said) in str(refused.value)


def test_a_job_that_is_no_schedule_s_counts_from_nothing() -> None:
    with pytest.raises(ValidationError):
        begin_of("{{ scheduled_at - 24h }}", is_scheduled=False)


@pytest.mark.parametrize(
    ("begin", "end", "is_empty"),
    [
        ("{{ scheduled_at - 24h }}", "{{ scheduled_at }}", False),
        ("{{ scheduled_at - 24h }}", "{{ scheduled_at - 1d }}", True),
        ("{{ scheduled_at }}", "{{ scheduled_at - 1h }}", True),
        ("{{ last_success }}", "{{ scheduled_at - 1h }}", False),
        ("{{ last_success }}", "{{ last_success }}", True),
        ("{{ scheduled_at - 24h }}", None, False),
        (None, None, False),
    ],
)
def test_a_range_that_can_hold_nothing_is_known(begin: str | None, end: str | None, is_empty: bool) -> None:
    assert holds_nothing(begin, end) is is_empty


@pytest.mark.parametrize("end", [datetime(2026, 1, 1, tzinfo=UTC), datetime(2126, 1, 1, tzinfo=UTC)])
def test_a_range_that_goes_on_from_the_last_success_has_no_fixed_end(end: datetime) -> None:
    check_range(begin := datetime(2025, 1, 1, tzinfo=UTC), end)
    check_range(begin, "{{ last_success }}")
    with pytest.raises(ValidationError, match="must not be a fixed moment"):
        check_range("{{ last_success }}", end)
