"""Requirements of the accounts of brokers: two brokers with access control, one that dies, and a cluster without it."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from broker_core.client.blocking import BlockingSession
from broker_core.client.config import ClientConfig
from broker_core.client.errors import AccessDenied
from broker_core.protocol.signature import Credentials
from tests.gateway.control.conftest import Control
from tests.gateway.installation import ROOT, Installation
from tests.support.cluster import RunningBroker
from tests.support.wait import wait_until

pytestmark = [pytest.mark.gantry_only("it starts brokers of its own"), pytest.mark.usefixtures("documented")]

OWN = Credentials("gantry-itself", "secret-of-gantry")
ACCOUNTS = f"accounts: [{{accessKey: {OWN.access_key}, secretKey: {OWN.secret_key}, admin: true}}]\n"
NAME = "guarded"
_GONE = """
import sys, django
django.setup()
from django.utils import timezone
from console.clusters.models import Cluster, KnownBroker
cluster, now = Cluster.objects.get(name=sys.argv[1]), timezone.now()
KnownBroker.objects.create(cluster=cluster, name="broker-gone", first_seen_at=now, last_seen_at=now)
"""
PATH = f"/api/v1/clusters/{NAME}"
WORKER = {
    "access_key": "depot-service",
    "default_group_permission": "SUB",
    "topic_permissions": {"parcels": "PUB|SUB"},
    "white_address": "10.0.0.{7,9}",
}


def guarded_broker(data: Path, name: str, name_servers: str | None = None) -> RunningBroker:
    config = data / "broker" / "config"
    config.mkdir(parents=True)
    (config / "plain_acl.yml").write_text(ACCOUNTS)
    settings = {"aclEnable": "true"}
    return RunningBroker(data, settings=settings, broker_name=name, name_servers=name_servers, cluster=NAME)


@pytest.fixture(scope="module")
def brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[RunningBroker]]:
    """Two brokers with one account."""
    with ExitStack() as stack:
        first = guarded_broker(tmp_path_factory.mktemp("first"), "broker-a")
        stack.callback(first.stop)
        first.start()
        second = guarded_broker(tmp_path_factory.mktemp("second"), "broker-b", first.name_server)
        stack.callback(second.stop)
        second.start()
        yield [first, second]


@pytest.fixture(scope="module")
def admin(control: Control, brokers: list[RunningBroker]) -> Iterator[httpx.Client]:
    """The admin, with the cluster of the two brokers in the console."""
    client = control.as_("admin")
    body = {
        "name": NAME,
        "name_servers": [brokers[0].name_server],
        "access_key": OWN.access_key,
        "secret_key": OWN.secret_key,
    }
    assert client.post("/api/v1/clusters", json=body).status_code == 201
    wait_until(lambda: len(client.get(f"{PATH}/accounts").json()["brokers"]) == 2)
    yield client
    client.delete(f"/api/v1/clusters/{NAME}", headers={"If-Match": "*"}).raise_for_status()


@pytest.fixture
def worker(admin: httpx.Client) -> Iterator[dict[str, Any]]:
    """An account on both brokers; its answer has its secret."""
    answer = admin.post(f"{PATH}/accounts", json=WORKER)
    assert answer.status_code == 201, answer.text
    yield answer.json()
    admin.delete(f"{PATH}/accounts/depot-service", headers={"If-Match": "*"})


def listed(admin: httpx.Client) -> Any:
    answer = admin.get(f"{PATH}/accounts")
    assert answer.status_code == 200, answer.text
    return answer.json()


def account(admin: httpx.Client, key: str = "depot-service") -> httpx.Response:
    return admin.get(f"{PATH}/accounts/{key}")


def problem(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def patched(admin: httpx.Client, body: dict[str, Any], key: str = "depot-service") -> httpx.Response:
    return admin.patch(f"{PATH}/accounts/{key}", headers={"If-Match": account(admin, key).headers["ETag"]}, json=body)


def may_sign(broker: RunningBroker, secret: str) -> bool:
    """Whether the broker knows the worker's account with this secret."""
    account = Credentials("depot-service", secret)
    with BlockingSession(ClientConfig(broker.name_server.split(";"), credentials=account)) as session:
        try:
            session.run(session.admin.maintenance.settings_of(broker.address))
        except AccessDenied:
            return False
    return True


def test_a_new_account_has_a_secret_that_is_shown_once(
    admin: httpx.Client, brokers: list[RunningBroker], worker: dict[str, Any]
) -> None:
    assert [(each["broker"], each["done"]) for each in worker["brokers"]] == [("broker-a", True), ("broker-b", True)]
    assert all(may_sign(broker, worker["secret_key"]) for broker in brokers)

    shown = account(admin)
    assert worker["secret_key"] not in shown.text
    assert worker["secret_key"] not in admin.get(f"{PATH}/accounts").text
    assert shown.json() == {
        "access_key": "depot-service",
        "is_own": False,
        "admin": False,
        "white_address": "10.0.0.{7,9}",
        "default_topic_permission": "DENY",
        "default_group_permission": "SUB",
        "topic_permissions": {"parcels": "PUB|SUB"},
        "group_permissions": {},
        "missing_on": [],
        "differs_on": [],
        "secret_differs_on": [],
        "unknown_on": [],
        "etag": shown.headers["ETag"],
    }


def test_the_list_has_all_accounts_and_the_versions_of_each_broker(admin: httpx.Client, worker: dict[str, Any]) -> None:
    found = listed(admin)
    assert [(each["access_key"], each["is_own"]) for each in found["items"]] == [
        ("depot-service", False),
        (OWN.access_key, True),
    ]
    assert (found["differ"], found["global_addresses"]["global_white_addresses"]) == (False, [])
    for broker in found["brokers"]:
        (file,) = broker["files"]
        assert (broker["state"], broker["reason"]) == ("on", None)
        assert file["file"].endswith("plain_acl.yml")
        assert file["changes"] >= 1


def test_a_change_keeps_the_secret_and_what_it_leaves_out(
    admin: httpx.Client, brokers: list[RunningBroker], worker: dict[str, Any]
) -> None:
    answer = patched(admin, {"topic_permissions": {}, "group_permissions": {"depot": "SUB"}})
    assert answer.status_code == 200, answer.text
    after = account(admin).json()
    assert (after["topic_permissions"], after["group_permissions"]) == ({}, {"depot": "SUB"})
    assert after["default_group_permission"] == "SUB"
    assert answer.json()["secret_key"] is None
    assert all(may_sign(broker, worker["secret_key"]) for broker in brokers)


def test_a_new_secret_replaces_the_old_one(
    admin: httpx.Client, brokers: list[RunningBroker], worker: dict[str, Any]
) -> None:
    made = patched(admin, {"new_secret": True}).json()["secret_key"]
    assert may_sign(brokers[1], made)
    assert not may_sign(brokers[1], worker["secret_key"])

    assert patched(admin, {"secret_key": "a secret of mine"}).json()["secret_key"] is None
    assert may_sign(brokers[0], "a secret of mine")


def test_a_change_needs_the_version_that_was_read(admin: httpx.Client, worker: dict[str, Any]) -> None:
    path = f"{PATH}/accounts/depot-service"
    assert problem(admin.patch(path, json={"admin": True})) == (428, "PRECONDITION_REQUIRED")
    stale = {"If-Match": '"stale"'}
    assert problem(admin.patch(path, headers=stale, json={"admin": True})) == (412, "PRECONDITION_FAILED")
    assert problem(admin.delete(path, headers=stale)) == (412, "PRECONDITION_FAILED")
    assert account(admin).json()["admin"] is False


def test_an_account_is_not_created_twice_nor_found_when_it_is_gone(admin: httpx.Client, worker: dict[str, Any]) -> None:
    assert problem(admin.post(f"{PATH}/accounts", json=WORKER)) == (409, "ALREADY_EXISTS")
    path = f"{PATH}/accounts/depot-service"
    assert admin.delete(path, headers={"If-Match": worker["etag"]}).status_code == 204
    assert problem(admin.get(path)) == (404, "NOT_FOUND")
    assert problem(admin.delete(path, headers={"If-Match": "*"})) == (404, "NOT_FOUND")


def test_a_creation_sent_again_is_done_once(admin: httpx.Client) -> None:
    key = {"Idempotency-Key": "one-account"}
    first, again = (admin.post(f"{PATH}/accounts", headers=key, json=WORKER) for _ in range(2))
    assert first.status_code == again.status_code == 201
    assert again.headers["idempotency-replayed"] == "true"
    assert again.json()["secret_key"] == first.json()["secret_key"]
    admin.delete(f"{PATH}/accounts/depot-service", headers={"If-Match": "*"}).raise_for_status()


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"access_key": "short"}, "#/access_key"),
        ({"access_key": "two words"}, "#/access_key"),
        ({"secret_key": "short"}, "#/secret_key"),
        ({"secret_key": ""}, "#/secret_key"),
        ({"topic_permissions": {"parcels": "READ"}}, "#/topic_permissions/parcels"),
        ({"topic_permissions": {"a,b": "PUB"}}, "#/topic_permissions/a,b"),
        ({"default_topic_permission": "pub"}, "#/default_topic_permission"),
        ({"white_address": "nowhere"}, "#/white_address"),
        ({"white_address": "10.0.0.300"}, "#/white_address"),
        ({"topic_perms": ["parcels=PUB"]}, "#/topic_perms"),
    ],
)
def test_what_is_no_account_is_named_and_nothing_is_sent(
    admin: httpx.Client, body: dict[str, Any], pointer: str
) -> None:
    answer = admin.post(f"{PATH}/accounts", json={"access_key": "wrong-account", **body})
    assert problem(answer) == (422, "INVALID")
    assert [each["pointer"] for each in answer.json()["errors"]] == [pointer]
    assert account(admin, "wrong-account").status_code == 404


def test_the_account_of_gantry_itself_is_spared(admin: httpx.Client) -> None:
    key = OWN.access_key
    for body in (
        {"admin": False},
        {"new_secret": True},
        {"topic_permissions": {"parcels": "PUB"}},
        {"white_address": "127.0.0.2"},
    ):
        refused = patched(admin, body, key)
        assert problem(refused) == (409, "OWN_ACCOUNT"), body
        assert "Gantry signs its requests to 'guarded' with the account 'gantry-itself'" in refused.json()["detail"]
    refused = admin.delete(f"{PATH}/accounts/{key}", headers={"If-Match": "*"})
    assert problem(refused) == (409, "OWN_ACCOUNT")
    assert patched(admin, {"default_topic_permission": "PUB|SUB"}, key).status_code == 200


def test_addresses_that_need_no_account_are_replaced(admin: httpx.Client) -> None:
    path = f"{PATH}/global-addresses"
    before = admin.get(path)
    wanted = ["10.0.0.{7,9}", "10.1.*.*"]
    answer = admin.put(path, headers={"If-Match": before.headers["ETag"]}, json={"global_white_addresses": wanted})
    assert answer.status_code == 200, answer.text
    assert answer.json()["global_white_addresses"] == ["10.0.0.7", "10.0.0.9", "10.1.*.*"]
    stale = {"If-Match": before.headers["ETag"]}
    assert problem(admin.put(path, headers=stale, json={"global_white_addresses": []})) == (412, "PRECONDITION_FAILED")
    for wrong in ("10.0.0.7,10.0.0.8", "here"):
        refused = admin.put(path, headers={"If-Match": "*"}, json={"global_white_addresses": [wrong]})
        assert problem(refused) == (422, "INVALID")
    emptied = admin.put(path, headers={"If-Match": "*"}, json={"global_white_addresses": []})
    assert emptied.json()["global_white_addresses"] == []
    assert listed(admin)["global_addresses"]["etag"] == emptied.headers["ETag"]


def test_only_administrators_see_accounts(control: Control, admin: httpx.Client) -> None:
    for role in ("operator", "developer", "viewer"):
        for path in ("accounts", "accounts/depot-service", "global-addresses"):
            assert control.as_(role).get(f"{PATH}/{path}").status_code == 403
    assert control.as_("stranger").get(f"{PATH}/accounts").status_code == 401


def test_the_audit_has_each_change_without_secrets(admin: httpx.Client, worker: dict[str, Any]) -> None:
    made = patched(admin, {"admin": True, "new_secret": True}).json()["secret_key"]
    answer = admin.get("/api/v1/audit", params={"resource": f"{NAME}/accounts/depot-service"})
    latest = answer.json()["items"][0]
    assert (latest["action"], latest["result"]) == ("account.update", "ok")
    assert (latest["before"]["admin"], latest["after"]["admin"]) == (False, True)
    assert latest["after"]["secret_key"] == "replaced"
    assert made not in answer.text
    assert worker["secret_key"] not in answer.text


def test_a_cluster_without_access_control_says_how_to_switch_it_on(control: Control) -> None:
    client = control.as_("admin")
    found = control.get("/accounts", role="admin")
    assert (found["items"], found["global_addresses"], found["differ"]) == ([], None, False)
    assert {each["state"] for each in found["brokers"]} == {"off"}
    assert "GANTRY_ACL=on" in found["brokers"][0]["reason"]
    any_version = {"If-Match": "*"}
    addresses: dict[str, list[str]] = {"global_white_addresses": []}
    for answer in (
        client.post(f"{control.path}/accounts", json=WORKER),
        client.get(f"{control.path}/accounts/depot-service"),
        client.patch(f"{control.path}/accounts/depot-service", headers=any_version, json={"admin": True}),
        client.delete(f"{control.path}/accounts/depot-service", headers=any_version),
        client.put(f"{control.path}/global-addresses", headers=any_version, json=addresses),
    ):
        assert problem(answer) == (409, "ACCESS_CONTROL_OFF")
        assert "start Gantry with GANTRY_ACL=on" in answer.json()["detail"]


def test_a_broker_that_refuses_a_change_is_named_and_put_right(
    admin: httpx.Client, brokers: list[RunningBroker], worker: dict[str, Any]
) -> None:
    file = brokers[1].store / "config" / "plain_acl.yml"
    sound = file.read_text()
    file.write_text("accounts: 7\n")
    answer = patched(admin, {"group_permissions": {"depot": "SUB"}})
    assert answer.status_code == 207, answer.text
    made, missed = answer.json()["brokers"]
    assert (made["broker"], made["done"], missed["broker"], missed["done"]) == ("broker-a", True, "broker-b", False)
    assert "line 1: a list is expected here" in missed["reason"]
    assert (listed(admin)["differ"], account(admin).json()["differs_on"]) == (True, ["broker-b"])

    file.write_text(sound)
    assert patched(admin, {}).status_code == 200
    assert (listed(admin)["differ"], account(admin).json()["differs_on"]) == (False, [])


def test_a_secret_that_one_broker_missed_is_told_and_repaired_with_the_same_one(
    admin: httpx.Client, brokers: list[RunningBroker], worker: dict[str, Any]
) -> None:
    file = brokers[1].store / "config" / "plain_acl.yml"
    sound = file.read_text()
    file.write_text("accounts: 7\n")
    missed = patched(admin, {"new_secret": True})
    assert missed.status_code == 207, missed.text
    file.write_text(sound)

    found = account(admin).json()
    assert (found["differs_on"], found["secret_differs_on"]) == (["broker-b"], ["broker-b"])
    assert listed(admin)["differ"] is True
    refused = patched(admin, {})
    assert problem(refused) == (422, "INVALID")
    assert "broker-b has another secret" in refused.json()["detail"]

    made = missed.json()["secret_key"]
    again = {"secret_key": made}
    repaired = admin.patch(f"{PATH}/accounts/depot-service", headers={"If-Match": found["etag"]}, json=again)
    assert (repaired.status_code, repaired.json()["differs_on"]) == (200, [])
    assert all(may_sign(broker, made) for broker in brokers)
    stale = {"If-Match": found["etag"]}
    assert admin.patch(f"{PATH}/accounts/depot-service", headers=stale, json={}).status_code == 412
    assert listed(admin)["differ"] is False


def test_a_broker_that_no_name_server_lists_is_named(
    admin: httpx.Client, installation: Installation, worker: dict[str, Any]
) -> None:
    command = [sys.executable, "-c", _GONE, NAME]
    subprocess.run(command, env=dict(installation.environment), cwd=ROOT, check=True, capture_output=True)
    answer = patched(admin, {"group_permissions": {"depot": "SUB"}})
    assert answer.status_code == 207, answer.text
    assert answer.json()["brokers"][-1] == {
        "broker": "broker-gone",
        "done": False,
        "reason": "broker-gone is not listed by any name server",
    }
    found = listed(admin)
    assert (found["differ"], found["brokers"][-1]["state"]) == (None, "unknown")
    assert {tuple(each["unknown_on"]) for each in [*found["items"], found["global_addresses"]]} == {("broker-gone",)}
    admin.delete(f"{PATH}/brokers/broker-gone").raise_for_status()


def test_a_broker_that_lacks_an_account_gets_it_with_a_secret(
    admin: httpx.Client, brokers: list[RunningBroker], worker: dict[str, Any]
) -> None:
    with BlockingSession(ClientConfig([brokers[0].name_server], credentials=OWN)) as session:
        session.run(session.admin.accounts.delete("depot-service", addresses=[brokers[1].address]))
    assert account(admin).json()["missing_on"] == ["broker-b"]
    refused = patched(admin, {"admin": True})
    assert problem(refused) == (422, "INVALID")
    assert "broker-b lacks the account" in refused.json()["detail"]

    made = patched(admin, {"new_secret": True})
    assert made.status_code == 200, made.text
    assert all(may_sign(broker, made.json()["secret_key"]) for broker in brokers)
    assert account(admin).json()["missing_on"] == []


@contextmanager
def frozen(broker: RunningBroker) -> Iterator[None]:
    """The broker hangs meanwhile: its connections stay open, and nothing is answered."""
    assert broker.process is not None
    broker.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        broker.process.send_signal(signal.SIGCONT)


def test_a_revocation_is_not_held_up_by_a_broker_that_falls_silent(
    admin: httpx.Client, brokers: list[RunningBroker], worker: dict[str, Any]
) -> None:
    path, read = f"{PATH}/accounts/depot-service", account(admin).headers["ETag"]
    with frozen(brokers[1]):
        revoked = admin.delete(path, headers={"If-Match": read}, timeout=60)
    assert revoked.status_code == 207, revoked.text
    first, second = revoked.json()["brokers"]
    assert (first["broker"], first["done"]) == ("broker-a", True)
    # It was sent, so nobody knows: broker-b makes it as soon as it goes on.
    assert (second["broker"], second["done"]) == ("broker-b", None)
    assert second["reason"].endswith("did not answer within 5 s")
    wait_until(lambda: account(admin).status_code == 404)
