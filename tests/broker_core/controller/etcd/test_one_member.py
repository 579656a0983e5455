"""What an etcd of one member does to its users: it ends, comes back, goes back in time, is full, wants a login."""

from __future__ import annotations

import asyncio
import shutil
import signal
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from broker_core.controller.decisions import Changed, Refused, Unsettled
from broker_core.controller.etcd.config import EtcdConfig, EtcdRefused
from broker_core.controller.etcd.decisions import EtcdDecisions
from tests.broker_core.controller.etcd.conftest import running
from tests.support.certificates import Authority, openssl
from tests.support.etcd import Etcd, Member, Tls, etcd
from tests.support.wait import eventually, wait_until

pytestmark = pytest.mark.usefixtures("etcd_is_installed")

MANY: Final = 10**15
"""A revision that nothing has."""
_ROOM: Final = 500_000
_CHEAP: Final = ("--bcrypt-cost", "4")


def config_of(started: Etcd, **more: Any) -> EtcdConfig:
    return EtcdConfig(started.endpoints, "C", **more)


async def test_the_watch_begins_anew_when_the_member_comes_back(tmp_path: Path) -> None:
    with etcd(tmp_path) as started:
        async with running(config_of(started)) as one, running(config_of(started)) as other:
            first = await one.put("b", None, "first")
            revision, _ = await other.read()
            started.kill()
            with pytest.raises(Unsettled):
                await one.read()
            assert [each.reached for each in one.status.members] == [False]
            started.start()
            await one.put("b", first, "second")
            assert await other.changes(revision) == {"b"}
            assert [each.reached for each in one.status.members] == [True]


async def test_an_engine_that_went_back_is_read_whole_and_written_by_text(tmp_path: Path) -> None:
    with etcd(tmp_path) as started:
        async with running(config_of(started)) as one, running(config_of(started)) as other:
            first = await one.put("b", None, "first")
            with went_back(started.members[0], tmp_path / "copy"):
                second = await one.put("b", first, "second")
                third = await one.put("b", second, "third")
                revision, _ = await one.read()
                waiting = asyncio.create_task(other.changes(revision))
            anew = await other.put("b", first, "second, anew")
            assert anew.token == second.token  # the same revision, with another text
            with pytest.raises(Changed) as told:
                await one.put("b", second, "third, of the second that is gone")
            assert told.value.now == anew
            back, names = await one.read()
            assert back < revision
            assert names["b"] == anew
            assert await waiting == {"b"}
            with pytest.raises(Changed):
                await one.put("b", third, "fourth")


@contextmanager
def went_back(member: Member, copy: Path) -> Iterator[None]:
    """Have the member's disk go back to how it was before the block."""
    member.kill()
    shutil.copytree(member.folder / "data", copy)
    member.start()
    yield
    member.kill()
    shutil.rmtree(member.folder / "data")
    shutil.copytree(copy, member.folder / "data")
    member.start()


async def test_a_full_engine_is_read_and_the_lead_goes_on(tmp_path: Path) -> None:
    with etcd(tmp_path, 1, "--quota-backend-bytes", str(_ROOM)) as started:
        async with running(config_of(started)) as decisions:
            lead = await decisions.lead("n1")
            assert lead is not None
            kept = await decisions.put("b", None, "first")
            fill(started.members[0])
            with pytest.raises(Refused, match="space exceeded"):
                await decisions.put("b", kept, "second")
            assert decisions.is_settled("b")
            assert (await decisions.read())[1] == {"b": kept}
            assert await decisions.renew(lead) > 0
        async with running(config_of(started)) as decisions:  # one that starts now serves reads too
            await eventually(lambda: decisions.status.alarms == ("NOSPACE",))
            assert (await decisions.read())[1] == {"b": kept}
            assert decisions.status.quota_bytes == _ROOM


def fill(member: Member) -> None:
    """Write until it takes no more."""
    value = "eHh4" * 30_000
    with pytest.raises(httpx.HTTPStatusError, match="429"):  # noqa: PT012 - it is the last of many
        for number in range(100):
            member.ask("/v3/kv/put", {"key": f"ZmlsbA{number:02}", "value": value})


async def test_a_login_that_has_ended_is_made_again(tmp_path: Path) -> None:
    with etcd(tmp_path, 1, *_CHEAP) as started:
        with_users(started.members[0], "/gantry/C/")
        config = config_of(started, user="gantry", password="word")
        async with running(config) as decisions:
            kept = await decisions.put("b", None, "first")
            decisions._calls._token = token = "gone." + decisions._calls._token
            kept = await decisions.put("b", kept, "second")
            revision, _ = await decisions.read()
            await decisions.put("b", kept, "third")
            assert await decisions.changes(revision) == {"b"}
            # Etcd says so to a watch in its first message, and to no running one.
            await eventually(lambda: decisions._watch.has_missed(MANY))
            streams = decisions._streams
            streams._token = token
            decisions._watch.begin_anew()
            await eventually(lambda: streams._token not in ("", token) and decisions._watch.has_missed(MANY))
            lead = await decisions.lead("n1")
            assert lead is not None
            assert await decisions.renew(lead) > 0


def with_users(member: Member, folder: str, **as_client: Any) -> None:
    """Switch authentication on, with a user ``gantry`` who may do everything below a folder."""

    def ask(path: str, **asked: Any) -> None:
        member.ask(f"/v3/auth/{path}", asked, **as_client)

    start, end = (b64encode(key.encode()).decode() for key in (folder, folder[:-1] + "0"))
    ask("user/add", name="root", password="root")
    ask("user/add", name="gantry", password="word")
    ask("role/add", name="root")
    ask("role/add", name="gantry")
    ask("role/grant", name="gantry", perm={"permType": "READWRITE", "key": start, "range_end": end})
    ask("user/grant", user="root", role="root")
    ask("user/grant", user="gantry", role="gantry")
    ask("enable")


async def test_who_may_not_is_refused_at_the_start(tmp_path: Path) -> None:
    with etcd(tmp_path, 1, *_CHEAP) as started:
        with pytest.raises(EtcdRefused, match="authentication is not enabled"):
            await EtcdDecisions.open(config_of(started, user="gantry", password="word"))
        with_users(started.members[0], "/gantry/other/")
        for more, says in (
            ({}, "etcd does not let a client without a user read and write /gantry/C/: .*user name is empty"),
            (
                {"user": "gantry", "password": "false"},
                "etcd does not take this controller: .*invalid user ID or password",
            ),
            ({"user": "gantry", "password": "word"}, "etcd does not let gantry read and write /gantry/C/: .*denied"),
        ):
            with pytest.raises(EtcdRefused, match=says):
                await EtcdDecisions.open(config_of(started, **more))


async def test_with_tls_a_certificate_without_a_common_name_serves(tmp_path: Path) -> None:
    authority = Authority.create(tmp_path / "authority")
    named, nameless = authority.issue("named"), tmp_path / "nameless"
    without_name(authority, nameless)
    files = Tls(authority.certificate, named.certificate, named.key)
    context = authority.client(named).context()
    with etcd(tmp_path, 1, *_CHEAP, tls=files, verify=context) as started:
        with_users(started.members[0], "/gantry/C/", verify=context)
        login = {"user": "gantry", "password": "word", "ca_file": authority.certificate}
        config = config_of(
            started, **login, cert_file=nameless.with_suffix(".pem"), key_file=nameless.with_suffix(".key")
        )
        async with running(config) as decisions:
            revision, _ = await decisions.read()
            await decisions.put("b", None, "first")
            assert await decisions.changes(revision) == {"b"}
        with pytest.raises(EtcdRefused, match="HTTP 400: CommonName of client"):
            await EtcdDecisions.open(config_of(started, **login, cert_file=named.certificate, key_file=named.key))
        decisions = await EtcdDecisions.open(config_of(started, **login))
        with pytest.raises(Unsettled, match=r"not been reached yet: .*bad certificate"):
            await decisions.read()
        await decisions.close()


def without_name(authority: Authority, file: Path) -> None:
    """Make a client's certificate that names an organisation only."""
    request = file.with_suffix(".csr")
    key, signer = file.with_suffix(".key"), authority.folder / "ca.key"
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/O=Gantry", "-keyout", key, "-out", request)
    openssl(
        "x509", "-req", "-in", request, "-CA", authority.certificate, "-CAkey", signer, "-CAcreateserial",
        "-days", "30", "-out", file.with_suffix(".pem"),
    )  # fmt: skip


async def test_a_member_without_the_gateway_is_refused(tmp_path: Path) -> None:
    with without_gateway(tmp_path) as started, pytest.raises(EtcdRefused, match="has no JSON gateway"):
        await EtcdDecisions.open(config_of(started))


@contextmanager
def without_gateway(folder: Path) -> Iterator[Etcd]:
    with etcd(folder) as started:
        (member,) = started.members
        member.kill()
        member.options += ["--enable-grpc-gateway=false"]
        member.start()
        wait_until(lambda: is_healthy(member))
        yield started


def is_healthy(member: Member) -> bool:
    try:
        return httpx.get(f"{member.endpoint}/health", trust_env=False).status_code == httpx.codes.OK
    except httpx.TransportError:
        return False


async def test_members_of_two_clusters_are_refused(tmp_path: Path) -> None:
    with etcd(tmp_path / "one") as one, etcd(tmp_path / "other", 1, "--initial-cluster-token", "other") as other:
        both = one.endpoints + other.endpoints
        with pytest.raises(EtcdRefused, match="are members of different clusters"):
            await EtcdDecisions.open(EtcdConfig(both, "C"))


async def test_a_member_that_is_silent_is_not_waited_for_and_is_told(tmp_path: Path) -> None:
    with etcd(tmp_path / "one") as one, etcd(tmp_path / "other") as other:
        other.members[0].signal(signal.SIGSTOP)
        async with running(EtcdConfig(other.endpoints + one.endpoints, "C", attempt_seconds=0.2)) as decisions:
            await decisions.put("b", None, "first")
            assert [each.reached for each in decisions.status.members] == [False, True]
            other.members[0].signal(signal.SIGCONT)


async def test_an_engine_that_is_away_at_the_start_is_checked_when_it_comes(tmp_path: Path) -> None:
    with etcd(tmp_path) as started:
        started.kill()
        async with running(config_of(started)) as decisions:
            for wanted in (decisions.read(), decisions.put("b", None, "first"), decisions.lead("n1")):
                with pytest.raises(Unsettled, match="not been reached yet"):
                    await wanted
            started.start()
            await eventually(lambda: decisions.status.version is not None)
            await decisions.put("b", None, "first")
