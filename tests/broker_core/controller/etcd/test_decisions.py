"""Decisions in a real etcd of one member."""

from __future__ import annotations

import asyncio

import pytest

from broker_core.controller.decisions import MAX_TEXT_BYTES, Changed, Decisions, Kept, NotLeading, Refused
from broker_core.controller.etcd.config import EtcdConfig
from broker_core.controller.etcd.decisions import EtcdDecisions
from broker_core.controller.etcd.messages import packed
from tests.broker_core.controller.etcd.conftest import Open
from tests.support.etcd import Etcd
from tests.support.wait import eventually

ROUNDS = 25


async def kept(decisions: Decisions, name: str = "b") -> Kept:
    return (await decisions.read())[1][name]


async def test_what_is_put_is_read_by_all(opened: Open) -> None:
    one, other = await opened(), await opened()
    assert (await one.read())[1] == {}
    first = await one.put("b", None, "first")
    assert (await other.read())[1] == {"b": first}
    second = await other.put("b", first, "second €")
    await one.put("%RETRY% a/b", None, "of a name with everything")
    revision, names = await one.read()
    assert {name: each.text for name, each in names.items()} == {
        "b": "second €",
        "%RETRY% a/b": "of a name with everything",
    }
    assert names["b"] == second
    assert revision == one.status.revision


async def test_only_what_was_seen_is_replaced(opened: Open) -> None:
    decisions = await opened()
    first = await decisions.put("b", None, "first")
    second = await decisions.put("b", first, "second")
    for seen in (None, first):
        with pytest.raises(Changed) as told:
            await decisions.put("b", seen, "third")
        assert told.value.now == second
    with pytest.raises(Changed) as told:
        await decisions.put("never written", first, "third")
    assert told.value.now is None


async def test_controllers_that_write_at_once_make_one_chain(opened: Open) -> None:
    texts: list[str] = []
    await asyncio.gather(*[count(await opened(), who, texts) for who in "xyz"])
    numbers = sorted(int(text.split()[0]) for text in texts)
    assert numbers == list(range(1, 3 * ROUNDS + 1))


async def count(decisions: EtcdDecisions, who: str, texts: list[str]) -> None:
    seen: Kept | None = None
    for _ in range(ROUNDS):
        while True:
            text = f"{int(seen.text.split()[0]) + 1 if seen is not None else 1} {who}"
            try:
                seen = await decisions.put("b", seen, text)
            except Changed as changed:
                seen = changed.now
            else:
                texts.append(text)
                break


async def test_a_text_that_is_too_large_is_refused_before_it_is_sent(opened: Open) -> None:
    decisions = await opened()
    await decisions.put("b", None, "x" * MAX_TEXT_BYTES)
    with pytest.raises(Refused, match="has 65,537 bytes"):
        await decisions.put("c", None, "x" * (MAX_TEXT_BYTES + 1))
    assert decisions.is_settled("c")


async def test_a_change_rings_at_all_who_wait(opened: Open) -> None:
    one, other = await opened(), await opened()
    revision, _ = await other.read()
    waiting = asyncio.create_task(other.changes(revision))
    await one.put("b", None, "first")
    assert await waiting == {"b"}
    assert await other.changes(revision) == {"b"}  # whoever asks later is told at once


async def test_one_leads_and_the_next_one_hears_that_it_gave_up(opened: Open) -> None:
    one, other = await opened(), await opened()
    lead = await one.lead("n1")
    assert lead is not None
    assert await one.renew(lead) > 0
    assert await other.lead("n2") is None
    assert other.leader == "n1"
    waiting = asyncio.create_task(other.vacancy())
    await asyncio.sleep(0)
    assert not waiting.done()
    await one.resign(lead)
    await waiting
    second = await other.lead("n2")
    assert second is not None
    with pytest.raises(NotLeading, match="n2 leads"):
        await one.renew(lead)
    await one.resign(lead)  # of what has ended there is nothing to give up


async def test_a_writing_that_names_a_lead_is_done_only_while_it_holds(opened: Open) -> None:
    one, other = await opened(), await opened()
    lead = await one.lead("n1")
    assert lead is not None
    first = await one.put("b", None, "first", lead)
    await one.resign(lead)
    with pytest.raises(NotLeading):
        await one.put("b", first, "second", lead)
    assert await other.lead("n1") is not None  # the same name, and yet another lead
    with pytest.raises(NotLeading):
        await one.put("b", first, "second", lead)
    assert await kept(one) == first
    assert one.is_settled("b")


async def test_a_lead_that_nobody_renews_ends(opened: Open) -> None:
    one, other = await opened(leader_ttl=2), await opened()
    lead = await one.lead("n1")
    assert lead is not None
    assert await other.lead("n2") is None
    await other.vacancy()
    assert await other.lead("n2") is not None
    with pytest.raises(NotLeading):
        await one.renew(lead)


async def test_a_deleted_name_is_gone(opened: Open, member: Etcd, config: EtcdConfig) -> None:
    decisions = await opened()
    await decisions.put("b", None, "first")
    await decisions.put("c", None, "first")
    revision, _ = await decisions.read()
    member.members[0].ask("/v3/kv/deleterange", {"key": packed(f"{config.folder}names/b")})
    assert "b" in await decisions.changes(revision)
    assert set((await decisions.read())[1]) == {"c"}


async def test_the_state_of_the_engine_is_told(opened: Open, member: Etcd) -> None:
    decisions = await opened()
    await decisions.put("b", None, "first")
    await eventually(lambda: decisions.status.alarms is not None)
    status = decisions.status
    assert (status.kind, status.alarms, status.unsettled) == ("etcd", (), ())
    assert status.version is not None
    assert status.version.startswith("3.")
    assert [each.reached for each in status.members] == [True]
    assert status.size_bytes is not None
    assert status.quota_bytes is not None
    assert 0 < status.size_bytes < status.quota_bytes
    assert status.last_decision_ms is not None
