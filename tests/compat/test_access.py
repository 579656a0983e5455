"""Access control as the unmodified Java clients see it: signed requests, refusals, and mqadmin with its tools.yml."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from broker_core.client import Admin, ClientConfig, Credentials, Session
from broker_core.client.admin.accounts import Accounts
from broker_core.client.errors import AccountRefused
from broker_core.protocol.bodies.access import PlainAccessConfig
from tests.compat.driver import PRODUCER, PUSH_CONSUMER, SMALL_JVM, Behaviour, Driver, JavaError, PushConsumer
from tests.compat.java_build import CLIENT, CLIENT5, JavaProject
from tests.compat.java_values import JavaMessage, Received, made
from tests.compat.servers import KINDS, Server, started
from tests.support.wait import wait_until

pytestmark = pytest.mark.compat

_ACL = "org.apache.rocketmq.acl.common"
ADMIN = ("administrator", "secret-of-admin")
WORKER = ("worker-account", "secret-of-worker")
ACCOUNTS = """\
accounts:
- accessKey: administrator
  secretKey: secret-of-admin
  admin: true
- accessKey: worker-account
  secretKey: secret-of-worker
  topicPerms:
  - orders=PUB|SUB
  groupPerms:
  - billing=SUB
"""
# Where each server has its accounts, in the folder that the test gives it.
FILES = {"gantry": "broker/config/plain_acl.yml", "apache": "server/conf/plain_acl.yml"}
CHECKS = {"transactionTimeOut": "200", "transactionCheckInterval": "500", "transactionCheckMax": "100"}
SETTINGS = {"aclEnable": "true", "messageDelayLevel": "1s 1s 1s 1s 1s"} | CHECKS
TRANSACTION_PRODUCER = "org.apache.rocketmq.client.producer.TransactionMQProducer"


@pytest.fixture(scope="module", params=sorted(KINDS, reverse=True))
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp(request.param)
    file = folder / FILES[request.param]
    file.parent.mkdir(parents=True)
    file.write_text(ACCOUNTS)
    with started(request.param, folder, SETTINGS) as running:
        yield running


@pytest.fixture(scope="module", params=[CLIENT, CLIENT5], ids=["4.9.8", "5.3.3"])
def tool(
    request: pytest.FixtureRequest, _java_build: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Driver]:
    """A JVM whose mqadmin signs as the administrator."""
    home = tmp_path_factory.mktemp("tool")
    (home / "conf").mkdir()
    (home / "conf" / "tools.yml").write_text(f"accessKey: {ADMIN[0]}\nsecretKey: {ADMIN[1]}\n")
    yield from _driver(request.param, home)


def _driver(project: JavaProject, home: Path) -> Iterator[Driver]:
    project.build()
    driver = Driver(home, project=project, options=(*SMALL_JVM, f"-Drocketmq.home.dir={home}"))
    try:
        yield driver
    finally:
        driver.close()


@pytest.fixture
def java(tool: Driver) -> Iterator[Driver]:
    yield tool
    tool.shutdown_clients()


def hook(access_key: str, secret_key: str) -> dict[str, Any]:
    return made(f"{_ACL}.AclClientRPCHook", made(f"{_ACL}.SessionCredentials", access_key, secret_key))


def producer_of(java: Driver, server: Server, *account: str) -> Any:
    arguments = ("producers", hook(*account)) if account else ("producers",)
    producer = java.client(PRODUCER, server.name_server, *arguments, retryTimesWhenSendFailed=0)
    producer.call("start")
    return producer


def consumer_of(java: Driver, server: Server, account: tuple[str, str], group: str, topic: str) -> PushConsumer:
    settings = {"consumeFromWhere": "CONSUME_FROM_FIRST_OFFSET", "consumerGroup": group}
    consumer = java.client(PUSH_CONSUMER, server.name_server, hook(*account), **settings)
    assert isinstance(consumer, PushConsumer)
    consumer.call("subscribe", topic, "*")
    java.ask("listen", consumer.name, orderly=False)
    java.ask("behave", consumer.name, **Behaviour("later", times=1).__dict__)
    consumer.call("start")
    return consumer


def refusal(java: Driver, server: Server, topic: str, *account: str) -> JavaError:
    with pytest.raises(JavaError) as refused:
        producer_of(java, server, *account).call("send", JavaMessage(topic, b"x"))
    return refused.value


def create(java: Driver, server: Server, topic: str) -> None:
    java.mqadmin("updateTopic", "-n", server.name_server, "-b", server.address, "-t", topic, "-r", "1", "-w", "1")
    producer = producer_of(java, server, *ADMIN)
    wait_until(lambda: bool(producer.call("fetchPublishMessageQueues", topic)))


@pytest.mark.sample
def test_who_may_send_and_consume(java: Driver, server: Server) -> None:
    create(java, server, "orders")
    producer = producer_of(java, server, *WORKER)
    assert producer.call("send", JavaMessage("orders", b"one", keys="k1"))["status"] == "SEND_OK"
    assert (
        producer.call("send", [JavaMessage("orders", b"two"), JavaMessage("orders", b"three")])["status"] == "SEND_OK"
    )

    consumer = consumer_of(java, server, WORKER, "billing", "orders")

    wait_until(lambda: {b"one", b"two", b"three"} <= set(consumer.bodies))
    # It comes again after it failed, by way of the group's retry topic.
    wait_until(lambda: consumer.bodies.count(b"one") >= 2)


@pytest.mark.sample
def test_refusals_have_one_code_and_the_same_words(java: Driver, server: Server) -> None:
    create(java, server, "secrets")
    for account, words in (
        ((), "No accessKey is configured"),
        (("nobody-here", "a-secret-key"), "No acl config for nobody-here"),
        ((WORKER[0], "wrong-secret"), "Check signature failed for accessKey=worker-account"),
        (WORKER, "No default permission for topic:secrets"),
    ):
        refused = refusal(java, server, "secrets", *account)
        assert refused.code == 1
        assert any(f"{_ACL}.AclException: {words}" in cause for cause in refused.causes), refused.causes


def test_a_transaction_producer_is_asked(java: Driver, server: Server) -> None:
    create(java, server, "orders")
    listener = made("gantry.Decider")
    producer = java.client(
        TRANSACTION_PRODUCER,
        server.name_server,
        "payers",
        hook(*WORKER),
        sendMsgTimeout=30_000,
        transactionListener=listener,
    )
    producer.call("start")

    properties = {"execute": "UNKNOW", "check": "COMMIT_MESSAGE"}
    producer.call("sendMessageInTransaction", JavaMessage("orders", b"asked", properties=properties), None)

    consumer = consumer_of(java, server, WORKER, "billing", "orders")
    wait_until(lambda: b"asked" in consumer.bodies)


# The request of 5.3.3 ends without this reply, with Apache's broker as with this one.
@pytest.mark.parametrize("tool", [CLIENT], ids=["4.9.8"], indirect=True)
def test_a_request_is_answered(java: Driver, server: Server) -> None:
    create(java, server, "orders")
    asker, answerer = (producer_of(java, server, *WORKER) for _ in range(2))
    consumer = consumer_of(java, server, WORKER, "billing", "orders")
    question = {"topic": "orders", "body": "cGluZw==", "properties": {}}
    answer = java.later("call", asker.name, method="request", arguments=[question, 60_000])
    wait_until(lambda: b"ping" in consumer.bodies)

    asked = next(each for each in consumer.received if each.body == b"ping")
    known = ("CORRELATION_ID", "REPLY_TO_CLIENT", "TTL")
    properties = {key: asked.properties[key] for key in known} | {"MSG_TYPE": "reply"}
    reply = JavaMessage(f"{asked.properties['CLUSTER']}_REPLY_TOPIC", b"pong", properties=properties)
    assert answerer.call("send", reply)["status"] == "SEND_OK"
    assert Received.of(answer.result(60)).body == b"pong"


@pytest.mark.parametrize("tool", [CLIENT], ids=["4.9.8"], indirect=True)  # the tools of 5.3.3 lost these commands
def test_accounts_are_changed_by_mqadmin(java: Driver, server: Server) -> None:
    create(java, server, "paid")
    broker = ("-n", server.name_server, "-b", server.address)
    account = ("-a", "new-account", "-s", "secret-of-new")

    java.mqadmin("updateAclConfig", *broker, *account, "-t", "paid=PUB,orders=SUB", "-i", "DENY")
    producer = producer_of(java, server, "new-account", "secret-of-new")
    assert producer.call("send", JavaMessage("paid", b"x"))["status"] == "SEND_OK"
    java.mqadmin("updateAclConfig", *broker, *account, "-t", "paid=DENY")
    assert "No default permission for topic:paid" in str(refusal(java, server, "paid", "new-account", "secret-of-new"))

    versions = java.mqadmin("clusterAclConfigVersion", "-n", server.name_server, "-c", "test")
    assert "plain_acl.yml" in versions
    assert "get cluster's plain access config version success" in versions

    java.mqadmin("deleteAclConfig", *broker, "-a", "new-account")
    assert "No acl config for new-account" in str(refusal(java, server, "paid", "new-account", "secret-of-new"))


async def test_accounts_are_changed_by_our_client(server: Server) -> None:
    async with Session(ClientConfig([server.name_server], credentials=Credentials(*ADMIN))) as session:
        accounts = Admin(session).accounts
        paid = PlainAccessConfig("our-account", "secret-of-ours", topic_perms=["paid=PUB", "orders=SUB"])
        assert (await accounts.put(paid)).complete
        assert await rights_of(accounts, "our-account") == ["paid=PUB", "orders=SUB"]

        changed = await accounts.put(replace(paid, topic_perms=["paid=DENY"]))
        assert changed.complete
        assert await rights_of(accounts, "our-account") == ["paid=DENY"]
        (refused,) = (await accounts.put(replace(paid, topic_perms=["paid=READ"]))).failed.values()
        assert isinstance(refused, AccountRefused)
        assert "paid=READ" in str(refused) or "'READ' is not a right" in str(refused)

        assert (await accounts.delete("our-account")).complete
        assert await rights_of(accounts, "our-account") is None
        (refused,) = (await accounts.delete("our-account")).failed.values()
        assert isinstance(refused, AccountRefused)


async def rights_of(accounts: Accounts, key: str) -> list[str] | None:
    """Return the rights for topics that the broker lists of an account; None if it lists no such account."""
    (access,) = (await accounts.all()).raise_if_none().found.values()
    assert access.is_on
    assert len(access.versions) == 1
    assert access.config is not None
    found = {each.access_key: each.topic_perms or [] for each in access.config.plain_access_configs}
    return found.get(key)


# Apache RocketMQ 4.9 keeps such an address until its next start, so that nothing can be tested after it.
@pytest.mark.parametrize("server", ["gantry"], indirect=True)
@pytest.mark.parametrize("tool", [CLIENT], ids=["4.9.8"], indirect=True)
def test_addresses_that_need_no_account_come_and_go(java: Driver, server: Server) -> None:
    create(java, server, "open")
    broker = ("-n", server.name_server, "-b", server.address)
    java.mqadmin("updateGlobalWhiteAddr", *broker, "-g", "127.0.0.*")
    assert producer_of(java, server).call("send", JavaMessage("open", b"x"))["status"] == "SEND_OK"
    java.mqadmin("updateGlobalWhiteAddr", *broker, "-g", "10.11.12.13")
    assert "No accessKey is configured" in str(refusal(java, server, "open"))
