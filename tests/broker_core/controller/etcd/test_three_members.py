"""Decisions go on when an etcd of three members loses one, and their texts stay one chain."""

from __future__ import annotations

import asyncio
import signal
from base64 import b64decode
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from itertools import pairwise

import httpx
import orjson
import pytest

from broker_core.controller.decisions import Changed, Kept, Unsettled
from broker_core.controller.etcd import messages
from broker_core.controller.etcd.config import EtcdConfig
from broker_core.controller.etcd.decisions import EtcdDecisions
from broker_core.controller.leading import Leader
from tests.broker_core.controller.etcd.conftest import running
from tests.support.etcd import Etcd, Member
from tests.support.etcd_links import Links, linked_etcd
from tests.support.wait import eventually, wait_until

MORE = 10
PACE_SECONDS = 0.01


@pytest.fixture(scope="module")
def linked(etcd_is_installed: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Etcd, Links]]:
    """Three members, and the relays between them."""
    with linked_etcd(tmp_path_factory.mktemp("etcd"), 3) as linked:
        yield linked


@pytest.fixture
def whole(linked: tuple[Etcd, Links]) -> Iterator[Etcd]:
    """All members; after the test they are together again."""
    etcd, links = linked
    yield etcd
    links.heal()
    for member in etcd.members:
        member.signal(signal.SIGCONT)
        if member.process is None:
            member.start()
    wait_until(lambda: all(etcd.commits(member) for member in etcd.members))


@pytest.fixture
def config(whole: Etcd, request: pytest.FixtureRequest) -> EtcdConfig:
    """A controller that asks the member that leads first."""
    leader = leader_of(whole).endpoint
    return EtcdConfig((leader, *(each for each in whole.endpoints if each != leader)), request.node.name)


def leader_of(etcd: Etcd) -> Member:
    wait_until(lambda: etcd.leader() is not None)
    leader = etcd.leader()
    assert leader is not None
    return leader


class Controller:
    """One controller that counts up in the state of a name, and leads when it can."""

    def __init__(self, who: str, decisions: EtcdDecisions) -> None:
        self.who = who
        self.decisions = decisions
        self.leader = Leader(decisions, who, decisions.read)
        self.told: list[str] = []

    async def count(self) -> None:
        """Write the next number again and again, whatever the outcome was."""
        seen: Kept | None = None
        attempts = 0
        while True:
            attempts += 1
            await asyncio.sleep(PACE_SECONDS)
            text = f"{number_of(seen.text) + 1 if seen is not None else 1} {self.who} {attempts}"
            try:
                seen = await self.decisions.put("b", seen, text, None)
            except Changed as changed:
                seen = changed.now
            except Unsettled:
                continue
            else:
                self.told.append(text)


def number_of(text: str) -> int:
    return int(text.partition(" ")[0])


@asynccontextmanager
async def controllers(config: EtcdConfig) -> AsyncIterator[tuple[Controller, Controller]]:
    async with running(config) as one, running(config) as other:
        both = Controller("n1", one), Controller("n2", other)
        tasks = [asyncio.create_task(work) for each in both for work in (each.count(), each.leader.run())]
        try:
            await go_on(*both)
            yield both
        finally:
            for task in tasks:
                task.cancel()
            for task in tasks:
                with suppress(asyncio.CancelledError):
                    await task


async def go_on(*both: Controller) -> None:
    """Wait until both decide more, and one of them leads."""
    least = [len(each.told) + MORE for each in both]
    await eventually(lambda: all(len(each.told) > more for each, more in zip(both, least, strict=True)))
    await eventually(lambda: sum(each.leader.is_leading for each in both) == 1)


def check(config: EtcdConfig, etcd: Etcd, both: tuple[Controller, Controller]) -> None:
    """What was written is one chain, with all that was told."""
    texts = list(history(leader_of(etcd), f"{config.folder}names/b"))
    changed = [texts[0], *(text for before, text in pairwise(texts) if text != before)]
    assert [number_of(text) for text in changed] == list(range(1, len(changed) + 1))
    assert {text for each in both for text in each.told} <= set(changed)


def history(member: Member, key: str) -> Iterator[str]:
    """Yield all texts that a key ever had."""
    present = messages.key_values(member.ask(messages.RANGE, dict(messages.one_key(key))))[0].mark.modified
    asked = {"create_request": {"key": messages.packed(key), "start_revision": "1"}}
    with httpx.stream("POST", member.endpoint + messages.WATCH, json=asked, trust_env=False) as told:
        for line in told.iter_lines():
            for event in orjson.loads(line)["result"].get("events", ()):
                yield b64decode(event["kv"]["value"]).decode()
                if int(event["kv"]["mod_revision"]) == present:
                    return


async def test_the_leader_of_etcd_is_killed(whole: Etcd, config: EtcdConfig) -> None:
    async with controllers(config) as both:
        lost = leader_of(whole)
        lost.kill()
        await go_on(*both)
        reached = {each.endpoint: each.reached for each in both[0].decisions.status.members}
        assert reached[lost.endpoint] is False
        lost.start()
        await go_on(*both)
    check(config, whole, both)


async def test_the_leader_of_etcd_is_stopped_for_a_while(whole: Etcd, config: EtcdConfig) -> None:
    async with controllers(config) as both:
        lost = leader_of(whole)
        lost.signal(signal.SIGSTOP)
        await go_on(*both)
        lost.signal(signal.SIGCONT)
        await go_on(*both)
    check(config, whole, both)


async def test_the_leader_of_etcd_is_cut_off_from_the_others(
    whole: Etcd, linked: tuple[Etcd, Links], config: EtcdConfig
) -> None:
    _, links = linked
    async with controllers(config) as both:
        lost = leader_of(whole)
        links.cut_off(lost)
        await eventually(lambda: whole.leader() not in (None, lost))
        await go_on(*both)
        _, other = both
        revision, _ = await other.decisions.read()
        assert await other.decisions.changes(revision) == {"b"}
        links.heal()
        await go_on(*both)
    check(config, whole, both)
