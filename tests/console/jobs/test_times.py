"""When a cron line is due."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from console.jobs.times import CronMalformed, ZoneUnknown, find_zone, next_times

SPRING = "2026-03-28T23:30:00Z"
AUTUMN = "2026-10-24T22:30:00Z"


def due(line: str, zone: str, after: str, count: int = 1) -> list[str]:
    times = next_times(datetime.fromisoformat(after), line, zone, count)
    return [time.astimezone(UTC).strftime("%Y-%m-%d %H:%M") for time in times]


@pytest.mark.parametrize(
    ("line", "zone", "after", "expected"),
    [
        ("0 3 * * *", "UTC", "2026-05-01T02:59:59Z", "2026-05-01 03:00"),
        ("0 3 * * *", "UTC", "2026-05-01T03:00:00Z", "2026-05-02 03:00"),
        ("0 3 * * *", "UTC", "2026-05-01T02:59:59.999Z", "2026-05-01 03:00"),
        ("*/15 9-17 * * mon-fri", "UTC", "2026-05-01T17:45:00Z", "2026-05-04 09:00"),
        ("5/15 * * * *", "UTC", "2026-05-01T17:45:00Z", "2026-05-01 17:50"),
        ("0 0 * * 7", "UTC", "2026-05-01T00:00:00Z", "2026-05-03 00:00"),
        ("0 0 29 2 *", "UTC", "2026-03-01T00:00:00Z", "2028-02-29 00:00"),
        ("0 0 13 * fri", "UTC", "2026-05-01T00:00:00Z", "2026-05-08 00:00"),
        ("0 0 */2 * mon", "UTC", "2026-05-01T00:00:00Z", "2026-05-11 00:00"),
        ("0 9 * * *", "Asia/Shanghai", "2026-05-01T00:00:00Z", "2026-05-01 01:00"),
    ],
)
def test_the_next_time(line: str, zone: str, after: str, expected: str) -> None:
    assert due(line, zone, after) == [expected]


def test_fixed_times_that_the_clock_skips_are_due_once_when_it_goes_on() -> None:
    assert due("30 2 * * *", "Europe/Berlin", SPRING, 2) == ["2026-03-29 01:00", "2026-03-30 00:30"]
    assert due("0,30 2,3 * * *", "Europe/Berlin", SPRING, 3) == [
        "2026-03-29 01:00", "2026-03-29 01:30", "2026-03-30 00:00"
    ]  # fmt: skip


def test_a_fixed_time_that_comes_twice_is_due_the_first_time() -> None:
    assert due("30 2 * * *", "Europe/Berlin", AUTUMN, 2) == ["2026-10-25 00:30", "2026-10-26 01:30"]
    # And in the second pass of the hour the next time is not before now
    assert due("30 2 * * *", "Europe/Berlin", "2026-10-25T01:10:00Z") == ["2026-10-26 01:30"]


@pytest.mark.parametrize(
    ("line", "after", "expected"),
    [
        ("30 * * * *", "2026-03-29T00:30:00Z", ["2026-03-29 01:30", "2026-03-29 02:30"]),
        ("*/30 2 * * *", SPRING, ["2026-03-30 00:00", "2026-03-30 00:30"]),
        ("*/30 2 * * *", AUTUMN, ["2026-10-25 00:00", "2026-10-25 00:30", "2026-10-25 01:00", "2026-10-25 01:30"]),
        ("30 * * * *", "2026-10-24T23:30:00Z", ["2026-10-25 00:30", "2026-10-25 01:30", "2026-10-25 02:30"]),
    ],
)
def test_where_minute_or_hour_begins_with_a_star_the_clock_is_followed(
    line: str, after: str, expected: list[str]
) -> None:
    # Not due in the skipped hour, due twice in the repeated one
    assert due(line, "Europe/Berlin", after, len(expected)) == expected


@pytest.mark.parametrize(
    "line",
    [
        "", "* * * *", "* * * * * *", "61 * * * *", "mon 0 * * *", "0 22-4 * * *", "* * * * funday", "0 0 30 2 *",
        "0 0 31 4,6 *",
    ],
)  # fmt: skip
def test_what_is_never_due_is_refused(line: str) -> None:
    with pytest.raises(CronMalformed):
        next_times(datetime(2026, 5, 1, tzinfo=UTC), line, "UTC", 1)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("0 0 30 2 *", "it is never due: none of its months has such a day"),
        ("0 0 31 apr,6 *", "it is never due: none of its months has such a day"),
        ("0 0 32 2 *", "bad day-of-month"),
        ("0 0 30 13 *", "bad month"),
        ("61 0 30 2 *", "bad minute"),
    ],
)
def test_a_day_that_never_comes_is_told_from_one_that_there_is_not(line: str, fault: str) -> None:
    with pytest.raises(CronMalformed, match=f"is not a cron line: {fault}$"):
        next_times(datetime(2026, 5, 1, tzinfo=UTC), line, "UTC", 1)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("*/61 * * * *", r"'\*/61' \(minute\) is longer than its range, 0 to 59"),
        ("*/60 * * * *", "is longer than its range"),
        ("0 */24 * * *", r"\(hour\)"),
        ("0 0 1-31/40 * *", r"'1-31/40' \(day of month\) is longer than its range, 1 to 31"),
        ("0,50/10 * * * *", "'50/10' .* 50 to 59"),
        ("0 0 1 jan-mar/3 *", r"\(month\) is longer than its range, 1 to 3"),
        ("0 0 * * */8", r"\(day of week\)"),
    ],
)
def test_a_step_that_is_longer_than_its_range_is_refused(line: str, fault: str) -> None:
    with pytest.raises(CronMalformed, match=fault):
        next_times(datetime(2026, 5, 1, tzinfo=UTC), line, "UTC", 1)


@pytest.mark.parametrize("line", ["*/30 */12 1-31/30 */6 mon-fri/2", "5/15 * * * *", "0 0 * * fri/2", "0 0 L * *"])
def test_a_step_within_its_range_is_taken(line: str) -> None:
    assert next_times(datetime(2026, 5, 1, tzinfo=UTC), line, "UTC", 1)


@pytest.mark.parametrize("name", ["Mars/Olympus", "localtime", "Factory", "posixrules", "posix/UTC", "right/UTC", ""])
def test_a_zone_must_exist(name: str) -> None:
    with pytest.raises(ZoneUnknown, match="is not a time zone such as"):
        find_zone(name)
