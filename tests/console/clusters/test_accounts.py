"""The account of a cluster: stored, used, replaced, and its secret never shown again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from broker_core.client import Credentials
from console.audit.models import AuditRecord
from console.brokers.probe import probe
from console.clusters import services
from console.clusters.models import Cluster
from tests.support.cast import BY, Cast
from tests.support.cluster import RunningBroker, started_broker

SECRET = "secret-of-gantry"


@pytest.fixture
def named() -> str:
    return f"c{uuid4().hex[:8]}"


def stored(name: str) -> Cluster:
    return Cluster.objects.get(name=name)


def shown(cast: Cast, name: str) -> Any:
    rows = cast.browser("admin").get("/api/v1/clusters").json()["items"]
    return next(row for row in rows if row["name"] == name)


def change(cast: Cast, name: str, body: dict[str, Any]) -> Any:
    browser = cast.browser("admin")
    tag = shown(cast, name)["etag"]
    return browser.patch(f"/api/v1/clusters/{name}", body, content_type="application/json", headers={"If-Match": tag})


def test_a_secret_is_stored_and_used_but_never_shown(cast: Cast, named: str) -> None:
    body = {"name": named, "name_servers": ["127.0.0.1:1"], "access_key": "gantry-reader", "secret_key": SECRET}
    answer = cast.browser("admin").post("/api/v1/clusters", body, content_type="application/json")

    assert answer.status_code == 201
    assert answer.json()["access_key"] == "gantry-reader"
    assert services.address_of(stored(named)).credentials == Credentials("gantry-reader", SECRET)
    assert SECRET.encode() not in cast.browser("admin").get("/api/v1/clusters").content + answer.content
    assert SECRET not in str(list(AuditRecord.objects.filter(resource=named).values()))


def test_a_secret_is_replaced_kept_or_removed_with_its_account(cast: Cast, named: str) -> None:
    services.add(BY, name=named, name_servers=["127.0.0.1:1"], access_key="gantry-reader", secret_key=SECRET)

    assert change(cast, named, {"name_servers": ["127.0.0.1:2"]}).status_code == 200
    assert stored(named).secret_key == SECRET
    before = shown(cast, named)["etag"]
    assert change(cast, named, {"secret_key": "another-secret"}).json()["etag"] != before
    assert stored(named).secret_key == "another-secret"
    assert (AuditRecord.objects.filter(resource=named).latest("pk").after or {})["secret_key"] == "replaced"
    refused = change(cast, named, {"access_key": "another-account"})
    assert refused.status_code == 422
    assert "Give the secret key of this access key" in refused.content.decode()
    assert change(cast, named, {"access_key": ""}).json()["access_key"] is None
    assert services.address_of(stored(named)).credentials is None


@pytest.mark.parametrize(
    "half",
    [
        {"access_key": "gantry-reader"},
        {"secret_key": SECRET},
        {"access_key": "short", "secret_key": SECRET},
        {"access_key": "g" * 201, "secret_key": SECRET},
        {"access_key": "gantry\u0001reader", "secret_key": SECRET},
        {"access_key": "gantry reader", "secret_key": SECRET},
        {"access_key": "gantry-😀", "secret_key": SECRET},
    ],
)
def test_half_an_account_is_refused(cast: Cast, named: str, half: dict[str, str]) -> None:
    body = {"name": named, "name_servers": ["127.0.0.1:1"], **half}
    answer = cast.browser("admin").post("/api/v1/clusters", body, content_type="application/json")

    assert answer.status_code == 422
    assert not Cluster.objects.filter(name=named).exists()


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    data: Path = tmp_path_factory.mktemp("guarded")
    (data / "broker" / "config").mkdir(parents=True)
    accounts = f"accounts: [{{accessKey: gantry-reader, secretKey: {SECRET}, admin: true}}]\n"
    (data / "broker" / "config" / "plain_acl.yml").write_text(accounts)
    with started_broker(data, settings={"aclEnable": "true"}) as running:
        yield running


@pytest.mark.parametrize(
    ("account", "says"),
    [
        (None, "refused access: it requires an access key"),
        (Credentials("nobody-here", SECRET), "refused access: it knows no account nobody-here"),
        (
            Credentials("gantry-reader", "wrong-secret"),
            "refused access: the secret key of account gantry-reader is wrong",
        ),
    ],
)
def test_a_connection_that_is_refused_says_what_is_lacking(
    guarded: RunningBroker, account: Credentials | None, says: str
) -> None:
    report = probe([guarded.name_server], {}, account)

    (reach,) = (step for step in report.steps if step.step == "reach")
    assert reach.state == "failed"
    assert says in str(reach.findings[0].finding)
    assert {each.reason for each in report.capabilities} == {reach.findings[0].finding}


def test_a_connection_with_the_account_passes(guarded: RunningBroker) -> None:
    report = probe([guarded.name_server], {}, Credentials("gantry-reader", SECRET))

    assert {step.step: step.state for step in report.steps}["reach"] == "passed"
    assert report.brokers_reachable == 1


def test_a_stored_secret_is_tried_under_its_name_alone(db: None, named: str) -> None:
    services.add(BY, name=named, name_servers=["127.0.0.1:1"], access_key="gantry-reader", secret_key=SECRET)

    assert services.account_to_try(named, "gantry-reader", "") == Credentials("gantry-reader", SECRET)
    assert services.account_to_try(None, "", "") is None
    with pytest.raises(Exception, match="Give the secret key"):
        services.account_to_try(named, "another-account", "")
