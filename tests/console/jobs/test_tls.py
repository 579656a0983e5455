"""Jobs of clusters with TLS: accepted, and their programs are told how to connect."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pytest_django import Settings

from broker_core.client.blocking import BlockingSession
from broker_core.client.config import ClientConfig
from broker_core.protocol.message import Message
from broker_core.redrive.request import Place
from broker_core.spark.programs.requests import SourcePlace
from console.audit.record import Actor
from console.clusters.models import Cluster
from console.clusters.tls import client_tls
from console.jobs import launcher, services
from console.jobs.models import JobState
from console.jobs.requests import program_request
from console.jobs.requests.topics import check_cluster
from tests.support.certificates import PASSWORD, Authority, Issued
from tests.support.cluster import RunningBroker
from tests.support.replays import fill_topic, make_topic, read_topic
from tests.support.tls_broker import authority_in, tls_broker, tls_settings

ANN = Actor("ann")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Authority, Issued]:
    return authority_in(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def enforcing(made: tuple[Authority, Issued], tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """A broker that takes TLS with a client certificate only."""
    authority, issued = made
    needs = {"tls.server.need.client.auth": "require", "tls.server.trustCertPath": str(authority.certificate)}
    settings = tls_settings(issued, "enforcing", **needs)
    with tls_broker(tmp_path_factory.mktemp("broker"), settings, authority.client(authority.issue("jobs"))) as running:
        yield running


@pytest.fixture
def cluster(made: tuple[Authority, Issued], enforcing: RunningBroker) -> Cluster:
    """The cluster of that broker, as the console has it."""
    issued = made[0].issue("console")
    tls = {
        "authorities": made[0].certificate.read_text("ascii"),
        "certificate": issued.certificate.read_text("ascii"),
        "key": issued.key.read_text("ascii"),
        "check_host": True,
    }
    return Cluster.objects.create(name="secured", name_servers=[enforcing.name_server], tls=tls)


def redrive(cluster: str) -> dict[str, Any]:
    """Return a request of a job."""
    target = {"to": "origin"}
    shared = {"type": "redrive", "cluster": cluster, "originals": "kept"}
    return {**shared, "group": "g", "target": target, "topics": ["orders"]}


def test_a_job_of_a_cluster_with_tls_is_accepted_and_done(cluster: Cluster, enforcing: RunningBroker) -> None:
    check_cluster(cluster.name)
    with BlockingSession(ClientConfig([enforcing.name_server], tls=enforcing.tls)) as session:
        make_topic(session, "orders")
        make_topic(session, "%DLQ%g", queues=1)
        fill_topic(session, "%DLQ%g", [Message("", b"late", {"RETRY_TOPIC": "orders"})])

        job = services.create(ANN, redrive(cluster.name))
        launcher.run(job.id, worker="w")

        job.refresh_from_db()
        assert job.state == JobState.SUCCEEDED, job.state_reason
        assert [message.body for queue in read_topic(session, "orders").values() for message in queue] == [b"late"]


def test_programs_in_spark_and_outside_are_told_the_same_tls(cluster: Cluster) -> None:
    source = program_request(services.create(ANN, redrive(cluster.name)))["source"]

    wanted = client_tls(cluster.tls)
    assert wanted is not None
    assert msgspec.convert(source, SourcePlace).tls == msgspec.convert(source, Place).tls == wanted


def test_tls_of_the_own_brokers_is_told_as_the_content_of_its_files(
    made: tuple[Authority, Issued], settings: Settings, place: Path
) -> None:
    issued = made[0].issue("own", password=PASSWORD)
    settings.GANTRY_OWN_TLS = own = made[0].client(issued, checks_host=False)

    source = program_request(services.create(ANN, redrive("local")))["source"]

    assert msgspec.convert(source, SourcePlace).tls == own.read()
    assert str(issued.key) not in repr(source)


def test_without_tls_nothing_is_told(place: Path) -> None:
    source = program_request(services.create(ANN, redrive("local")))["source"]
    assert msgspec.convert(source, SourcePlace).tls is None
