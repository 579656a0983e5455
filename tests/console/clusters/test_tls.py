"""A cluster elsewhere is reached with TLS: given, tried, stored, shown without its key, and used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import async_to_sync

from broker_core.client import Admin, Session, Unreachable
from broker_core.client.config import ClientConfig
from broker_core.remoting import ClientTls
from console.audit.models import AuditRecord
from console.clusters.models import Cluster
from console.clusters.reasons import reason_of
from console.clusters.services import address_of
from tests.support.cast import Cast
from tests.support.certificates import Authority, Issued
from tests.support.cluster import RunningBroker
from tests.support.tls_broker import authority_in, tls_broker, tls_settings

CLUSTERS = "/api/v1/clusters"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Authority, Issued]:
    return authority_in(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def client_pair(made: tuple[Authority, Issued]) -> dict[str, str]:
    issued = made[0].issue("console")
    return {"certificate": issued.certificate.read_text("ascii").strip(), "key": issued.key.read_text("ascii").strip()}


@pytest.fixture(scope="module")
def enforcing(made: tuple[Authority, Issued], tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    authority, issued = made
    needs = {"tls.server.need.client.auth": "require", "tls.server.trustCertPath": str(authority.certificate)}
    settings = tls_settings(issued, "enforcing", **needs)
    with tls_broker(tmp_path_factory.mktemp("enforcing"), settings, None) as running:
        yield running


@pytest.fixture
def whole(made: tuple[Authority, Issued], client_pair: dict[str, str]) -> dict[str, Any]:
    """What is needed to connect."""
    return {"authorities": made[0].certificate.read_text("ascii").strip(), **client_pair}


def findings(cast: Cast, running: RunningBroker, tls: Any, **more: Any) -> tuple[str, str | None]:
    body = {"name_servers": [running.name_server], "tls": tls, **more}
    report = cast.browser("admin").post(f"{CLUSTERS}:probe", body, format="json").json()
    step = report["steps"][0]
    return step["state"], step["findings"][0]["finding"]


async def connected(cluster: Cluster) -> int:
    address = address_of(cluster)
    async with Session(ClientConfig(address.name_servers, tls=address.tls)) as session:
        return len(await Admin(session).clusters.brokers())


def test_the_try_names_what_is_wrong_with_tls(cast: Cast, enforcing: RunningBroker, whole: dict[str, Any]) -> None:
    peer = f"name server {enforcing.name_server}"
    assert findings(cast, enforcing, whole) == ("passed", "lists 1 broker")
    assert findings(cast, enforcing, None) == ("failed", f"{peer} accepts connections with TLS only")
    only_trusting = {"authorities": whole["authorities"]}
    assert findings(cast, enforcing, only_trusting) == ("failed", f"{peer} requires a client certificate")
    state, reason = findings(cast, enforcing, {**whole, "authorities": ""})
    assert state == "failed"
    assert reason is not None
    assert reason.startswith(f"{peer} has a certificate that is not trusted")


def test_a_plain_cluster_does_not_seem_to_speak_tls(cast: Cast, shared_broker: RunningBroker) -> None:
    state, reason = findings(cast, shared_broker, {})
    assert (state, reason) == ("failed", f"name server {shared_broker.name_server} does not seem to speak TLS")


def test_a_cluster_is_reached_with_what_was_given_and_its_key_is_never_shown(
    cast: Cast, enforcing: RunningBroker, whole: dict[str, Any]
) -> None:
    name = f"c{uuid4().hex[:8]}"
    browser = cast.browser("admin")
    body = {"name": name, "name_servers": [enforcing.name_server], "tls": whole}
    created = browser.post(CLUSTERS, body, format="json")
    assert created.status_code == 201, created.content
    shown = {"authorities": whole["authorities"], "certificate": whole["certificate"], "has_key": True}
    assert created.json()["tls"] == {**shown, "check_host": True}
    secret = whole["key"].splitlines()[1]
    for page in (created, browser.get(f"{CLUSTERS}/{name}"), browser.get(CLUSTERS), browser.get("/api/v1/audit")):
        assert secret not in page.content.decode()
    stored = Cluster.objects.get(name=name)
    assert async_to_sync(connected)(stored) == 1
    after: Any = AuditRecord.objects.filter(action="cluster.create").latest("pk").after
    assert after["tls"]["has_key"] is True

    # Without the key the stored one stays, also for a try
    change = {"tls": {key: text for key, text in whole.items() if key != "key"} | {"check_host": False}}
    changed = browser.patch(f"{CLUSTERS}/{name}", change, format="json", headers={"If-Match": created.json()["etag"]})
    assert changed.status_code == 200, changed.content
    assert changed.json()["tls"] == {**shown, "check_host": False}
    assert async_to_sync(connected)(Cluster.objects.get(name=name)) == 1
    assert findings(cast, enforcing, change["tls"], cluster=name) == ("passed", "lists 1 broker")

    off = browser.patch(
        f"{CLUSTERS}/{name}", {"tls": None}, format="json", headers={"If-Match": changed.json()["etag"]}
    )
    assert off.json()["tls"] is None
    with pytest.raises(Unreachable) as refused:
        async_to_sync(connected)(Cluster.objects.get(name=name))
    assert "TLS only" in reason_of(refused.value)


NO_CERTIFICATE, NO_KEY = "no certificate in PEM form", "no private key in PEM form"
MISSING = "there is no key for this certificate"
BROKEN = "-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n"


def refused(cast: Cast, path: str, tls: dict[str, str], **more: str) -> dict[str, str]:
    """Return what is said of each box."""
    body = {"name_servers": ["127.0.0.1:1"], "tls": tls, **more}
    answer = cast.browser("admin").post(path, body, format="json")
    assert answer.status_code == 422, answer.content
    return {each["pointer"]: each["detail"] for each in answer.json()["errors"]}


@pytest.mark.parametrize("path", [CLUSTERS, f"{CLUSTERS}:probe"])
def test_texts_that_cannot_be_used_are_refused_each_in_its_box(
    cast: Cast, made: tuple[Authority, Issued], client_pair: dict[str, str], path: str
) -> None:
    own, other = client_pair, made[1].key.read_text("ascii")
    name = {"name": "never"} if path == CLUSTERS else {}
    for tls, faults in (
        ({"authorities": "nonsense"}, {"authorities": NO_CERTIFICATE}),
        ({"certificate": "nonsense", "key": "nonsense"}, {"certificate": NO_CERTIFICATE, "key": NO_KEY}),
        ({"authorities": "nonsense", **own, "key": ""}, {"authorities": NO_CERTIFICATE, "key": MISSING}),
        ({"certificate": own["certificate"]}, {"key": MISSING}),
        ({"key": own["key"]}, {"certificate": "there is no certificate for this key"}),
        ({**own, "key": other}, {"key": "the key does not belong to the certificate"}),
        ({**own, "key": own["certificate"]}, {"key": NO_KEY}),
    ):  # fmt: skip
        assert refused(cast, path, tls, **name) == {f"#/tls/{field}": text for field, text in faults.items()}


def test_a_text_that_only_looks_like_a_certificate_or_a_key_is_refused_too(
    cast: Cast, client_pair: dict[str, str]
) -> None:
    for field in ("authorities", "certificate"):
        ((pointer, detail),) = refused(cast, CLUSTERS, {field: BROKEN}, name="never").items()
        assert (pointer, detail.startswith("cannot be read: [")) == (f"#/tls/{field}", True), detail
    key = BROKEN.replace("CERTIFICATE", "PRIVATE KEY")
    ((pointer, detail),) = refused(cast, CLUSTERS, {**client_pair, "key": key}, name="never").items()
    assert (pointer, detail.startswith("cannot be read: [")) == ("#/tls/key", True), detail


def test_a_key_with_a_password_is_refused(cast: Cast, made: tuple[Authority, Issued]) -> None:
    issued = made[0].issue("locked", password="open sesame")
    tls = {"certificate": issued.certificate.read_text("ascii"), "key": issued.key.read_text("ascii")}
    assert refused(cast, CLUSTERS, tls, name="never") == {
        "#/tls/key": "the key is encrypted, and its password is missing"
    }


def test_a_key_is_not_part_of_what_is_printed() -> None:
    assert "SECRET" not in repr(address_of(Cluster(name="x", name_servers=["a:1"], tls={"key": "SECRET"})).tls)
    assert isinstance(address_of(Cluster(name="x", name_servers=["a:1"], tls={})).tls, ClientTls)
