"""A client with an account: all that it does is signed, and a refusal says what is lacking."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from broker_core.client import (
    AccessDenied,
    Admin,
    ClientConfig,
    Credentials,
    Decision,
    LeaseConsumer,
    Message,
    Producer,
    PullConsumer,
    PushConfig,
    PushConsumer,
    Session,
    StoredMessage,
    TransactionProducer,
)
from tests.support.cluster import RunningBroker, create_topic, started_broker
from tests.support.wait import eventually

ADMIN = Credentials("administrator", "secret-of-admin")
WORKER = Credentials("worker-account", "secret-of-worker", "a token of a service")
ACCOUNTS = """\
accounts:
- {accessKey: administrator, secretKey: secret-of-admin, admin: true}
- {accessKey: worker-account, secretKey: secret-of-worker, topicPerms: [orders=PUB|SUB], groupPerms: [billing=SUB]}
"""


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    data = tmp_path_factory.mktemp("guarded")
    config = data / "broker" / "config"
    config.mkdir(parents=True)
    (config / "plain_acl.yml").write_text(ACCOUNTS)
    checks = {"transactionTimeOut": "50", "transactionCheckInterval": "200"}
    with started_broker(data, settings={"aclEnable": "true", **checks}) as running:
        yield running


def session_of(running: RunningBroker, credentials: Credentials | None) -> Session:
    return Session(ClientConfig([running.name_server], credentials=credentials))


@pytest.fixture
async def worker(guarded: RunningBroker) -> AsyncIterator[Session]:
    """A session with a right for the topic orders and the group billing."""
    async with session_of(guarded, ADMIN) as admin:
        await create_topic(admin, "orders", queues=1)
    async with session_of(guarded, WORKER) as session:
        yield session


async def test_all_roles_of_a_client_sign(worker: Session) -> None:
    seen: list[bytes] = []

    async def handle(message: StoredMessage) -> None:
        seen.append(message.body)
        if message.body == b"fails" and message.reconsume_times == 0:
            raise ValueError("once")

    async def check(_: StoredMessage) -> Decision:
        return Decision.COMMIT

    async with (
        PushConsumer(worker, "billing", handle, PushConfig(start_from="first")) as consumer,
        Producer(worker, "producers") as producer,
        TransactionProducer(worker, "payers", check) as payer,
    ):
        consumer.subscribe("orders")
        await producer.send(Message.create("orders", b"one"))
        await producer.send_batch("orders", [Message.create("orders", b"two"), Message.create("orders", b"three")])
        await payer.send(Message.create("orders", b"paid"), lambda _: Decision.COMMIT)
        await payer.send(Message.create("orders", b"asked for"), lambda _: Decision.UNKNOWN)
        await producer.send(Message.create("orders", b"fails"))
        await eventually(lambda: {b"one", b"two", b"three", b"paid", b"asked for"} <= set(seen))
        await eventually(lambda: seen.count(b"fails") == 2)


async def test_leases_and_reading_are_signed(worker: Session) -> None:
    async with Producer(worker, "producers") as producer:
        await producer.send(Message.create("orders", b"leased"))
    received = await LeaseConsumer(worker, "billing").receive("orders", wait_ms=5_000)
    assert received.messages
    for leased in received.messages:
        await LeaseConsumer(worker, "billing").ack(leased.receipt)
    reader = PullConsumer(worker, "billing")
    (queue,) = await reader.queues("orders")
    assert (await reader.pull(queue, 0)).messages


@pytest.mark.parametrize(
    ("credentials", "reason"),
    [
        (None, "it requires an access key"),
        (Credentials("nobody-here", "a-secret-key"), "it knows no account nobody-here"),
        (Credentials("worker-account", "wrong-secret"), "the secret key of account worker-account is wrong"),
    ],
)
async def test_without_the_right_account(
    guarded: RunningBroker, worker: Session, credentials: Credentials | None, reason: str
) -> None:
    async with session_of(guarded, credentials) as session, Producer(session, "producers") as producer:
        with pytest.raises(AccessDenied) as refused:
            await producer.send(Message.create("orders", b"x"))
    assert refused.value.reason == reason


async def test_what_the_account_may_not_do(worker: Session) -> None:
    answers = await Admin(worker).topics.create("mine")
    (error,) = answers.failed.values()
    assert isinstance(error, AccessDenied)
    assert error.reason == "account worker-account is not an administrator, which request 17 requires"
    with pytest.raises(AccessDenied, match="group:others"):
        await LeaseConsumer(worker, "others").receive("orders")
