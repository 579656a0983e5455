"""Requirements of `console.clusters.services` and `operations`."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest
from asgiref.sync import async_to_sync
from pytest_django import Settings

from broker_core.client.errors import Unreachable
from console.audit.models import AuditRecord
from console.clusters import connections, operations, services
from console.clusters.connections import ClusterAddress
from console.clusters.models import Cluster
from console.errors import Conflict
from console.jobs.models import Job, Schedule
from tests.support.cast import BY
from tests.support.cluster import RunningBroker


@pytest.fixture
def local(db: None, shared_broker: RunningBroker) -> Iterator[str]:
    """The name of a cluster that threads can ask."""

    async def find(name: str) -> ClusterAddress:
        return ClusterAddress(name, (shared_broker.name_server if name == "local" else "127.0.0.1:1",))

    before = connections._process.find_cluster
    connections.use(None)
    connections.look_up_by(find)
    yield "local"
    connections.use(None)
    if before is not None:
        connections.look_up_by(before)


def recorded() -> list[tuple[str, str, str]]:
    return list(AuditRecord.objects.order_by("pk").values_list("action", "resource", "result"))


def test_the_embedded_cluster_is_where_the_settings_say(db: None, settings: Settings) -> None:
    settings.GANTRY_NAME_SERVERS = ["127.0.0.1:19876"]
    services.ensure_embedded()
    services.ensure_embedded()
    assert Cluster.objects.count() == 1
    settings.GANTRY_NAME_SERVERS = ["127.0.0.1:29876"]
    assert services.address_of(Cluster.objects.get()) == ClusterAddress("local", ("127.0.0.1:29876",))


@pytest.mark.django_db(transaction=True)
def test_a_cluster_is_found_by_its_name() -> None:
    services.add(BY, name="prod", name_servers=["a:9876", "b:9876"])
    find = async_to_sync(services.find_address)
    assert find("prod") == ClusterAddress("prod", ("a:9876", "b:9876"))
    assert find("mars") is None


def test_clusters_have_a_limit(db: None) -> None:
    for number in range(services.MAX_CLUSTERS - Cluster.objects.count()):
        services.add(BY, name=f"c{number}", name_servers=["127.0.0.1:1"])
    with pytest.raises(Conflict, match="There are 50 clusters, and more are not allowed"):
        services.add(BY, name="one-more", name_servers=["127.0.0.1:1"])


def test_every_change_of_the_list_is_recorded(db: None) -> None:
    row = services.add(BY, name="prod", name_servers=["a:9876"])
    services.change(BY, row, name_servers=["b:9876"])
    services.remove(BY, row)
    assert [action for action, _, _ in recorded()] == ["cluster.create", "cluster.update", "cluster.delete"]
    change = AuditRecord.objects.get(action="cluster.update")
    assert ((change.before or {})["name_servers"], (change.after or {})["name_servers"]) == (["a:9876"], ["b:9876"])


def test_every_change_inside_a_cluster_is_told_with_what_was_before(local: str) -> None:
    name = f"orders-{uuid4().hex[:8]}"
    operations.create_topic(BY, local, name, {"read_queues": 2, "write_queues": 2})
    operations.change_topic(BY, local, operations.find_topic(local, name), {"write_queues": 3})
    operations.delete_topic(BY, local, operations.find_topic(local, name))
    resource = f"local/topics/{name}"
    assert recorded() == [
        ("topic.create", resource, "ok"),
        ("topic.update", resource, "ok"),
        ("topic.delete", resource, "ok"),
    ]
    change = AuditRecord.objects.get(action="topic.update")
    assert ((change.before or {})["write_queues"], (change.after or {})["write_queues"]) == (2, 3)
    gone = AuditRecord.objects.get(action="topic.delete")
    assert (gone.before or {})["write_queues"] == 3


def test_a_change_that_failed_is_told_as_failed(local: str) -> None:
    with pytest.raises(Unreachable):
        operations.create_topic(BY, "mars", "orders", {})
    assert recorded() == [("topic.create", "mars/topics/orders", "failed")]


def test_a_cluster_that_jobs_need_is_not_removed(db: None) -> None:
    row = services.add(BY, name="prod", name_servers=["a:9876"])
    job = Job.objects.create(type="replay", name="copy", cluster="prod", request={}, request_hash="x", state="running")

    with pytest.raises(Conflict, match=f"Job {job.id} .copy. of cluster 'prod' is running"):
        services.remove(BY, row)
    Job.objects.filter(pk=job.pk).update(state="succeeded")
    plan = Schedule.objects.create(name="nightly", cron="0 3 * * *", job={"cluster": "prod"})
    with pytest.raises(Conflict, match="Schedule 'nightly'"):
        services.remove(BY, row)
    plan.delete()
    services.remove(BY, row)
    assert not Cluster.objects.filter(name="prod").exists()
