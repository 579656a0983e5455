"""Accounts of access control over the wire: listed with their versions, created, changed, deleted; on each broker."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from broker_core.client import AccessDenied, Admin, ClientConfig, Credentials, Session
from broker_core.client.errors import AccountRefused
from broker_core.protocol.bodies.access import ClusterAccessConfig, PlainAccessConfig
from tests.support.cluster import RunningBroker, broker, started_broker

ADMIN = Credentials("administrator", "secret-of-admin")
WORKER = PlainAccessConfig(
    access_key="worker-account",
    secret_key="secret-of-worker",
    white_remote_address="10.0.0.{1,2}",
    default_topic_perm="DENY",
    default_group_perm="SUB",
    topic_perms=["orders=PUB|SUB", "paid=PUB"],
    group_perms=["billing=SUB"],
)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    data = tmp_path_factory.mktemp("accounts")
    config = data / "broker" / "config"
    config.mkdir(parents=True)
    account = f"{{accessKey: {ADMIN.access_key}, secretKey: {ADMIN.secret_key}, admin: true}}"
    (config / "plain_acl.yml").write_text(f"accounts: [{account}]\n")
    with started_broker(data, settings={"aclEnable": "true"}) as running:
        yield running


@pytest.fixture
async def admin(guarded: RunningBroker) -> AsyncIterator[Admin]:
    async with Session(ClientConfig([guarded.name_server], credentials=ADMIN)) as session:
        yield Admin(session)


async def listed(admin: Admin) -> ClusterAccessConfig:
    (access,) = (await admin.accounts.all()).raise_if_none().found.values()
    assert access.is_on
    assert access.config is not None
    return access.config


async def version_of(admin: Admin) -> int:
    (access,) = (await admin.accounts.all()).raise_if_none().found.values()
    return sum(version.counter for version in access.versions.values())


async def account_of(admin: Admin, key: str) -> PlainAccessConfig | None:
    return next((each for each in (await listed(admin)).plain_access_configs if each.access_key == key), None)


async def test_a_new_account_is_listed_without_its_secret_and_counts_at_once(
    guarded: RunningBroker, admin: Admin
) -> None:
    before = await version_of(admin)
    assert (await admin.accounts.put(WORKER)).complete
    found = await account_of(admin, "worker-account")

    assert found is not None
    assert (found.secret_key, found.admin) == (None, False)
    assert (found.topic_perms, found.group_perms) == (WORKER.topic_perms, WORKER.group_perms)
    assert (found.white_remote_address, found.default_group_perm) == ("10.0.0.{1,2}", "SUB")
    assert await version_of(admin) == before + 1
    account = Credentials("worker-account", "secret-of-worker")
    async with Session(ClientConfig([guarded.name_server], credentials=account)) as session:
        with pytest.raises(AccessDenied, match="Need admin permission"):
            (await Admin(session).accounts.put(WORKER)).raise_if_none()


async def test_a_change_keeps_what_it_leaves_out_the_secret_too(guarded: RunningBroker, admin: Admin) -> None:
    await admin.accounts.put(WORKER)
    assert (await admin.accounts.put(PlainAccessConfig("worker-account", topic_perms=[]))).complete
    found = await account_of(admin, "worker-account")

    assert found is not None
    assert (found.topic_perms or [], found.group_perms) == ([], ["billing=SUB"])
    account = Credentials("worker-account", "secret-of-worker")
    async with Session(ClientConfig([guarded.name_server], credentials=account)) as session:
        assert (await Admin(session).maintenance.settings_of(guarded.address))["aclEnable"] == "true"


async def test_a_deleted_account_is_gone_and_a_second_deletion_is_refused(admin: Admin) -> None:
    await admin.accounts.put(WORKER)
    assert (await admin.accounts.delete("worker-account")).complete
    assert await account_of(admin, "worker-account") is None

    (error,) = (await admin.accounts.delete("worker-account")).failed.values()
    assert isinstance(error, AccountRefused)
    assert error.code == 210


async def test_global_addresses_are_replaced_and_those_in_braces_are_sent_one_by_one(admin: Admin) -> None:
    for patterns, kept in (
        (["10.0.0.{1,2}", "10.1.*.*"], ["10.0.0.1", "10.0.0.2", "10.1.*.*"]),
        (["10.2.0.1"], ["10.2.0.1"]),
        ([], []),
    ):
        assert (await admin.accounts.put_global_white(patterns)).complete
        assert (await listed(admin)).global_white_addrs == kept


async def test_a_refusal_names_the_broker_and_the_reason(guarded: RunningBroker, admin: Admin) -> None:
    answers = await admin.accounts.put(PlainAccessConfig("new-account", "a-secret-key", topic_perms=["orders=READ"]))

    error = answers.failed[guarded.address]
    assert isinstance(error, AccountRefused)
    assert (error.code, error.remark) == (209, "'READ' is not a right: DENY, PUB, SUB or PUB|SUB")
    assert await account_of(admin, "new-account") is None


async def test_access_control_that_is_off_is_told(tmp_path: Path) -> None:
    async with broker(tmp_path) as running, running.session() as session:
        (access,) = (await Admin(session).accounts.all()).found.values()
        (refused,) = (await Admin(session).accounts.put(WORKER)).failed.values()

    assert (access.is_on, access.config) == (False, None)
    assert "access control is off (aclEnable=false)" in str(refused)
