"""Accounts are told and changed by administrators, with Apache's codes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import orjson
import pytest

from broker_core.protocol import bodies
from broker_core.protocol.bodies.access import ClusterAccessConfig
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers import admin as headers
from broker_core.protocol.secret_digest import secret_digest
from broker_core.protocol.signature import Credentials
from tests.broker_core.broker.access.conftest import ADMIN, PRODUCER, guarded
from tests.support.broker import Wire

__all__ = ["guarded"]

NEW = Credentials("new-account", "secret-of-new")


async def listed(wire: Wire) -> ClusterAccessConfig:
    question = headers.GetBrokerAccessInfoRequest()  # it has no fields either
    answer = await wire.ask(question, code=RequestCode.GET_BROKER_CLUSTER_ACL_CONFIG)
    assert answer.code == ResponseCode.SUCCESS, answer.remark
    assert b"secret" not in answer.body.replace(b"secretKey", b"")
    return bodies.decode(ClusterAccessConfig, answer.body)


async def test_an_account_counts_when_its_creation_is_answered(guarded: Wire) -> None:
    request = headers.CreateAccessConfigRequest(
        NEW.access_key, NEW.secret_key, topic_perms="orders=PUB, paid=SUB", group_perms="billing=SUB"
    )
    assert (await guarded.ask(request)).code == ResponseCode.SUCCESS

    guarded.credentials = NEW
    await guarded.send("orders", b"x")
    guarded.credentials = ADMIN
    found = {each.access_key: each for each in (await listed(guarded)).plain_access_configs}
    assert found["new-account"].topic_perms == ["orders=PUB", "paid=SUB"]
    assert found["new-account"].secret_key is None


async def test_digests_tell_whether_secrets_are_the_same_and_nothing_without_a_nonce(guarded: Wire) -> None:
    async def digests(nonce: str | None) -> dict[str | None, str | None]:
        answer = await guarded.ask(headers.GetBrokerAccessConfigRequest(nonce))
        assert ADMIN.secret_key.encode() not in answer.body
        found = bodies.decode(ClusterAccessConfig, answer.body).plain_access_configs
        return {each.access_key: each.secret_digest for each in found}

    await guarded.ask(headers.CreateAccessConfigRequest(NEW.access_key, NEW.secret_key))
    first = await digests("one")
    assert first == await digests("one")
    assert first[NEW.access_key] == secret_digest("one", NEW.access_key, NEW.secret_key)
    assert first[NEW.access_key] != (await digests("another"))[NEW.access_key]
    assert set((await digests(None)).values()) == {None}

    await guarded.ask(headers.CreateAccessConfigRequest(NEW.access_key, "another-secret"))
    after = await digests("one")
    assert {key for key in first if first[key] != after[key]} == {NEW.access_key}


async def test_a_deleted_account_is_refused(guarded: Wire) -> None:
    assert (await guarded.ask(headers.DeleteAccessConfigRequest(PRODUCER.access_key))).code == ResponseCode.SUCCESS
    again = await guarded.ask(headers.DeleteAccessConfigRequest(PRODUCER.access_key))
    assert (again.code, again.remark) == (210, "there is no account producer-account")

    guarded.credentials = PRODUCER
    assert "No acl config for producer-account" in str((await guarded.try_send("orders", b"x")).remark)


async def test_addresses_with_braces_are_one(guarded: Wire) -> None:
    request = headers.UpdateGlobalWhiteAddrsRequest("10.0.0.{1,2},127.0.0.*")
    assert (await guarded.ask(request)).code == ResponseCode.SUCCESS
    assert (await listed(guarded)).global_white_addrs == ["10.0.0.{1,2}", "127.0.0.*"]

    guarded.credentials = None
    await guarded.send("orders", b"x")


async def test_versions_count_the_changes(guarded: Wire, tmp_path: Path) -> None:
    await guarded.ask(headers.CreateAccessConfigRequest(NEW.access_key, NEW.secret_key))
    guarded.credentials = PRODUCER
    answer = (await guarded.ask(headers.GetBrokerAccessInfoRequest())).header(headers.GetBrokerAccessInfoResponse)

    assert (answer.broker_name, answer.cluster_name, answer.broker_addr) == ("broker-a", "local", guarded.address)
    assert orjson.loads(answer.version)["counter"] == 1
    file = str(tmp_path / "store" / "config" / "plain_acl.yml")
    assert orjson.loads(answer.all_acl_file_version or "")[file] == orjson.loads(answer.version)


@pytest.mark.parametrize(
    ("request_header", "code", "says"),
    [
        (headers.CreateAccessConfigRequest("short", "a-secret-key"), 209, "accessKey must be longer than 6"),
        (headers.CreateAccessConfigRequest("new-account"), 209, "secretKey must be longer than 6"),
        (headers.CreateAccessConfigRequest("new-account", "a-secret-key", topic_perms="t"), 209, "'t' is not a topic"),
        (headers.UpdateGlobalWhiteAddrsRequest("nowhere"), 211, "'nowhere' is not an address"),
        (headers.UpdateGlobalWhiteAddrsRequest("*", "/etc/passwd"), 211, "/etc/passwd is not an account file"),
    ],
)
async def test_what_is_refused(guarded: Wire, request_header: object, code: int, says: str) -> None:
    answer = await guarded.ask(request_header)
    assert answer.code == code
    assert says in str(answer.remark)
    assert "a-secret-key" not in str(answer.remark)


async def test_an_account_cannot_make_itself_an_administrator(guarded: Wire) -> None:
    guarded.credentials = PRODUCER
    request = headers.CreateAccessConfigRequest(PRODUCER.access_key, PRODUCER.secret_key, admin=True)
    assert "Need admin permission for request code=50" in str((await guarded.ask(request)).remark)


async def test_a_file_that_was_broken_in_the_meantime_is_not_replaced(guarded: Wire, tmp_path: Path) -> None:
    file = tmp_path / "store" / "config" / "plain_acl.yml"
    await asyncio.to_thread(file.write_text, "accounts: 7\n")
    answer = await guarded.ask(headers.DeleteAccessConfigRequest(PRODUCER.access_key))
    assert answer.code == 210
    assert "line 1: a list is expected here" in str(answer.remark)
    assert await asyncio.to_thread(file.read_text) == "accounts: 7\n"


@pytest.mark.parametrize(
    ("request_header", "code"),
    [
        (headers.CreateAccessConfigRequest("rocketmq", "12345678"), 209),
        (headers.DeleteAccessConfigRequest("rocketmq"), 210),
        (headers.UpdateGlobalWhiteAddrsRequest("10.0.0.1"), 211),
        (headers.GetBrokerAccessInfoRequest(), ResponseCode.SYSTEM_ERROR),
        (Command(RequestCode.GET_BROKER_CLUSTER_ACL_CONFIG), ResponseCode.SYSTEM_ERROR),
    ],
)
async def test_access_control_is_said_to_be_off(wire: Wire, request_header: object, code: int) -> None:
    if isinstance(request_header, Command):
        answer = await wire.client.invoke(wire.address, request_header, 60_000)
    else:
        answer = await wire.ask(request_header)

    assert answer.code == code
    assert "access control is off (aclEnable=false)" in (answer.remark or "")
