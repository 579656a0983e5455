"""The unmodified Java clients 4.9.8 and 5.3.3 with ``tls.enable=true``, and ours at Apache RocketMQ's own broker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from broker_core.client import ClientConfig, ClientTls, Message, Producer, Session
from tests.compat.driver import SMALL_JVM, Driver, JavaError, started_driver
from tests.compat.java_build import CLIENT, CLIENT5, JavaProject
from tests.compat.sending import numbers_of, send_numbers
from tests.compat.servers import PLAIN, Server
from tests.support.certificates import Authority, Issued
from tests.support.cluster import RunningBroker, create_topic
from tests.support.tls_broker import authority_in, tls_broker, tls_settings
from tests.support.wait import wait_until

pytestmark = pytest.mark.compat

SETTINGS = PLAIN


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Authority, Issued]:
    return authority_in(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def enforcing(made: tuple[Authority, Issued], tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """Serves only clients with a certificate."""
    authority, issued = made
    needs = {"tls.server.need.client.auth": "require", "tls.server.trustCertPath": str(authority.certificate)}
    settings = tls_settings(issued, "enforcing", **needs)
    with tls_broker(tmp_path_factory.mktemp("enforcing"), settings, None) as running:
        yield running


@pytest.fixture(scope="module", params=[CLIENT, CLIENT5], ids=["4.9.8", "5.3.3"])
def jvm(
    request: pytest.FixtureRequest,
    made: tuple[Authority, Issued],
    _java_build: None,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Driver]:
    """Trusts the authority, and has a certificate of it, by RocketMQ's own settings."""
    project: JavaProject = request.param
    project.build()
    authority, _ = made
    client = authority.issue("java-client")
    settings = {
        "tls.enable": "true",
        "tls.test.mode.enable": "false",
        "tls.client.authServer": "true",
        "tls.client.trustCertPath": authority.certificate,
        "tls.client.certPath": client.certificate,
        "tls.client.keyPath": client.key,
    }
    options = (*SMALL_JVM, *(f"-D{name}={text}" for name, text in settings.items()))
    with started_driver(tmp_path_factory.mktemp("jvm"), project=project, options=options) as driver:
        yield driver


def test_java_clients_and_tools_work_with_tls(jvm: Driver, enforcing: RunningBroker) -> None:
    topic = f"java-{jvm.process.pid}"
    producer = jvm.producer(enforcing.name_server)
    send_numbers(producer, topic, range(20))
    consumer = jvm.push_consumer(enforcing.name_server, f"{topic}-group", {topic: "*"})
    wait_until(lambda: len(consumer.received) >= 20)
    assert sorted(numbers_of(consumer.received)) == list(range(20))
    assert "broker-a" in jvm.mqadmin("clusterList", "-n", enforcing.name_server)
    assert "tls.server.mode" in jvm.mqadmin("getBrokerConfig", "-n", enforcing.name_server, "-b", enforcing.address)
    jvm.shutdown_clients()


def test_a_java_client_in_plaintext_is_served_by_a_permissive_broker_alone(
    driver: Driver, made: tuple[Authority, Issued], enforcing: RunningBroker, tmp_path: Path
) -> None:
    with tls_broker(tmp_path / "data", tls_settings(made[1], "permissive"), None) as permissive:
        send_numbers(driver.producer(permissive.name_server), "plain", range(5))
    with pytest.raises(JavaError):
        driver.producer(enforcing.name_server).call("fetchPublishMessageQueues", "plain")


@pytest.mark.sample
@pytest.mark.parametrize("server", ["apache"], indirect=True)
async def test_our_client_connects_with_tls_to_apache(server: Server) -> None:
    """Its default mode is permissive, with a certificate that it makes itself."""
    config = ClientConfig(server.name_server.split(";"), tls=ClientTls(checks_certificate=False))
    async with Session(config) as session:
        await create_topic(session, "over-tls")
        producer = await Producer(session).start()
        assert (await producer.send(Message.create("over-tls", b"x"))).message_id
        await producer.close()
