"""Requirements of `console.replicas.behind`: what a replica lacks, in bytes and in time; unknown is never zero."""

from __future__ import annotations

import pytest

from broker_core.client.admin.clusters import BrokerRuntime
from broker_core.protocol.codes import NEWEST_KEY
from console.replicas.behind import Behind, behind_of

NOW = 1_800_000_000_000


def said(end: int | None = None, newest: int | None = None) -> BrokerRuntime:
    figures = {"commitLogMaxOffset": end, NEWEST_KEY: newest}
    return BrokerRuntime({name: str(value) for name, value in figures.items() if value is not None})


@pytest.mark.parametrize(
    ("master", "replica", "behind"),
    [
        (said(900, NOW), said(400, NOW - 70), Behind(500, 70)),
        (said(900, NOW), said(900, NOW - 70), Behind(0, 0)),  # the time of a message that is not in a queue yet
        (said(900, NOW), said(1_000, NOW), Behind(0, 0)),  # asked a moment later
        (said(900), said(400), Behind(500, None)),  # Apache RocketMQ tells no time
        (said(900, NOW), said(0), Behind(900, None)),  # nothing there yet
        (said(900), said(900), Behind(0, 0)),
        (None, said(900, NOW), Behind()),
        (said(900, NOW), None, Behind()),
        (said(), said(900, NOW), Behind()),
    ],
)
def test_bytes_and_time_between_two_logs(
    master: BrokerRuntime | None, replica: BrokerRuntime | None, behind: Behind
) -> None:
    assert behind_of(master, replica) == behind
