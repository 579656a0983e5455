"""When a cron line fires."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from console.jobs.cron import Cron, CronMalformed, ZoneUnknown, find_zone


def fires(line: str, zone: str, after: str, count: int = 1) -> list[str]:
    moments = Cron.parse(line).following(datetime.fromisoformat(after), find_zone(zone), count)
    return [moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M") for moment in moments]


@pytest.mark.parametrize(
    ("line", "zone", "after", "expected"),
    [
        ("0 3 * * *", "UTC", "2026-05-01T02:59:59Z", "2026-05-01 03:00"),
        ("0 3 * * *", "UTC", "2026-05-01T03:00:00Z", "2026-05-02 03:00"),
        ("*/15 9-17 * * mon-fri", "UTC", "2026-05-01T17:45:00Z", "2026-05-04 09:00"),
        ("0 0 29 2 *", "UTC", "2026-03-01T00:00:00Z", "2028-02-29 00:00"),
        ("0 0 13 * fri", "UTC", "2026-05-01T00:00:00Z", "2026-05-08 00:00"),
        ("0 9 * * *", "Asia/Shanghai", "2026-05-01T00:00:00Z", "2026-05-01 01:00"),
        # The hour that the clock skips fires at its end, the hour that comes twice fires once.
        ("30 2 * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", "2026-03-29 01:00"),
        ("30 2 * * *", "Europe/Berlin", "2026-10-25T00:00:00Z", "2026-10-25 00:30"),
        ("30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-26 01:30"),
    ],
)
def test_the_next_time(line: str, zone: str, after: str, expected: str) -> None:
    assert fires(line, zone, after) == [expected]


@pytest.mark.parametrize("line", ["", "* * * *", "61 * * * *", "* * * * funday", "0 0 30 2 *"])
def test_what_never_fires_is_refused(line: str) -> None:
    with pytest.raises(CronMalformed):
        Cron.parse(line).next_after(datetime(2026, 5, 1, tzinfo=UTC), find_zone("UTC"))


def test_a_zone_must_exist() -> None:
    with pytest.raises(ZoneUnknown):
        find_zone("Mars/Olympus")
