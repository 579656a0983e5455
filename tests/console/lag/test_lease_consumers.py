"""Requirements of `console.lag.lease_consumers`: the sum of what several gateway processes know."""

from __future__ import annotations

from console.lag.lease_consumers import STALE_MS, added, field_of
from console.lag.shapes import LeaseConsumerState

NOW = 1_790_000_000_000


def consumer(caller: str, in_flight: int, since: str, last: str, address: str = "10.0.0.7") -> LeaseConsumerState:
    return LeaseConsumerState(
        caller=caller,
        user="ann",
        kind="token",
        address=address,
        since=since,
        in_flight=in_flight,
        last_receive_at=last,
    )


def test_a_caller_that_two_processes_see_is_one_consumer() -> None:
    fields = {
        b"p1": field_of(
            NOW - 900, {"billing": [consumer("ci", 3, "2026-05-01T08:00:05.000Z", "2026-05-01T08:01:00.000Z")]}
        ),
        b"p2": field_of(NOW, {"billing": [consumer("ci", 4, "2026-05-01T08:00:01.000Z", "2026-05-01T08:00:50.000Z")]}),
    }
    found = added(fields, NOW)
    assert found == {"billing": [consumer("ci", 7, "2026-05-01T08:00:01.000Z", "2026-05-01T08:01:00.000Z")]}


def test_callers_addresses_and_groups_are_told_apart() -> None:
    one, other = consumer("ci", 1, "a", "b"), consumer("ci", 1, "a", "b", "10.0.0.8")
    fields = {b"p1": field_of(NOW, {"billing": [one, other], "ship": [one]})}
    assert added(fields, NOW) == {"billing": [one, other], "ship": [one]}


def test_a_process_that_is_no_more_counts_for_half_a_minute() -> None:
    field = field_of(NOW, {"billing": [consumer("ci", 1, "a", "b")]})
    assert added({b"p1": field}, NOW + STALE_MS)
    assert added({b"p1": field}, NOW + STALE_MS + 1) == {}


def test_what_a_process_of_another_version_wrote_hides_no_other() -> None:
    ours = field_of(NOW, {"billing": [consumer("ci", 1, "a", "b")]})
    for theirs in (b'{"at": "then", "groups": {}}', b"\x80", b'{"at": 1790000000000, "groups": {"ship": [{}]}}'):
        assert list(added({b"p1": theirs, b"p2": ours}, NOW)) == ["billing"]
