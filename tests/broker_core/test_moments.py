"""Requirements of `broker_core.moments`: moments are what RFC 3339 says, nothing less and nothing more."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from broker_core.moments import NoMoment, read_moment

EIGHT = datetime(2026, 5, 1, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-05-01T08:00:00Z", EIGHT),
        ("2026-05-01t08:00:00z", EIGHT),
        ("2026-05-01T10:00:00+02:00", EIGHT),
        ("2026-05-01T08:00:00-00:00", EIGHT),
        ("2026-05-01T08:00:00.1234567891Z", EIGHT + timedelta(microseconds=123456)),
        ("0001-01-01T00:00:00Z", datetime(1, 1, 1, tzinfo=UTC)),
    ],
)
def test_rfc_3339_is_read(text: str, moment: datetime) -> None:
    assert read_moment(text) == moment


@pytest.mark.parametrize(
    "text",
    [
        "", "yesterday", "2026-05-01", "２０２６-05-01T08:00:00Z", "2026-W18-5T08:00:00Z", "20260501T080000Z",  # noqa: RUF001
        "2026-121T08:00:00Z", "2026-05-01 08:00:00Z", "2026-05-01T08:00Z", "2026-05-01T08Z", "2026-05-01T24:00:00Z",
        "2026-05-01T08:00:00,5Z", "2026-05-01T08:00:00.Z", "2026-05-01T08:00:00+0200", "2026-05-01T08:00:00+02",
        "2026-05-01T08:00:00+24:00", "2026-05-01T08:00:00+02:60", "2026-05-01T08:00:00+02:00:30",
        "2026-02-30T08:00:00Z", "2026-13-01T08:00:00Z", "0000-01-01T00:00:00Z", " 2026-05-01T08:00:00Z",
        "2026-05-01T08:00:00Z\n", "1777622400",
    ],
)  # fmt: skip
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(NoMoment, match=r"^is not a moment such as 2026-05-01T08:00:00Z$"):
        read_moment(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("2026-05-01T08:00:00", "has no time zone; append Z for UTC"),
        ("2016-12-31T23:59:60Z", "has a leap second"),
    ],
)
def test_what_is_nearly_a_moment_is_refused_by_its_fault(text: str, why: str) -> None:
    with pytest.raises(NoMoment, match=why):
        read_moment(text)
