"""A message of a transaction is seen when its producer commits it, and brokers ask about what they were not told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from broker_core.client import Decision, Message, StoredMessage, TransactionProducer
from broker_core.client.errors import BrokerRefused, GroupTaken, MessageRefused, TransactionDecided, TransactionUnknown
from broker_core.protocol.message import LogOffset, QueueOffset
from tests.broker_core.client.conftest import Live
from tests.support.wait import eventually


class Application:
    """Knows how its transactions ended, by key; a key that it does not know is unknown."""

    def __init__(self) -> None:
        self.ended: dict[str, Decision] = {}
        self.asked: list[bytes] = []
        self.fails = False

    async def check(self, asked: StoredMessage) -> Decision:
        self.asked.append(asked.body)
        if self.fails:
            raise ValueError("the database is away")
        return self.ended.get(asked.body.decode(), Decision.UNKNOWN)


@pytest.fixture
def application() -> Application:
    return Application()


@pytest.fixture
async def payer(live: Live, application: Application) -> AsyncIterator[TransactionProducer]:
    async with TransactionProducer(live.session, live.group(), application.check) as payer:
        yield payer


@pytest.fixture
async def quick_checks(live: Live) -> AsyncIterator[None]:
    """Brokers ask soon and often."""
    address = live.running.address
    await live.admin.maintenance.change_settings_of(
        address, {"transactionTimeOut": "50", "transactionCheckInterval": "200"}
    )
    yield
    await live.admin.maintenance.change_settings_of(
        address, {"transactionTimeOut": "6000", "transactionCheckInterval": "60000"}
    )


async def test_a_message_is_seen_when_the_work_between_the_phases_commits_it(
    live: Live, payer: TransactionProducer
) -> None:
    topic = await live.topic()
    seen_before: list[bool] = []

    async def pay(message: Message) -> Decision:
        seen_before.append(await live.holds(topic, 1))
        return Decision.COMMIT if message.body == b"paid" else Decision.ROLLBACK

    committed = await payer.send(Message.create(topic, b"paid"), pay)
    refused = await payer.send(Message.create(topic, b"refused"), lambda _: Decision.ROLLBACK)

    assert (committed.decision, refused.decision, seen_before) == (Decision.COMMIT, Decision.ROLLBACK, [False])
    assert await live.holds(topic, 1)


async def test_a_decision_is_told_again_without_harm_and_never_changed(live: Live, payer: TransactionProducer) -> None:
    topic = await live.topic()
    _, prepared = await payer.prepare(Message.create(topic, b"1"))
    for _ in range(2):
        await payer.end(prepared, Decision.COMMIT)
    with pytest.raises(BrokerRefused, match="was committed before"):
        await payer.end(prepared, Decision.ROLLBACK)
    with pytest.raises(BrokerRefused, match="offset wrong"):
        await payer.end(prepared._replace(queue_offset=QueueOffset(1 << 40)), Decision.COMMIT)
    assert await live.holds(topic, 1)


@pytest.mark.usefixtures("quick_checks")
async def test_what_the_broker_was_not_told_it_asks_until_the_application_knows(
    live: Live, payer: TransactionProducer, application: Application
) -> None:
    topic = await live.topic()

    def dies(_: Message) -> Decision:
        raise RuntimeError("out of memory")

    with pytest.raises(RuntimeError):
        await payer.send(Message.create(topic, b"died"), dies)
    await payer.send(Message.create(topic, b"unknown"), lambda _: Decision.UNKNOWN)
    application.fails = True
    await eventually(lambda: {b"died", b"unknown"} <= set(application.asked))
    application.fails = False
    application.ended = {"died": Decision.COMMIT, "unknown": Decision.ROLLBACK}

    await eventually(lambda: live.holds(topic, 1))


@pytest.mark.usefixtures("quick_checks")
@pytest.mark.parametrize("told", [None, True, "commit", 99, 8])
async def test_what_is_no_decision_decides_nothing_and_is_told(
    live: Live, payer: TransactionProducer, application: Application, caplog: pytest.LogCaptureFixture, told: Any
) -> None:
    topic = await live.topic()
    with pytest.raises(TypeError, match="work must return a Decision, not"):
        await payer.send(Message.create(topic, b"a"), lambda _: told)
    application.ended["a"] = told
    await eventually(lambda: application.asked.count(b"a") >= 2)
    assert "check must return a Decision, not" in caplog.text
    application.ended["a"] = Decision.COMMIT
    await eventually(lambda: live.holds(topic, 1))


@pytest.mark.usefixtures("quick_checks")
async def test_another_member_of_the_group_answers_for_one_that_is_gone(live: Live, application: Application) -> None:
    topic, group = await live.topic(), live.group()
    async with TransactionProducer(live.session, group, application.check) as first:
        await first.prepare(Message.create(topic, b"1"))
    application.ended["1"] = Decision.COMMIT
    async with live.running.session() as session, TransactionProducer(session, group, application.check):
        await eventually(lambda: live.holds(topic, 1))


async def test_a_member_that_sent_nothing_joins_every_broker_and_leaves_it(
    live: Live, application: Application
) -> None:
    group = live.group()

    async def is_member() -> bool:
        found = (await live.admin.transactions.producer_groups()).found
        return any(group in groups for groups in found.values())

    async with live.running.session() as session:
        async with TransactionProducer(session, group, application.check):
            await eventually(is_member)
        assert not await is_member()


async def test_a_session_has_one_transactional_producer_of_a_group(live: Live, payer: TransactionProducer) -> None:
    with pytest.raises(GroupTaken):
        await TransactionProducer(live.session, payer.group, lambda _: Decision.UNKNOWN).start()


@pytest.mark.parametrize("pairs", [{"DELAY": "3"}, {"TIMER_DELAY_SEC": "3"}])
async def test_a_delay_is_refused_before_anything_is_sent(
    live: Live, payer: TransactionProducer, pairs: dict[str, str]
) -> None:
    with pytest.raises(MessageRefused, match="takes no delay"):
        await payer.prepare(Message(await live.topic(), b"x", pairs))


async def test_many_transactions_at_once(live: Live, payer: TransactionProducer) -> None:
    topic = await live.topic()

    async def one(number: int) -> None:
        decision = Decision.COMMIT if number % 3 else Decision.ROLLBACK
        await payer.send(Message.create(topic, b"%d" % number), lambda _: decision)

    await asyncio.gather(*(one(number) for number in range(300)))
    assert await live.holds(topic, 200)


async def test_a_refused_decision_says_what_is_wrong(live: Live, payer: TransactionProducer) -> None:
    topic = await live.topic()
    _, prepared = await payer.prepare(Message(topic, b"A17"))
    await payer.end(prepared, Decision.ROLLBACK)
    with pytest.raises(TransactionDecided) as decided:
        await payer.end(prepared, Decision.COMMIT)
    assert decided.value.decision == "rolled back"
    for elsewhere in (prepared._replace(log_offset=LogOffset(1)), prepared._replace(queue_offset=QueueOffset(1 << 40))):
        with pytest.raises(TransactionUnknown):
            await payer.end(elsewhere, Decision.COMMIT)
