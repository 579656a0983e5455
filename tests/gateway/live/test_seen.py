"""Requirements of `gateway.live.seen`: a list is filtered once for all callers of equal rights."""

from __future__ import annotations

import asyncio

import pytest
import redis.asyncio

from console.accounts.deciding import rights_of
from console.accounts.rights import Kind
from console.accounts.rules import RoleRules, Rule
from console.lag.limited import Sight
from console.lag.shapes import GroupState, TopicState
from gateway.live.latest import Latest
from gateway.live.seen import SeenLists
from tests.console.lag.figures import AT
from tests.gateway.live.conftest import PublishCluster

pytestmark = pytest.mark.in_process


def reader_of(kind: Kind, pattern: str) -> RoleRules:
    """A role that may read such names."""
    return RoleRules("own", (Rule(kind, pattern, allow=("read",), refuse=()),))


async def test_a_row_is_filtered_once_for_all_that_may_read_the_same(
    publish_cluster: PublishCluster, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    filtered: list[str] = []
    topics_of = Sight.topics

    def counted(self: Sight, topics: list[TopicState], groups: list[GroupState]) -> list[TopicState]:
        filtered.extend(topic.name for topic in topics)
        return topics_of(self, topics, groups)

    monkeypatch.setattr(Sight, "topics", counted)
    await publish_cluster("seen", topics=[TopicState(name=f"t{n}", measured_at=AT, messages=n) for n in range(3)])
    one, other = (rights_of("", [reader_of("topic", pattern)]) for pattern in ("t*", "t1"))
    async with redis.asyncio.Redis.from_url(redis_url) as store:
        lists = SeenLists(Latest(store))
        found = await asyncio.gather(*(lists.of("topics:seen", one) for _ in range(1000)))
        rows = [[row.name for row in seen.items(("t0", "t1"))] for seen in found if seen is not None]
        assert rows == [["t0", "t1"]] * 1000
        assert filtered == ["t0", "t1"], "each row that is shown, once"
        limited = await lists.of("topics:seen", other)
        assert limited is not None
        assert [row.name for row in limited.items(None)] == ["t1"]
        assert limited.changes(None) is None, "nobody of these rights looked before"
        await publish_cluster("seen", topics=[TopicState(name=f"t{n}", measured_at=AT, messages=9) for n in range(3)])
        after = await lists.of("topics:seen", other)
        assert after is not None
        changes = after.changes(None)
        assert changes is not None
        assert [row.name for row in changes.changed] == ["t1"]
